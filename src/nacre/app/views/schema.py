"""The schema's page: one row a column, changed in place, each said to be public by a person."""

from __future__ import annotations

import dataclasses
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from nacre.app.editing import (
    FIELDS,
    all_gathered,
    by_persons,
    edited,
    gathered,
    remembered,
    shown_fields,
    shown_flags,
    whole,
    written,
)
from nacre.app.forms import Form, posted
from nacre.app.pages import go, page
from nacre.app.review import Review
from nacre.app.site import (
    folder_of,
    keep_review,
    project_of,
    review_of,
    reviewed_schema,
    site_of,
)
from nacre.app.work import count_persons, draft_table
from nacre.errors import NacreError
from nacre.schema import Schema


async def schema(request: Request) -> Response:
    """All columns."""
    review = review_of(folder_of(request))
    return _page(request, review)


def _page(
    request: Request,
    review: Review,
    *,
    problem: str = "",
    status: int = 200,
    form: Any = None,
    persons: dict[str, Any] | None = None,
) -> Response:
    said = {
        "constraints": written(review.constraints),
        "facts": written(review.facts),
        "unit_column": (review.unit or {}).get("column", ""),
        "unit_rows": (review.unit or {}).get("rows", ""),
        "unit_constant": ", ".join(
            # Those that the table keeps are ticks of their own.
            name
            for name in (review.unit or {}).get("constant", ())
            if name not in review.same
        ),
    }
    if form is not None:  # what was written stays there to be corrected
        said = {name: form.get(name) for name in said}
    return page(
        request,
        "schema.html",
        status=status,
        project=project_of(request),
        review=review,
        suggested=[written((each["said"],)) for each in review.suggested],
        said=said,
        problem=problem,
        persons=persons,
    )


def _place(request: Request, review: Review) -> int:
    place: int = request.path_params["place"]
    if place >= len(review.columns):
        raise HTTPException(404)
    return place


def _row(request: Request, review: Review, place: int, **more: Any) -> Response:
    return page(
        request,
        "column.html",
        project=project_of(request),
        review=review,
        column=review.columns[place],
        place=place,
        swapped=True,
        **more,
    )


def _form(request: Request, review: Review, place: int, kind: str, problem: str = "") -> Response:
    column = review.columns[place]
    kind = kind if kind in FIELDS else column.facts["type"]
    return page(
        request,
        "column_form.html",
        status=422 if problem else 200,
        project=project_of(request),
        column=column,
        place=place,
        kind=kind,
        kinds=list(FIELDS),
        fields=shown_fields(column, kind),
        flags=shown_flags(column, kind),
        problem=problem,
        alone=not request.headers.get("hx-request"),
    )


async def column(request: Request) -> Response:
    """One row, as it is or as a form; what is private never stands in the address."""
    review = review_of(folder_of(request))
    place = _place(request, review)
    if request.query_params.get("edit"):
        return _form(request, review, place, request.query_params.get("type", ""))
    return _row(request, review, place)


@posted
async def save_column(request: Request, form: Form) -> Response:
    """What a person wrote of a column."""
    project, where = project_of(request), folder_of(request)
    async with site_of(request).locks[project.id]:
        review = review_of(where)
        place = _place(request, review)
        if form.get("retype"):
            return _form(request, review, place, form.get("type"))
        try:
            if form.get("bring_back"):
                review = review.changed(place, kept=True)
            elif form.get("gather"):
                review = gathered(review, place)
            else:
                review = edited(review, place, form)
        except NacreError as error:
            return _form(request, review, place, form.get("type"), str(error))
        keep_review(where, review)
    if not request.headers.get("hx-request"):
        return go(request, f"/p/{project.id}/schema#c{place}")
    return _row(request, review, place)


@posted
async def tick(request: Request, form: Form) -> Response:
    """A person says of one column that it is public, or takes it back."""
    project, where = project_of(request), folder_of(request)
    async with site_of(request).locks[project.id]:
        review = review_of(where)
        place = _place(request, review)
        review = review.changed(place, public=str(place) in form.all("public"))
        keep_review(where, review)
    return _row(request, review, place)


