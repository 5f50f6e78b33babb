"""Results that have cost budget: saved elsewhere where there is no room for them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from nacre.cli.console import FAILURE, stop
from nacre.errors import NameTaken, in_words


def save_paid(save: Callable[[Path], None], output: Path, what: str) -> str | None:
    """Save to `output`, elsewhere if need be; what then went wrong, for people.

    What has cost budget must not be lost for want of room, nor because another file has got the
    name in the meantime.  If there is no room anywhere, the command ends here.
    """
    try:
        save(output)
        return None
    except (OSError, NameTaken) as error:
        problem = in_words(error)
    for folder in (Path(tempfile.gettempdir()), Path.home(), Path.cwd()):
        try:
            # A name of our own: that of the output may be what no file can have.
            handle, name = tempfile.mkstemp(dir=folder, prefix="nacre-", suffix=output.suffix[:16])
            os.close(handle)
            Path(name).unlink()  # some of what is saved replaces nothing
            save(Path(name))
        except (OSError, NameTaken):
            continue
        return f"{problem} As the {what} cost budget, it was saved as {name}: move it."
    return stop(f"{problem} Nor could the {what} be saved anywhere else: it is lost.", FAILURE)
