"""Colors of tables: one each as far as the style sheet has them, light and dark alike."""

import re
from importlib import resources

from nacre.evaluate.report.figures.canvas import RASTER_SERIES, ROLES, SERIES
from nacre.report.builder import series_of
from nacre.report.builder.parts import COLORS


def test_ten_tables_have_ten_colors():
    found = series_of([f"table {n}" for n in range(11)])
    colors = [series.color for series in found.values()]
    assert len(set(colors[:10])) == COLORS == 10
    assert colors[10] == colors[0]


def test_figures_and_style_sheet_know_them_all():
    assert len(SERIES) == len(set(RASTER_SERIES)) == COLORS
    sheet = resources.files("nacre.report").joinpath("templates", "style.css").read_text()
    light, dark = sheet.split("prefers-color-scheme: dark", 1)
    for scheme in (light, dark):
        said = dict(re.findall(r"--(series-\d+): (#\w+);", scheme))
        assert set(said) == {role for role in ROLES if role.startswith("series")}
        assert len(set(said.values())) == COLORS
