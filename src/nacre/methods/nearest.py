"""From released means to a generator: the nearest mixture, or the nearest network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nacre.histograms.cells import layout_cells
from nacre.methods.targets import characteristic, matrix_of
from nacre.nets.modes import ModeSplit
from nacre.nets.vector import RowVector
from nacre.rows import AbstractEncoder, ImageEncoder, TableEncoder

if TYPE_CHECKING:
    from nacre.embed.fourier import Frequencies
    from nacre.methods.matching import AbstractMatching
    from nacre.nets.generator import AbstractGenerator
    from nacre.nets.layers import AbstractLayer
    from nacre.nets.match import Critic, Targets, TargetWaves
    from nacre.nets.minimize import Adversary
    from nacre.vault import Vault

HIDDEN = 400  # of a network for images whose first layer is by class; the papers' have 200


def fit_to(
    method: AbstractMatching,
    vault: Vault,
    targets: Targets,
    frequencies: Frequencies | None,
    columns: Sequence[int],
    *,
    split: ModeSplit | None = None,
    critic: Critic | None = None,
    adversary: Adversary | None = None,
    target: TargetWaves | None = None,
    constant: float = 0.0,
    codes_by_label: bool = False,
    rng: np.random.Generator,
    key: Any,
) -> AbstractGenerator:
    """The generator whose mean features are nearest to the released ones."""
    from nacre.nets.match import MixtureMatch, NetworkMatch
    from nacre.nets.minimize import minimize
    from nacre.nets.mixture_fit import fit_mixture
    from nacre.nets.trained import finished, paper_layers, table_network

    encoder: TableEncoder = vault.encoder  # type: ignore[assignment]
    layout, label = encoder.layout, encoder.place(encoder.label)

    def on_progress(done: float) -> None:
        vault.report("fitting the generator", done)

    if method.generator == "mixture":
        cells = layout_cells(layout)
        waves = characteristic(frequencies, cells, columns)
        return fit_mixture(
            layout,
            label,
            cells,
            MixtureMatch(targets, waves, critic, target, method.shrinkage, len(layout.numbers)),
            codes_by_label=codes_by_label,
            components=method.components,
            steps=method.steps,
            rate=method.rate,
            adversary=adversary,
            share=method.shares,
            rng=rng,
            on_progress=on_progress,
        )
    vector = RowVector(layout if split is None else split.layout, label)
    waves = matrix_of(frequencies, vector)
    loss = NetworkMatch(targets, waves, critic, target, method.batch, method.balance, constant)
    layers = image_layers_of(method, encoder, vector) or paper_layers(vector, method.latent)
    model = minimize(
        table_network(vector, layers, method.latent, rng),
        loss,
        steps=method.steps,
        rate=method.rate,
        adversary=adversary,
        key=key,
        on_progress=on_progress,
    )
    shares = method.shares(np.asarray(targets.prior, np.float64))
    return finished(model, shares, rng, split=split)


def image_layers_of(
    method: AbstractMatching, encoder: AbstractEncoder, vector: RowVector
) -> tuple[AbstractLayer, ...] | None:
    """The papers' architectures for images, or ours; None for rows of a table."""
    from nacre.nets.by_label import ByLabel
    from nacre.nets.conv import dense_layers, image_layers
    from nacre.nets.network import input_width

    if not isinstance(encoder, ImageEncoder):
        return None
    inputs = input_width(method.latent, vector.classes)
    if method.layers == "dense":
        return dense_layers(inputs, (200, 100, vector.width))
    if method.layers == "convolutions" or vector.classes == 1:
        return image_layers(inputs, encoder.schema.shape)
    first = ByLabel(method.latent, vector.classes)
    return (first, *image_layers(first.width(inputs), encoder.schema.shape, hidden=HIDDEN))
