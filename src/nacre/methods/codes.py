"""DP-MERF on codes: a private autoencoder first, then the mean embedding of the rows' codes.

The paper (Harder, Adamczewski and Park, 2021, Section 3.3) fits the encoder without noise, with
batch norms and a loss on pairs of rows.  Here encoder and decoder are trained by DP-SGD on one row
at a time, and from then on both are public.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nacre.methods.autoencoder import Anchors, Autoencoder, draw_anchors
from nacre.methods.randomness import public_rng
from nacre.methods.targets import make_targets
from nacre.nets.layers import mlp, run
from nacre.nets.network import input_width
from nacre.nets.vector import RowVector
from nacre.rows import TableEncoder
from nacre.vault import Adjacency, Bound, Segment, Steps, Sum, count_question

if TYPE_CHECKING:
    from nacre.embed.codes import CodeFeatures
    from nacre.methods.merf import MERF
    from nacre.nets.generator import AbstractGenerator
    from nacre.vault import Plan, Sums, Vault

COUNT = 0.02  # share of the budget that buys the number of rows, where that is private
SLOPE = 0.2  # of the autoencoder's leaky ReLUs
AVERAGING = 0.95  # memory of the average of its weights
STEPS = 2000  # of Adam, if they are not set; 8,000 measured worse
TRIED = 2000  # made-up rows whose codes tell how far codes are apart, about


def code_questions(
    method: MERF, encoder: TableEncoder, adjacency: Adjacency, rows: int | None
) -> tuple[Sum | Steps, ...]:
    """The autoencoder's steps, then the embedding of codes; first the rows, if private."""
    from nacre.embed.fourier import feature_norm
    from nacre.exact import AMPLITUDE

    vector, label = _vector(encoder), encoder.label
    first = () if rows is not None else (count_question(COUNT),)
    left = 1.0 - sum(question.share for question in first)
    count = method.count(rows, vector.classes)
    norm = feature_norm(count)
    # Under replace-one a count as large as the features costs nothing more.
    weight = 1.0 if adjacency is Adjacency.REPLACE_ONE else 0.25
    embedding = Sum(
        name="mean embedding",
        bound=Bound(segments=(Segment(size=2 * count, norm=norm),), by=label, count=weight * norm),
        share=left * (1.0 - method.projection_share),
        unit=AMPLITUDE,
        meaning="mean features of the row's code"
        + (f" for each value of '{label.name}'" if label else ""),
    )
    training = code_autoencoder(method, vector).question(left * method.projection_share, rows)
    return (*first, training, embedding)


def code_autoencoder(
    method: MERF, vector: RowVector, anchors: Anchors | None = None
) -> Autoencoder:
    """What makes codes of rows: cross-entropy, and distances to public anchors by class."""

    def loss(outputs: Any, x: Any, code: Any, own: Any) -> Any:
        found = vector.cross_entropy(outputs, x)
        return found if anchors is None else found + method.separation * anchors(code, own)

    return Autoencoder(
        encoder=mlp(vector.width, *method.encoder_hidden, method.dimensions, slope=SLOPE),
        decoder=mlp(method.dimensions, *method.decoder_hidden, vector.width, slope=SLOPE),
        loss=loss,
        steps=method.autoencoder_steps,
        batch=method.autoencoder_batch,
        clip=method.autoencoder_clip,
        rate=method.autoencoder_rate,
        averaging=AVERAGING,
    )


def learn_on_codes(method: MERF, vault: Vault, plan: Plan, *, key: Any) -> AbstractGenerator:
    """Train the autoencoder, release the embedding of codes, then fit a generator of codes."""
    import jax

    encoder: TableEncoder = vault.encoder  # type: ignore[assignment]
    vector, rng = _vector(encoder), public_rng(key)
    *counts, training, question = code_questions(method, encoder, plan.adjacency, plan.rows)
    rows = vault.count(counts[0]) if counts else None  # type: ignore[arg-type]
    anchors = None
    if vector.label is not None and method.separation:
        points = draw_anchors(vector.classes, method.dimensions, method.margin, rng)
        anchors = Anchors(points, method.margin)
    autoencoder = code_autoencoder(method, vector, anchors)

    def read(row: Any) -> tuple[Any, Any]:
        return vector.of(row), 0 if vector.label is None else row.codes[vector.label]

    first, second = jax.random.split(key)
    program = autoencoder.program(read, rows or plan.rows or 1, rng)
    state = vault.train(training, program, rows=rows, key=first)  # type: ignore[arg-type]
    trained = state["average"]
    arrays = jax.tree.map(np.asarray, trained["encoder"])
    images = encoder.kind == "image" and anchors is not None
    features = _features(method, vector, autoencoder, arrays, question, rng, images=images)  # type: ignore[arg-type]
    sums = vault.sum(question, features)  # type: ignore[arg-type]
    return _fit_codes(
        method, vault, vector, autoencoder, trained, features, sums, rng=rng, key=second
    )


def _features(
    method: MERF,
    vector: RowVector,
    autoencoder: Autoencoder,
    arrays: list[dict[str, NDArray[np.float32]]],
    question: Sum,
    rng: np.random.Generator,
    *,
    images: bool,
) -> CodeFeatures:
    """Fourier features of codes, on the scale that made-up rows' codes have: all of it public."""
    import jax.numpy as jnp

    from nacre.embed.codes import CodeFeatures, code_frequencies

    codes = run(autoencoder.encoder, arrays, vector.made_up(TRIED, rng), np)
    distance = max(0.01, math.sqrt(2 * float(codes.var(axis=0).sum())))
    if images:  # of random pixels all codes are alike; those of a class may lie a margin around it
        distance = max(distance, method.margin)
    matrix = code_frequencies(
        blocks=method.blocks,
        width=question.bound.size // 2 // method.blocks,
        code=method.dimensions,
        scale=method.scale / distance,
        rng=rng,
    )
    return CodeFeatures(matrix, lambda row: run(autoencoder.encoder, arrays, vector.of(row), jnp))


def _fit_codes(
    method: MERF,
    vault: Vault,
    vector: RowVector,
    autoencoder: Autoencoder,
    trained: dict[str, Any],
    features: CodeFeatures,
    sums: Sums,
    *,
    rng: np.random.Generator,
    key: Any,
) -> AbstractGenerator:
    """A generator of codes and the decoder behind it, as one network."""
    import jax.numpy as jnp

    from nacre.nets.codes import CodeMatch, with_decoder
    from nacre.nets.minimize import minimize
    from nacre.nets.trained import finished, table_network

    widths = method.code_hidden or (vector.width, vector.width)
    inputs = input_width(method.latent, vector.classes)
    writer = mlp(inputs, *widths, method.dimensions, batch_norm=True)
    layers = (*writer, *autoencoder.decoder)
    targets = make_targets(sums, features)
    model = minimize(
        with_decoder(table_network(vector, layers, method.latent, rng), trained["decoder"]),
        CodeMatch(
            targets,
            jnp.asarray(features.matrix, jnp.float32),
            trained["encoder"],
            autoencoder.encoder,
            len(autoencoder.decoder),
            method.batch,
            method.balance,
            method.constant,
        ),
        steps=method.steps or STEPS,
        rate=method.rate or 0.01,
        key=key,
        on_progress=lambda done: vault.report("fitting the generator", done),
    )
    return finished(model, method.shares(np.asarray(targets.prior, np.float64)), rng)


def _vector(encoder: TableEncoder) -> RowVector:
    """All columns but a label of classes: a numeric one is a column like others."""
    return RowVector(encoder.layout, encoder.place(encoder.label))
