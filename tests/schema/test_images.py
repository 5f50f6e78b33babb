"""Schemas of images: what they say, as YAML, and everything that is wrong with one at once."""

import dataclasses

import pytest

from nacre.schema import ImageSchema, Schema, SchemaError, read_any

COLOR = ImageSchema(
    height=32, width=32, channels=3, classes=("no", "yes"), label="Male", crop=178, resize=True
)
SCHEMAS = {
    "gray": ImageSchema(height=28, width=28, classes=10),
    "color": COLOR,
    "no label": ImageSchema(height=4, width=5),
    "read": ImageSchema(height=8, width=8, classes=("a: b", "c,d", "null"), provenance="data"),
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_yaml_says_the_same_again(schema, tmp_path):
    schema.write(tmp_path / "images.yaml")
    assert ImageSchema.parse(schema.to_yaml()) == schema
    assert ImageSchema.from_dict(schema.to_dict()) == schema
    again = read_any(tmp_path / "images.yaml")
    assert again == schema and again.digest == schema.digest


def test_classes_by_number_and_by_name():
    said = "images: {height: 28, width: 28}\nclasses: 10"
    schema = ImageSchema.parse(said)
    assert schema.classes == tuple("0123456789") and schema.numbered
    assert schema.shape == (28, 28, 1) and schema.label == "label"
    assert not COLOR.numbered
    # YAML of these would be Booleans; here they are the words that people wrote.
    words = ImageSchema.parse("images: {height: 1, width: 1}\nclasses: [yes, no, 01]")
    assert words.classes == ("yes", "no", "01") and not words.numbered


def test_digests_tell_schemas_apart():
    digests = {schema.digest for schema in SCHEMAS.values()}
    assert len(digests) == len(SCHEMAS)
    assert dataclasses.replace(COLOR, resize=True, crop=177).digest not in digests


def test_every_problem_at_once():
    said = {
        "images": {"width": 0, "channels": 2, "crop": "much", "resize": "maybe", "depth": 8},
        "classes": ["a", "a", ""],
        "provenance": "heaven",
        "reviewed": "perhaps",
        "colour": "red",
        "nacre": 7,
    }
    with pytest.raises(SchemaError) as caught:
        ImageSchema.from_dict(said)
    problems = "\n".join(caught.value.problems)
    for words in (
        "`colour` is not known here",
        "`depth` is not known",
        "needs `height`",
        "nacre: 7 is not",
        "width=0 must be a whole number from 1 to 1024",
        "channels=2 must be 1 (gray) or 3 (color)",
        "crop='much' must be a whole number",
        "resize='maybe' must be true or false",
        "reviewed='perhaps' must be true or false",
        "provenance='heaven' must be one of declared, data",
        "classes lists 'a' twice",
        "classes lists an empty value",
    ):
        assert words in problems, words
    assert len(caught.value.problems) == 12


@pytest.mark.parametrize("classes", [1, 0, -3, 1001, 2.5, True, "cats", [], ["a"], {"a": 1}])
def test_what_is_no_list_of_classes_is_refused(classes):
    with pytest.raises(SchemaError, match="classes must list 2 to 1000 values"):
        ImageSchema(height=4, width=4, classes=classes)
    with pytest.raises(SchemaError, match="classes must list 2 to 1000 values"):
        ImageSchema.from_dict({"images": {"height": 4, "width": 4}, "classes": classes})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"label": "image"}, "name of the pixels"),
        ({"label": ""}, "must be text"),
        ({"crop": 20}, "squares of another size than 28 x 28. Say `resize: true`"),
        ({"height": 2000}, "from 1 to 1024"),
        ({"height": 28.5}, "from 1 to 1024"),
    ],
)
def test_single_problems(changed, message):
    with pytest.raises(SchemaError, match=message):
        ImageSchema(**{"height": 28, "width": 28, "classes": 3, **changed})
    assert ImageSchema(height=20, width=20, crop=20).crop == 20


def test_a_table_s_reader_says_what_to_do(tmp_path):
    COLOR.write(tmp_path / "faces.yaml")
    with pytest.raises(SchemaError, match="schema of images: read it with ImageSchema.read"):
        Schema.read(tmp_path / "faces.yaml")
    with pytest.raises(SchemaError, match="`images` must be a mapping"):
        ImageSchema.parse("columns: {x: {type: boolean}}")


def test_what_was_read_from_images_must_be_reviewed():
    with pytest.raises(SchemaError, match="Check that size and classes are public"):
        SCHEMAS["read"].require_usable()
    dataclasses.replace(SCHEMAS["read"], reviewed=True).require_usable()
    assert "reviewed: false" in SCHEMAS["read"].to_yaml()


def test_the_label_is_its_own_or_none():
    assert COLOR.with_label("Male") is COLOR
    assert COLOR.with_label(None).classes is None
    with pytest.raises(SchemaError, match="have the label 'Male', not 'Young'"):
        COLOR.with_label("Young")
