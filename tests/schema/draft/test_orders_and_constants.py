"""Orders only of amounts of one kind, and numbers that are constant where a list has a value."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import nacre
from nacre.schema.draft.kinds import alike

N = 3000


def complaints(seed=0, **changed):
    """Refunds below the delay in every row, as it happens; season tickets that cost 89."""
    rng = np.random.default_rng(seed)
    ticket = rng.choice(["single", "return", "season"], N, p=[0.5, 0.3, 0.2])
    fare = np.where(ticket == "season", 89, rng.integers(5, 150, N))
    refunded = rng.random(N) < 0.3
    refund = np.where(refunded, (fare * rng.choice([0.25, 0.5, 1.0], N)).round(), 0).astype(int)
    columns = {
        "ticket": ticket,
        "refunded": np.where(refunded, "yes", "no"),
        "fare": fare,
        "refund": refund,
        "delay_minutes": refund + rng.integers(0, 120, N),
    }
    return pd.DataFrame(columns | changed)


def offered(frame):
    return nacre.draft(frame).suggested.constraints


def test_amounts_of_different_kinds_are_not_ordered():
    assert "refund <= fare" in offered(complaints())
    orders = [each for each in offered(complaints()) if " if " not in each]
    assert not [each for each in orders if "delay" in each]


def test_names_that_say_nothing_leave_it_to_the_rows():
    def renamed(frame):
        return frame.rename(columns={"refund": "b", "fare": "c", "delay_minutes": "d"})

    assert "b <= c" in offered(renamed(complaints()))
    rng = np.random.default_rng(1)
    # Ordered in every row, but by luck: few rows come near to being equal.
    low, high = rng.normal(100, 10, N).round(), rng.normal(180, 10, N).round()
    far = pd.DataFrame({"q": low.clip(60, 145), "v": high.clip(115, 220)})
    far["v"] = np.maximum(far["v"], far["q"] + 3)
    assert not offered(far.astype(int))
    near = far.assign(v=far["q"] + rng.integers(0, 60, N))
    assert offered(near.astype(int)) == ("q <= v",)


def test_constants_of_a_value_are_offered_and_hold():
    found = nacre.draft(complaints())
    assert {"fare = 89 if ticket = season", "refund = 0 if refunded = no"} <= {
        *found.suggested.constraints
    }
    confirmed = nacre.Schema(found.schema.columns, constraints=found.suggested.constraints)
    assert not any(confirmed.check(pa.Table.from_pandas(complaints())).constraints.values())
    worse = complaints(fare=np.where(np.arange(N) == 7, 90, complaints()["fare"]))
    worse.loc[7, "ticket"] = "season"
    assert "fare = 89 if ticket = season" not in offered(worse)


def test_constants_that_say_nothing_are_not_offered():
    # All rows of a value have the number, but so have nearly all others.
    rng = np.random.default_rng(2)
    extra = np.where(rng.random(N) < 0.002, 7, 0)
    ticket = complaints()["ticket"]
    assert not [
        each
        for each in offered(complaints(extra=np.where(ticket == "season", 0, extra)))
        if each.startswith("extra")
    ]
    # A look-up table says it all.
    price = ticket.map({"single": 3, "return": 5, "season": 89})
    found = nacre.draft(complaints(price=price)).suggested
    assert not [each for each in found.constraints if each.startswith("price")]
    assert any("price determined by ticket" in fact for fact in found.facts)


def test_what_follows_from_a_rule_only_in_these_rows_is_offered_too():
    """All who come from school are children, and children go to one ward: two rules, not one."""
    rng = np.random.default_rng(3)
    ward = rng.choice(["child", "heart", "skin", "ears"], N)
    age = np.where(ward == "child", "young", rng.choice(["grown", "old"], N))
    sent = np.where(ward == "child", rng.choice(["school", "doctor"], N), "doctor")
    sent = np.where(rng.random(N) < 0.3, "nobody", sent)
    table = pd.DataFrame(
        {"ward": ward, "age": age, "sent": sent, "kind": rng.choice(list("ab"), N)}
    )
    both = {"ward = child if sent = school", "age = young if sent = school"}
    assert both & {*offered(table)}
    # With gaps that the ward tells it is no other matter.
    gaps = table.assign(sent=pd.Series(sent).where(ward != "ears"))
    assert both & {*offered(gaps)}
    assert not both <= {*offered(table)}, "the one follows from the other"


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("refund", "delay_minutes", False),
        ("waitMinutes", "stay_hours", False),
        ("wait", "stay_hours", True),
        ("stay_days", "visits", False),
        ("children", "rooms", None),
        ("bp_low", "bp_high", True),
        ("alpha", "beta", None),
        ("alpha", "fare", None),
    ],
)
def test_what_names_say(first, second, same):
    assert alike(first, second) is same


def patients(seed=0, rule=1.0, **changed):
    """Pregnant patients who are women, all of them or but a part; a ward that says nothing."""
    rng = np.random.default_rng(seed)
    pregnant = rng.random(N) < 0.05
    sex = np.where(pregnant & (rng.random(N) <= rule), "F", rng.choice(["F", "M"], N))
    columns = {
        "pregnant": np.where(pregnant, "yes", "no"),
        "sex": sex,
        "ward": rng.choice(list("ABCDE"), N),
        "age": rng.integers(0, 99, N),
    }
    return pd.DataFrame(columns | changed)


def test_a_category_that_is_the_same_in_all_rows_of_a_value():
    assert offered(patients()) == ("sex = F if pregnant = yes",)
    assert not offered(patients(rule=0.9))
    kept = nacre.Schema(
        nacre.draft(patients()).schema.columns, constraints=["sex = F if pregnant = yes"]
    )
    assert not any(kept.check(pa.Table.from_pandas(patients())).constraints.values())


def test_a_category_that_nearly_all_rows_have_is_no_rule():
    # Of 150 rows all have it, but so have nine of ten others: nobody would call it a rule.
    usual = np.where(np.random.default_rng(3).random(N) < 0.9, "public", "private")
    frame = patients()
    frame["payer"] = np.where(frame["pregnant"] == "yes", "public", usual)
    assert not [each for each in offered(frame) if each.startswith("payer")]


def test_a_category_of_few_rows_or_by_chance_is_not_named():
    rare = patients(seed=5)
    rare["pregnant"] = np.where(np.arange(N) < 40, "yes", "no")
    rare.loc[:39, "sex"] = "F"
    assert not offered(rare)
    for seed in range(20):  # forty values of two lists that have nothing to do with each other
        rng = np.random.default_rng(seed)
        noise = patients(seed, code=rng.choice([f"c{k}" for k in range(40)], N))
        assert {each.split(" = ")[0] for each in offered(noise)} <= {"sex"}


def test_values_that_say_the_same_are_one_rule_and_none_follows_from_another():
    rng = np.random.default_rng(4)
    code = rng.choice([f"c{k}" for k in range(10)], N)
    group = np.where(np.isin(code, ["c0", "c1", "c2", "c3"]), "g0", "g1")
    # By group and by each of its codes: the group says it for all.
    paid = np.where(group == "g0", "company", rng.choice(["cash", "card", "company"], N))
    found = nacre.draft(patients(code=code, group=group, paid=paid)).suggested
    assert [each for each in found.constraints if each.startswith("paid")] == [
        "paid = company if group = g0"
    ]
    alone = offered(patients(code=code, paid=paid))
    assert [each for each in alone if each.startswith("paid")] == [
        "paid = company if code in [c0, c1, c2, c3]"
    ]


def many(columns=30):
    """So many numbers that are zero in the rows of two of five kinds."""
    rng = np.random.default_rng(6)
    kind = rng.choice(list("abcde"), N)
    zero = {f"x{k}": np.where(np.isin(kind, list("ab")), 0, 7) for k in range(columns)}
    return pd.DataFrame(
        {"kind": kind, **{name: each * rng.integers(1, 99, N) for name, each in zero.items()}}
    )


def test_what_is_not_offered_is_counted_and_can_be_seen():
    found = nacre.draft(many())
    shown = [each for each in found.suggested.constraints if each.endswith(" if kind in [a, b]")]
    assert len(shown) == 20
    for text in (found.to_yaml(), found.describe()):
        words = " ".join(text.replace("#", " ").split())
        assert "Not offered, as few people read so many: 10 values that are always" in words
        assert "draft again with --every-rule (in Python `every_rule=True`)" in words
    assert nacre.Schema.parse(found.to_yaml()) == found.schema
    every = nacre.draft(many(), every_rule=True)
    rules = [each for each in every.suggested.constraints if each.endswith(" if kind in [a, b]")]
    assert len(rules) == 30
    assert "Not offered" not in every.to_yaml() + every.describe()
    assert "Not offered" not in nacre.draft(many(20)).to_yaml()


def test_a_value_that_one_row_breaks_leaves_the_others_in_the_rule(monkeypatch):
    from nacre.schema.draft import sample

    monkeypatch.setattr(sample, "MOST", 500)  # so that the sample does not hold the row
    frame = many(1)
    place = 1 + 2 * int(np.flatnonzero(frame["kind"][1::2] == "a")[0])
    assert "x0 = 0 if kind in [a, b]" in offered(frame)
    frame.loc[place, "x0"] = 7
    assert "x0 = 0 if kind = b" in offered(frame)
    assert not [each for each in offered(frame) if "kind = a" in each or "[a" in each]


def test_a_value_that_few_persons_hold_leaves_the_others_in_the_rule():
    frame = many(1)
    person = np.where(frame["kind"] == "a", np.arange(N) % 3, np.arange(N))
    found = nacre.draft(frame.assign(person=person), unit={"column": "person", "rows": 5})
    assert "x0 = 0 if kind = b" in found.suggested.constraints
    assert not [each for each in found.suggested.constraints if "[a" in each]


def test_a_number_that_no_others_have_says_whose_it_is():
    free = patients()["pregnant"] == "yes"
    dear = np.random.default_rng(1).integers(52, 600, N)
    both = ("fee = 40 if pregnant = yes", "pregnant = yes if fee = 40")
    assert set(both) <= set(offered(patients(fee=np.where(free, 40, dear))))
    others = offered(patients(fee=np.where(free | (np.arange(N) == 5), 40, dear)))
    assert both[0] in others and both[1] not in others


def drivers(**changed):
    """A bonus class that never exceeds the years of driving, drafted as a list."""
    rng = np.random.default_rng(8)
    years = rng.integers(0, 25, N)
    bonus = np.minimum(years, 10) - rng.integers(0, 3, N)
    return pd.DataFrame({"years": years, "bonus_class": np.maximum(bonus, 0)} | changed)


def test_orders_that_an_integer_would_keep_are_told_with_what_to_write():
    found = nacre.draft(drivers())
    assert found.schema.columns["bonus_class"].type == "categorical"
    text = "All rows keep `bonus_class <= years`, too. To say so, write `bonus_class: {type: "
    for said in (found.to_yaml(), found.describe()):
        assert text + "integer, low: 0, high: 10}`." in " ".join(said.replace("#", " ").split())
    assert nacre.Schema.parse(found.to_yaml()) == found.schema
    columns = {**found.schema.columns, "bonus_class": nacre.Integer(low=0, high=10)}
    nacre.Schema(columns, constraints=["bonus_class <= years"])


def test_orders_of_codes_that_a_row_breaks_or_that_are_luck_are_not_told():
    worse = drivers()
    worse.loc[5, ["years", "bonus_class"]] = [0, 1]
    assert not nacre.draft(worse).suggested.perhaps
    rng = np.random.default_rng(9)
    luck = drivers(bonus_class=rng.integers(0, 3, N), years=rng.integers(20, 60, N))
    assert not nacre.draft(luck).suggested.perhaps
    assert not nacre.draft(drivers(), label="bonus_class").suggested.perhaps
