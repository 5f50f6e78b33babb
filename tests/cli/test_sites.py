"""Two sites from the shell: sketches that say what they are, one noise a round, then a model."""

import stat

import pyarrow.csv
from tests.cli.conftest import SMALL

import nacre


def test_two_sites_make_one_model(folder):
    whole = pyarrow.csv.read_csv(folder / "people.csv")
    half = whole.num_rows // 2
    for place, part in enumerate((whole.slice(0, half), whole.slice(half))):
        pyarrow.csv.write_csv(part, folder / f"site{place}.csv")
    before = []
    for place in range(4):
        sketches = [folder / f"s{place}{site}.sketch" for site in range(2)]
        for site, sketch in enumerate(sketches):
            done = folder.run(
                "sketch", folder / f"site{site}.csv", "--schema", folder / "people.yaml",
                *SMALL, *before, "-o", sketch,
            )  # fmt: skip
            assert done.exit_code == 0, done.output
            assert "NOT PRIVATE" in done.stderr
            assert stat.S_IMODE(sketch.stat().st_mode) == 0o600
        merged, answers = folder / "all.sketch", folder / f"round{place}.answers"
        assert folder.run("merge", *sketches, "-o", merged).exit_code == 0
        budget = before or ["--epsilon", "1", "--delta", "1e-5"]
        done = folder.run("release", merged, *budget, "-o", answers)
        assert done.exit_code == 0, done.output
        assert not merged.exists()
        before = ["--answers", str(answers)]
        if "nacre train" in done.stderr + done.stdout:
            break
    done = folder.run("train", answers, "-o", folder / "m.nacre")
    assert done.exit_code == 0, done.output
    model = nacre.load(folder / "m.nacre")
    assert model.guarantee.epsilon <= 1 and model.sample(5).num_rows == 5


def test_a_sketch_twice_is_refused(folder):
    sketch = folder / "s.sketch"
    table, schema = folder / "people.csv", folder / "people.yaml"
    assert folder.run("sketch", table, "--schema", schema, *SMALL, "-o", sketch).exit_code == 0
    done = folder.run("merge", sketch, sketch, "-o", folder / "all.sketch")
    assert done.exit_code == 2 and "given twice" in done.stderr
