"""The README's table: what is measured for it, and where it is written."""

import pytest
from bench.kept import Kept
from bench.variants import usable

from bench import readme

TEXT = "# nacre\n\n<!-- results -->\nold\n<!-- /results -->\n\nAfter.\n"
NUMBERS = {"logistic": 0.9, "forest": 0.88, "boosting": 0.912, "cpu_seconds": 20.4}
NUMBERS |= {"tv1": 0.006, "tv2": 0.024, "tv3": 0.0541}


@pytest.fixture
def measured(tmp_path):
    """Run the table for some methods; MST fails."""
    kept, made = Kept(tmp_path / "readme.json"), []

    def measure(row, seed, known):
        made.append(row.key(seed))
        if row.variant == "mst":
            raise ValueError("no mbi")
        return NUMBERS | {"logistic": 0.9 + 0.01 * seed}

    def go(names, seeds=(0,), **options):
        return readme.run(kept, usable(names)[0], seeds, measure=measure, **options)

    return kept, made, go


def test_means_over_seeds_stand_between_the_marks(measured, tmp_path):
    kept, _, go = measured
    go(["pearl-network", "mosaic"], seeds=range(3))
    place = tmp_path / "README.md"
    place.write_text(TEXT)
    readme.main(["--render", "--json", str(kept.place), "--readme", str(place)])
    text = place.read_text()
    assert text.startswith("# nacre\n\n<!-- results -->\n")
    assert text.endswith("<!-- /results -->\n\nAfter.\n")
    assert "old" not in text
    assert "| real data | .910, .880, .912 |  |  | 3 |" in text
    numbers = ".910, .880, .912 | .006, .024, .054 | 20 | 3 |"
    assert f"| **Mosaic**, the default | {numbers}" in text
    assert f"| Mosaic at ε = 0.2 | {numbers}" in text
    assert f"| PEARL, as published | {numbers}" in text
    assert "versions" not in text


def test_what_this_version_measured_is_not_measured_again(measured, monkeypatch):
    _, made, go = measured
    go(["mosaic"])
    assert made == ["real 0", "mosaic 1 0", "mosaic 0.2 0"]
    go(["mosaic"])
    assert len(made) == 3
    monkeypatch.setattr("bench.kept.source", lambda: "newer")
    go(["mosaic"])
    assert len(made) == 6


def test_mixed_versions_are_said(measured, monkeypatch):
    kept, _, go = measured
    go(["mosaic"])
    monkeypatch.setattr("bench.kept.measured_with", lambda: {"nacre": "2", "source": "newer"})
    go(["mosaic", "merf"])
    assert "Measured with 2 versions of the code" in readme.render(kept.read())


def test_a_failure_does_not_stop_the_others(measured):
    kept, _, go = measured
    assert go(["mst", "pearl"]) == ["mst 1 0: ValueError: no mbi"]
    assert "| PEARL |" in readme.render(kept.read())
    assert "| MST |" not in readme.render(kept.read())


def test_no_run_starts_after_the_deadline(measured):
    _, made, go = measured
    go(["mosaic"], minutes=0)
    assert not made


def test_without_results_or_marks_nothing_is_written(tmp_path):
    place = tmp_path / "README.md"
    place.write_text("# nacre\n")
    with pytest.raises(SystemExit, match="has no results"):
        readme.main(["--render", "--json", str(tmp_path / "no.json"), "--readme", str(place)])
    with pytest.raises(SystemExit, match="no place for the table"):
        readme.write("table", place)
    assert place.read_text() == "# nacre\n"


def test_the_project_has_a_place_for_the_table():
    text = readme.README.read_text(encoding="utf-8")
    assert text.count(readme.BEGIN) == text.count(readme.END) == 1
