"""What is said of images, from their scores."""

import pytest

from nacre.evaluate import Score
from nacre.evaluate.images.findings import find


def said(**values):
    scores = [
        Score(table="s", metric=m, part="", value=v, error=None, reference=r, goal="higher")
        for m, (v, r) in values.items()
    ]
    return {f.topic: f.level for f in find("s", scores, None)}


@pytest.mark.parametrize(
    ("precision", "level"), [(0.002, "avoid"), (0.5, "care"), (0.7, None), (0.9, None)]
)
def test_images_that_look_like_no_real_one_are_called_so(precision, level):
    assert said(precision=(precision, 0.8)).get("Likeness") == level


def test_without_real_images_beside_them_nothing_is_judged():
    assert said(precision=(0.002, None)) == {}
