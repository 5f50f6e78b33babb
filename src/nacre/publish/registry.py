"""A release as an entry of the OpenDP registry of differential privacy deployments.

The fields are those of `schemas/deployments-schema.yaml` in github.com/opendp/deployments-registry-
data, in the form with `basic`, `dp_variant`, `privacy_loss`, `deployment_model`, `implementation`
and `administrative`.  What follows from the certificate is filled in.  What only the publisher
knows is blank, with a remark, and the registry's own check will ask for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from nacre.publish import told
from nacre.publish.told import Report
from nacre.vault.guarantee import upwards

HEAD = (
    "An entry for the registry of differential privacy deployments (registry.opendp.org).",
    "Lines that end in 'to fill in' are the publisher's; all else follows from the certificate.",
)


class Blank(str):
    """A field that only the publisher can fill in; the text says with what."""


def entry(report: Report) -> dict[str, Any]:
    """The fields, in the registry's order."""
    found = report.together
    return {
        "url_slug": Blank("a stable name for the address"),
        "deployment": {
            "basic": {
                "name": Blank("the name of the data product"),
                "data_curators": [
                    {
                        "data_curator_name": Blank("who publishes it"),
                        "data_curator_type": Blank("Government, Industry or Nonprofit"),
                    }
                ],
                "description": told.product(report),
                "intended_use": Blank("what it is for"),
                "data_product_type": "Synthetic data",
                "data_product_region": Blank("whom the data describe, or whose laws apply"),
                "publication_date": Blank("YYYY-MM-DD"),
            },
            "dp_variant": {
                "variant_name": "Approximate DP",
                "data_domain": told.domain(report),
                "unprotected_quantities": told.unprotected(report),
            },
            "privacy_loss": {
                "privacy_unit": told.unit(found),
                "privacy_unit_details": told.neighbors(found),
                "privacy_parameters": {
                    "epsilon": upwards(found.epsilon, 6),
                    "delta": upwards(found.delta, 6),
                },
                "privacy_parameters_details": _lines(found.assumptions),
            },
            "deployment_model": _model(report),
            "implementation": _implementation(report),
            "administrative": {
                "status": "Draft",
                "registry_authors": [Blank("who filled this in")],
                "tier": 3,
            },
        },
    }


def _model(report: Report) -> dict[str, Any]:
    """How it is deployed; a model file is made once, and nobody queries the rows."""
    bought = report.bought is not None
    two = "The model, and scores of the private rows that were bought for its page."
    return {
        "model_name": "Central",
        "trust_assumptions": "The data holder and the machine that made the model are trusted. "
        "Everybody else may have the model, everything drawn from it, the code and all settings, "
        "and may know every row but one.",
        "actors": Blank("who had access to the rows, and why they are trusted"),
        "release_type": "One release",
        "release_type_details": two if bought else Blank("whether more releases are planned"),
        "data_source_type": "Static",
        "access_type": "Non-interactive",
    }


def _implementation(report: Report) -> dict[str, Any]:
    mechanisms = [told.mechanism(release) for release in told.releases(report)]
    made = f"Software: {told.software(report)}."
    return {
        "preprocessing_and_hyperparameter_tuning": Blank(
            "how schema, method and settings were chosen, and whether rows were looked at for it"
        ),
        "mechanisms": _lines((*mechanisms, told.FLOATING, told.SIDE, made)),
        "composition": told.COMPOSED,
        "post_processing": told.AFTER,
        "justification": Blank("why this ε, this unit and this method"),
        "utility": Blank("what is known of how good the data are; the public page has a part"),
    }


def to_yaml(report: Report) -> str:
    """The entry as a file, each blank with a remark."""
    lines = [f"# {text}" for text in HEAD]
    return "\n".join([*lines, *_mapping(entry(report), "")]) + "\n"


def _mapping(fields: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, value in fields.items():
        if isinstance(value, Mapping):
            yield f"{indent}{name}:"
            yield from _mapping(value, indent + "  ")
        elif isinstance(value, list):
            yield f"{indent}{name}:"
            for item in value:
                inner = item if isinstance(item, Mapping) else {"": item}
                first, *rest = _mapping(inner, "")
                yield f"{indent}  - {first.removeprefix(': ')}"
                yield from (f"{indent}    {line}" for line in rest)
        else:
            yield from _leaf(name, value, indent)


def _leaf(name: str, value: Any, indent: str) -> Iterator[str]:
    """A value; several lines as they are, which the registry shows as Markdown."""
    if isinstance(value, Blank):
        yield f"{indent}{name}: ''  # {value}: to fill in"
    elif isinstance(value, str) and "\n" in value and value.replace("\n", "").isprintable():
        yield f"{indent}{name}: |-"
        yield from (f"{indent}  {line}" for line in value.splitlines())
    else:
        text = yaml.safe_dump(value, allow_unicode=True, width=10**6)
        yield f"{indent}{name}: {text.removesuffix('...' + chr(10)).strip()}"


def _lines(items: tuple[str, ...]) -> str:
    return "\n".join(f"- {item}" for item in items)
