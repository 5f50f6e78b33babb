"""`nacre site`: a model of several sites' rows without anybody who sees their sums."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from nacre.cli.collecting import collect, serve
from nacre.cli.console import pairs, progress, say, stop, tell, writable
from nacre.cli.help import Command, Group
from nacre.cli.options import (
    AdjacencyName,
    Adjacent,
    BadRows,
    Dataset,
    Delta,
    Engine,
    Epsilon,
    Label,
    LedgerAddress,
    MethodName,
    Misfits,
    NoLabel,
    Quiet,
    Rows,
    SchemaFile,
    Settings,
    SitesSeed,
    read_method,
    read_schema,
)

app = typer.Typer(
    cls=Group, help="Sites that trust nobody with their sums: noise in shares, under masks."
)
Board = Annotated[
    str, typer.Argument(metavar="BOARD", help="The folder of messages, or its https address.")
]
Authority = Annotated[
    Path | None, typer.Option("--ca", help="Certificates to trust, PEM, instead of the system's.")
]
PAUSE = 1.0  # seconds between two looks at a board
MEMBERS = "NAME=FILE"


@app.command("open", cls=Command)
def open_(
    board: Annotated[Path, typer.Argument(metavar="BOARD", help="A folder to make for messages.")],
    schema: SchemaFile,
    sites: Annotated[
        list[str],
        typer.Option("--site", metavar=MEMBERS, help="A site and its public key; once for each."),
    ],
    epsilon: Epsilon = None,
    delta: Delta = None,
    drop_outs: Annotated[
        int, typer.Option(min=0, help="How many sites may be missing in a round.")
    ] = 0,
    colluding: Annotated[
        int, typer.Option(min=1, help="How many sites may work together against the others.")
    ] = 1,
    method: MethodName = "auto",
    settings: Settings = None,
    label: Label = None,
    no_label: NoLabel = False,
    adjacency: Adjacent = AdjacencyName.ADD_REMOVE,
    rows: Rows = None,
    seed: SitesSeed = 0,
    quiet: Quiet = False,
) -> None:
    """Open a session at BOARD: what will be asked of which sites, at what cost."""
    if epsilon is None or delta is None:
        stop("Give --epsilon and --delta, such as --epsilon 1 --delta 1e-6.")
    if board.exists() and (not board.is_dir() or any(board.iterdir())):
        stop(f"{board} is there already, and not empty. Choose another name.")
    from nacre.plan import as_encoder, as_rows
    from nacre.signature import read_public_key
    from nacre.sites.masked.message import SESSION
    from nacre.sites.masked.session import Session
    from nacre.sites.terms import Terms

    if method == "auto":  # Mosaic's choices among tables would need exact sums in one place
        method, settings = "mosaic", ["several=0", *(settings or ())]
    facts = read_schema(schema, label, no_label=no_label)
    encoder = as_encoder(facts)
    encoder.require_usable()
    terms = Terms.of(
        encoder,
        read_method(method, settings, facts),
        seed=seed,
        adjacency=adjacency.value,
        rows=as_rows(rows),
    )
    keys = {name: read_public_key(path) for name, path in pairs(sites, "--site").items()}
    session = Session.new(
        terms, keys, epsilon=epsilon, delta=delta, dropouts=drop_outs, colluding=colluding
    )
    board.mkdir(exist_ok=True)
    session.save(board / SESSION)
    tell(f"Session {session.fingerprint}, {session.rounds} rounds: {board}")
    say("Next, at each site: nacre site show BOARD, then nacre site answer BOARD ...", quiet=quiet)


@app.command("show", cls=Command)
def show(
    board: Board,
    ca: Authority = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Work out all answers again from sites' messages.")
    ] = False,
    answers: Annotated[
        Path | None,
        typer.Option(help="With --verify: the answers from which a model is to be made."),
    ] = None,
) -> None:
    """Show who takes part in the session at BOARD, what it will cost, and where it stands."""
    if answers is not None and not verify:
        stop("--answers are checked with --verify: add that.")
    from nacre.signature import Signature
    from nacre.sites.masked.web import board_at

    place = board_at(board, authority=ca)
    session = place.session()
    tell(f"Session {session.fingerprint}", style="bold")
    tell(str(session.plan))
    tell(f"Noise of {session.parties}; {session.parties.shares} honest shares are enough.")
    sent = place.names()
    for name, key in session.sites.items():
        found = sorted(each for each in sent if each.startswith(f"{name}."))
        what = ", ".join(each.removeprefix(f"{name}.") for each in found)
        tell(f"  {name}: key {Signature(key=bytes.fromhex(key)).fingerprint}; {what or 'silent'}")
    if verify:
        from nacre.sites import Answers
        from nacre.sites.masked.collect import verify as work_out

        rounds = work_out(place, None if answers is None else Answers.read(answers))
        tell(f"The answers of all {rounds} rounds follow from the sites' messages.")


@app.command("answer", cls=Command)
def answer(
    board: Board,
    key: Annotated[Path, typer.Option(help="This site's secret key, of `nacre sign --new-key`.")],
    state: Annotated[
        Path, typer.Option(help="A folder for this site's secrets; never bring an old copy back.")
    ],
    table: Annotated[
        Path | None,
        typer.Argument(metavar="TABLE", help="This site's rows; not needed before it has to sum."),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(help="The session's fingerprint, the first time: you have looked at it."),
    ] = None,
    ca: Authority = None,
    ledger: LedgerAddress = None,
    dataset: Dataset = None,
    no_ledger: Annotated[
        bool, typer.Option("--no-ledger", help="Nobody counts what these rows have spent.")
    ] = False,
    bad_rows: Misfits = BadRows.CHECK,
    engine: Engine = None,
    wait: Annotated[
        float, typer.Option(min=0, help="Seconds to wait for the others; 0 does one turn.")
    ] = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where the last answers are written.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Do what is this site's turn at BOARD, with the rows of TABLE; nothing else leaves."""
    if output is not None:
        writable(output, table, key)
    if table is not None and (ledger is None) != no_ledger:
        stop(
            "Give --ledger and --dataset, or --no-ledger. A session that ends without an answer "
            "may be spent all the same, and the next one about these rows spends again: only a "
            "ledger adds them up, and stops when the budget is gone."
        )
    from nacre.sites.masked.holding import Holding
    from nacre.sites.masked.site import answer as take_turns
    from nacre.sites.masked.web import board_at

    place = board_at(board, authority=ca)
    last = f"{place.session().rounds}.answers"
    holding = None
    if table is not None:
        holding = Holding(
            data=table, bad_rows=bad_rows.value, engine=engine, ledger=ledger, dataset=dataset
        )

    def turn() -> tuple[list[str], bool]:
        with progress(quiet=quiet) as report:
            done = take_turns(
                place, holding, key=key, state=state, session=session, on_progress=report
            )
        return done, last in place.names()

    if not _over(turn, wait, quiet=quiet):
        say("Now it is others' turn. Run this again when they have had it.", quiet=quiet)
        return
    if output is not None:
        from nacre.sites import Answers

        Answers.read(place.fetch(last)).save(output)
    say(f"All rounds are answered. Next: nacre train {output or last} -o model.nacre", quiet=quiet)


def _over(turn: Callable[[], tuple[list[str], bool]], wait: float, *, quiet: bool) -> bool:
    """Take turns until all rounds are answered, or the time is over."""
    from nacre.sites.masked.web import Unreachable

    until = time.monotonic() + wait
    while True:
        sent: list[str] = []
        try:
            sent, over = turn()
            for name in sent:
                say(f"Sent {name}", quiet=quiet)
            if over or time.monotonic() >= until:
                return over
        except Unreachable as error:  # what is written is sent the next time
            if time.monotonic() >= until:
                raise
            say(f"{error} Trying again.", quiet=quiet)
        if not sent:
            time.sleep(PAUSE)


@app.command("leave", cls=Command)
def leave(
    state: Annotated[Path, typer.Option(help="The folder of this site's secrets.")],
    quiet: Quiet = False,
) -> None:
    """Forget this site's secrets of a session; it sends nothing more in it."""
    if not state.is_dir():
        stop(f"There is no folder {state}.")
    from nacre.sites.masked.site import leave as forget

    say(f"'{forget(state)}' has left: what it has spent stays spent.", quiet=quiet)


app.command("collect", cls=Command)(collect)
app.command("serve", cls=Command)(serve)
