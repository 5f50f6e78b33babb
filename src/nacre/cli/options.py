"""Options that several commands share, each written once."""

from __future__ import annotations

import enum
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from nacre.methods import AbstractMethod
    from nacre.schema import ImageSchema, Schema


class AdjacencyName(enum.StrEnum):
    """The names of `nacre.Adjacency`, here so that --help need not import the vault."""

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"


class BadRows(enum.StrEnum):
    """What to do about rows that do not fit the schema."""

    CHECK = "check"
    ZERO = "zero"


Table = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE",
        help="A CSV or Parquet file, a folder, or a pattern in quotes; images as .npz, IDX or "
        "Parquet files, or a folder of pictures.",
    ),
]
SchemaFile = Annotated[
    Path, typer.Option("--schema", "-s", help="The schema: public facts about the data.")
]
Epsilon = Annotated[float | None, typer.Option(help="The privacy parameter ε.")]
Delta = Annotated[float | None, typer.Option(help="δ, far below one over the number of rows.")]
NotPrivate = Annotated[
    bool,
    typer.Option("--not-private", help="Instead of ε and δ: add no noise, and promise nothing."),
]
MethodName = Annotated[str, typer.Option("--method", "-m", help="A name from `nacre methods`.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method; may be repeated."),
]
Label = Annotated[
    str | None, typer.Option(help="The column to be predicted, instead of the schema's.")
]
NoLabel = Annotated[bool, typer.Option("--no-label", help="Treat no column as the label.")]
Adjacent = Annotated[
    AdjacencyName, typer.Option("--adjacency", help="Which tables must be hard to tell apart.")
]
Rows = Annotated[
    int | None,
    typer.Option(help="A public estimate of the number of rows (of persons with a `unit`)."),
]
LedgerAddress = Annotated[
    str | None, typer.Option("--ledger", help="The ledger's file, or a database URL.")
]
Dataset = Annotated[str | None, typer.Option(help="The data set's name in the ledger.")]
Misfits = Annotated[
    BadRows,
    typer.Option(help="check: stop if a row does not fit. zero: such rows count as nothing."),
]
Seed = Annotated[int | None, typer.Option(help="Decides public randomness only, never noise.")]
SitesSeed = Annotated[
    int, typer.Option(help="Public randomness, the same at all sites; never noise.")
]
Engine = Annotated[
    str | None,
    typer.Option(
        metavar="ENGINE",
        help="Who reads the files: dask, dask://host:8786, spark or spark://host:7077.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace the output file.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no remarks.")]


ModelFile = Annotated[Path, typer.Argument(help="A model that `nacre fit` saved.")]


def read_budget(
    epsilon: float | None, delta: float | None, *, not_private: bool
) -> tuple[float, float | None]:
    """epsilon and delta of a fit or a plan; no privacy only for those who say so in words."""
    from nacre.cli.console import stop

    if not_private:
        if epsilon is not None or delta is not None:
            stop("--not-private adds no noise, so there is no ε or δ: leave out both.")
        return math.inf, None
    if epsilon == math.inf:
        stop(
            "An infinite ε promises nothing. If that is meant, write --not-private instead of "
            "--epsilon and --delta."
        )
    if epsilon is None or delta is None:
        stop(
            "Give --epsilon and --delta, such as --epsilon 1 --delta 1e-6; or --not-private, to "
            "add no noise and promise nothing."
        )
    return epsilon, delta


def read_schema(
    path: Path, label: str | None = None, *, no_label: bool = False
) -> Schema | ImageSchema:
    """The schema in a file, of a table or of images, with the label that was asked for."""
    from nacre.schema import read_any

    schema = read_any(path)
    if no_label:
        return schema.with_label(None)
    return schema if label is None else schema.with_label(label)


def read_method(
    name: str, settings: list[str] | None, facts: Schema | ImageSchema
) -> str | AbstractMethod:
    """The method with its settings; its name alone if there are none, so that a plan says why."""
    from nacre.cli.console import pairs

    if not settings:
        return name
    from nacre.methods import with_settings
    from nacre.schema import ImageSchema

    data = "image" if isinstance(facts, ImageSchema) else "table"
    return with_settings(name, pairs(settings, "--set"), data)
