"""DP-auto-GAN's bench on a stand-in for the method: columns drawn each by itself."""

import json

import numpy as np
import pyarrow as pa

from bench import autogan
from nacre.schema import Boolean, Integer, Schema

NAMES = ("age", "hours", "a", "b", "c")


def made(name, rows=None):
    rng = np.random.default_rng(len(name))
    parts = []
    for size in (240, 160):
        age = rng.integers(20, 60, size)
        flags = [age + rng.normal(0, 8, size) > 40 for _ in "abc"]
        parts.append(pa.table([age, age // 2 + rng.integers(0, 9, size), *flags], names=NAMES))
    columns = {"age": Integer(low=20, high=60), "hours": Integer(low=0, high=60)}
    data = autogan.Data(*parts, Schema(columns | {n: Boolean() for n in "abc"}))
    if name == "binary":
        schema = data.schema.select("abc")
        return autogan.Data(*(p.select(list("abc")) for p in data[:2]), schema)
    return data


def test_figures_and_scores_are_kept(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(autogan, "read", made)
    options = ["--method", "independent", "--epsilons", "inf,0.94", "--folder", str(tmp_path)]
    autogan.main([*options, "--datasets", "mixed,binary", "--figures"])
    files = {path.name for path in tmp_path.iterdir()}
    kinds = ("probability", "prediction", "plane", "three-way")
    assert files == {
        *(f"{name}-{kind}.svg" for name in ("mixed", "binary") for kind in kinds),
        *(f"mixed-histogram-{name}.svg" for name in ("age", "hours")),
        "mixed.json",
        "binary.json",
    }
    found = json.loads((tmp_path / "binary.json").read_text())
    assert set(found) == {"ε = ∞", "ε = 0.94", "real"}
    # Flags of one age predict each other, and no more when each is drawn by itself.
    metric = "dimension-prediction-published"
    assert found["real"][metric] > 0.75 > 0.65 > found["ε = ∞"][metric]
    assert "binary, independent" in capsys.readouterr().out
