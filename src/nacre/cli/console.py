"""How the commands speak: results on stdout, the rest on stderr, and errors for people."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import typer
from rich.console import Console
from rich.markup import escape as _literal

from nacre.errors import MissingExtra, NacreError, in_words

if TYPE_CHECKING:
    from nacre.vault import Guarantee

BAD_INPUT = 2
FAILURE = 1
INTERRUPTED = 130
PIPED_WIDTH = 120
NO_MODEL = frozenset(
    (
        ".csv",
        ".tsv",
        ".txt",
        ".parquet",
        ".arrow",
        ".feather",
        ".npz",
        ".html",
        ".yaml",
        ".yml",
        ".db",
    )
)
BESIDE = 32  # bytes by which the name of a file that is still being written is longer
NO_LABEL = (
    "No label is named. If one column is to be predicted, a label lets the method spend on what "
    "predicts it, and the report try models of it."
)
LARGE = 10.0  # ε, at which the best attack finds a third of the people
# A path that is not there or not allowed is the user's to correct; a full disk is not.
PATH_ERRORS = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)
# Control characters other than tabs and ends of lines, and halves of characters.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

Report = Callable[[str, float | None], None]


def out() -> Console:
    """Where results go; made anew each time, as tests and pipes exchange the stream."""
    return Console(file=sys.stdout, highlight=False, width=_width(sys.stdout))


def err() -> Console:
    """Where everything else goes."""
    return Console(file=sys.stderr, highlight=False, width=_width(sys.stderr))


def _width(stream: TextIO) -> int | None:
    """A terminal's own width; wide enough for tables where there is none."""
    return None if stream.isatty() else PIPED_WIDTH


def printable(text: str) -> str:
    """Without control characters, by which names in a stranger's file could steer the terminal."""
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def escape(text: str) -> str:
    """Text as rich and the terminal shall show it: neither markup nor control characters act."""
    return _literal(printable(text))


def tell(text: str, *, style: str | None = None) -> None:
    """A result in words, on stdout; lines are never broken, so that scripts can search them."""
    out().print(escape(text), style=style, soft_wrap=True)


def say(text: str, *, quiet: bool = False, style: str | None = None) -> None:
    """A remark on stderr, left out with --quiet."""
    if not quiet:
        err().print(escape(text), style=style, soft_wrap=True)


def say_if_weak(epsilon: float, *, quiet: bool = False) -> None:
    """Say that a guarantee is weak; the budget is the holder's to choose.

    One that promises nothing says so itself.
    """
    if LARGE < epsilon < math.inf:
        say(
            f"ε = {epsilon:g} protects little: at {LARGE:g} somebody who knows the other rows may "
            "find a third of the people. At most 1 is usual.",
            quiet=quiet,
            style="yellow",
        )


def style_of(guarantee: Guarantee) -> str:
    """The color of a guarantee; red where nothing is promised."""
    return "green" if guarantee.private else "red"


def print_json(value: Any) -> None:
    """JSON on stdout; an infinite number is null."""
    typer.echo(json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False))


def stop(message: str, code: int = BAD_INPUT) -> NoReturn:
    """End with a red message on stderr."""
    err().print(escape(message), style="red", soft_wrap=True)
    raise typer.Exit(code)


