"""A fitted model: sample from it, read its guarantee, save it and load it again."""

from __future__ import annotations

import dataclasses
import math
import numbers
import platform
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nacre.measurement import Measurement
from nacre.nets.generator import AbstractGenerator
from nacre.schema import Encoded, Schema, as_types
from nacre.vault.accountant import Release
from nacre.vault.guarantee import Guarantee

PACKAGES = ("nacre", "jax", "numpy", "opendp", "dp-accounting")
CHUNK = 1 << 16
RAREST = 1e-3

Keep = Callable[[pa.Table], Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Model:
    """A generator of synthetic rows with the guarantee under which it was made.

    Everything in it is post-processing of the releases that the guarantee lists, so the model
    itself, not only its samples, may be given away.
    """

    schema: Schema
    generator: AbstractGenerator
    guarantee: Guarantee
    method: str
    settings: Mapping[str, Any]
    kind: str = "file"
    types: pa.Schema | None = None
    ledger: Mapping[str, Any] | None = None
    versions: Mapping[str, str] = dataclasses.field(default_factory=lambda: versions())

    def __repr__(self) -> str:
        columns = len(self.schema.columns)
        return f"<{self.method} model of {columns} columns, {self.guarantee}>"

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """Noisy histograms among the releases, where the method kept them; public like the rest."""
        return self.generator.measured(self.schema.layout)

    def sample(
        self,
        n: int,
        *,
        seed: int | None = None,
        where: Mapping[str, Any] | None = None,
        keep: Keep | None = None,
    ) -> Any:
        """Draw n synthetic rows, as the kind of frame that was fitted (Arrow for files).

        Args:
            n: how many.
            seed: for the same rows again; without it each call draws others.
            where: values to be given, e.g. {"sex": "Female"}; the other columns follow from them.
            keep: which rows of an Arrow table may stay, as a mask; the others are drawn again.
                For rules between columns: `lambda t: pc.less_equal(t["start"], t["end"])`.
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
            raise ValueError(f"Cannot draw {n!r} rows. Give a whole number that is not negative.")
        rng = np.random.default_rng(seed)
        fixed = self._fixed(where or {})
        drawn = kept = 0
        while kept < n:
            # Where rows are dropped, as many more are drawn as the past suggests.
            lost = (drawn + 1) / (kept + 1)
            size = min(CHUNK, max(1, math.ceil((n - kept) * lost)))
            part = self._decode(self.generator.sample(size, self.schema.layout, rng, fixed))
            drawn += size
            if keep is not None:
                part = part.filter(pa.array(keep(part), pa.bool_()))
            part = part.slice(0, n - kept)
            kept += part.num_rows
            if kept < drawn * RAREST and drawn > 20 * CHUNK:
                raise ValueError(
                    f"Fewer than one row in {1 / RAREST:.0f} passes `keep`: the model hardly ever "
                    "makes such rows. Relax the rule, or fix values with `where`."
                )
            yield part

    def certificate(self) -> dict[str, Any]:
        """The guarantee, what it covers and how to check it, as plain data."""
        return {
            "guarantee": self.guarantee.to_dict(),
            "method": self.method,
            "settings": dict(self.settings),
            "schema": self.schema.digest,
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
            return table.to_pandas()
        if self.kind == "polars":
            import polars

            return polars.from_arrow(table)
        return table

    def _fixed(self, where: Mapping[str, Any]) -> dict[int, int]:
        """`where` as codes, checked against the schema."""
        fixed = {}
        for name, value in where.items():
            code = self._code(name, value)
            fixed[self.schema.layout.code(name)] = code
        return fixed

    def _code(self, name: str, value: Any) -> int:
        places = [c.name for c in self.schema.layout.codes if c.role == "value"]
        if name not in places:
            raise ValueError(
                f"`where` needs a column with a list of values, '{name}' is not one. "
                f"There are: {', '.join(places) or 'none'}."
            )
        column = self.schema.select([name])
        row = column.encode(pa.table({name: pa.array([value])}))
        if not row.valid[0]:
            known = column.decode(
                column.layout.encoded(codes=np.arange(column.layout.sizes[0])[:, None])
            )
            values = ", ".join(map(str, known[name].to_pylist()[:20]))
            raise ValueError(
                f"'{value}' is not among the schema's values of '{name}': {values}"
                f"{', ...' if known.num_rows > 20 else ''}."
            )
        return int(row.codes[0, 0])


def load(path: str | Path) -> Model:
    """Read a model that `save` wrote.  A stranger's file is safe to open: nothing in it runs."""
    from nacre.archive import ArchiveError, read
    from nacre.nets import GENERATORS

    document, arrays = read(Path(path))
    try:
        generator = dict(document["generator"])
        kind = GENERATORS[generator.pop("type")]
        schema = Schema.from_dict(document["schema"])
        model = Model(
            schema=schema,
            generator=kind.restore(generator, arrays),
            guarantee=Guarantee.from_dict(document["guarantee"]),
            method=str(document["method"]),
            settings=dict(document["settings"]),
            kind=str(document["kind"]),
            types=_types_from_text(document["types"]),
            ledger=document["ledger"],
            versions=dict(document["versions"]),
        )
        for release in schema.releases:
            if Release.from_dict(release) not in model.guarantee.releases:
                raise ValueError("The guarantee leaves out what the schema was bought with.")
        # Drawing one row shows that generator and schema belong together.
        model.sample_arrow(1, seed=0)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ArchiveError(
            f"{path} is a nacre file but its content does not fit together "
            f"({type(error).__name__}). It is damaged or was edited."
        ) from None
    return model


def versions() -> dict[str, str]:
    """The versions of what the guarantee rests on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "unknown"
    return found


def _types_to_text(types: pa.Schema | None) -> str | None:
    """Arrow's own serialized form, in hexadecimal; metadata (pandas' index) is left out."""
    return None if types is None else types.remove_metadata().serialize().to_pybytes().hex()


def _types_from_text(text: str | None) -> pa.Schema | None:
    return None if text is None else pa.ipc.read_schema(pa.py_buffer(bytes.fromhex(text)))
