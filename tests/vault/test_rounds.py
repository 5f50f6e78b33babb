"""Earlier answers are given again, and a choice in rounds is the choice of one vault."""

import math

import numpy as np
import pytest
from tests.engines.asking import CELLS, ENCODER, HELD, QUESTIONS, TOWNS, cells, towns, waves
from tests.engines.conftest import made

from nacre.errors import NacreError
from nacre.rows import Stream
from nacre.vault import Plan, Vault
from nacre.vault.rounds import Asked, Exact, RoundVault

PLAN = Plan.of(QUESTIONS, epsilon=math.inf, delta=None, adjacency="add-remove")


def summed(question, features, given=()):
    """The exact sums of the next question, as a place works them out."""
    vault = RoundVault(ENCODER, PLAN, given)
    with pytest.raises(Asked) as caught:
        (vault.sum if question is CELLS else vault.choose)(question, features)
    asked = caught.value
    sums = asked.exact.over(Stream(ENCODER, made(300)), asked.public)
    return Exact(asked.program, *sums)


def test_rounds_answer_as_a_vault_does():
    plain = Vault(Stream(ENCODER, made(300)), PLAN)
    charged = []
    vault = RoundVault(ENCODER, PLAN, (), fresh=summed(CELLS, cells), charge=charged.append)
    expected = plain.sum(CELLS, cells)
    assert np.array_equal(vault.sum(CELLS, cells).values, expected.values)
    assert [release.name for release in charged] == ["cells"]
    choosing = RoundVault(ENCODER, PLAN, (), fresh=summed(TOWNS, towns))
    target = np.zeros((1, 8))
    pick = choosing.choose(TOWNS, towns)(target)
    assert pick == plain.choose(TOWNS, towns)(target)
    again = RoundVault(ENCODER, PLAN, choosing.answers).choose(TOWNS, towns)
    assert again(target) == pick and again.left == 0
    with pytest.raises(NacreError, match="was not made"):
        again(target)


def test_a_program_is_known_by_all_that_decides_what_a_row_counts_as():
    first, again = summed(CELLS, cells), summed(CELLS, cells)
    other = summed(CELLS, lambda row: (row.codes[1:2], 1 + 0 * row.codes[1:2]))
    assert first.program == again.program != other.program
    vault = RoundVault(ENCODER, PLAN, (), fresh=other)
    with pytest.raises(NacreError, match="another question"):
        vault.sum(CELLS, cells)


def test_more_numbers_than_there_are_cannot_be_used():
    vault = RoundVault(ENCODER, PLAN, (), fresh=summed(CELLS, cells))
    for used in (-1, CELLS.bound.size + 1):
        with pytest.raises(NacreError, match="`used` is"):
            vault.sum(CELLS, cells, used=used)
    assert vault.sum(CELLS, cells, used=CELLS.bound.size).values.any()


def test_a_question_is_answered_as_often_as_announced():
    vault = RoundVault(ENCODER, PLAN, (), fresh=summed(CELLS, cells))
    vault.sum(CELLS, cells)
    with pytest.raises(NacreError, match="as often as was announced"):
        vault.sum(CELLS, cells)
    with pytest.raises(NacreError, match="asks for 'waves' where 'cells'"):
        RoundVault(ENCODER, PLAN, vault.answers).sum(QUESTIONS[1], waves)
    for refused in (lambda v: v.keys(HELD), lambda v: v.view(waves), lambda v: v.vote(None)):
        with pytest.raises(NacreError, match="only sums and choices"):
            refused(vault)
