"""One fit for PPEM's tables: of PPEM, or of a method that the paper compares with."""

import dataclasses
import math
import time
from typing import Any, NamedTuple

import pyarrow as pa

from bench.ppem.scores import Data, scores
from bench.versions import measured_with
from nacre.evaluate.lmdp.report import lmdp_report
from nacre.fit import fit
from nacre.methods import AbstractMethod, find
from nacre.methods.ppem.ppem import PPEM
from nacre.model import Model

DELTA = 1e-6
WIDE: dict[str, dict[str, Any]] = {
    "wgan": {"critic": 32, "critic_batch": 48, "critic_steps": 1500},
    "medgan": {"batch": 48, "autoencoder_steps": 1500, "critic_steps": 1500},
}


class Fitted(NamedTuple):
    """What a fit gave.

    Attributes:
        found: its scores, its tests of alpha-LMDP, what it cost.
        synthetic: as many rows as were fitted.
    """

    found: dict[str, Any]
    synthetic: pa.Table


def settings(name: str, epsilon: float, steps: float) -> PPEM:
    """The method for a table; `steps` times as many steps as these."""
    method = PPEM.without_noise() if math.isinf(epsilon) else PPEM()
    if name == "icd":
        method = wide(method, epsilon)
    return dataclasses.replace(
        method,
        marginal_steps=max(round(method.marginal_steps * steps), 1),
        conditional_steps=max(round(method.conditional_steps * steps), 1),
    )


def wide(method: PPEM, epsilon: float) -> PPEM:
    """For hundreds of yes-or-no columns.

    A row's gradient has a number for each column and unit of the first layer, so that layers are
    narrow and a batch is what the vault works off at once.  Protected columns, of which no shares
    are bought, start at one half: the generator needs large steps to come down to a thousandth.
    """
    return dataclasses.replace(
        method,
        latent=64,
        width=64,
        marginal_steps=1500 if math.isinf(epsilon) else 200,
        marginal_batch=48 if math.isinf(epsilon) else 512,
        conditional_steps=1500 if math.isinf(epsilon) else 100,
        conditional_batch=48 if math.isinf(epsilon) else 512,
        generator_rate=0.002,
    )


def run(
    name: str, data: Data, hidden: int, epsilon: float, *, partly: bool, steps: float, seed: int
) -> Fitted:
    """A fit of PPEM with the first `hidden` columns protected."""
    method = settings(name, epsilon, steps)
    method = dataclasses.replace(method, protect=("+".join(data.schema.names[:hidden]),))
    if partly:
        method = dataclasses.replace(
            method, noised="marginal", penalty=0.0, marginal_batch=512, marginal_clip=1.0
        )
    model, fitted = _fitted(name, data, method, epsilon, seed)
    tested = _lmdp(model, data, hidden, seed)
    steps_made = [method.marginal_steps, method.conditional_steps]
    return fitted._replace(found=fitted.found | tested | {"steps": steps_made})


def compare(name: str, data: Data, method: str, *, steps: float, seed: int) -> Fitted:
    """A fit of another method: at epsilon 1, or infinite if it is not private.

    With its defaults, or `steps` times as many steps of its critic; for wide tables as narrow, and
    as long, as PPEM.
    """
    chosen: Any = find(method)(**(WIDE.get(method, {}) if name == "icd" else {}))
    if steps != 1:
        chosen = dataclasses.replace(chosen, critic_steps=round(chosen.critic_steps * steps))
    epsilon = 1.0 if chosen.private else math.inf
    return _fitted(name, data, chosen, epsilon, seed)[1]


def _fitted(
    name: str, data: Data, method: AbstractMethod, epsilon: float, seed: int
) -> tuple[Model, Fitted]:
    started = time.process_time()
    model = fit(
        data.train,
        data.schema,
        method=method,
        epsilon=epsilon,
        delta=None if math.isinf(epsilon) else DELTA,
        rows=data.train.num_rows,
        seed=seed,
    )
    seconds = time.process_time() - started
    synthetic = model.sample_arrow(data.train.num_rows, seed=seed)
    found = {
        "scores": scores(name, synthetic, data),
        "guarantee": str(model.guarantee),
        "rows": data.train.num_rows,
        "cpu_seconds": round(seconds, 1),
        "seed": seed,
        "versions": measured_with(),
    }
    return model, Fitted(found, synthetic)


def _lmdp(model: Model, data: Data, hidden: int, seed: int) -> dict[str, Any]:
    """The tests of the protected set, whether or not the model was asked for anything."""
    asked = None if model.guarantee.hidden else data.schema.names[:hidden]
    (test,) = lmdp_report(model, data.train, columns=asked, seed=seed).tests
    found = {"mmd": test.mmd, "p_mmd": test.mmd_p, "satisfied": test.lmdp_satisfied}
    if test.density is not None:
        found |= {"ksd": test.density.stein, "p_ksd": test.density.stein_p}
    return found


def title(hidden: int, epsilon: float, *, partly: bool) -> str:
    """How a run is called.

    >>> title(2, math.inf, partly=False), title(5, 1.0, partly=False), title(2, 1.0, partly=True)
    ('2, ε = ∞', '5, ε = 1', '2, marginal only')
    """
    if partly:
        return f"{hidden}, marginal only"
    return f"{hidden}, ε = {'∞' if math.isinf(epsilon) else f'{epsilon:g}'}"
