"""The road of a fit of PPEM: histograms, the marginal pair, the conditional pair, the generator."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from nacre.histograms.cells import NumberColumn
from nacre.histograms.histograms import Histograms
from nacre.methods.ppem.conditional import ConditionalPhase
from nacre.methods.ppem.generator import Net, PPEMGenerator, drawn
from nacre.methods.ppem.marginal import MarginalPhase
from nacre.methods.ppem.networks import ensemble
from nacre.methods.ppem.parts import Parts
from nacre.methods.ppem.protected_scale import ask_protected
from nacre.methods.ppem.questions import histogram_columns, label_place
from nacre.methods.ppem.scaling import (
    REACH,
    Scaling,
    bought_scaling,
    put_back,
    schema_scaling,
)
from nacre.methods.ppem.shares import biases, calibrated, shares_of
from nacre.methods.ppem.stein import Statistic
from nacre.methods.randomness import public_rng
from nacre.nets.descent import first_weights
from nacre.nets.layers import freeze
from nacre.vault import Steps, Sum

if TYPE_CHECKING:
    from nacre.methods.ppem.ppem import PPEM
    from nacre.rows import TableEncoder
    from nacre.vault import Plan, Vault

FROZEN = 1 << 13  # generated rows whose statistics batch norms are frozen at
MATCHED = 1 << 16  # generated rows whose numbers are brought back to bought distributions
PROTECTED = 0x70726F74  # sets the key of the protected histograms apart from those of training
CALM = 0.1  # of the usual first weights of a generator's last layer


def learn(method: PPEM, vault: Vault, plan: Plan, *, key: Any) -> PPEMGenerator:
    """Ask the questions of the plan in their order; what lies between them is public."""
    encoder: TableEncoder = vault.encoder  # type: ignore[assignment]
    rng, keys = public_rng(key), jax.random.split(key)
    parts = method.parts(encoder)
    asked = {q.name: q for q in method.questions(encoder, plan.adjacency, plan.rows)}
    rows, histograms = float(plan.rows or 0), None
    if "histograms" in asked:
        histograms = ask_histograms(method, vault, asked["histograms"])  # type: ignore[arg-type]
        rows = rows or histograms.total
    elif plan.rows is None:
        rows = vault.count(asked["number of rows"])  # type: ignore[arg-type]
    rows = max(rows, 1.0)
    scaling = _scaling(method, encoder, parts, histograms)
    if "protected histograms" in asked:
        question: Steps = asked["protected histograms"]  # type: ignore[assignment]
        own = jax.random.fold_in(key, PROTECTED)
        scaling = scaling.with_lines(ask_protected(method, vault, plan, question, key=own))
    if "class means" in asked:
        scaling = ask_means(method, vault, asked["class means"], parts, scaling)  # type: ignore[arg-type]
    energies: tuple[Net, ...] = ()
    marginal = Net((), ())
    if "marginal" in asked:
        energies, marginal = _marginal(
            method, vault, plan, asked["marginal"], parts, scaling, rows, keys[0], rng
        )
    conditional = Net((), ())
    if "conditional" in asked:
        conditional = _conditional(
            method,
            vault,
            plan,
            asked["conditional"],
            parts,
            scaling,
            marginal,
            histograms,
            rows,
            keys[1],
            rng,
        )
    generator = PPEMGenerator(
        layout=encoder.layout,
        sets=method.sets,
        scaling=scaling,
        latent=method.latent,
        marginal=marginal,
        conditional=conditional,
        energies=energies,
    )
    if histograms is None or not parts.rest.numbers:
        return generator
    return _as_bought(generator, histograms, rng)


def ask_histograms(method: PPEM, vault: Vault, question: Sum) -> Histograms:
    """The noisy histograms, cleaned."""
    from nacre.embed.marginals import cell_places, single_features

    encoder: TableEncoder = vault.encoder  # type: ignore[assignment]
    columns = histogram_columns(method, encoder)
    sums = vault.sum(question, single_features(cell_places(encoder.layout, columns)))
    return Histograms.of(columns, sums.values, sums.noise[0])


def ask_means(method: PPEM, vault: Vault, question: Sum, parts: Parts, scaling: Scaling) -> Scaling:
    """The maps, with the noisy means of classes taken off; protected numbers have none.

    Sensitivity:
        each standardized number, clipped to REACH and divided by it, lies in [-1, 1]: add-remove
        sqrt(count + 1), with the count of rows.
    """
    rest, encoder = parts.rest, vault.encoder
    count = len(rest.numbers)

    def features(row: Any) -> Any:
        return jax.numpy.clip(rest.of(row, scaling)[:count] / REACH, -1.0, 1.0)

    found = vault.sum(question, features)
    sums = np.zeros((len(found.values), len(encoder.layout.numbers)))  # type: ignore[attr-defined]
    sums[:, list(rest.numbers)] = found.values * REACH
    counts = np.maximum(found.counts, 1.0) if found.counts is not None else np.ones(len(sums))
    label = label_place(method, encoder)  # type: ignore[arg-type]
    return scaling.with_means(sums, counts, found.noise[0] * REACH, label or 0)


def _scaling(
    method: PPEM, encoder: TableEncoder, parts: Parts, histograms: Histograms | None
) -> Scaling:
    layout = encoder.layout
    if histograms is None or not layout.numbers:
        return schema_scaling(len(layout.numbers))
    return bought_scaling(
        histograms,
        layout.limits,
        parts.hidden.numbers,
        schema_only=method.noised == "marginal",  # the histograms then have no noise
        quantiles=method.scale in ("classes", "quantiles"),
    )


def _as_bought(
    generator: PPEMGenerator, histograms: Histograms, rng: np.random.Generator
) -> PPEMGenerator:
    """With maps back that give the numbers of x* their bought distributions; x' has none."""
    hidden, rest = generator.parts
    scores, codes = generator.standardized(MATCHED, rng)
    generated = {}
    for column in histograms.columns:
        if isinstance(column, NumberColumn) and column.number in rest.numbers:
            own = scores[:, rest.numbers.index(column.number)]
            there = own if column.missing is None else own[codes[:, column.missing] == 0]
            generated[column.number] = there
    bought = bought_scaling(
        histograms, generator.layout.limits, hidden.numbers, schema_only=True, quantiles=True
    )
    return dataclasses.replace(generator, scaling=put_back(generator.scaling, bought, generated))


