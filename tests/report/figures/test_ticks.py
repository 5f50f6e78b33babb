"""Axes: round numbers, evenly spaced, written alike."""

import numpy as np
import pytest

from nacre.report.figures.canvas import drawing, new_figure
from nacre.report.figures.ticks import number_names, share_axis, value_axis
from nacre.schema import Categorical, Datetime, Integer, Real


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


def values(column, low=0.0, high=1.0) -> dict[float, str]:
    with drawing():
        _, axes = new_figure(3, 2)
        axes.set_xlim(low, high)
        value_axis(axes.xaxis, column, low, high)
        return shown(axes.xaxis)


def test_numbers_are_round_and_where_they_say():
    ticks = values(Integer(low=0, high=1_500_000))
    assert list(ticks.values()) == ["0", "500,000", "1,000,000", "1,500,000"]
    assert list(ticks) == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert list(values(Integer(low=17, high=90)).values()) == ["20", "40", "60", "80"]
    assert list(values(Real(low=-1, high=1, decimals=2)).values()) == [
        "−1.0",
        "−0.5",
        "0.0",
        "0.5",
        "1.0",
    ]
    assert set(values(Integer(low=0, high=1)).values()) == {"0", "1"}


def test_times_are_written_alike():
    years = values(Datetime(low="2000-01-01", high="2024-12-31"))
    assert all(text.isdigit() for text in years.values())
    assert len(years) >= 2
    months = values(Datetime(low="2020-01-05", high="2020-09-10"))
    assert all(text.endswith(" 2020") for text in months.values())
    hours = values(Datetime(low="2020-01-05T00:00:00", high="2020-01-05T20:00:00", step="1min"))
    assert all(":" in text for text in hours.values())
    assert values(Datetime(low="0001-01-01", high="9999-12-31"))


def test_what_has_no_scale_is_left_alone():
    with drawing():
        _, axes = new_figure(3, 2)
        before = list(axes.get_xticks())
        value_axis(axes.xaxis, Categorical(values=["a"]), 0, 1)
        assert list(axes.get_xticks()) == before


@pytest.mark.parametrize("numbers", [[], [0.0], [1e300, 2e300], [1e-9, 2e-9], [3.0]])
def test_any_numbers_have_names(numbers):
    assert len(number_names(numbers)) == len(numbers)
