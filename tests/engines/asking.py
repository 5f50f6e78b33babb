"""One question for each door that works in parts, asked without noise: answers to compare."""

import dataclasses
import math
import os
import signal
from pathlib import Path

import jax.numpy as jnp
import numpy as np
from tests.engines.conftest import SCHEMA

from nacre.rows import Stream, TableEncoder
from nacre.rows.parts import AbstractParts, AbstractWork, Task, tree
from nacre.vault import Bound, Choice, Keys, Plan, Segment, Sum, Vault
from nacre.vault.exact_sum import ExactSum
from nacre.vault.remote_sum import RemoteSum

ENCODER = TableEncoder.of(SCHEMA)
ONE = Segment(size=4, norm=1.0, signed=False)
CELLS = Sum(name="cells", bound=Bound(segments=(ONE,), by=ENCODER.label, count=1.0), share=0.5)
WAVES = Sum(name="waves", bound=Bound(segments=(Segment(size=2, norm=1.0),)), share=0.3)
TOWNS = Choice(name="towns", bound=Bound(segments=(ONE,) * 2), share=0.2, count=1)
HELD = Keys(name="held", column="town", epsilon=0.1, delta=1e-6)
QUESTIONS = (CELLS, WAVES, TOWNS, HELD)


def cells(row):
    """Whole numbers, sparse."""
    return row.codes[1:2], jnp.ones(1, jnp.int32)


def waves(row):
    """Floating-point numbers."""
    angle = row.numbers[0].astype(jnp.float64) / 7
    return jnp.stack([jnp.cos(angle), jnp.sin(angle)])


def towns(row):
    return jnp.concatenate([row.codes[1:2] == jnp.arange(4), jnp.arange(4) == 0]).astype(jnp.int32)


def answers(where, schema=SCHEMA, epsilon=math.inf, **settings):
    """What each door answers of the rows that `where` holds."""
    delta = None if math.isinf(epsilon) else 1e-5
    plan = Plan.of(QUESTIONS, epsilon=epsilon, delta=delta, adjacency="add-remove")
    vault = Vault(Stream(TableEncoder.of(schema), where), plan, **settings)
    sums, floats = vault.sum(CELLS, cells), vault.sum(WAVES, waves)
    choice = vault.choose(TOWNS, towns)
    return {
        "cells": sums.values,
        "counts": sums.counts,
        "waves": floats.values,
        "choice": choice(np.zeros((1, 8))),
        "scores": choice._scores(np.zeros((1, 8)), None),
        "keys": vault.keys(HELD),
    }


def same(one, other):
    """Whether two sets of answers are the same to the bit."""
    return all(np.array_equal(one[name], other[name]) for name in one)


def exact_waves():
    """The work of the floating-point sum, as it is sent to workers."""
    return RemoteSum.of(ExactSum(waves, WAVES.bound, ENCODER), None)


class HereParts(AbstractParts):
    """Parts that this process works off one after the other: what engines share, without one."""

    def __init__(self, parts, columns=tuple(SCHEMA.names), types=None):
        self.name, self.parts, self.columns, self.types = "this process", parts, columns, types

    def run(self, task: Task):
        import pickle

        task = pickle.loads(pickle.dumps(task))
        found = [pickle.loads(pickle.dumps(task(part))) for part in self.parts]
        return tree(found, task.add) if found else None


@dataclasses.dataclass(frozen=True)
class Killing(AbstractWork):
    """Work whose first part takes its worker down, once."""

    work: AbstractWork
    mark: Path

    def __call__(self, source):
        try:
            os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return self.work(source)
        os.kill(os.getpid(), signal.SIGKILL)
        return None

    def add(self, one, other):
        return self.work.add(one, other)

    def finish(self, total):
        return self.work.finish(total)
