"""PPEM: sets of columns, what is learnt, what the files keep and what the report reads from it."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pytest

import nacre
from nacre.archive import read, write
from nacre.methods import with_settings
from nacre.methods.ppem.generator import PPEMGenerator
from nacre.methods.ppem.networks import conditional_layers, ensemble
from nacre.methods.ppem.parts import Parts
from nacre.methods.ppem.ppem import PPEM
from nacre.methods.ppem.shares import biases, calibrated
from nacre.nets.layers import run
from nacre.nets.sampling import Sampling
from nacre.rows import TableEncoder
from nacre.schema import Boolean, Categorical, Integer, Real, Schema
from nacre.schema.protected import as_sets

SCHEMA = Schema(
    {
        "a": Real(low=-5, high=5),
        "b": Real(low=-5, high=5),
        "c": Real(low=-5, high=5),
        "kind": Categorical(values=("p", "q", "r")),
        "yes": Boolean(),
    },
    label="yes",
)
METHOD = PPEM(
    protect=[("a", "b")],
    latent=8,
    width=24,
    depth=2,
    anchors=16,
    marginal_steps=120,
    marginal_batch=128,
    marginal_clip=1e3,
    conditional_steps=400,
    conditional_batch=128,
    conditional_clip=1e3,
    energy_rate=0.004,
    generator_rate=0.003,
    averaging=0.9,
    generator_every=2,
)


def table(n=3000, seed=0):
    """c is almost a + b; `yes` is rare, and shifts c; `kind` goes with the sign of a."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0, 1, n), rng.normal(0, 1, n)
    yes = rng.random(n) < 0.1
    c = 0.7 * (a + b) + rng.normal(0, 0.3, n) + 2.0 * yes
    kind = np.where(a < -0.5, "p", np.where(a < 0.5, "q", "r"))
    numbers = {"a": a, "b": b, "c": c}
    return pa.table(
        {name: np.clip(v, -5, 5) for name, v in numbers.items()} | {"kind": kind, "yes": yes}
    )


@pytest.fixture(scope="module")
def model():
    """Without noise: what is asked is whether it learns."""
    return nacre.fit(table(), SCHEMA, method=METHOD, epsilon=math.inf, rows=3000, seed=0)


def test_it_learns_how_the_other_columns_depend_on_the_protected_ones(model):
    drawn = model.sample_arrow(3000, seed=1).to_pandas()
    assert np.corrcoef(drawn["a"] + drawn["b"], drawn["c"])[0, 1] > 0.5
    assert 0.04 < drawn["yes"].mean() < 0.2
    shift = drawn["c"][drawn["yes"]].mean() - drawn["c"][~drawn["yes"]].mean()
    assert shift > 1.0, "numbers of a rare class are spread out by themselves"
    means = drawn.groupby("kind")["a"].mean()
    assert means["p"] < means["r"]


def test_numbers_that_are_not_protected_have_their_bought_distribution(model):
    levels = np.linspace(0.02, 0.98, 25)
    real, drawn = (t["c"].to_numpy() for t in (table(), model.sample_arrow(20_000, seed=3)))
    assert np.abs(np.quantile(drawn, levels) - np.quantile(real, levels)).max() < 0.15


def test_without_noise_the_guarantee_says_what_alpha_lmdp_is_and_is_not(model):
    said = str(model.guarantee)
    assert said.startswith("NOT PRIVATE")
    assert said.endswith("no differential privacy, α-LMDP only was asked for, of a, b (α = 0.05)")
    words = " ".join(model.guarantee.assumptions)
    assert "hides an aggregate" in words and "protects no single row" in words
    assert model.certificate()["guarantee"]["hidden"] == [{"columns": ["a", "b"], "alpha": 0.05}]


def test_the_report_takes_columns_level_and_scores_from_the_model(model):
    report = nacre.lmdp_report(model, table(1500, seed=9), permutations=99)
    (test,) = report.tests
    assert (test.columns, test.alpha) == (("a", "b"), 0.05)
    assert test.rows == (1000, 1000)
    assert test.density is not None and test.density.stein_p <= 1
    assert report.lmdp_satisfied is (test.mmd_p <= 0.05)
    assert "which decides nothing" in str(report)
    with pytest.raises(nacre.NacreError, match="asked to hide"):
        nacre.lmdp_report(model.sample_arrow(50), table(50), SCHEMA)


def test_scores_are_the_gradients_of_the_energies(model):
    """By JAX's derivative, not by differences: a leaky ReLU may turn within any step."""
    energy = model.generator.energies[0]
    x = np.random.default_rng(0).normal(size=(5, 2)).astype(np.float32)

    def total(points):
        return run(energy.layers, energy.arrays, points, jnp).sum()

    slope = jax.grad(total)(jnp.asarray(x))
    np.testing.assert_allclose(energy.score(x), -slope, rtol=1e-3, atol=1e-4)


