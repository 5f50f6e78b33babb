"""sketch(): the sums of one site's rows before noise; merge(): those of several sites."""

from __future__ import annotations

import dataclasses
import hashlib
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self, final

import numpy as np

from nacre import archive
from nacre.engines import on_engine
from nacre.errors import NacreError
from nacre.methods import AbstractMethod
from nacre.plan import as_encoder, as_rows
from nacre.rows import Stream
from nacre.schema import KEEP, Schema
from nacre.sites.answers import Answers, opening
from nacre.sites.terms import Terms
from nacre.vault import Adjacency
from nacre.vault.rounds import Asked, Exact

KIND = "sketch"


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Sketch:
    """Integer sums of a site's rows, or of several sites'.  NOT private: it has no noise.

    Attributes:
        terms: what all sites have in common.
        answers: how many questions were answered before this one.
        question: the name of the one that it is of.
        exact: the sums.
        parts: a digest of each site's own sums, so that none is added twice.
        checked: whether all rows were found to fit the schema.
    """

    terms: Terms
    answers: int
    question: str
    exact: Exact
    parts: tuple[str, ...]
    checked: bool = True

    @property
    def sites(self) -> int:
        """Of how many sites it is."""
        return len(self.parts)

    def __repr__(self) -> str:
        return f"<Sketch of '{self.question}', {self.sites} sites, NOT private>"

    def save(self, path: str | Path) -> None:
        """Write it for its owner's eyes alone (mode 600): a sketch is as private as its rows."""
        document = {
            "file": KIND,
            "terms": self.terms.to_dict(),
            "answers": self.answers,
            "question": self.question,
            "program": self.exact.program,
            "parts": list(self.parts),
            "checked": self.checked,
        }
        arrays = {"sums": self.exact.sums, "counts": self.exact.counts}
        archive.write(Path(path), document, arrays, secret=True)

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """The inverse of `save`."""
        document, arrays = archive.read(Path(path))
        with opening(path, document, KIND):
            sums, counts = arrays["sums"], arrays["counts"]
            if sums.dtype != np.int64 or counts.dtype != np.int64 or sums.ndim != 2:
                raise NacreError("Sums are 64-bit integers.")
            return cls(
                Terms.from_dict(document["terms"]),
                int(document["answers"]),
                str(document["question"]),
                Exact(str(document["program"]), sums, counts),
                tuple(str(part) for part in document["parts"]),
                bool(document["checked"]),
            )


def sketch(
    data: Any,
    schema: Schema | str | Path,
    *,
    method: str | AbstractMethod = "auto",
    label: str | None = KEEP,
    adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
    rows: int | None = None,
    seed: int = 0,
    answers: Answers | None = None,
    bad_rows: str = "check",
    engine: Any = None,
    on_progress: Callable[[str, float | None], None] | None = None,
) -> Sketch:
    """The sums that a method asks for next, over one site's rows.  NOT private: keep it inside.

    Args:
        data: the site's rows, as for `fit`.
        schema: the same at every site.
        method: likewise, with its settings; from `answers` after the first round.
        label: likewise.
        adjacency: likewise.
        rows: a public number of rows of all sites together, if there is one.
        seed: likewise; it decides public randomness only.
        answers: what earlier rounds have released; None in the first.
        bad_rows: as for `fit`.
        engine: as for `fit`.
        on_progress: as for `fit`.

    Releases:
        nothing: what is returned has no noise, and is for those who may see the site's rows.

    Adjacency:
        that of the release to come, of the rows of all sites together.

    Sensitivity:
        `Bound.sensitivity`, enforced here: each row's contribution is clipped as integers.

    Public:
        all arguments but `data`.
    """
    require_known(bad_rows)
    encoder = as_encoder(schema, label)
    if answers is None:
        terms = Terms.of(encoder, method, seed=seed, adjacency=adjacency, rows=as_rows(rows))
        plan, given = terms.nominal(), []
    else:
        terms, plan, given = answers.terms, answers.plan, list(answers.given)
        if {"kind": encoder.kind, **encoder.to_dict()} != dict(terms.encoder):
            raise NacreError("The answers are of another schema or label than the one given here.")
    encoder.require_usable()
    asked = terms.next_question(plan, given, on_progress)
    exact = summed(asked, data, bad_rows=bad_rows, engine=engine)
    parts = (_digest(exact),)
    return Sketch(terms, len(given), asked.question.name, exact, parts, bad_rows == "check")


def require_known(bad_rows: str) -> None:
    """Refuse what nobody knows how to do with bad rows, before any is read."""
    if bad_rows not in ("check", "zero"):
        raise NacreError(f"bad_rows must be 'check' or 'zero', got {bad_rows!r}.")


def summed(asked: Asked, data: Any, *, bad_rows: str, engine: Any = None) -> Exact:
    """The sums of what is asked over one site's rows.  NOT private."""
    with on_engine(data, engine) as where:
        stream = Stream(asked.exact.encoder, where)  # type: ignore[arg-type]
        if bad_rows == "check":
            stream.check()
        sums, counts = asked.exact.over(stream, asked.public)
    return Exact(asked.program, sums, counts)


def _digest(exact: Exact) -> str:
    """Of one site's sums: the same rows have the same.  Sums of nothing may be there often."""
    if not (exact.sums.any() or exact.counts.any()):
        return secrets.token_hex(32)
    return hashlib.sha256(exact.sums.tobytes() + exact.counts.tobytes()).hexdigest()


def merge(sketches: Sequence[Sketch]) -> Sketch:
    """The sums of several sites together; as little private as each of them.

    Sums that are there twice, in a copy, in a sketch of the same rows or within another merged one,
    are refused: a row that counts twice would cost more than what is promised.
    """
    if not sketches:
        raise NacreError("Give at least one sketch.")
    first = sketches[0]
    for place, other in enumerate(sketches[1:], start=2):
        differing = [
            what
            for what, one, two in (
                ("schema", first.terms.encoder, other.terms.encoder),
                ("method", first.terms.method, other.terms.method),
                ("settings", first.terms.settings, other.terms.settings),
                ("seed", first.terms.seed, other.terms.seed),
                ("adjacency", first.terms.adjacency, other.terms.adjacency),
                ("number of rows", first.terms.rows, other.terms.rows),
                ("round", first.answers, other.answers),
                ("program", first.exact.program, other.exact.program),
                ("size", first.exact.sums.shape, other.exact.sums.shape),
            )
            if one != two
        ]
        if differing:
            raise NacreError(
                f"Sketch {place} is of another {', '.join(differing)} than the first. Sites must "
                "sketch with the same schema, method, settings, seed, earlier answers and versions."
            )
    parts = tuple(part for each in sketches for part in each.parts)
    if len(set(parts)) < len(parts):
        raise NacreError(
            "The sums of one site are there twice: as a copy, as two sketches of the same rows, or "
            "inside another merged sketch. Give each site's once. Nothing was spent."
        )
    total = Exact(
        first.exact.program,
        np.sum([each.exact.sums for each in sketches], axis=0, dtype=np.int64),
        np.sum([each.exact.counts for each in sketches], axis=0, dtype=np.int64),
    )
    return dataclasses.replace(
        first,
        exact=total,
        parts=parts,
        checked=all(each.checked for each in sketches),
    )
