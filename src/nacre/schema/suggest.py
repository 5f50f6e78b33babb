"""What a person may have meant by a name that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def suggest(word: str, known: Iterable[str]) -> str:
    """The nearest name as a sentence, with a blank before it; nothing if none is near.

    Examples:
        >>> suggest("mozaic", ["mosaic", "pearl"])
        " Did you mean 'mosaic'?"
        >>> suggest("Readmited", ["readmitted"]), suggest("wage", ["age"]), suggest("x", ["age"])
        (" Did you mean 'readmitted'?", " Did you mean 'age'?", '')
    """
    names = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), names, 1)
    return f" Did you mean '{names[close[0]]}'?" if close else ""
