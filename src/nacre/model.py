"""A fitted model: sample from it, read its guarantee, save it and load it again."""

from __future__ import annotations

import dataclasses
import numbers
import platform
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nacre.errors import NacreError
from nacre.measurement import Measurement
from nacre.nets.generator import AbstractGenerator
from nacre.rejection import Keep, Rejection
from nacre.rows.differences import Difference, Differences
from nacre.schema import Encoded, Schema, as_types
from nacre.vault.accountant import Release
from nacre.vault.guarantee import Guarantee
from nacre.version import __version__

PACKAGES = ("jax", "numpy", "opendp", "dp-accounting")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Model:
    """A generator of synthetic rows with the guarantee under which it was made.

    Everything in it is post-processing of the releases that the guarantee lists, so the model
    itself, not only its samples, may be given away.  `differences` are the columns that were
    fitted as distances from others, by the constraints of the time; other constraints on samples
    leave them as they are.  `kind` is the kind of frame that was fitted; `types` are those that the
    caller stated, never those of the table.
    """

    schema: Schema
    generator: AbstractGenerator
    guarantee: Guarantee
    method: str
    settings: Mapping[str, Any]
    kind: str = "file"
    types: pa.Schema | None = None
    ledger: Mapping[str, Any] | None = None
    differences: Sequence[Difference] = ()
    versions: Mapping[str, str] = dataclasses.field(default_factory=lambda: versions())

    def __repr__(self) -> str:
        columns = len(self.schema.columns)
        return f"<{self.method} model of {columns} columns, {self.guarantee}>"

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """Noisy histograms among the releases, where the method kept them; public like the rest.

        Of a column that was fitted as a difference there is none: its cells are not the column's.
        """
        replaced = {each.column for each in self.differences}
        every = self.generator.measured(self._differences.modeled.layout)
        return tuple(each for each in every if each.column not in replaced)

    @cached_property
    def _differences(self) -> Differences:
        return Differences(self.schema, self.differences)

    def sample(
        self,
        n: int,
        *,
        seed: int | None = None,
        where: Mapping[str, Any] | None = None,
        keep: Keep | None = None,
    ) -> Any:
        """Draw n synthetic rows, as the kind of frame that was fitted (Arrow for files).

        Every row satisfies the schema's constraints: those that do not are drawn again, so what is
        returned follows the model given the constraints and conditions. If hardly any row can
        satisfy them, the error says which is the rarest.

        Args:
            n: how many.
            seed: for the same rows again; without it each call draws others.
            where: conditions by column: a value ({"sex": "Female"}), a list of values, a range
                with both ends included ({"age": (30, 40)}, {"seen": ("2024-01-01", None)}), or
                None for missing. The other columns follow from them.
            keep: which rows of an Arrow table may stay, as a mask, for what constraints cannot
                say: `lambda t: pc.less(pc.add(t["a"], t["b"]), 10)`.
        """
        return self._frame(self.sample_arrow(n, seed=seed, where=where, keep=keep))

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
        return pa.concat_tables(parts) if parts else self._decode(self.schema.layout.encoded())

    def batches(
        self,
        n: int,
        *,
        seed: int | None = None,
        where: Mapping[str, Any] | None = None,
        keep: Keep | None = None,
    ) -> Iterator[pa.Table]:
        """Draw n rows as a stream of Arrow tables, so that memory stays flat in n."""
        if isinstance(n, bool) or not isinstance(n, numbers.Integral) or n < 0:
            raise NacreError(f"Cannot draw {n!r} rows. Give a whole number that is not negative.")
        yield from self.rejection(where=where, keep=keep).batches(n, np.random.default_rng(seed))

    def rejection(
        self, *, where: Mapping[str, Any] | None = None, keep: Keep | None = None
    ) -> Rejection:
        """A stream of rows as `batches` draws it, which also tells what share it has kept."""
        return Rejection(
            self.generator,
            self.schema,
            self._decode,
            differences=self.differences,
            where=where,
            keep=keep,
        )

    def with_constraints(self, constraints: Sequence[str | Mapping[str, Any]]) -> Model:
        """The same model under other constraints, or none; free, as they bind only samples."""
        return dataclasses.replace(self, schema=self.schema.with_constraints(constraints))

    def certificate(self) -> dict[str, Any]:
        """The guarantee, what it covers and how to check it, as plain data."""
        return {
            "guarantee": self.guarantee.to_dict(),
            "method": self.method,
            "settings": dict(self.settings),
            "schema": self.schema.digest,
            "differences": self._differences.to_list(),
            "versions": dict(self.versions),
            "ledger": dict(self.ledger) if self.ledger else None,
        }

    def save(self, path: str | Path) -> None:
        """Write the model to one file: JSON and arrays, no code."""
        from nacre.archive import write

        config, arrays = self.generator.state()
        document = {
            **self.certificate(),
            "schema": self.schema.to_dict(),
            "generator": {"type": type(self.generator).__name__, **config},
            "kind": self.kind,
            "types": _types_to_text(self.types),
        }
        write(Path(path), document, arrays)

    def _decode(self, encoded: Encoded) -> pa.Table:
        table = self.schema.decode(encoded)
        return table if self.types is None else as_types(table, self.types)

    def _frame(self, table: pa.Table) -> Any:
        if self.kind == "pandas":
            return self._pandas(table)
        if self.kind == "polars":
            import polars

            return polars.from_arrow(table)
        return table

    def _pandas(self, table: pa.Table) -> Any:
        """A frame whose types follow from the schema: with room for gaps wherever there may be any.

        Dates become datetime64, as pandas has no type for them.
        """
        import pandas as pd

        roomy = {pa.bool_(): pd.BooleanDtype()}
        for bits in (8, 16, 32, 64):
            roomy[getattr(pa, f"int{bits}")()] = getattr(pd, f"Int{bits}Dtype")()
            roomy[getattr(pa, f"uint{bits}")()] = getattr(pd, f"UInt{bits}Dtype")()
        parts = {}
        for name in table.column_names:
            column = table.column(name)
            if pa.types.is_date(column.type):
                column = column.cast(pa.timestamp("us"))
            nullable = self.schema.columns[name].nullable
            parts[name] = column.to_pandas(types_mapper=roomy.get if nullable else None)
        return pd.DataFrame(parts)