@posted
async def tick_plain(request: Request, form: Form) -> Response:
    """A person says so of all columns without a mark."""
    project, where = project_of(request), folder_of(request)
    async with site_of(request).locks[project.id]:
        review = review_of(where).tick_plain()
        keep_review(where, review)
    return go(request, f"/p/{project.id}/schema#review")


@posted
async def keep(request: Request, form: Form) -> Response:
    """What is said of all columns together so far, so that no other button loses it."""
    project, where = project_of(request), folder_of(request)
    async with site_of(request).locks[project.id]:
        review = review_of(where)
        if (found := remembered(review, form)) != review:
            keep_review(where, found)
    return Response(status_code=204)


@posted
async def gather(request: Request, form: Form) -> Response:
    """Rare values of all lists become 'other'."""
    project, where = project_of(request), folder_of(request)
    async with site_of(request).locks[project.id]:
        keep_review(where, all_gathered(review_of(where)))
    return go(request, f"/p/{project.id}/schema#review")


@posted
async def bring(request: Request, form: Form) -> Response:
    """A column that the draft left out is read again, and taken if it can be."""
    site, project, where = site_of(request), project_of(request), folder_of(request)
    review = review_of(where)
    names = list(review.left_out)
    places = form.places("left_out")
    if not places or max(places) >= len(names):
        raise HTTPException(404)
    name = names[min(places)]
    table = str(site.projects.table(project))
    root = site.projects.root_of(project)
    below = None if root is None else str(root)
    again = Review.from_dict(await site.work.do(draft_table, table, below, str(where), (name,)))
    found = next((each for each in again.columns if each.name == name), None)
    if found is None:
        problem = f"'{name}' cannot be taken: {again.left_out.get(name, 'it is not there')}"
        return _page(request, review, problem=problem, status=422)
    async with site.locks[project.id]:
        review = review_of(where)
        left = {each: why for each, why in review.left_out.items() if each != name}
        review = dataclasses.replace(review, columns=(*review.columns, found), left_out=left)
        keep_review(where, review)
    return go(request, f"/p/{project.id}/schema#c{len(review.columns) - 1}")


@posted
async def reviewed(request: Request, form: Form) -> Response:
    """Label, unit and rules; and with all ticks, that a person has reviewed it."""
    project, where = project_of(request), folder_of(request)
    async with site_of(request).locks[project.id]:
        review = review_of(where)
        if review.provenance == "data":
            review = review.ticked(form.places("public"))
            column = form.get("unit_column")
            if column and column != review.counted:
                return await _persons(request, review, column, form)
        try:
            review = whole(review, form)
            keep_review(where, review, reviewed=True)
        except NacreError as error:
            keep_review(where, review)
            return _page(request, review, problem=str(error), status=422, form=form)
    return go(request, f"/p/{project.id}/plan")


async def _persons(request: Request, review: Review, column: str, form: Form) -> Response:
    """Count persons instead of rows, and show what that changes before anybody goes on."""
    site, project, where = site_of(request), project_of(request), folder_of(request)
    root = site.projects.root_of(project)
    below = None if root is None else str(root)
    names = tuple(each.name for each in review.columns if each.name != column)
    try:
        table = str(site.projects.table(project))
        found = await site.work.do(count_persons, table, below, str(where), column, names)
        review = by_persons(review, column, found)
        # How many rows persons have is told, and not filled in: it is a private number, too.
        review = whole(review, form)
    except NacreError as error:
        keep_review(where, review)
        return _page(request, review, problem=str(error), status=422, form=form)
    keep_review(where, review)
    said = {"column": column, "rows": found["rows"], "marked": sum(c.marked for c in review.kept)}
    return _page(request, review, form=form, persons=said)


async def download(request: Request) -> Response:
    """The schema as it stands, as the command line reads it."""
    where = folder_of(request)
    said = reviewed_schema(where)
    found = review_of(where).schema(reviewed=False) if said is None else Schema.from_dict(said)
    name = {"content-disposition": 'attachment; filename="schema.yaml"'}
    return Response(found.to_yaml(), media_type="application/yaml", headers=name)
