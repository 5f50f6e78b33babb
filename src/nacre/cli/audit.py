"""`nacre audit`."""

from __future__ import annotations

import dataclasses
import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from nacre.cli.console import FAILURE, out, print_json, printable, progress, stop, tell
from nacre.cli.options import AdjacencyName, Adjacent, Json, Quiet

if TYPE_CHECKING:
    from nacre.audit import CheckedControl, MethodAudit

NOTHING_PROVED = (
    "That an attack fails proves nothing: a better one may exist. The guarantee rests on its "
    "proof; this is a smoke alarm."
)


class DataKind(enum.StrEnum):
    """What a method learns from."""

    TABLE = "table"
    IMAGE = "image"


def audit(
    method: Annotated[
        str | None, typer.Option("--method", "-m", help="A name from `nacre methods`.")
    ] = None,
    epsilon: Annotated[float, typer.Option(help="ε of the fits that are attacked.")] = 1.0,
    delta: Annotated[float, typer.Option(help="δ of the fits that are attacked.")] = 1e-5,
    data: Annotated[
        DataKind, typer.Option("--data", help="What the method is to learn from.")
    ] = DataKind.TABLE,
    adjacency: Adjacent = AdjacencyName.ADD_REMOVE,
    runs: Annotated[int | None, typer.Option(help="Runs in each of two worlds.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    samples: Annotated[
        bool, typer.Option("--samples", help="Attack synthetic rows, too; slower.")
    ] = False,
    resume: Annotated[
        Path | None, typer.Option(help="A file that keeps the runs, to go on with later.")
    ] = None,
    controls: Annotated[
        bool,
        typer.Option("--controls", help="Try the audit on known mistakes, and on their mends."),
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Attack a method on simulated tables: how large must ε be at least?

    No private row is needed, and none is read.
    """
    if controls is (method is not None):
        stop("Give --method with a name, such as --method pearl, or --controls.")
    if controls:
        _controls(runs, as_json=as_json, quiet=quiet)
        return
    from nacre.audit import audit_method
    from nacre.audit.method import RUNS

    with progress(quiet=quiet) as report:
        found = audit_method(
            str(method),
            epsilon=epsilon,
            delta=delta,
            data=data.value,
            adjacency=adjacency.value,
            runs=RUNS if runs is None else runs,
            jobs=jobs,
            samples=samples,
            resume=resume,
            on_progress=report,
        )
    if as_json:
        said = {**dataclasses.asdict(found), "shown": found.shown.epsilon, "refuted": found.refuted}
        print_json(said)
    else:
        _show(found)
    if found.refuted:
        stop("The claim is refuted: this method leaks more than it says. Report it.", FAILURE)


def _show(found: MethodAudit) -> None:
    tell(
        f"{found.method} on {found.data} data, {found.adjacency.value}, claims "
        f"ε = {found.epsilon:g} at δ = {found.delta:g}."
    )
    for looked, bound in found.bounds.items():
        tell(
            f"From {looked}: ε ≥ {bound.epsilon:.3f} with {bound.confidence:.4g} confidence "
            f"({bound.theorem})."
        )
    if found.claimed_mu is not None:
        tell(
            f"The sums of this pair of tables are μ = {found.reached_mu:.5f} apart, where the plan "
            f"allows {found.claimed_mu:.5f}; the attack knows both and needs no luck for this."
        )
    if found.noise.numbers:
        low, high = found.noise.interval(0.95)
        tell(
            f"The noise that was drawn is {found.noise.ratio:.4g} times what is stated (95 %: "
            f"{low:.4g} to {high:.4g}), by {found.noise.numbers:,} numbers of all runs."
        )
    if found.noiseless:
        tell(f"Less noise than stated, surely, is in: {', '.join(found.noiseless)}.")
    if found.unweighed:
        tell(f"The attacker did not know the odds of: {', '.join(found.unweighed)}.")
    tell(
        f"{found.runs:,} runs in {found.seconds:.0f} s; by counting, so many could show "
        f"ε = {found.most:.2f} at most."
    )
    tell(NOTHING_PROVED)


def _controls(runs: int | None, *, as_json: bool, quiet: bool) -> None:
    from nacre.audit import check_controls
    from nacre.audit.controls import RUNS
    from nacre.errors import NacreError

    size = 10 * RUNS if runs is None else runs
    if size < 100:
        raise NacreError("Controls need at least 100 runs of each world.")
    with progress(quiet=quiet) as report:
        found = check_controls(runs=size, on_progress=report)
    if as_json:
        print_json([_plain(each) for each in found])
    else:
        out().print(_table(found))
    if failed := [each.control.name for each in found if not each.passed]:
        stop(f"The audit itself is broken: it is wrong about {', '.join(failed)}.", FAILURE)
    if not as_json:
        tell("Every known mistake is flagged at 95 % confidence; nothing that has none is.")


def _plain(checked: CheckedControl) -> dict[str, Any]:
    control = checked.control
    return {
        "name": control.name,
        "source": control.source,
        "mistake": control.mistake,
        "claimed": control.epsilon,
        "published": dataclasses.asdict(checked.published),
        "corrected": dataclasses.asdict(checked.corrected),
        "passed": checked.passed,
    }


def _table(found: tuple[CheckedControl, ...]) -> Table:
    table = Table(title="Known mistakes, and their mends", title_justify="left")
    for head in ("mistake", "published in"):
        table.add_column(head)
    for head in ("ε claimed", "ε ≥, as published", "ε ≥, mended", ""):
        table.add_column(head, justify="right")
    for each in found:
        table.add_row(
            Text(printable(each.control.name)),
            Text(printable(each.control.source)),
            f"{each.control.epsilon:g}",
            f"{each.published.epsilon:.2f}",
            f"{each.corrected.epsilon:.2f}",
            "ok" if each.passed else "BROKEN",
        )
    return table
