"""Which pairs of columns to count next: MST's spanning tree, AIM's worst pairs within a size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nacre.methods.graphical.learn import Learner, Pair, branches

Choose = Callable[..., int]


def spanning_tree(learner: Learner, pairs: Sequence[Pair], choose: Choose) -> list[int]:
    """Places of pairs that join all columns without a cycle, the strongest first (Kruskal)."""
    targets: Any = learner.targets(pairs)
    picked: list[int] = []
    while among := branches(pairs, picked):
        picked.append(choose(targets, among=among))
    return picked


def worst_pairs(
    learner: Learner, pairs: Sequence[Pair], choose: Choose, *, each: int, part: float
) -> list[int]:
    """Places of up to `each` pairs that the model gets most wrong, beyond the noise of a count.

    The model with them takes no more than `part` of its limit, as far as there are such pairs.
    """
    targets, penalties = learner.targets(pairs), learner.penalties(pairs)
    growth = learner.growth(pairs)
    picked: list[int] = []
    refused: set[int] = set()
    for _ in range(each):
        left = max(0.0, learner.room([pairs[p] for p in picked], part))
        among = [
            p for p, more in enumerate(growth) if more <= left and p not in {*picked, *refused}
        ]
        if not among:
            break
        place = choose(targets, penalties=penalties, among=among)
        # Beside others of this round a pair may need more room than by itself.
        fits = learner.room([pairs[p] for p in (*picked, place)], part) >= 0
        if fits or not growth[place]:
            picked.append(place)
        else:
            refused.add(place)
    return picked or [min(range(len(pairs)), key=lambda p: growth[p])]
