"""`nacre schema buy`: tables from the terminal, charged, recorded, and refused in time."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import nacre
from nacre.schema import Schema

SCHEMA = """\
nacre: 1
label: income
columns:
  code: {type: categorical, values: [A1, A2, B1]}
  group: {type: categorical, values: [A, B]}
  income: {type: boolean}
"""
FACT = ("--fact", "group determined by code")


@pytest.fixture
def shop(folder):
    rng = np.random.default_rng(0)
    code = rng.choice(["A1", "A2", "B1"], 600)
    columns = {"code": code, "group": [c[0] for c in code], "income": rng.random(600) < 0.5}
    pa.csv.write_csv(pa.table(columns), folder / "codes.csv")
    (folder / "codes.yaml").write_text(SCHEMA)
    return folder


def buy(shop, *more):
    return shop.run("schema", "buy", shop / "codes.yaml", shop / "codes.csv", *more)


def paid(shop, epsilon="1"):
    account = ("--ledger", shop / "budget.db", "--dataset", "people")
    return (*FACT, "--epsilon", epsilon, "--delta", "1e-6", *account)


def test_a_table_is_bought_charged_and_composed(shop):
    output = shop / "bought.yaml"
    done = buy(shop, *paid(shop), "-o", output)
    assert done.exit_code == 0, done.output
    assert "counted by `nacre fit`" in " ".join(done.stderr.split())
    assert shop.spent() == (pytest.approx(1), 1)
    bought = Schema.read(output)
    (fact,) = bought.to_dict()["facts"]
    assert fact.pop("bought").startswith("1-")
    assert fact == {"group determined by code": {"A1": "A", "A2": "A", "B1": "B"}}
    done = shop.fit("codes.csv", schema=str(output), epsilon="2")
    assert done.exit_code == 0, done.output
    guarantee = nacre.load(shop / "out.nacre").guarantee
    assert guarantee.releases[0].name.startswith("look-up tables ")
    assert guarantee.releases[0].name.endswith(" (group by code)")
    shown = shop.run("show", shop / "out.nacre", "--verify")
    assert shown.exit_code == 0 and "look-up tables" in shown.output
    assert "declared as public, but for what was bought" in " ".join(shown.output.split())


def test_without_an_output_the_schema_is_printed(shop):
    done = buy(shop, *FACT, "--epsilon", "2", "--delta", "1e-6", "--quiet")
    assert done.exit_code == 0, done.output
    assert Schema.parse(done.stdout).releases


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--epsilon", "1", "--delta", "1e-6"), "--fact"),
        ((*FACT, "--epsilon", "1"), "--delta"),
        (("--fact", "income determined by code", "--epsilon", "1", "--delta", "1e-6"), "label"),
        (("--fact", "grup determined by code", "--epsilon", "1", "--delta", "1e-6"), "'group'"),
    ],
)
def test_what_is_refused_costs_nothing(shop, options, words):
    account = ("--ledger", shop / "budget.db", "--dataset", "people")
    done = buy(shop, *options, *account, "-o", shop / "bought.yaml")
    assert done.exit_code == 2
    assert words in done.stderr
    assert shop.spent() == (0, 0) and not (shop / "bought.yaml").exists()


def test_files_are_not_replaced(shop):
    done = buy(shop, *paid(shop), "-o", shop / "codes.yaml", "--force")
    assert done.exit_code == 2 and "is read by this command" in " ".join(done.stderr.split())
    (shop / "bought.yaml").write_text("mine")
    done = buy(shop, *paid(shop), "-o", shop / "bought.yaml")
    assert done.exit_code == 2 and "--force" in done.stderr
    assert shop.spent() == (0, 0) and (shop / "bought.yaml").read_text() == "mine"


def test_a_budget_that_is_used_up_is_told(shop):
    done = buy(shop, *paid(shop, epsilon="9"), "-o", shop / "bought.yaml")
    assert done.exit_code == 2 and not (shop / "bought.yaml").exists()
    assert shop.spent()[0] == 0
