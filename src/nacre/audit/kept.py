"""Runs of an audit, in memory and in a file that a later sitting goes on with."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nacre.audit.run import Seen
from nacre.errors import NacreError
from nacre.vault import Plan


class Kept:
    """A line of JSON that says what is audited, one for the canary, and one for each run.

    A line that was cut off, as when the machine stopped, is left out and written over.
    """

    def __init__(self, path: Path | None, head: Mapping[str, Any]):
        self._path, self._head = path, dict(head)
        self.canary: dict[str, Any] | None = None
        self._seen: dict[bool, list[Seen]] = {False: [], True: []}

    @classmethod
    def open(
        cls, path: str | Path | None, settings: Mapping[str, Any], plan: Plan, data: str
    ) -> Kept:
        """What a file keeps, or nothing; refuses a file of another audit."""
        head = {
            "audit": 1,
            "data": data,
            "settings": json.loads(json.dumps(settings)),
            "epsilon": plan.epsilon,
            "delta": plan.delta,
            "adjacency": plan.adjacency.value,
        }
        kept = cls(None if path is None else Path(path), head)
        if kept._path is not None and kept._path.exists():
            kept._read(kept._path)
        elif kept._path is not None:
            kept._path.write_text(json.dumps(head) + "\n")
        return kept

    def _read(self, path: Path) -> None:
        lines = []
        for text in path.read_text(errors="replace").splitlines():
            try:
                lines.append(json.loads(text))
            except ValueError:
                break
        if not lines or lines[0] != self._head:
            raise NacreError(
                f"{path} keeps runs of another audit, or none. Give the same method, settings and "
                "budget as before, or the name of a new file."
            )
        try:
            for line in lines[1:]:
                if "canary" in line:
                    self.canary = _restored(line["canary"])
                else:
                    present = bool(line.pop("present"))
                    self._seen[present].append(Seen(**line))
        except (AttributeError, KeyError, TypeError):
            raise NacreError(f"{path} keeps lines that are no runs. Remove it.") from None
        # So that the next line does not go on where a broken one ended.
        path.write_text("".join(json.dumps(line) + "\n" for line in self._lines()))

    def _lines(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = [self._head]
        if self.canary is not None:
            found.append({"canary": _plain(self.canary)})
        for present, many in self._seen.items():
            found += [{"present": present, **dataclasses.asdict(seen)} for seen in many]
        return found

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(json.dumps(line) + "\n")

    def set_canary(self, canary: Mapping[str, Any]) -> None:
        """Keep the canary: all runs must have the same."""
        self.canary = dict(canary)
        self._write({"canary": _plain(canary)})

    def add(self, present: bool, seen: Seen) -> None:
        """Keep a run."""
        self._seen[present].append(seen)
        self._write({"present": present, **dataclasses.asdict(seen)})

    @property
    def count(self) -> int:
        """How many runs there are, of both worlds."""
        return sum(map(len, self._seen.values()))

    def missing(self, runs: int) -> list[bool]:
        """The worlds of the runs that are still to be made, in turns."""
        lacking = {world: max(0, runs - len(many)) for world, many in self._seen.items()}
        return [
            world
            for turn in range(max(lacking.values()))
            for world in (False, True)
            if turn < lacking[world]
        ]

    def scores(self, runs: int) -> tuple[list[Seen], list[Seen]]:
        """As many runs of each world."""
        return self._seen[False][:runs], self._seen[True][:runs]


def _plain(canary: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.asarray(value).tolist() for name, value in canary.items()}


def _restored(canary: Mapping[str, Any]) -> dict[str, Any]:
    return {n: np.asarray(v) if isinstance(v, list) else v for n, v in canary.items()}
