"""The YAML form: nothing is guessed, everything comes back, errors say where."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.schema import (
    Boolean,
    Categorical,
    Datetime,
    Integer,
    Ordinal,
    Real,
    Schema,
    SchemaError,
)

COLUMN = "columns: {a: {type: boolean}}"
NUMBERS = "columns: {a: &a {type: integer, low: 0, high: 9}, b: *a}"
# A few lines of nested aliases would be gigabytes if each were written out.
LAUGHS = "&a0 [x, y], " + ", ".join(
    f"&a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30)
)

HOUSE = """
nacre: 1
label: income
columns:
  age:    {type: integer, low: 17, high: 90}
  wage:   {type: real, low: 0, high: 1000, decimals: 2, nullable: true}
  sex:    {type: categorical, values: [Female, Male], other: false}
  degree: {type: ordinal, values: [low, mid, high]}
  member: {type: boolean}
  seen:   {type: datetime, low: 2000-01-01, high: 2024-12-31, step: 1d}
  income: {type: categorical, values: ["<=50K", ">50K"]}
"""


def test_the_form_in_the_guide():
    assert Schema.parse(HOUSE) == Schema(
        {
            "age": Integer(low=17, high=90),
            "wage": Real(low=0, high=1000, decimals=2, nullable=True),
            "sex": Categorical(values=["Female", "Male"]),
            "degree": Ordinal(values=["low", "mid", "high"]),
            "member": Boolean(),
            "seen": Datetime(low="2000-01-01", high="2024-12-31"),
            "income": Categorical(values=["<=50K", ">50K"]),
        },
        label="income",
    )


def test_values_stay_as_written():
    text = """
    columns:
      x: {type: categorical, values: [no, 1, null, 2000-01-01, 1.50, ~, 0x1F, "yes", on, 1e3]}
    """
    expected = ("no", "1", "null", "2000-01-01", "1.50", "~", "0x1F", "yes", "on", "1e3")
    schema = Schema.parse(text)
    assert schema.columns["x"].values == expected
    assert Schema.parse(schema.to_yaml()).columns["x"].values == expected


def test_names_stay_as_written():
    text = "label: no\ncolumns: {no: {type: boolean}, 1: {type: boolean}, null: {type: boolean}}"
    schema = Schema.parse(text)
    assert schema.names == ("no", "1", "null")
    assert Schema.parse(schema.to_yaml()) == schema


@pytest.mark.parametrize("label", ["null", "~", ""])
def test_no_label(label):
    assert Schema.parse(f"label: {label}\ncolumns: {{a: {{type: boolean}}}}").label is None


def test_quoted_null_is_a_label():
    assert Schema.parse('label: "null"\ncolumns: {null: {type: boolean}}').label == "null"


def test_written_file_explains_itself(tmp_path):
    schema = Schema.parse(HOUSE.replace("label: income", "label: income\nprovenance: data"))
    schema.write(tmp_path / "people.yaml")
    text = (tmp_path / "people.yaml").read_text(encoding="utf-8")
    comments = "\n".join(line for line in text.splitlines() if line.lstrip().startswith("#"))
    for field in ("low", "decimals", "values", "other", "step", "nullable", "predict", "public"):
        assert field in comments
    assert Schema.read(tmp_path / "people.yaml") == schema
    assert "  age: {type: integer, low: 17, high: 90}\n" in text


def test_releases_keep_their_types():
    releases = (
        {"door": "sum", "noise": 1e-05, "steps": 3, "on": True, "who": "no", "n": None},
        {"nested": {"values": [1, 2.5, "3", "2000-01-01"]}},
    )
    schema = Schema({"a": Boolean()}, provenance="private", releases=releases)
    for back in (
        Schema.parse(schema.to_yaml()),
        Schema.from_dict(json.loads(json.dumps(schema.to_dict()))),
    ):
        assert back.releases == releases
        assert back.digest == schema.digest


def test_all_problems_of_a_file_at_once(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text(
        """
nacre: 2
label: foo
unit: person
lable: x
columns:
  age: {type: integer, low: 120, high: 0}
  sex: {type: categorical}
  x: {type: int, low: 1}
  y: {type: real, low: 0, hi: 3}
  z: 3
  w: {low: 3}