@contextlib.contextmanager
def for_people() -> Iterator[None]:
    """Show errors and warnings without tracebacks, and nothing that could quote a private value.

    Only messages that nacre itself wrote are shown: those of other libraries may quote a cell.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _show_warning
        try:
            yield
        except KeyboardInterrupt as error:
            said = _notes(error) or "What was charged to a ledger before that stays charged."
            err().print(escape(f"Stopped. {said}"), soft_wrap=True)
            raise typer.Exit(INTERRUPTED) from None
        except Exception as error:
            # Exits and complaints about the command line itself are not ours to explain.
            if _room(error) in ("click", "typer") or os.environ.get("NACRE_TRACEBACK"):
                raise
            message, code = explain(error)
            err().print(escape(f"{message} {_notes(error)}".strip()), style="red", soft_wrap=True)
            raise typer.Exit(code) from None


def explain(error: Exception) -> tuple[str, int]:
    """The message for an error and the exit code."""
    ours = isinstance(error, NacreError) and not isinstance(error, MissingExtra)
    return in_words(error), BAD_INPUT if ours or isinstance(error, PATH_ERRORS) else FAILURE


def _notes(error: BaseException) -> str:
    """What nacre added to the error on its way: what stays charged."""
    return " ".join(getattr(error, "__notes__", ()))


def _room(error: BaseException) -> str:
    """The package that the kind of error belongs to."""
    return type(error).__module__.partition(".")[0]


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    if issubclass(category, UserWarning):
        err().print(f"Warning: {escape(str(message))}", style="yellow", soft_wrap=True)


@contextlib.contextmanager
def progress(*, quiet: bool = False) -> Iterator[Report]:
    """A bar for each stage, on a terminal only; calls take the stage and the part done."""
    console = err()
    if quiet or not console.is_terminal:
        yield lambda stage, done: None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        tasks: dict[str, Any] = {}

        def report(stage: str, done: float | None) -> None:
            if stage not in tasks:
                for task in tasks.values():  # a new stage means that the ones before are done
                    bars.update(task, total=1.0, completed=1.0)
                tasks[stage] = bars.add_task(escape(stage), total=None)
            if done is not None:
                bars.update(tasks[stage], total=1.0, completed=done)

        yield report


def writable(path: Path, *inputs: Path | None) -> Path:
    """A path that can be written and is none of the inputs, found out before anything is spent."""
    # Not `Path.resolve`, which fails at links that lead in a circle.
    real = os.path.realpath(path)
    if any(given is not None and os.path.realpath(given) == real for given in inputs):
        stop(f"{path} is read by this command: the output would replace it. Choose another name.")
    if path.is_dir():
        stop(f"{path} is a folder. Give the name of a file to write.")
    if path.exists() and not path.is_file():
        stop(f"{path} is a device or something else that is no file. Give the name of a file.")
    if not path.parent.is_dir():
        stop(f"There is no folder {path.parent} to write {path.name} to. Make it first.")
    longest = os.pathconf(path.parent, "PC_NAME_MAX") - BESIDE
    if len(os.fsencode(path.name)) > longest:
        stop(f"The name {path.name[:40]}... is too long: at most {longest} bytes. Choose another.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        stop(f"{path} cannot be written. Choose another place, or change its permissions.")
    return path


def free(path: Path, *inputs: Path | None, force: bool) -> Path:
    """A path that can be written and where nothing is yet, unless it may be replaced."""
    writable(path, *inputs)
    if path.exists() and not force:
        stop(f"{path} is there already. Choose another name, or add --force to replace it.")
    return path


def page(path: Path, *inputs: Path | None, force: bool) -> Path:
    """A path for a page, which with `force` an old page gives way to, but no table."""
    writable(path, *inputs)
    if path.suffix.lower() not in (".html", ".htm"):
        stop(f"{path} is no name for a page. Give one that ends in .html.")
    return free(path, force=force)


def model_file(path: Path, *inputs: Path | None, force: bool) -> Path:
    """A path for a model, which has no name that tables, pages and schemas have."""
    writable(path, *inputs)
    if path.suffix.lower() in NO_MODEL:
        stop(f"{path} is no name for a model. Give one such as {path.with_suffix('.nacre').name}.")
    if path.exists() and not force:
        stop(f"{path} is there already, and a model has cost budget. Add --force to replace it.")
    return path


def pairs(given: list[str], option: str) -> dict[str, str]:
    """`name=value` options as a dictionary."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            stop(f"{option} {text}: write it as name=value.")
        if name.strip() in found:
            stop(f"{option} {name.strip()} is given twice.")
        found[name.strip()] = value.strip()
    return found


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
