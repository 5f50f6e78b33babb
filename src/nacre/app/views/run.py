"""A run's pages: its progress, which anybody may come back to, and what it has made."""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import Any, final

import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope, Send

from nacre.app import folder, recipes
from nacre.app import run as runs
from nacre.app.forms import Form, posted
from nacre.app.guard import REPORT_POLICY
from nacre.app.pages import go, page
from nacre.app.project import Project
from nacre.app.run import Run, State
from nacre.app.site import project_of, run_of, site_of
from nacre.app.work import sample_rows
from nacre.errors import NacreError

MOST_ROWS = 5_000_000
DRAWN = ".sample-"  # of files that are drawn for one request
CONDITIONS = 3
FORMS = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
# What may be downloaded, and as what.
FILES = {
    runs.MODEL: "application/octet-stream",
    runs.CERTIFICATE: "application/json",
    runs.SCHEMA: "application/yaml",
    runs.SYNTHETIC: "text/csv; charset=utf-8",
    runs.PUBLIC: "text/html; charset=utf-8",
    runs.REPORT: "text/html; charset=utf-8",
}
STAGES = {
    "starting": "starting",
    "fitting the generator": "fitting the model to the noisy answers",
}


async def run(request: Request) -> Response:
    """How the run stands; its result, once there is a model."""
    project, found = project_of(request), run_of(request)
    state = await anyio.to_thread.run_sync(found.state)
    if found.there(runs.MODEL):
        return _result(request, project, found, state)
    return page(request, "run.html", **_progress(request, project, found, state))


async def progress(request: Request) -> Response:
    """The part of the page that changes; where it ends, the browser goes on."""
    project, found = project_of(request), run_of(request)
    state = await anyio.to_thread.run_sync(found.state)
    if found.there(runs.MODEL):
        return go(request, f"/p/{project.id}/r/{found.number}")
    return page(request, "progress.html", **_progress(request, project, found, state))


def _progress(request: Request, project: Project, found: Run, state: State) -> dict[str, Any]:
    full = folder.room(site_of(request).projects.path) < (1 << 20)
    return {
        "project": project,
        "run": found,
        "state": state,
        "choices": found.choices,
        "stage": STAGES.get(state.stage, state.stage),
        "full": full,
    }


@posted
async def stop(request: Request, form: Form) -> Response:
    """End a run, if nothing is charged yet; what the ledger says afterwards is shown."""
    project, found = project_of(request), run_of(request)
    state = await anyio.to_thread.run_sync(found.state)
    if not state.over and not state.charged and not state.unread:
        await anyio.to_thread.run_sync(found.stop)
    return go(request, f"/p/{project.id}/r/{found.number}")


def _result(
    request: Request,
    project: Project,
    found: Run,
    state: State,
    *,
    problem: str = "",
    form: Form | None = None,
) -> Response:
    task, certificate = found.task, folder.read_json(found / runs.CERTIFICATE)
    status = folder.read_json(found / "status.json") or {}
    columns = folder.read_json(found / runs.ROWS)
    return page(
        request,
        "result.html",
        status=422 if problem else 200,
        project=project,
        run=found,
        state=state,
        stage=STAGES.get(state.stage, state.stage),
        choices=found.choices,
        certificate=certificate,
        guarantee=certificate["guarantee"] if certificate else None,
        rows=columns,
        problems=status.get("problems", {}),
        has={name: found.there(name) for name in FILES},
        conditions=_conditions(form),
        count=form.get("count") if form else "10,000",
        problem=problem,
        command=recipes.command(task, found.choices),
        python=recipes.python(task, found.choices),
    )


def _conditions(form: Form | None) -> list[tuple[str, str]]:
    """The conditions that a person wrote, and empty ones to write more."""
    said = [] if form is None else list(zip(form.all("column"), form.all("value"), strict=False))
    return [*said, *[("", "")] * (CONDITIONS - len(said))]


async def cards(request: Request) -> Response:
    """The reports, as far as they are made."""
    project, found = project_of(request), run_of(request)
    state = await anyio.to_thread.run_sync(found.state)
    status = folder.read_json(found / "status.json") or {}
    return page(
        request,
        "cards.html",
        project=project,
        run=found,
        state=state,
        stage=STAGES.get(state.stage, state.stage),
        problems=status.get("problems", {}),
        has={name: found.there(name) for name in FILES},
    )


async def file(request: Request) -> Response:
    """One of the files that a run has made."""
    project, found = project_of(request), run_of(request)
    name = request.path_params["name"]
    if name not in FILES or not found.there(name):
        raise HTTPException(404)
    shown = name.endswith(".html") and not request.query_params.get("download")
    headers = {"content-security-policy": REPORT_POLICY} if name.endswith(".html") else {}
    return FileResponse(
        found / name,
        media_type=FILES[name],
        filename=_file_name(project, name),
        content_disposition_type="inline" if shown else "attachment",
        headers=headers,
    )


def _file_name(project: Project, name: str) -> str:
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", project.name.partition(".")[0])[:40].strip("-")
    return f"{stem or 'table'}-{name}" if name != runs.MODEL else f"{stem or 'table'}.nacre"


@posted
async def sample(request: Request, form: Form) -> Response:
    """Rows drawn for this request, under its conditions; removed when they have been sent."""
    site, project, found = site_of(request), project_of(request), run_of(request)
    if not found.there(runs.MODEL):
        raise HTTPException(404)
    try:
        count = form.get("count").replace(",", "")
        if not count.isdecimal() or not 1 <= int(count) <= MOST_ROWS:
            raise NacreError(f"Give a number of rows from 1 to {MOST_ROWS:,}.")
        kind = form.get("form") if form.get("form") in FORMS else "csv"
        said = zip(form.all("column"), form.all("value"), strict=False)
        where = {name: value.strip() for name, value in said if name}
        folder.require_room(found.path, folder.ROOM)
        output = found.path / f"{DRAWN}{secrets.token_hex(8)}.{kind}"
        try:
            await site.work.do(sample_rows, str(found / runs.MODEL), str(output), int(count), where)
        except BaseException:
            output.unlink(missing_ok=True)
            raise
    except NacreError as error:
        state = await anyio.to_thread.run_sync(found.state)
        return _result(request, project, found, state, problem=str(error), form=form)
    return Passing(
        output, media_type=FORMS[kind], filename=_file_name(project, f"synthetic.{kind}")
    )


@final
class Passing(FileResponse):
    """A file that is removed when it was sent, or when nobody is there to take it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            Path(self.path).unlink(missing_ok=True)
