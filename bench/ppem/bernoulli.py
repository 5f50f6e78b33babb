"""Bernoulli plots, as in the paper: the share of ones in each column, real against synthetic."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from bench.ppem.scores import Data
from nacre.evaluate.report.figures.canvas import drawing, write_svg
from nacre.evaluate.report.figures.panels import Point, draw_point_panels
from nacre.schema import Boolean


def shares(table: pa.Table, names: list[str]) -> np.ndarray:
    """How many rows hold true, of each column."""
    return np.array([np.mean(table[name].to_numpy(zero_copy_only=False)) for name in names])


def draw(name: str, each: str, synthetic: pa.Table, data: Data, folder: Path) -> None:
    """One point a yes-or-no column; nothing where there are none."""
    names = [n for n in data.schema.names if isinstance(data.schema.columns[n], Boolean)]
    if not names:
        return
    pairs = zip(names, shares(data.train, names), shares(synthetic, names), strict=True)
    points = [Point(n, float(real), float(made)) for n, real, made in pairs]
    with drawing():
        figure = draw_point_panels({each: points}, ("share in the real table", "synthetic"))
        said = each.replace(", ε = ", "-").replace("∞", "inf").replace(", ", "-").replace(" ", "-")
        write_svg(figure, f"{name}: {each}", folder / f"{name}-{said}-bernoulli.svg")
