"""What all engines share: the same answers in parts as in one piece, and nothing else leaves."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("flatbuffers", reason="engines send programs as flatbuffers: make test-engines")

import itertools

from tests.engines.asking import (
    CELLS,
    ENCODER,
    HELD,
    QUESTIONS,
    HereParts,
    answers,
    cells,
    exact_waves,
    same,
    waves,
)
from tests.engines.conftest import ROWS, SCHEMA, made

import nacre
from nacre.errors import NacreError
from nacre.rows import Source, Stream, open_source
from nacre.rows.parts import AbstractWork, Failure, Task
from nacre.rows.pieces import Passing, Piece, pieces_of
from nacre.rows.source import files_of
from nacre.schema import Boolean, Categorical, Schema, Unit
from nacre.vault import Plan, Vault


def test_parts_of_any_size_give_the_same_bits(table, whole):
    for edges in ((0, ROWS), (0, 1, 2, 700, 700, 2999, ROWS)):
        parts = [table.slice(a, b - a) for a, b in itertools.pairwise(edges)]
        assert same(answers(HereParts(parts)), whole)
        assert same(answers(HereParts(parts[::-1])), whole)


def test_answers_are_not_trivial(whole):
    assert whole["counts"].sum() == ROWS and (whole["cells"] > 0).all()
    assert whole["keys"] == ("Aa", "Bb", "Cc", "elsewhere")


def test_pieces_of_files_hold_every_row_once(folder, whole, table, monkeypatch):
    monkeypatch.setattr("nacre.rows.pieces.ROWS", 500)
    pieces = pieces_of(files_of(folder))
    assert len(pieces) > 5
    assert sum(b.num_rows for p in pieces for b in open_source(p).batches()) == ROWS
    assert same(answers(HereParts(pieces)), whole)


def test_a_pattern_of_files_is_a_table(folder, whole):
    assert same(answers(folder / "part*.parquet"), whole)
    with pytest.raises(NacreError, match="No file fits"):
        open_source(folder / "none*.parquet")


def test_batches_that_pass_once_are_read_like_a_frame(table, whole):
    parts = [
        Passing(tuple(table.column_names), iter(table.slice(i, 1000).to_batches(300)))
        for i in range(0, ROWS, 1000)
    ]
    for name in ("cells", "waves"):  # one pass each, so one question each
        vault = Vault(
            Stream(ENCODER, _Once(parts)),
            Plan.of(QUESTIONS, epsilon=np.inf, delta=None, adjacency="add-remove"),
        )
        question, features = {"cells": (CELLS, cells), "waves": (QUESTIONS[1], waves)}[name]
        parts[:] = [
            Passing(tuple(table.column_names), iter(table.slice(i, 1000).to_batches(300)))
            for i in range(0, ROWS, 1000)
        ]
        assert np.array_equal(vault.sum(question, features).values, whole[name])


class _Once(HereParts):
    """Parts that cannot be read again, and so are not pickled either."""

    def run(self, task):
        return task.add([task(part) for part in self.parts])


def test_no_part_at_all_is_a_table_without_rows(table):
    assert same(answers(HereParts([])), answers(table.slice(0, 0)))


def test_the_holders_check_adds_up(table):
    ages = table["age"].to_numpy().copy()
    ages[[3, 1500]] = 200
    bad = table.set_column(0, "age", pa.array(ages))
    parts = HereParts([bad.slice(i, 1000) for i in range(0, ROWS, 1000)])
    found = open_source(parts, SCHEMA).check(SCHEMA)
    assert found == open_source(bad, SCHEMA).check(SCHEMA)
    assert found.bad_rows == 2 and not found.ok
    with pytest.raises(NacreError, match="2 out of range|does not fit"):
        Stream(ENCODER, parts).check()
    good = HereParts([table.slice(i, 1000) for i in range(0, ROWS, 1000)])
    assert Stream(ENCODER, good).check() == Stream(ENCODER, good).count() == ROWS


def test_step_wise_methods_are_refused_before_a_pass(table):
    class Never(HereParts):
        def run(self, task):
            raise AssertionError("no part may be touched")

    for method in ("dpgan", "pategan"):
        with pytest.raises(NacreError, match="all rows in one place.*Nothing was spent"):
            nacre.fit(Never([table]), SCHEMA, epsilon=1, delta=1e-5, method=method, rows=ROWS)


def test_views_votes_and_persons_are_refused(table):
    parts = HereParts([table])
    vault = Vault(
        Stream(ENCODER, parts), Plan.of(QUESTIONS, epsilon=1, delta=1e-5, adjacency="add-remove")
    )
    with pytest.raises(NacreError, match="all rows in one place"):
        vault.view(waves)
    assert not vault.releases
    persons = Schema({**SCHEMA.columns}, unit=Unit(column="who", rows=2))
    whose = HereParts([table.append_column("who", table["town"])], (*SCHEMA.names, "who"))
    with pytest.raises(NacreError, match="one person may be in several parts"):
        answers(whose, persons)


def test_charges_come_after_the_parts_and_before_noise(table):
    seen = []

    class Watched(HereParts):
        def run(self, task):
            seen.append("pass")
            return super().run(task)

    answers(Watched([table]), epsilon=1.0, charge=lambda release: seen.append(release.name))
    assert seen == ["pass", "cells", "pass", "waves", "pass", "towns", "pass", "held"]


def test_machines_that_may_round_differently_are_refused_before_a_charge(table, monkeypatch):
    names = iter("abcdefgh")
    monkeypatch.setattr("nacre.vault.remote_sum.machine", lambda: next(names))
    parts, charged = HereParts([table.slice(0, 1000), table.slice(1000)]), []
    plan = Plan.of(QUESTIONS, epsilon=1, delta=1e-5, adjacency="add-remove")
    vault = Vault(Stream(ENCODER, parts), plan, charge=charged.append)
    vault.sum(CELLS, cells)  # whole numbers are the same anywhere
    assert [release.name for release in charged] == ["cells"]
    with pytest.raises(NacreError, match="workers of 2 kinds"):
        vault.sum(QUESTIONS[1], waves)
    assert [release.name for release in charged] == ["cells"]


@dataclasses.dataclass(frozen=True)
class Quoting(AbstractWork):
    """Work that fails with a message that quotes a row."""

    def __call__(self, source: Source):
        raise RuntimeError("secret row")

    def add(self, one, other):
        return one


def test_a_failure_at_a_worker_quotes_no_row(table):
    task = Task(Quoting(), SCHEMA)
    assert task(table) == Failure("RuntimeError", ours=False)
    with pytest.raises(NacreError, match="could not read its part") as caught:
        open_source(HereParts([table]), SCHEMA).reduce(Quoting())
    assert "secret" not in str(caught.value)


def test_a_missing_file_is_told_in_words(folder):
    parts = HereParts([Piece(folder / "gone.parquet", (0,))])
    with pytest.raises(NacreError, match="There is no file"):
        answers(parts)


def test_what_travels_holds_no_python_of_ours():
    work = exact_waves()
    assert isinstance(work.program, bytes)
    assert all(isinstance(array, np.ndarray) for array in work.known)


def test_a_private_draft_in_parts(table):
    parts = HereParts([table.slice(0, 1000), table.slice(1000)])
    types = {"age": "integer", "town": "categorical"}
    rest = ["wage", "seen", "paid"]
    found = nacre.private_draft(parts, epsilon=5, delta=1e-6, types=types, drop=rest)
    assert found.columns["age"].low == 0 and found.columns["age"].high == 127
    assert isinstance(found.columns["town"], Categorical)
    assert set(found.columns["town"].values) == {"Aa", "Bb", "Cc", "elsewhere"}


def test_look_up_tables_are_bought_in_parts():
    towns = ["Aa", "Bb", "Cc"]
    table = pa.table({"town": towns * 400, "north": [True, False, True] * 400})
    schema = Schema({"town": Categorical(values=towns), "north": Boolean()})
    parts = HereParts([table.slice(0, 500), table.slice(500)], tuple(schema.names))
    found = nacre.buy_lookups(parts, schema, "north determined by town", epsilon=5, delta=1e-6)
    assert dict(found.facts[0].table) == {"Aa": "true", "Bb": "false", "Cc": "true"}


def test_a_made_table_fits_its_schema():
    assert open_source(made(50), SCHEMA).check(SCHEMA).ok
    assert HELD.column in SCHEMA.names
