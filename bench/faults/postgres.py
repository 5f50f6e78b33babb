"""A PostgreSQL server of one's own, in a temporary folder, for as long as a block runs."""

import contextlib
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DEBIAN = "/usr/lib/postgresql"


class Missing(Exception):
    """There is no server here to start, and the message says what to install."""


@contextlib.contextmanager
def server() -> Iterator[str]:
    """The address of a new server that listens on a socket in its folder only.

    Raises:
        Missing: PostgreSQL or its driver is not installed, or may not be started.
    """
    programs = _programs()
    if importlib.util.find_spec("psycopg") is None:
        raise Missing("there is no psycopg: pip install 'nacre-dp[postgres]'")
    user = _user()
    # Not in a folder of the tests, which other users than root may not enter.
    folder = Path(tempfile.mkdtemp(prefix="nacre-pg-", dir="/tmp"))
    if user:
        shutil.chown(folder, user)
    options: dict[str, Any] = {"user": user, "group": user} if user else {}
    options |= {"cwd": folder, "check": True, "stdout": subprocess.DEVNULL}
    data, log = str(folder / "data"), str(folder / "log")
    try:
        make = ["initdb", "-D", data, "-U", "nacre", "-A", "trust", "--no-sync"]
        _run(programs / make[0], make[1:], options)
        flags = f"-k {folder} -c listen_addresses=''"
        _run(programs / "pg_ctl", ["-D", data, "-l", log, "-w", "-o", flags, "start"], options)
        try:
            yield f"postgresql://nacre@/postgres?host={folder}"
        finally:
            _run(programs / "pg_ctl", ["-D", data, "-m", "immediate", "stop"], options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(program: Path, arguments: list[str], options: dict[str, Any]) -> None:
    try:
        subprocess.run([str(program), *arguments], stderr=subprocess.PIPE, text=True, **options)
    except subprocess.CalledProcessError as error:
        raise Missing(f"{program.name} failed: {error.stderr.strip()[-300:]}") from None


def _programs() -> Path:
    """Where `initdb` and `pg_ctl` are."""
    if found := shutil.which("initdb"):
        return Path(found).parent
    folders = sorted(Path(DEBIAN).glob("*/bin/initdb")) if Path(DEBIAN).exists() else []
    if not folders:
        raise Missing("there is no PostgreSQL: apt-get install postgresql")
    return folders[-1].parent


def _user() -> str:
    """PostgreSQL refuses to run as root: then it is the user that Debian's package makes."""
    if os.geteuid() != 0:
        return ""
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        raise Missing("as root it needs the user 'postgres' of Debian's package") from None
