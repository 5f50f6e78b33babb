"""The bought shares of values: where a generator of x* starts, and what it is brought back to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from nacre.histograms.cells import CodeColumn

if TYPE_CHECKING:
    from nacre.histograms.histograms import Histograms
    from nacre.methods.ppem.parts import Part

ROUNDS = 40  # of putting shares of values back
FARTHEST_LOGIT = 50.0  # that a share is put back by
LEAST = 1e-12  # chance of a value, for its logarithm
RAREST = 1e-4  # the smallest chance of a value that a generator starts with


def shares_of(rest: Part, histograms: Histograms) -> list[tuple[int, NDArray[np.float64]]]:
    """Where each block of x* starts, and the noisy share of each of its values."""
    counts: dict[int, NDArray[np.float64]] = {}
    for column, cleaned in zip(histograms.columns, histograms.cleaned, strict=True):
        every = cleaned.sum(0)
        if isinstance(column, CodeColumn):
            counts[column.code] = every
        elif column.missing is not None:
            counts[column.missing] = np.array([every[:-1].sum(), every[-1]])
    found = []
    for place, at, _ in rest.vector.blocks:
        own = counts[rest.codes[place]]
        share = np.clip(own / max(own.sum(), 1e-9), RAREST, 1.0)
        found.append((at, share / share.sum()))
    return found


def biases(width: int, shares: list[tuple[int, NDArray[np.float64]]]) -> NDArray[np.float32]:
    """Of a generator's last layer: zero for numbers, the logits of shares for values."""
    found = np.zeros(width, np.float32)
    for at, share in shares:
        logits = np.log(share)
        if len(share) == 2:
            found[at] = logits[1] - logits[0]
        elif len(share) > 2:
            found[at : at + len(share)] = logits
    return found


def calibrated(
    outputs: NDArray[np.float32], shares: list[tuple[int, NDArray[np.float64]]]
) -> NDArray[np.float32]:
    """What to add to a generator's outputs (n, width) so that values have their bought shares.

    Noisy steps let the share of a rare value drift, down to nothing; it was paid for, so it is
    put back.  All of it is public.
    """
    moves = np.zeros(outputs.shape[1])
    two = [(at, share) for at, share in shares if len(share) == 2]
    if two:  # all at once, as there may be hundreds of them
        places = [at for at, _ in two]
        moves[places] = _moved(outputs[:, places], np.array([share for _, share in two]))
    for at, share in shares:
        if len(share) > 2:
            logits = outputs[:, at : at + len(share)].astype(np.float64)
            move = np.zeros(len(share))
            for _ in range(ROUNDS):
                chances = softmax(logits + move, axis=1).mean(0)
                move += np.log(share) - np.log(np.maximum(chances, LEAST))
            moves[at : at + len(share)] = move - move[0]
    return np.clip(moves, -FARTHEST_LOGIT, FARTHEST_LOGIT).astype(np.float32)


def _moved(logits: NDArray[np.float32], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """What to add to the logits (n, columns) of second values, by the shares (columns, 2)."""
    wanted, move = np.log(shares[:, 1] / shares[:, 0]), np.zeros(len(shares))
    for _ in range(ROUNDS):
        chances = np.clip(expit(logits + move.astype(np.float32)).mean(0, np.float64), LEAST, 1.0)
        move += wanted - np.log(chances / np.maximum(1 - chances, LEAST))
    return move
