"""DP-auto-GAN's figures: what is drawn where, and files that stand alone."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from nacre.evaluate.report.figures.canvas import ROLES, drawing, write_svg
from nacre.evaluate.report.figures.panels import Point, draw_distances, draw_point_panels

POINTS = {
    "a": [Point("x", 0.2, 0.3, "numbers"), Point("y", 0.9, 0.8, "categories")],
    "b": [Point("y", 0.9, 0.1, "categories")],
}


@pytest.fixture
def house():
    pytest.importorskip("matplotlib")
    with drawing():
        yield


def drawn_points(panel):
    lines = [line for line in panel.lines if line.get_marker() == "o"]
    return sorted((x, y) for line in lines for x, y in zip(*line.get_data(), strict=True))


def test_each_table_has_a_panel_on_the_same_axes(house):
    panels = draw_point_panels(POINTS, ("real", "synthetic")).axes
    assert [panel.get_title(loc="left") for panel in panels] == ["a", "b"]
    assert [drawn_points(panel) for panel in panels] == [[(0.2, 0.3), (0.9, 0.8)], [(0.9, 0.1)]]
    assert panels[0].get_xlim() == panels[1].get_xlim() == panels[1].get_ylim()
    # One color for a kind of column, whichever table it is in.
    colors = [{line.get_label(): line.get_color() for line in panel.lines} for panel in panels]
    assert colors[0]["categories"] == colors[1]["categories"] != colors[0]["numbers"]


def test_a_score_below_the_axes_widens_them(house):
    panel = draw_point_panels({"a": [Point("x", 0.5, -2.0)]}, ("real", "synthetic")).axes[0]
    assert panel.get_ylim()[0] < -2 and panel.get_legend() is None


def test_distances_are_a_distribution_function(house):
    figure = draw_distances({"a": [0.4, 0.2]}, [0.1], "triples")
    x, y = figure.axes[0].lines[1].get_data()
    assert np.allclose(x, [0, 0.2, 0.4]) and np.allclose(y, [0, 0.5, 1])


def test_a_file_stands_alone(house, tmp_path):
    path = tmp_path / "points.svg"
    write_svg(draw_point_panels(POINTS, ("real", "<synthetic>")), "a & b", path)
    text = path.read_text(encoding="utf-8")
    assert ElementTree.fromstring(text).tag.endswith("svg")
    assert "var(--" not in text and not any(color in text for color in ROLES.values())
    assert "<title>a &amp; b</title>" in text and "#0d7f7c" in text
