"""The language of constraints: what is understood, and that nothing else does harm."""

import datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nacre.schema.constraints.statement import (
    KEYWORDS,
    Comparison,
    Membership,
    NotUnderstood,
    Presence,
    Word,
    joined,
    parse,
    parse_all,
)

SIGNS = ("=", "!=", "<", "<=", ">", ">=")
texts = st.text(min_size=1, max_size=8)
words = st.one_of(
    texts.map(Word.of_column),
    texts.map(lambda text: Word.of_value(text, ())),
    st.builds(Word, st.text(max_size=8), st.just("value")),
)
clauses = st.one_of(
    st.builds(Comparison, words, st.sampled_from(SIGNS), words),
    st.builds(Membership, words, st.lists(words, min_size=1, max_size=3).map(tuple), st.booleans()),
    st.builds(Presence, words, st.booleans()),
)
several = st.lists(clauses, min_size=1, max_size=3).map(tuple)


def test_comparison_and_premise():
    assert parse("age >= 18 if employed = yes") == (
        (Comparison(Word("age"), ">=", Word("18")),),
        (Comparison(Word("employed"), "=", Word("yes")),),
    )


@pytest.mark.parametrize(
    ("said", "canonical"),
    [
        ("a<=b", "a <= b"),
        ("  a   ==  b ", "a = b"),
        ("a ≤ b and b ≠ c", "a <= b and b != c"),
        ("18 <= age <= 65", "18 <= age and age <= 65"),
        ("hours-per-week < 40", "hours-per-week < 40"),
        ("seen >= 2024-01-01T10:30", "seen >= 2024-01-01T10:30"),
        ("income = '>50K'", 'income = ">50K"'),
        ("x = 'it''s'", 'x = "it\'s"'),
        ('x = "say ""no"""', 'x = "say ""no"""'),
        ("`marital status` in [a,'b, c']", '`marital status` in [a, "b, c"]'),
        ("x not in [1]", "x not in [1]"),
        ("x is missing and y is not missing", "x is missing and y is not missing"),
        ("`is` is missing", "`is` is missing"),
    ],
)
def test_every_form_has_one_spelling(said, canonical):
    assert joined(parse_all(said)) == canonical
    assert joined(parse_all(canonical)) == canonical


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("", "a column or a value is needed at the end"),
        ("age", "a sign such as"),
        ("age 18", "a sign such as `<=` or `=` is needed before `18`"),
        ("age =", "at the end"),
        ("age = 1 or sex = x", "There is no `or`"),
        ("a = 1 = 2 = 3", "`=` is too much at the end"),
        ("a = Never married", "in quotes"),
        ("a => 3", "needed before `>`"),
        ("(a = 3)", r"`\(` is not known here"),
        ("a ! b", "`!` is not known here"),
        ("a = 'x", "a ' is not closed"),
        ("a = ``", "a ` is not closed"),
        ("a is x", "after `is` stands"),
        ("a not x", "after `not` stands"),
        ("a in x", "list in brackets"),
        ("a in []", "needed before `]`"),
        ("a in [x", "needs commas"),
        ("a in [x y]", "needs commas"),
        ("a = b if", "at the end"),
        ("a = b if c = d if e = f", "`if` is too much"),
        ("if a = b", "needed before `if`"),
        ("missing = 3", "needed before `missing`"),
    ],
)
def test_what_is_not_understood_is_told(said, message):
    with pytest.raises(NotUnderstood, match=message):
        parse(said)


@given(st.one_of(st.text(), st.text("ab<>=!\"'`[],().1 \n"), st.lists(st.sampled_from(
    ["a", "b", *SIGNS, *KEYWORDS, "[", "]", ",", "'", '"', "`", "1"])).map(" ".join)))  # fmt: skip
@example("a" * 100_000)
@example('"' * 9_999)
@example("a in [" + "b," * 5_000)
def test_any_text_is_understood_or_refused(text):
    try:
        demands, premise = parse(text)
    except NotUnderstood:
        return
    again = joined(demands) + (f" if {joined(premise)}" if premise else "")
    assert parse(again) == (demands, premise), "its own spelling means the same"


@given(several, several)
def test_clauses_survive_writing_and_reading(demands, premise):
    assert parse(f"{joined(demands)} if {joined(premise)}") == (demands, premise)


def test_values_of_python_are_written_as_people_do():
    values = [True, 3.0, 2.5, datetime.date(2024, 1, 2), "x y", "if", "age", "<=50K", ""]
    assert [str(Word.of_value(value, {"age"})) for value in values] == [
        "true", "3", "2.5", "2024-01-02", '"x y"', '"if"', '"age"', '"<=50K"', '""',
    ]  # fmt: skip
