"""The plan's page: what would be released, how far off it would be, and the button that spends."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response

from nacre.app import folder
from nacre.app.forms import Form, posted
from nacre.app.pages import go, page
from nacre.app.picture import histogram
from nacre.app.planning import Choices
from nacre.app.project import Project
from nacre.app.run import begin, runs_of
from nacre.app.site import folder_of, project_of, reviewed_schema, site_of
from nacre.app.work import outline_plan
from nacre.errors import NacreError
from nacre.ledger import Balance, Ledger
from nacre.ledger.names import likeness
from nacre.schema import Schema

STOPS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0)
MOST_RUNNING = 2  # fits at a time: each takes a core or two
FIELDS = tuple(field.name for field in dataclasses.fields(Choices) if field.name != "settings")


async def plan(request: Request) -> Response:
    """All choices, and what they lead to."""
    project, where = project_of(request), folder_of(request)
    said = reviewed_schema(where)
    if said is None:
        return go(request, f"/p/{project.id}/schema")
    return await _page(request, project, where, _kept(project, where))


def _kept(project: Project, where: Path) -> Choices:
    """What was chosen last; at first a name for the budget, and for public data its size."""
    known = folder.read_json(where / "choices.json")
    if known is not None:
        return Choices.read(known)
    if project.demo:
        return Choices(dataset="adult-demo", delta=1e-5, budget_delta=1e-4, rows=30_000)
    stem = project.name.partition(".")[0]
    return Choices(dataset=re.sub(r"[^\w-]+", "-", stem).strip("-") or "table")


async def _page(
    request: Request,
    project: Project,
    where: Path,
    choices: Choices,
    *,
    refusal: str = "",
    status: int = 200,
) -> Response:
    site = site_of(request)
    schema = reviewed_schema(where) or {}
    return page(
        request,
        "plan.html",
        status=status,
        each="person" if schema.get("unit") else "row",
        project=project,
        choices=choices,
        stops=STOPS,
        stop=min(range(len(STOPS)), key=lambda n: abs(STOPS[n] - choices.epsilon)),
        methods=await site.methods(),
        refusal=refusal,
        swapped=False,
        moved=False,
        **await _outlined(request, where, choices),
    )


@posted
async def outline(request: Request, form: Form) -> Response:
    """What the choices lead to: asked for at every move of the slider."""
    where, project = folder_of(request), project_of(request)
    try:
        choices = read_choices(form)
    except NacreError as error:
        return page(
            request,
            "outline.html",
            project=project,
            outline=None,
            picture=None,
            choices=None,
            problem=str(error),
            swapped=True,
            moved=False,
        )
    folder.write_json(where / "choices.json", choices.to_dict())
    found = await _outlined(request, where, choices)
    moved = form.get("budget_shown") == ("new" if found["balance"] else "open")
    return page(
        request,
        "outline.html",
        project=project,
        choices=choices,
        swapped=True,
        moved=moved,
        **found,
    )


def read_choices(form: Form) -> Choices:
    """The choices in a form."""
    said: dict[str, Any] = {name: form.get(name) for name in FIELDS if form.all(name)}
    settings = [line.strip() for line in form.get("settings").splitlines() if line.strip()]
    if wrong := [line for line in settings if "=" not in line]:
        raise NacreError(f"'{wrong[0]}': write a setting as name=value.")
    return Choices.read(said | {"settings": settings})


async def _outlined(request: Request, where: Path, choices: Choices) -> dict[str, Any]:
    """What the template of the outline needs; a refusal instead of a plan is shown as such."""
    site = site_of(request)
    ledger, name = site.settings.ledger, choices.dataset
    balance = await anyio.to_thread.run_sync(_balance, ledger, name)
    alike = await anyio.to_thread.run_sync(_alike, ledger, name)
    schema = reviewed_schema(where)
    shown = choices.digest(schema or {})
    found: dict[str, Any] = {"balance": balance, "alike": alike, "run": _next(where)}
    found["shown"] = shown
    try:
        made = await site.work.do(outline_plan, schema, choices.to_dict())
    except NacreError as error:
        return found | {"outline": None, "picture": None, "problem": str(error)}
    picture = None
    if made["count_error"] is not None:
        picture = histogram(made["example"], made["count_error"], choices.rows)
    over = refused(balance, choices)
    return found | {"outline": made, "picture": picture, "over": over, "problem": ""}


def _next(where: Path) -> int:
    """The number of the run that the button would start."""
    numbers = [int(path.name) for path in (where / "runs").iterdir() if path.name.isdecimal()]
    return max(numbers, default=0) + 1


def _balance(ledger: str, dataset: str) -> Balance | None:
    book = Ledger(ledger)
    return book.balance(dataset) if dataset in book.datasets() else None


def _alike(ledger: str, dataset: str) -> list[str]:
    """Budgets whose names differ by case, spaces or what is not shown: perhaps the same table."""
    names = Ledger(ledger).datasets()
    wanted = likeness(dataset)
    return [name for name in names if name != dataset and likeness(name) == wanted]


def refused(balance: Balance | None, choices: Choices) -> str:
    """Why a budget does not cover the fit; the ledger itself has the last word."""
    if not choices.dataset.strip():
        return "Give the budget a name, such as that of the table."
    if balance is None:
        if choices.epsilon > choices.budget_epsilon or choices.delta > choices.budget_delta:
            return "The budget that you would open is smaller than this fit. Raise it, or ask less."
        return ""
    if balance.adjacency != choices.adjacency:
        return f"The budget is kept in {balance.adjacency} adjacency: choose the same."
    hair = 1 + 1e-9
    if choices.epsilon > balance.left_epsilon * hair or choices.delta > balance.left_delta * hair:
        return (
            f"Only ε = {balance.left_epsilon:.4g} and δ = {balance.left_delta:.3g} are left of "
            "this budget. Ask for no more than that; to draw again from a model costs nothing."
        )
    return ""


@posted
async def fit(request: Request, form: Form) -> Response:
    """The one button that spends: starts the run that its page has shown, once."""
    site, project, where = site_of(request), project_of(request), folder_of(request)
    choices, number = read_choices(form), form.get("run")
    said = reviewed_schema(where)
    if said is None or not number.isdecimal():
        return go(request, f"/p/{project.id}/schema")
    if form.get("shown") != choices.digest(said):
        words = "Something was changed after the button was drawn. Look at it again."
        return await _page(request, project, where, choices, refusal=words, status=409)
    async with site.locks["run"]:
        begun = await anyio.to_thread.run_sync(_begin, site, project, said, choices, int(number))
    if isinstance(begun, str):
        return await _page(request, project, where, choices, refusal=begun, status=409)
    return go(request, f"/p/{project.id}/r/{begun}")


def _begin(
    site: Any, project: Project, said: dict[str, Any], choices: Choices, number: int
) -> int | str:
    """The number of the run that is under way, or why there is none."""
    where = site.projects.folder(project)
    if (where / "runs" / str(number) / "task.json").exists():
        return number  # the same button again
    if number != _next(where):
        return "This page was of an earlier run. Look at the plan again."
    every = [run for each in site.projects.path.iterdir() for run in _latest(each)]
    if sum(run.alive() for run in every) >= MOST_RUNNING:
        return (
            f"{MOST_RUNNING} models are being made on this machine already. Nothing was spent; try "
            "again when one of them is done."
        )
    table = site.projects.table(project)
    if problem := refused(_balance(site.settings.ledger, choices.dataset), choices):
        return problem
    folder.require_room(where, folder.ROOM)
    if _balance(site.settings.ledger, choices.dataset) is None:
        Ledger(site.settings.ledger).open(
            choices.dataset,
            epsilon=choices.budget_epsilon,
            delta=choices.budget_delta,
            adjacency=choices.adjacency,
        )
    root = site.projects.root_of(project)
    task = {
        "table": str(table),
        "root": None if root is None else str(root),
        "name": project.name,
        "ledger": site.settings.ledger,
        "choices": choices.to_dict(),
        "yaml": Schema.from_dict(said).to_yaml(),
    }
    try:
        return begin(where, number, task).number
    except FileExistsError:  # another server on the same folder was faster
        return number


def _latest(project: Path) -> list[Any]:
    return runs_of(project) if (project / "runs").is_dir() else []
