"""The first page: choose a table, by upload or from the folder, or try the demo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response

from nacre.app import folder
from nacre.app.confined import listed, table_at
from nacre.app.forms import Form, posted
from nacre.app.pages import go, page
from nacre.app.project import Project
from nacre.app.review import Review
from nacre.app.run import runs_of
from nacre.app.sessions import same
from nacre.app.site import folder_of, keep_review, project_of, reviewed_schema, site_of
from nacre.app.uploads import Refused, Upload, boundary_of, stored_name
from nacre.app.work import draft_table, write_demo
from nacre.errors import NacreError

DEMO = "Adult, the 1994 US census"


async def start(request: Request) -> Response:
    """What there is: projects, tables, the demo."""
    return page(request, "start.html", **await anyio.to_thread.run_sync(_known, request))


def _known(request: Request) -> dict[str, Any]:
    site, user = site_of(request), request.state.session.user
    settings = site.settings
    return {
        "projects": [
            {"project": each, "stage": _stage(site.projects.folder(each))}
            for each in site.projects.all(user)
        ],
        "files": listed(settings.root, beside=settings.state),
        "root": settings.root.resolve(),
        "most": settings.upload,
        "demo": DEMO,
    }


def _stage(place: Path) -> str:
    """How far a project is, in words."""
    runs = runs_of(place)
    if not runs:
        return "plan" if reviewed_schema(place) is not None else "schema to review"
    words = {
        "running": "a model is being made",
        "made": "model made, reports under way",
        "done": "model made",
        "failed": "the last fit failed",
        "stopped": "the last fit was stopped",
        "killed": "the last fit was interrupted",
    }
    return words[runs[0].phase()]


@posted
async def open_table(request: Request, form: Form) -> Response:
    """A table under the root becomes a project."""
    site = site_of(request)
    root = site.settings.root
    real = table_at(root, form.get("path"), beside=site.settings.state)
    path = real.relative_to(root.resolve()).as_posix()
    identifier = site.projects.begin()
    place = site.projects.path / identifier
    try:
        review = await site.work.do(draft_table, str(real), str(root), str(place), ())
        project = _settle(request, identifier, review, name=real.name, kind="root", path=path)
    except BaseException:
        site.projects.drop(identifier)
        raise
    return go(request, f"/p/{project.id}/schema")


async def upload(request: Request) -> Response:
    """A table from the browser becomes a project."""
    site, session = site_of(request), request.state.session
    if session is None:
        raise Refused("This browser has not been let in.", 401)
    length = request.headers.get("content-length", "")
    most = site.settings.upload
    if length.isdecimal() and int(length) > most + (1 << 16):
        raise Refused(f"The file is larger than {most >> 20:,} MB.", 413)
    boundary = boundary_of(request.headers.get("content-type", ""))
    size = int(length) if length.isdecimal() else 0
    folder.require_room(site.projects.path, size + folder.ROOM)
    identifier = site.projects.begin()
    place = site.projects.path / identifier
    taken = Upload(
        boundary, place / "upload", most=most, admit=lambda said: same(said, session.form_token)
    )
    try:
        await taken.take(request.stream())
        with (place / "upload").open("rb") as file:
            name = stored_name(taken.name, file.read(8))
        (place / "upload").rename(place / name)
        try:
            review = await site.work.do(draft_table, str(place / name), None, str(place), ())
        except NacreError as error:
            # The name on the disk means nothing to people.
            said = str(error).replace(str(place / name), name).replace(name, taken.name)
            raise NacreError(said) from None
        project = _settle(request, identifier, review, name=taken.name, kind="upload", path=name)
    except BaseException:
        site.projects.drop(identifier)
        raise
    return go(request, f"/p/{project.id}/schema")


@posted
async def demo(request: Request, form: Form) -> Response:
    """The bundled table becomes a project."""
    site = site_of(request)
    identifier = site.projects.begin()
    try:
        review = await site.work.do(write_demo, str(site.projects.path / identifier))
        (site.projects.path / identifier / "table.parquet").chmod(0o600)
        project = _settle(request, identifier, review, name=DEMO, kind="demo", path="table.parquet")
    except BaseException:
        site.projects.drop(identifier)
        raise
    return go(request, f"/p/{project.id}/schema")


def _settle(request: Request, identifier: str, review: dict[str, Any], **said: str) -> Project:
    site = site_of(request)
    keep_review(site.projects.path / identifier, Review.from_dict(review))
    return site.projects.settle(identifier, owner=request.state.session.user, **said)


@posted
async def remove(request: Request, form: Form) -> Response:
    """Forget a project and what was made in it; the ledger keeps what it has spent."""
    site, project, place = site_of(request), project_of(request), folder_of(request)
    async with site.locks["run"]:  # or one could be begun in between
        if any(run.alive() for run in runs_of(place)):
            raise NacreError("A model is being made in this project. Wait until it is done.")
        site.projects.drop(project.id)
    return go(request, "/")


async def here(request: Request) -> Response:
    """Where a project's next step is."""
    project, place = project_of(request), folder_of(request)
    runs = runs_of(place)
    if runs:
        return go(request, f"/p/{project.id}/r/{runs[0].number}")
    ready = reviewed_schema(place) is not None
    return go(request, f"/p/{project.id}/{'plan' if ready else 'schema'}")