def load(path: str | Path) -> Model:
    """Read a model that `save` wrote.  A stranger's file is safe to open: nothing in it runs.

    Warns if the releases that the file lists cost more than it claims.
    """
    from nacre.archive import ArchiveError, read
    from nacre.nets import GENERATORS

    document, arrays = read(Path(path))
    try:
        state = dict(document["generator"])
        generator = GENERATORS[state.pop("type")].restore(state, arrays)
        schema = Schema.from_dict(document["schema"])
        differences = Differences.from_list(schema, document.get("differences", ()))
        model = Model(
            schema=schema,
            differences=differences.stated,
            generator=generator,
            guarantee=Guarantee.from_dict(document["guarantee"]),
            method=str(document["method"]),
            settings=_plain(document["settings"]),
            kind=str(document["kind"]),
            types=_types_from_text(document["types"]),
            ledger=_ledger_entry(document["ledger"]),
            versions=_plain(document["versions"]),
        )
        for release in schema.releases:
            if Release.from_dict(release) not in model.guarantee.releases:
                raise NacreError("The guarantee leaves out what the schema was bought with.")
        # Drawing one row shows that generator and schema belong together.  Not through
        # constraints: hardly any row may satisfy them, which is no damage.
        layout = differences.modeled.layout
        row = generator.sample(1, layout, np.random.default_rng(0), {})
        model._decode(differences.add(row))
        doubt = _doubt(model.guarantee)
    except MemoryError:
        raise ArchiveError(f"{path} does not fit into the memory that is left.") from None
    except Exception as error:  # of any kind, NumPy's and Arrow's own too: a stranger wrote it
        raise ArchiveError(
            f"{path} is a nacre file but its content does not fit together "
            f"({type(error).__name__}). It is damaged or was edited."
        ) from None
    if doubt:
        warnings.warn(f"{path}: {doubt}", stacklevel=2)
    return model


def _doubt(guarantee: Guarantee) -> str | None:
    """Why a guarantee cannot be true, as far as can be told at once; steps take a while to add."""
    if any(release.mechanism == "subsampled-gaussian" for release in guarantee.releases):
        return None
    try:
        guarantee.verify()
    except ValueError as error:
        return str(error)
    return None


def versions() -> dict[str, str]:
    """The versions of what the guarantee rests on."""
    found = {"python": platform.python_version(), "nacre": __version__}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "unknown"
    return found


def _plain(said: Any) -> dict[str, Any]:
    """Settings or versions: names with single values or lists of them, and nothing deeper."""
    for value in dict(said).values():
        parts = value if isinstance(value, list) else [value]
        if any(isinstance(part, dict | list) for part in parts):
            raise NacreError("Settings and versions are single values, or lists of them.")
    return dict(said)


def _ledger_entry(said: Any) -> dict[str, Any] | None:
    """Under which name and number the ledger holds the fit, if there was one."""
    return None if said is None else {"dataset": str(said["dataset"]), "entry": int(said["entry"])}


def _types_to_text(types: pa.Schema | None) -> str | None:
    """Arrow's own serialized form, in hexadecimal; metadata (pandas' index) is left out."""
    return None if types is None else types.remove_metadata().serialize().to_pybytes().hex()


def _types_from_text(text: str | None) -> pa.Schema | None:
    if text is None:
        return None
    return pa.ipc.read_schema(pa.py_buffer(bytes.fromhex(text))).remove_metadata()