def test_a_file_keeps_it_and_one_that_was_edited_is_refused(model, tmp_path):
    path = tmp_path / "model.nacre"
    model.save(path)
    with pytest.warns(UserWarning, match="NOT PRIVATE"):
        again = nacre.load(path)
    assert isinstance(again.generator, PPEMGenerator)
    assert again.guarantee == model.guarantee
    assert again.sample_arrow(20, seed=3).equals(model.sample_arrow(20, seed=3))
    document, arrays = read(path)
    for change, value in (
        ("latent", 0),
        ("sets", ["a"]),
        ("sets", ["a+zzz"]),
        ("label", 7),
        ("nets", {**document["generator"]["nets"], "marginal": []}),
    ):
        edited = {**document, "generator": {**document["generator"], change: value}}
        write(path, edited, arrays)
        with pytest.raises(nacre.ArchiveError):
            nacre.load(path)
    for name in ("positions", "values"):
        write(path, document, {**arrays, name: -arrays[name]})
        with pytest.raises(nacre.ArchiveError):
            nacre.load(path)


def test_protected_columns_may_be_seen_through_a_sampling_layer():
    """Fitted, and kept in a file, among all methods in test_contract.py."""
    method = dataclasses.replace(METHOD.small(), condition="sampled")
    first, *_ = conditional_layers(method, method.parts(TableEncoder(SCHEMA)))
    assert isinstance(first, Sampling) and first.others == 2
    with pytest.raises(nacre.NacreError, match="at least width // 2 = 12 latent numbers, got 8"):
        dataclasses.replace(METHOD, condition="sampled")


def test_each_set_has_an_energy_that_sees_its_own_columns_only():
    encoder = TableEncoder(SCHEMA)
    one = PPEM(protect=[("a", "kind")])
    assert [len(e.places) for e in ensemble(one, one.parts(encoder)).energies] == [4]
    two = PPEM(protect={("a", "kind"): 0.01, ("b",): 0.1})
    parts = two.parts(encoder)
    assert set(parts.hidden.columns) == {"a", "b", "kind"}
    assert set(parts.rest.columns) == {"c", "yes"}
    energies = ensemble(two, parts).energies
    # a, b, then kind's block of three; the last energy is the union's.
    assert [energy.places.tolist() for energy in energies] == [[0, 2, 3, 4], [1], [0, 1, 2, 3, 4]]
    assert [str(one) for one in two.sets] == ["a+kind@0.01", "b@0.1"]


def test_coordinates_of_a_joint_score_are_no_test_of_a_marginal():
    # x and y are both standard normal in model and data, but depend on each other in the data
    # only.  Restricted to x, the joint score is wrongly rejected; x's own score is not.
    from nacre.evaluate.lmdp.stein import stein_kernel

    rng = np.random.default_rng(0)
    rejected = {"joint": 0, "own": 0}
    slope = 0.95
    for _ in range(200):
        x = rng.normal(size=400)
        y = slope * x + math.sqrt(1 - slope**2) * rng.normal(size=400)
        # The model has x and y depend the other way round, with the same marginals.
        joint = -(x + slope * y) / (1 - slope**2)
        for name, score in (("joint", joint), ("own", -x)):
            values = dict(zip(x, score, strict=True))
            u = stein_kernel(
                x[::2, None],
                x[1::2, None],
                lambda points, known=values: np.array([[known[p]] for p in points[:, 0]]),
                1.0,
            )
            rejected[name] += 199 * u.sum() ** 2 / (200 * (u**2).sum()) > 3.841459
    assert rejected["own"] < 24
    assert rejected["joint"] > 100


def test_sets_are_read_from_any_form():
    forms = ("V1+V2@0.01", ["V1+V2@0.01"], {("V1", "V2"): 0.01}, [as_sets("V1+V2@0.01", 0.5)[0]])
    assert {tuple(map(str, as_sets(form, 0.05))) for form in forms} == {("V1+V2@0.01",)}
    method = with_settings("ppem", {"protect": "V1+V2@0.01,age", "alpha": "0.1"})
    assert method.protect == ("V1+V2@0.01", "age@0.1")
    assert dataclasses.replace(method, width=8).protect == method.protect


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["a+a"], "each once"),
        ([()], "at least one"),
        ([("a@b",)], "Rename"),
        (["a@x"], "such as 0.05"),
        (["a@2"], "alpha must be"),
        (5, "list of sets"),
        ([5], "list of names"),
    ],
)
def test_sets_that_cannot_be(given, message):
    with pytest.raises(nacre.NacreError, match=message):
        PPEM(protect=given)


def test_class_means_are_asked_for_where_they_are_taken_off():
    def names(**settings):
        method = PPEM(protect=["a"], **settings)
        plan = nacre.plan(SCHEMA, method=method, epsilon=1, delta=1e-6)
        return [release.name for release in plan.releases]

    for scale in ("classes", "class-moments"):
        assert "class means" in names(scale=scale)
    for scale in ("quantiles", "moments", "schema"):
        assert "class means" not in names(scale=scale)
    hidden = PPEM.without_noise()
    assert hidden.by_class and hidden.conditional_clip > 1e3