def _marginal(
    method: PPEM,
    vault: Vault,
    plan: Plan,
    question: Any,
    parts: Parts,
    scaling: Scaling,
    rows: float,
    key: Any,
    rng: np.random.Generator,
) -> tuple[tuple[Net, ...], Net]:
    """The energies, the generator of x' and its frozen arrays."""
    expected = min(method.marginal_batch, rows)
    levels = [one.alpha for one in method.sets]
    if len(levels) > 1:
        levels.append(max(levels))
    statistic = Statistic(
        largest=method.statistic_most,
        rows=expected,
        noise=statistic_noise(question, plan, rows),
        critical=tuple(float(chi2.isf(level, 1)) for level in levels),
        weight=method.penalty,
    )
    phase = MarginalPhase(
        method=method,
        parts=parts,
        scaling=scaling,
        ensemble=ensemble(method, parts),
        statistic=statistic,
        expected=expected,
    )
    layers = phase.layers
    program = phase.program(first_weights_of(layers, rng), rng)
    noisy = rows if plan.rows is None else None
    state = vault.train(question, program, rows=noisy, key=key)
    inputs = rng.standard_normal((FROZEN, method.latent), np.float32)
    arrays = freeze(layers, state["writer"]["average"], inputs)
    pairs = zip(phase.ensemble.energies, state["energy"], strict=True)
    energies = tuple(Net.of(energy.layers, own) for energy, own in pairs)
    return energies, Net(layers, tuple(arrays))


def first_weights_of(layers: Any, rng: np.random.Generator) -> Any:
    """A generator's, its last layer's ten times smaller: it adds little to the latent numbers."""
    *others, last = first_weights(layers, rng)
    return [*others, {name: CALM * value for name, value in last.items()}]


def statistic_noise(question: Steps, plan: Plan, rows: float) -> float:
    """The standard deviation of the noise of the Stein sums; zero where there is none."""
    if len(question.stages) < 2:
        return 0.0
    release = plan.find(question).release
    if release.mechanism == "approximate":
        release = question.after_count(release, rows)
    first = question.stages[0]
    return first.clip * release.noise / math.sqrt(first.share)


def _conditional(
    method: PPEM,
    vault: Vault,
    plan: Plan,
    question: Any,
    parts: Parts,
    scaling: Scaling,
    marginal: Net,
    histograms: Histograms | None,
    rows: float,
    key: Any,
    rng: np.random.Generator,
) -> Net:
    """The generator of x* given x'."""
    expected = min(method.conditional_batch, rows)
    phase = ConditionalPhase(
        method=method, parts=parts, scaling=scaling, marginal=marginal, expected=expected
    )
    first = first_weights_of(phase.layers, rng)
    shares = [] if histograms is None else shares_of(parts.rest, histograms)
    first[-1]["bias"] = jax.numpy.asarray(biases(parts.rest.width, shares))
    noisy = rows if plan.rows is None else None
    state = vault.train(question, phase.program(first, rng), rows=noisy, key=key)
    found = Net.of(phase.layers, state["writer"]["average"])
    last = dict(found.arrays[-1])
    last["bias"] = last["bias"] + calibrated(found(_inputs(method, parts, marginal, rng)), shares)
    return Net(phase.layers, (*found.arrays[:-1], last))


def _inputs(
    method: PPEM, parts: Parts, marginal: Net, rng: np.random.Generator
) -> NDArray[np.float32]:
    """What goes into the generator of x*: latent numbers, and x' of the marginal generator."""
    latent = rng.standard_normal((FROZEN, method.latent), np.float32)
    if not parts.hidden.width:
        return latent
    first = rng.standard_normal((FROZEN, method.latent), np.float32)
    _, _, condition = drawn(parts.hidden, marginal(first), first, rng)
    return np.concatenate([latent, condition], axis=1)
