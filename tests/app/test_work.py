"""Processes beside the server: they work elsewhere, may die, and tell nothing that is private."""

import asyncio
import os
import resource
import time

import pytest

from nacre.app import work as room
from nacre.app.work import Work
from nacre.errors import NacreError


def test_work_is_done_elsewhere_and_goes_on_after_a_death():
    work = Work()

    async def walk():
        first = await work.do(os.getpid)
        assert first != os.getpid()
        with pytest.raises(NacreError, match="ended from outside"):
            await work.do(os._exit, 1)
        assert await work.do(os.getpid) not in (first, os.getpid())

    try:
        asyncio.run(walk())
    finally:
        work.end()


def test_a_task_ends_where_time_or_memory_does(monkeypatch):
    """A small file may unpack to more than any machine has."""
    work = Work()

    async def walk():
        assert await work.do(os.getpid) != os.getpid()
        with pytest.raises(NacreError, match="more memory"):
            await work.do(bytes, 1 << 50)
        monkeypatch.setattr(room, "LONGEST", 0.2)
        with pytest.raises(NacreError, match="took longer"):
            await work.do(time.sleep, 60)
        monkeypatch.setattr(room, "LONGEST", 60)
        assert await work.do(os.getpid) != os.getpid()

    begun = time.monotonic()
    try:
        asyncio.run(walk())
    finally:
        work.end()
    assert time.monotonic() - begun < 60


def test_memory_is_bounded():
    work = Work()
    try:
        soft, _ = asyncio.run(work.do(resource.getrlimit, resource.RLIMIT_DATA))
    finally:
        work.end()
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < soft <= max(whole * room.PART, room.LEAST)


def test_messages_of_other_libraries_stay_there():
    work = Work()
    try:
        with pytest.raises(NacreError) as refused:
            asyncio.run(work.do(float, "Jane"))
        assert "Jane" not in str(refused.value)
        assert "ValueError" in str(refused.value)
    finally:
        work.end()
