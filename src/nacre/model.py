"""A fitted model: sample from it, read its guarantee, save it and load it again."""

from __future__ import annotations

import dataclasses
import numbers
import platform
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nacre.answers import Answer, answer, answers, told_measurements, told_tables
from nacre.drawing import Drawing, workers_for
from nacre.errors import NacreError
from nacre.histograms.crosstable import CrossTable
from nacre.histograms.measurement import Measurement
from nacre.nets.generator import AbstractGenerator
from nacre.partial import whole_or_none
from nacre.rejection import Keep, Rejection
from nacre.rows import AbstractEncoder, ImageEncoder, TableEncoder
from nacre.rows.difference import Difference
from nacre.rows.image import as_arrays
from nacre.rows.kinds import as_kind
from nacre.said import budget, check_together, doubt_of, ledger_entry, plain, public_rows
from nacre.schema import Schema
from nacre.vault.guarantee import Guarantee
from nacre.version import __version__

PACKAGES = ("jax", "numpy", "opendp", "dp-accounting")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Model:
    """A generator of synthetic rows with the guarantee under which it was made.

    Everything in it is post-processing of the releases that the guarantee lists, so the model
    itself, not only its samples, may be given away; unless the guarantee says NOT PRIVATE.

    Attributes:
        encoder: from drawn rows to what people hold, with all that is public about it.
        generator: what draws rows.
        guarantee: what is promised, and the releases that it follows from.
        method: that it was made with.
        settings: of the method.
        kind: of frame that came in, and that `sample` gives back.
        ledger: under which name and number the fit was charged, if it was.
        budget: the epsilon that was asked for, which the guarantee may stay a little below; None
            without privacy.
        rows: the public number of rows that the fit was planned with, if there was one: under
            replace-one all of them.
        versions: of the packages that the guarantee rests on.
    """

    encoder: AbstractEncoder
    generator: AbstractGenerator
    guarantee: Guarantee
    method: str
    settings: Mapping[str, Any]
    kind: str = "file"
    ledger: Mapping[str, Any] | None = None
    budget: float | None = None
    rows: int | None = None
    versions: Mapping[str, str] = dataclasses.field(default_factory=lambda: versions())

    def __repr__(self) -> str:
        return f"<{self.method} model, {self.guarantee}>"

    @property
    def schema(self) -> Schema:
        """What is public about the table."""
        if not isinstance(self.encoder, TableEncoder):
            raise NacreError("This is no model of a table, so it has no schema of columns.")
        return self.encoder.schema

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The columns of a table that were fitted as distances from others."""
        return self.encoder.differences if isinstance(self.encoder, TableEncoder) else ()

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """Noisy histograms among the releases, where the method kept them; public like the rest.

        Of a column that was fitted as a difference there is none: its cells are not the column's.
        Where a person may have several rows, a row counts as its part of a person, and how many
        rows persons have (`Unit.counted`) is a column, too.
        """
        return told_measurements(self.encoder, self.generator.measured())

    def tables(self, *, level: float = 0.95) -> tuple[Answer, ...]:
        """The cross-tables that were released to make the model, as they left the vault."""
        self._require_rows()
        return answers(self.schema, self.released, level)

    def answer(self, question: str | Sequence[str], *, level: float = 0.95) -> Answer:
        """How many rows of the private table have which values, with intervals; spends nothing.

        From the tables that were released to make the model, all that have the columns together.

        Args:
            question: columns, as "income by sex" or ["income", "sex"].
            level: how probable it is that an interval holds the count of the private table.
        """
        self._require_rows()
        return answer(self.schema, self.released, question, level)

    def _require_rows(self) -> None:
        if self.encoder.unit is not None:
            raise NacreError(
                "Of a model for persons (`unit`) no tables are given out: some rows were counted "
                "in part, and some not at all. Draw rows, and count these."
            )

    @property
    def released(self) -> tuple[CrossTable, ...]:
        """The released tables as arrays; `nacre.answers.as_measurements` gives them to mbi.

        Of a column that was fitted as a difference there is none: its cells are not the column's.
        Where a person may have several rows there is none either: they were counted in parts.
        """
        if self.encoder.unit is not None:
            return ()
        return told_tables(self.encoder, self.generator.released())

    def sample(
        self,
        n: int,
        *,
        seed: int | None = None,
        where: Mapping[str, Any] | None = None,
        keep: Keep | None = None,
    ) -> Any:
        """Draw n synthetic rows, as the kind of frame that was fitted (Arrow for files).

        Of images, an array of bytes and their labels: `images, labels = model.sample(100)`.

        Every row satisfies the schema's constraints and facts: those that do not are drawn again,
        and constraints between columns leave every group its share. What is returned follows the
        model given the conditions. If hardly any row can satisfy them, the error says which is the
        rarest.

        Args:
            n: how many.
            seed: for the same rows again; without it each call draws others.
            where: conditions by column: a value ({"sex": "Female"}), a list of values, a range
                with both ends included ({"age": (30, 40)}, {"seen": ("2024-01-01", None)}), or
                None (or NaN, "missing") for missing. The other columns follow from them.
            keep: which rows of an Arrow table may stay, as a mask, for what constraints cannot
                say: `lambda t: pc.less(pc.add(t["a"], t["b"]), 10)`.
        """
        table = self.sample_arrow(n, seed=seed, where=where, keep=keep)
        if isinstance(self.encoder, ImageEncoder):
            return as_arrays(table, self.encoder.schema)
        return as_kind(table, self.schema, self.kind)

    def sample_arrow(
        self,
        n: int,
        *,
        seed: int | None = None,
        where: Mapping[str, Any] | None = None,
        keep: Keep | None = None,
    ) -> pa.Table:
        """Draw n synthetic rows as an Arrow table; arguments as for `sample`."""
        parts = list(self.batches(n, seed=seed, where=where, keep=keep))
        if parts:
            return pa.concat_tables(parts)
        return self.rejection().none()

    def batches(
        self,
        n: int,
        *,
        seed: int | None = None,
        where: Mapping[str, Any] | None = None,
        keep: Keep | None = None,
    ) -> Iterator[pa.Table]:
        """Draw n rows as a stream of Arrow tables, so that memory stays flat in n."""
        yield from self.drawing(n, seed=seed, where=where, keep=keep)

    def drawing(
        self,
        n: int,
        *,
        seed: int | None = None,
        where: Mapping[str, Any] | None = None,
        keep: Keep | None = None,
    ) -> Drawing:
        """n rows to be drawn in chunks, in any number of processes; arguments as for `sample`."""
        if isinstance(n, bool) or not isinstance(n, numbers.Integral) or n < 0:
            raise NacreError(f"Cannot draw {n!r} rows. Give a whole number that is not negative.")
        return Drawing(lambda: self.rejection(where=where, keep=keep), int(n), seed)

    def write(
        self,
        path: str | Path,
        n: int,
        *,
        seed: int | None = None,
        where: Mapping[str, Any] | None = None,
        workers: int | None = None,
        like: str | Path | None = None,
        safe_csv: bool = False,
        on_progress: Callable[[str, float | None], None] | None = None,
    ) -> Rejection:
        """Draw n rows of a table into a CSV or Parquet file; memory stays flat in n.

        Args:
            path: the file, ending in .csv, .csv.gz, .parquet or .pq; replaced if it is there, by
                all rows or, on any error, not at all.
            n: how many rows.
            seed: for the same rows again, whatever the number of processes.
            where: as for `sample`.
            workers: how many processes draw; as many as pay if not given.
            like: a name that says the kind of file, if `path` does not.
            safe_csv: whether texts in CSV that a spreadsheet could run as a formula get an
                apostrophe before them; without it there is a warning where there are such texts.
            on_progress: called with a stage's name and the part done.

        Returns:
            What became of the candidates: `rate`, `describe()`.
        """
        from nacre.schema.written import clocks, decimals
        from nacre.writer import Writer, check_name

        if isinstance(self.encoder, ImageEncoder):
            raise NacreError("This writes tables; write images with `nacre sample`.")
        kind = Path(path if like is None else like)
        check_name(kind)
        drawing = self.drawing(n, seed=seed, where=where)
        many = workers_for(drawing, workers)
        tables = iter(drawing) if many == 1 else drawing.parallel(self.save, load, where, many)
        with (
            whole_or_none(Path(path)) as partial,
            Writer(
                partial,
                like=kind,
                safe=safe_csv,
                decimals=decimals(self.schema),
                clocks=clocks(self.schema),
            ) as writer,
        ):
            for table in tables:
                writer.write(table)
                if on_progress is not None:
                    on_progress("drawing rows", writer.rows / n)
            if not writer.rows:
                writer.write(self.sample_arrow(0))
        if writer.formulas:
            warnings.warn(
                f"Texts in {', '.join(sorted(writer.formulas))} begin with =, +, -, @ or a tab, as "
                "formulas do: a spreadsheet may run them. Write Parquet, or put an apostrophe "
                "before them with safe_csv=True (on the command line --safe-csv).",
                stacklevel=2,
            )
        return drawing.rejection

    def rejection(
        self, *, where: Mapping[str, Any] | None = None, keep: Keep | None = None
    ) -> Rejection:
        """A stream of rows as `batches` draws it, which also tells what share it has kept."""
        return Rejection(self.generator, self.encoder, where=where, keep=keep)

    def with_constraints(self, constraints: Sequence[str | Mapping[str, Any]]) -> Model:
        """The same model under other constraints, or none; free, as they bind only samples."""
        schema = self.schema.with_constraints(constraints)
        encoder = dataclasses.replace(self.encoder, schema=schema)  # type: ignore[type-var]
        return dataclasses.replace(self, encoder=encoder)

    def certificate(self) -> dict[str, Any]:
        """The guarantee, what it covers and how to check it, as plain data."""
        return {
            "guarantee": self.guarantee.to_dict(),
            "method": self.method,
            "settings": dict(self.settings),
            "budget": self.budget,
            "rows": self.rows,
            "schema": self.encoder.digest,
            "differences": [str(each) for each in self.differences],
            "versions": dict(self.versions),
            "ledger": dict(self.ledger) if self.ledger else None,
        }

    def save(self, path: str | Path, *, replace: bool = False) -> None:
        """Write the model to one file: JSON and arrays, no code.

        Only with `replace` in the place of another file: a model, unlike samples, costs budget.
        """
        from nacre.archive import write

        config, arrays = self.generator.state()
        document = {
            **self.certificate(),
            "encoder": {"kind": self.encoder.kind, **self.encoder.to_dict()},
            "generator": {"type": type(self.generator).__name__, **config},
            "kind": self.kind,
        }
        write(Path(path), document, arrays, replace=replace)


def load(path: str | Path) -> Model:
    """Read a model that `save` wrote.  A stranger's file is safe to open: nothing in it runs.

    Warns if the releases that the file lists cost more than it claims, or if it is not private.
    """
    from nacre.archive import read

    model, doubt = restored(path, *read(Path(path)))
    if doubt:
        warnings.warn(f"{path}: {doubt}", stacklevel=2)
    return model


def restored(
    path: str | Path, document: Mapping[str, Any], arrays: Mapping[str, Any]
) -> tuple[Model, str | None]:
    """A model from what its file says, and why its guarantee cannot be true, if so."""
    from nacre.archive import ArchiveError
    from nacre.registry import ENCODERS, GENERATORS, load_class

    try:
        said = dict(document["encoder"])
        encoder = load_class(ENCODERS, said.pop("kind")).from_dict(said)
        state = dict(document["generator"])
        generator = load_class(GENERATORS, state.pop("type")).restore(state, arrays, encoder)
        guarantee = Guarantee.from_dict(document["guarantee"])
        model = Model(
            encoder=encoder,
            generator=generator,
            guarantee=guarantee,
            method=str(document["method"]),
            settings=plain(document["settings"]),
            kind=str(document["kind"]),
            ledger=ledger_entry(document["ledger"]),
            budget=budget(document.get("budget"), guarantee),
            rows=public_rows(document.get("rows")),
            versions=plain(document["versions"]),
        )
        if document["schema"] != encoder.digest:
            raise NacreError("The certificate is of another schema.")
        check_together(guarantee, encoder, generator)
        # Drawing one row shows that generator and schema belong together.  Not through
        # constraints: hardly any row may satisfy them, which is no damage.
        rng = np.random.default_rng(0)
        encoder.decode(encoder.settle(generator.sample(1, rng), rng))
        doubt = doubt_of(guarantee)
    except MemoryError:
        raise ArchiveError(f"{path} does not fit into the memory that is left.") from None
    except Exception as error:  # of any kind, NumPy's and Arrow's own too: a stranger wrote it
        why = str(error) if isinstance(error, NacreError) else f"{type(error).__name__}."
        why = "".join(letter for letter in why[:300] if letter.isprintable())
        raise ArchiveError(
            f"{path} is a nacre file but its content does not fit together: {why} It is damaged "
            "or was edited."
        ) from None
    return model, doubt


def versions() -> dict[str, str]:
    """The versions of what the guarantee rests on."""
    found = {"python": platform.python_version(), "nacre": __version__}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "unknown"
    return found
