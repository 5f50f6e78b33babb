"""Stands in for the page of results where the tables have not been run."""

from typing import Any

from mkdocs.structure.files import File, Files

RESULTS = "results.md"
MISSING = "# Measured\n\nThe tables have not been run in this copy: `make tables` writes them.\n"


def on_files(files: Files, *, config: Any) -> Files:
    """Add the page if there is none, so that links to it still hold."""
    if files.get_file_from_path(RESULTS) is None:
        files.append(File.generated(config, RESULTS, content=MISSING))
    return files