"""
    )
    with pytest.raises(SchemaError) as caught:
        Schema.read(path)
    lines = str(caught.value).splitlines()
    assert lines[0] == f"The schema '{path}' has 11 problems:"
    assert lines[1:] == [
        "  `lable` is not known here. Did you mean label?",
        "  nacre: '2' is not a schema version known here. This is version 1; a later nacre may "
        "read it.",
        "  'age': low=120 must be below high=0.",
        "  'sex': no values given. List every value it may take; they are never learnt from the "
        "data, as that would leak rare ones.",
        "  'x': type 'int' is not known. Use one of integer, real, categorical, ordinal, boolean, "
        "datetime, time. Did you mean integer?",
        "  'y': `hi` is not known for type real. Did you mean high?",
        "  'y': no high given. A column of type real needs a public bound `high`.",
        "  'z': describe it as {type: ..., ...}.",
        "  'w': no type given. Use one of integer, real, categorical, ordinal, boolean, datetime, "
        "time.",
        "  label 'foo' is not a column. The columns are 'age', 'sex', 'x', 'y', 'z', 'w'.",
        "  unit: say which column tells persons apart, and how many rows of a person count: "
        "`unit: {column: person, rows: 5}`.",
    ]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "must be a mapping"),
        ("- a\n- b", "must be a mapping"),
        ("columns: {a: {type: boolean}", r"not valid YAML \(line \d"),
        ("columns: [a, b]", "`columns` must be a mapping"),
        ("label: a", "no columns given"),
        ("columns: {a: {type: boolean}, a: {type: boolean}}", "Line 1: 'a' is there twice"),
        ("columns: {? [a] : {type: boolean}}", "a name must be plain text"),
        ("columns: &x {a: *x}", "alias inside its own anchor"),
        (f"columns: {{a: {{type: [{LAUGHS}]}}}}", "aliases repeat too much"),
        (f"{COLUMN}\nconstraints: [{LAUGHS}]", "aliases repeat too much"),
        (f"{COLUMN}\nprotect: [[[a]]]", "Cannot protect"),
        (f"{NUMBERS}\nfacts: ['a = b * 1e999']", "larger than numbers can be"),
        (f"{COLUMN}\nunit: {{column: b, rows: 2, constant: [[a]]}}", "does not have"),
        ("columns: {a: {type: boolean}}\nreleases: 3", "`releases` must be a list"),
        ("columns: {a: {type: boolean}}\nreleases: [3]", "releases must be a list of mappings"),
        ("columns: {a: {type: [boolean]}}", "type a list is not known"),
        ("columns: {a: !!python/object:os.system {}}", "describe it|no type given"),
        ("columns: {a: {type: boolean}}\nreviewed: perhaps", "reviewed='perhaps' must be true"),
    ],
)
def test_bad_documents(text, part):
    with pytest.raises(SchemaError, match=part):
        Schema.parse(text)


def test_files_that_are_not_there_or_not_text(tmp_path):
    with pytest.raises(SchemaError, match="There is no schema file"):
        Schema.read(tmp_path / "none.yaml")
    with pytest.raises(SchemaError, match="cannot be read"):
        Schema.read(tmp_path)
    (tmp_path / "latin.yaml").write_bytes("columns: {größe: {type: boolean}}".encode("latin-1"))
    with pytest.raises(SchemaError, match="not UTF-8"):
        Schema.read(tmp_path / "latin.yaml")


def test_aliases_share_a_list():
    shared = "columns: {a: &a {type: ordinal, values: [x, y]}, b: *a}"
    assert Schema.parse(shared).columns["b"] == Ordinal(values=["x", "y"])


flags = st.booleans()
# What YAML can write; surrogates cannot be encoded, and control characters are never categories.
words = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12)
texts = words.map(str.strip).filter(bool)
values = st.lists(texts, min_size=1, max_size=6, unique_by=lambda s: s.strip(" \t\n\r\f\v"))
whole = st.integers(-(2**53) + 1, 2**53 - 1)
reals = st.floats(-1e300, 1e300)


def ordered(numbers):
    return st.tuples(numbers, numbers).map(sorted).filter(lambda pair: pair[0] < pair[1])


columns = st.one_of(
    st.builds(lambda b, n: Integer(low=b[0], high=b[1], nullable=n), ordered(whole), flags),
    st.builds(lambda b, n: Real(low=b[0], high=b[1], nullable=n), ordered(reals), flags),
    st.builds(Categorical, values=values, other=flags, nullable=flags),
    st.builds(Ordinal, values=values, nullable=flags),
    st.builds(Boolean, nullable=flags),
    st.builds(
        lambda b, s: Datetime(low=b[0].isoformat(), high=b[1].isoformat(), step=s),
        ordered(st.datetimes()).filter(lambda b: (b[1] - b[0]).days > 14),
        st.sampled_from(["1d", "1h", "15min", "1s", "2w", "1ms"]),
    ),
)


@settings(deadline=None)
@given(st.dictionaries(texts, columns, min_size=1, max_size=5), st.data())
def test_round_trip(columns, data):
    label = data.draw(st.sampled_from([None, *columns]))
    schema = Schema(columns, label=label, provenance="data", reviewed=data.draw(flags))
    for back in (
        Schema.parse(schema.to_yaml()),
        Schema.from_dict(json.loads(json.dumps(schema.to_dict()))),
    ):
        assert back.columns == schema.columns
        assert back.names == schema.names
        assert back.digest == schema.digest


def test_ten_thousand_categories():
    schema = Schema({"x": Categorical(values=[f"value {i}" for i in range(10_000)])})
    assert Schema.parse(schema.to_yaml()) == schema
