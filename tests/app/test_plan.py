"""The plan's page: what would be released, what it costs, and one button that names it."""

import re

import pytest
from tests.app.conftest import CHOICES, confirmed, reviewed

from nacre.app.picture import histogram
from nacre.app.planning import Choices, outline
from nacre.errors import NacreError
from nacre.ledger import Ledger
from nacre.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "label": "b",
        "columns": {
            "a": {"type": "integer", "low": 0, "high": 20},
            "b": {"type": "categorical", "values": ["x", "y", "z", "w"]},
        },
    }
).to_dict()


def test_a_smaller_epsilon_is_seen_to_be_worse():
    errors = [
        outline(SCHEMA, Choices(epsilon=e, dataset="d").to_dict())["count_error"]
        for e in (0.1, 1.0, 10.0)
    ]
    assert errors[0] > 5 * errors[1] > 15 * errors[2]


def test_the_error_is_that_of_the_plan():
    """A count's error times one over the rows is the error of a share that `nacre.plan` tells."""
    said = outline(SCHEMA, Choices(dataset="d", rows=1000).to_dict())
    first = next(each for each in said["releases"] if each["error"] is not None)
    assert first["name"] == "histograms"  # not the count of all rows, which comes before
    assert first["error"] == pytest.approx(first["count_error"] / 1000)
    assert said["count_error"] == first["count_error"]


def test_the_picture_is_made_up_and_its_bands_are_the_noise():
    example = {"column": "b", "values": ["x", "y", "z", "w"]}
    small, large = (histogram(example, error, 1000) for error in (5.0, 50.0))
    assert [bar.width for bar in small["bars"]] == [bar.width for bar in large["bars"]]
    widths = [bars["bars"][0].high - bars["bars"][0].low for bars in (small, large)]
    assert widths[1] == pytest.approx(10 * widths[0], rel=0.02)
    assert histogram(example, 400.0, 1000)["lost"] == 4


def test_numbers_are_read_as_people_write_them():
    assert Choices.read({"rows": "30,000"}).rows == 30_000
    assert Choices.read({"rows": ""}).rows is None
    for wrong in ({"epsilon": "one"}, {"epsilon": ""}, {"rows": "1.5"}, {"delta": "nan,"}):
        with pytest.raises(NacreError):
            Choices.read(wrong)


def test_the_page_tells_releases_and_names_the_spend(browser, server):
    project = reviewed(browser)
    text = browser.get(project + "/plan").text
    assert "Mosaic" in text
    assert "how many rows lie in each cell".capitalize() in text
    assert "A histogram with its noise" in text
    text = browser.post(project + "/outline", CHOICES | {"epsilon": "0.5"}).text
    button = re.search(r'<button class="primary spend"[^>]*>(.*?)</button>', text)[1]
    assert button.startswith("Spend ε = 0.5, δ = 10<sup>−5</sup> of “people”")
    assert not Ledger(server.settings.ledger).datasets()  # nothing was opened or spent


def test_what_cannot_be_planned_is_said_in_place(browser):
    project = reviewed(browser)
    for wrong in ({"epsilon": "0"}, {"epsilon": "a"}, {"delta": "0.5"}, {"settings": "steps"}):
        found = browser.post(project + "/outline", CHOICES | wrong)
        assert found.status_code == 200
        assert 'class="problem"' in found.text
        assert "disabled" in found.text


def test_a_budget_that_does_not_cover_it_is_told_before(browser, server):
    project = reviewed(browser)
    Ledger(server.settings.ledger).open("people", epsilon=0.7, delta=1e-4)
    text = browser.post(project + "/outline", CHOICES).text
    assert "Only ε = 0.7" in text
    found = confirmed(browser, project)
    assert found.status_code == 409
    assert "Only ε = 0.7" in found.text
    assert not Ledger(server.settings.ledger).history("people")


def test_a_new_name_asks_how_large_its_budget_shall_be(browser, server):
    project = reviewed(browser)
    Ledger(server.settings.ledger).open("people", epsilon=3, delta=1e-4)
    shown = {"budget_shown": "open"}
    assert 'id="budget"' not in browser.post(project + "/outline", CHOICES | shown).text
    other = browser.post(project + "/outline", CHOICES | shown | {"dataset": "others"}).text
    assert 'id="budget" hx-swap-oob="true"' in other
    assert '<input name="budget_epsilon"' in other
    new = CHOICES | {"budget_shown": "new"}
    assert '<input name="budget_epsilon"' not in browser.post(project + "/outline", new).text
    # While somebody writes into its fields they are left alone.
    kept = browser.post(project + "/outline", new | {"dataset": "others"}).text
    assert 'id="budget"' not in kept


def test_a_button_spends_what_it_names(browser, server):
    project = reviewed(browser)
    page = browser.post(project + "/outline", CHOICES).text
    hidden = dict(re.findall(r'name="(run|shown)" value="([0-9a-f]+)"', page))
    found = browser.post(project + "/fit", CHOICES | hidden | {"epsilon": "2"})
    assert found.status_code == 409
    assert "changed after the button was drawn" in found.text
    # Another schema, reviewed in another tab meanwhile, is another plan.
    browser.post(project + "/reviewed", {"label": "sex", "public": list("0123")})
    found = browser.post(project + "/fit", CHOICES | hidden)
    assert found.status_code == 409
    assert not Ledger(server.settings.ledger).datasets()


def test_names_of_budgets_are_those_of_the_ledger(browser, server):
    """A name that looks the same must find the same budget, or be told."""
    project = reviewed(browser)
    Ledger(server.settings.ledger).open("people", epsilon=0.7, delta=1e-4)
    wide = browser.post(project + "/outline", CHOICES | {"dataset": " ｐｅｏｐｌｅ "}).text
    assert "Only ε = 0.7" in wide
    other = browser.post(project + "/outline", CHOICES | {"dataset": "People"}).text
    assert "There is a budget “people” already" in other
