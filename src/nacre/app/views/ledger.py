"""The ledger's page: every budget, what was spent of it, and what is left."""

from __future__ import annotations

from typing import Any

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response

from nacre.app.pages import page
from nacre.app.site import site_of
from nacre.ledger import Ledger


async def ledger(request: Request) -> Response:
    """All budgets."""
    address = site_of(request).settings.ledger
    budgets = await anyio.to_thread.run_sync(_budgets, address)
    return page(request, "budgets.html", budgets=budgets)


def _budgets(address: str) -> list[dict[str, Any]]:
    book = Ledger(address)
    found = []
    for name in book.datasets():
        balance = book.balance(name)
        part = min(1.0, balance.spent_epsilon / balance.epsilon)
        history = book.history(name)[::-1]
        found.append({"balance": balance, "history": history, "percent": round(100 * part)})
    return found
