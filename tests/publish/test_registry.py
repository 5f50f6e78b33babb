"""The entry for a registry and the checklist: what is known is said, what is not stays open."""

import pytest
import yaml
from tests.publish.people import people
from typer.testing import CliRunner

import nacre
from nacre.cli import app
from nacre.publish.registry import Blank, entry

# The fields of github.com/opendp/deployments-registry-data, schemas/deployments-schema.yaml; those
# that it requires are marked.
FIELDS = {
    "url_slug!": str,
    "deployment!": {
        "basic!": {
            "name!": str,
            "data_curators!": [{"data_curator_name!": str, "data_curator_type!": str}],
            "description!": str,
            "intended_use!": str,
            "data_product_type!": ("Summary statistics", "Dataset", "Synthetic data"),
            "data_product_region!": str,
            "data_product_sector": str,
            "publication_date!": str,
        },
        "dp_variant": {
            "variant_name": ("Pure DP", "Approximate DP", "Zero-concentrated DP", "Custom"),
            "data_domain": str,
            "unprotected_quantities": str,
        },
        "privacy_loss": {
            "privacy_unit": str,
            "privacy_unit_details": str,
            "number_of_privacy_units": int,
            "privacy_parameters": {"epsilon": float, "delta": float, "rho": float},
            "privacy_parameters_details": str,
        },
        "deployment_model": {
            "model_name": ("Local", "Central", "Shuffle", "Federated", "Varies"),
            "model_name_details": str,
            "trust_assumptions": str,
            "actors": str,
            "release_type": ("One release", "Many releases"),
            "release_type_details": str,
            "data_source_type": ("Static", "Dynamic"),
            "data_source_type_details": str,
            "access_type": ("Interactive", "Non-interactive"),
            "access_type_details": str,
        },
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": str,
            "mechanisms": str,
            "composition": str,
            "post_processing": str,
            "justification": str,
            "utility": str,
            "additional_information": str,
        },
        "administrative!": {
            "evidence_sources": dict,
            "status!": ("Converted", "Draft", "Pending", "Approved"),
            "registry_authors!": [str],
            "tier!": (1, 2, 3),
        },
    },
}


def check(found, fields):
    if isinstance(fields, dict):
        known = {name.rstrip("!"): (kind, name.endswith("!")) for name, kind in fields.items()}
        assert set(found) <= set(known)
        assert {name for name, (_, needed) in known.items() if needed} <= set(found)
        for name, value in found.items():
            check(value, known[name][0])
    elif isinstance(fields, list):
        assert found
        for value in found:
            check(value, fields[0])
    elif isinstance(fields, tuple):
        assert found in fields
    else:
        assert isinstance(found, fields)


@pytest.fixture(scope="module")
def report(model):
    return nacre.publish(model, rows=200)


def test_the_entry_has_the_registrys_fields(report, silent):
    text = report.to_registry()
    found = yaml.safe_load(text)
    check(found, FIELDS)
    assert found == yaml.safe_load(yaml.safe_dump(_with_empty(entry(report))))
    parameters = found["deployment"]["privacy_loss"]["privacy_parameters"]
    assert parameters == pytest.approx({"epsilon": 500, "delta": 1e-6}, rel=1e-5)
    assert parameters["epsilon"] >= report.together.epsilon
    told = found["deployment"]["implementation"]["mechanisms"]
    assert all(release.name in told for release in report.guarantee.releases)
    assert found["deployment"]["basic"]["name"] == ""
    assert text.count("to fill in") == 1 + sum(1 for _ in _blanks(entry(report)))

    other = nacre.publish(silent("replace-one"), rows=200)
    loss = yaml.safe_load(other.to_registry())["deployment"]
    assert "bounded" in loss["privacy_loss"]["privacy_unit_details"]
    assert "number of rows" in loss["dp_variant"]["unprotected_quantities"]


def test_the_checklist_ticks_what_is_known_and_asks_the_rest(report):
    text = report.to_checklist()
    layers = (
        "Privacy parameters", "Unit of privacy", "Algorithms and correctness", "Utility", "Bias",
        "Access control", "Trust model", "Side channels", "Data collection exposure",
    )  # fmt: skip
    places = [text.index(f"## {layer}") for layer in layers]
    assert places == sorted(places)
    assert "[x] ε = 500" in text and "ε is above 10" in text
    assert all(release.theorem in text for release in report.guarantee.releases)
    after = text[places[-1] :]
    assert "[ ]" in after and "[x]" not in after  # nobody but the holder knows


def test_what_was_bought_is_counted(model):
    bought = nacre.publish(model, rows=200, data=people(), epsilon=0.5, delta=1e-6)
    found = yaml.safe_load(bought.to_registry())["deployment"]
    assert found["privacy_loss"]["privacy_parameters"]["epsilon"] >= 500.4
    assert bought.bought.releases[0].name in found["implementation"]["mechanisms"]


def test_the_command_writes_both_and_refuses_other_names_first(model, tmp_path):
    saved, page = tmp_path / "people.nacre", tmp_path / "public.html"
    model.save(saved)

    def run(*options):
        words = [str(a) for a in ("publish", saved, "-o", page, "-n", "100", *options)]
        return CliRunner(env={"NACRE_TRACEBACK": ""}).invoke(app, words)

    table = tmp_path / "private.csv"
    table.write_text("a\n")
    for options in (("--registry", table), ("--checklist", saved)):
        done = run(*options)
        assert done.exit_code == 2 and not page.exists()
    assert table.read_text() == "a\n"
    registry, checklist = tmp_path / "entry.yaml", tmp_path / "checklist.md"
    done = run("--registry", registry, "--checklist", checklist)
    assert done.exit_code == 0, done.output
    assert "fill in what only you know" in done.stderr
    check(yaml.safe_load(registry.read_text(encoding="utf-8")), FIELDS)
    assert checklist.read_text(encoding="utf-8").startswith("# Checklist by NIST SP 800-226")
    page.unlink()
    checklist.write_text("filled in by hand")
    done = run("--checklist", checklist)
    assert done.exit_code == 2 and "--force" in done.stderr and not page.exists()
    assert checklist.read_text() == "filled in by hand"


def _with_empty(value):
    if isinstance(value, dict):
        return {name: _with_empty(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_with_empty(item) for item in value]
    return "" if isinstance(value, Blank) else value


def _blanks(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _blanks(item)
    elif isinstance(value, Blank):
        yield value
