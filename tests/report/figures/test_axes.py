"""Axes: round numbers, evenly spaced, written alike."""

import numpy as np
import pytest

from nacre.evaluate.report.figures.canvas import drawing, new_figure
from nacre.report.figures.axes import on_axis, share_axis, value_axis
from nacre.schema import Datetime, Integer, Real, Time


def shown(axis) -> dict[float, str]:
    axis.figure.draw_without_rendering()
    low, high = sorted(axis.get_view_interval())
    places, labels = axis.get_majorticklocs(), axis.get_majorticklabels()
    return {
        float(place): label.get_text()
        for place, label in zip(places, labels, strict=True)
        if low <= place <= high
    }


@pytest.mark.parametrize("top", [0.0007, 0.02, 0.03, 0.11, 0.18, 0.5, 1.0])
def test_percentages_say_exactly_where_they_stand(top):
    with drawing():
        _, axes = new_figure(3, 2)
        axes.set_ylim(0, top)
        share_axis(axes.yaxis)
        ticks = shown(axes.yaxis)
    assert len(ticks) >= 3
    for place, text in ticks.items():
        assert float(text.removesuffix("%")) == pytest.approx(100 * place)
    assert np.ptp(np.diff(list(ticks))) < 1e-9


def values(column) -> dict[float, str]:
    with drawing():
        _, axes = new_figure(3, 2)
        axes.set_xlim(*on_axis(column, (-0.001, 1.001)))
        value_axis(axes.xaxis, column)
        return shown(axes.xaxis)


@pytest.mark.parametrize(
    ("column", "names"),
    [
        (Integer(low=0, high=1_500_000), ["0", "500 k", "1 M", "1.5 M"]),
        (Integer(low=17, high=90), ["20", "40", "60", "80"]),
        (Real(low=-1, high=1, decimals=2), ["−1.0", "−0.5", "0.0", "0.5", "1.0"]),
        (Integer(low=0, high=1), ["0", "1"]),
        (
            Integer(low=1_000_001, high=1_000_009),
            ["1,000,002", "1,000,004", "1,000,006", "1,000,008"],
        ),
    ],
)
def test_numbers_are_round_and_written_alike(column, names):
    assert list(values(column).values()) == names


def test_numbers_stand_where_they_say():
    assert values(Integer(low=10, high=60)) == {20: "20", 40: "40", 60: "60"}


def test_times_are_written_alike():
    years = values(Datetime(low="2000-01-01", high="2024-12-31"))
    assert all(text.isdigit() for text in years.values())
    assert len(years) >= 2
    months = values(Datetime(low="2020-01-05", high="2020-09-10"))
    assert all(text.endswith(" 2020") for text in months.values())
    hours = values(Datetime(low="2020-01-05T00:00:00", high="2020-01-05T20:00:00", step="1min"))
    assert all(":" in text for text in hours.values())
    assert values(Datetime(low="0001-01-01", high="9999-12-31"))


def test_times_of_day_have_no_day():
    assert list(values(Time()).values())[:2] == ["00:00", "06:00"]
    assert all(len(text) == 5 for text in values(Time(low="08:00", high="09:00")).values())


def test_a_day_ends_at_midnight():
    # A date alone as the high of a column of minutes is all of that day.
    ends = on_axis(Datetime(low="2020-01-05", high="2020-01-05", step="1min"), (0, 1))
    assert ends[1] - ends[0] == pytest.approx(1, abs=1e-3)
