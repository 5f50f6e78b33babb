"""The calendar by integers, against Python's, for every day that a date may be."""

import calendar
import datetime

import jax
import jax.numpy as jnp
import numpy as np

from nacre.schema.calendar import (
    LAST,
    LATER,
    MONTH,
    day_of_month,
    month_class,
    month_of_year,
    weekday,
)

FIRST = datetime.date(1, 1, 1)
ZERO = (FIRST - datetime.date(1970, 1, 1)).days
DAYS = np.arange(ZERO, (datetime.date(9999, 12, 31) - datetime.date(1970, 1, 1)).days + 1)


def test_every_day_of_the_month_is_that_of_numpy():
    days = DAYS.astype("datetime64[D]")
    month = days.astype("datetime64[M]")
    assert (day_of_month(DAYS) == (days - month).astype(int) + 1).all()
    last = (days + 1).astype("datetime64[M]") != month
    assert ((month_class(DAYS) == LAST) == last).all()
    assert set(month_class(DAYS).tolist()) == set(range(MONTH))
    assert (month_of_year(DAYS) == month.astype(int) % 12).all()


def test_some_days_are_those_of_python():
    for day in [ZERO, -1, 0, 19_782, 11_016, *np.random.default_rng(0).choice(DAYS, 500).tolist()]:
        date = datetime.date(1970, 1, 1) + datetime.timedelta(days=int(day))
        assert weekday(day) == date.weekday()
        length = calendar.monthrange(date.year, date.month)[1]
        wanted = LAST if date.day == length else min(date.day - 1, LATER)
        assert month_class(day) == wanted


def test_it_is_the_same_inside_a_traced_function_of_32_bits():
    days = DAYS[::97].astype(np.int32)
    for each in (weekday, month_class, month_of_year):
        found = jax.jit(jax.vmap(each))(jnp.asarray(days))
        assert found.dtype == np.int32
        assert (np.asarray(found) == each(days.astype(np.int64))).all()