def test_that_nothing_is_hidden_is_told():
    with pytest.warns(UserWarning, match="none is named: nothing is hidden beyond single rows"):
        nacre.plan(SCHEMA, method=PPEM(), epsilon=1, delta=1e-6)


def test_unknown_columns_and_lone_differences_are_refused_by_the_plan():
    cost = {"epsilon": 1, "delta": 1e-6}
    with pytest.raises(nacre.NacreError, match="does not have: zzz"):
        nacre.plan(SCHEMA, method=PPEM(protect="zzz"), **cost)
    ordered = Schema(
        {"start": Integer(low=0, high=9), "end": Integer(low=0, high=9)},
        constraints=["start <= end"],
    )
    (difference,) = TableEncoder.of(ordered).differences
    with pytest.raises(nacre.NacreError, match=f"Protect '{difference.anchor}'"):
        nacre.plan(ordered, method=PPEM(protect=[(difference.column,)]), **cost)
    method = PPEM(protect=[("start", "end")]).small()
    assert method.parts(TableEncoder.of(ordered)).rest.width == 0
    nacre.plan(ordered, method=method, epsilon=math.inf)


def test_bought_shares_of_values_are_put_back():
    outputs = np.random.default_rng(0).normal(size=(2000, 5)).astype(np.float32)
    outputs[:, 0] -= 20.0  # a rare value whose share has drifted to nothing
    shares = [(0, np.array([0.9, 0.1])), (1, np.array([0.2, 0.3, 0.5])), (4, np.array([1.0]))]
    moved = outputs + calibrated(outputs, shares)
    assert np.mean(1 / (1 + np.exp(-moved[:, 0]))) == pytest.approx(0.1, abs=1e-4)
    chances = np.exp(moved[:, 1:4]) / np.exp(moved[:, 1:4]).sum(1, keepdims=True)
    np.testing.assert_allclose(chances.mean(0), [0.2, 0.3, 0.5], atol=1e-4)
    np.testing.assert_array_equal(moved[:, 4], outputs[:, 4])
    np.testing.assert_allclose(
        biases(5, shares), [math.log(1 / 9), *np.log([0.2, 0.3, 0.5]), 0.0], rtol=1e-5
    )


def test_a_gaps_indicator_goes_with_its_number():
    schema = Schema({"n": Integer(low=0, high=9, nullable=True), "m": Integer(low=0, high=9)})
    parts = Parts.of(TableEncoder(schema).layout, as_sets("n", 0.05))
    assert (parts.hidden.width, parts.rest.width) == (2, 1)
    assert parts.hidden.places(["n"]).tolist() == [0, 1]


def test_what_a_fact_computes_cannot_be_protected():
    columns = {"a": Integer(low=0, high=9), "b": Integer(low=0, high=9)}
    schema = Schema({**columns, "total": Integer(low=0, high=18)}, facts=["total = a + b"])
    with pytest.raises(nacre.NacreError, match="'total' follows from a, b by a fact"):
        nacre.plan(schema, method=PPEM(protect=[("total",)]), epsilon=1.0, delta=1e-6)


def test_a_schema_may_say_what_to_protect_and_other_methods_then_refuse(tmp_path):
    path = tmp_path / "people.yaml"
    text = SCHEMA.to_yaml() + "protect:\n- [a, b]\n- c@0.01\n"
    path.write_text(text)
    schema = Schema.read(path)
    assert schema.protect == ("a+b@0.05", "c@0.01")
    assert Schema.parse(schema.to_yaml()) == schema != SCHEMA
    assert schema.select(["a", "b", "yes"]).protect == ("a+b@0.05",)
    budget = {"epsilon": 1.0, "delta": 1e-6, "rows": 3000}
    assert nacre.plan(path, **budget).method == "PPEM"
    with pytest.raises(nacre.NacreError, match="Mosaic would publish it"):
        nacre.plan(path, method="mosaic", **budget)
    with pytest.raises(nacre.NacreError, match=r"protects a\+b@0.05"):
        nacre.plan(path, method=PPEM(protect=("c@0.01",)), **budget)
    assert PPEM().hiding(schema.protect) == PPEM(protect=("a+b", "c@0.01"))
    with pytest.raises(nacre.NacreError, match="does not have: zzz"):
        Schema.parse(SCHEMA.to_yaml() + "protect: [zzz]")


def test_a_protected_column_that_follows_from_others_is_refused():
    columns = {name: Integer(low=0, high=9) for name in "abc"}
    schema = Schema(columns, facts=["c = a + b"], protect=["c"])
    with pytest.raises(nacre.NacreError, match="follows from a, b"):
        nacre.plan(schema, epsilon=1.0, delta=1e-6, rows=3000)
