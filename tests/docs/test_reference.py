"""The references and the tables of settings say what the code says."""

import ast
import dataclasses
import re

import pytest
from scipy.stats import norm
from typer.main import get_command

from nacre.cli import app
from nacre.methods import METHODS, find, meanings
from nacre.vault import gaussian_mu

from .pages import DOCS, settings


def commands(group, path=()):
    """Every command with its full name."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


COMMANDS = dict(commands(get_command(app)))
# Methods that share a page.
SHARED = {"aim": "marginals", "mst": "marginals"} | dict.fromkeys(
    ("dpgan", "dpcgan", "pategan", "wgan", "energygan", "steingan", "medgan"), "gan"
)


@pytest.mark.parametrize("name", COMMANDS)
def test_command_line_is_complete(name):
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert f"## nacre {name}\n" in text
    section = text.partition(f"## nacre {name}\n")[2].partition("\n## ")[0]
    usage = section.partition("```text")[2].partition("```")[0]
    said = set(re.findall(r"--[a-z-]+", usage))
    known = {
        option
        for parameter in COMMANDS[name].params
        for option in (*parameter.opts, *parameter.secondary_opts)
        if option.startswith("--")
    }
    assert said == known - {"--help"}


@pytest.mark.parametrize("name", METHODS)
def test_settings_are_those_of_the_method(name):
    said = meanings(find(name))
    defaults = dataclasses.asdict(find(name)())
    page, heading = SHARED.get(name, name), "## Settings"
    if name in SHARED:
        heading += f" of {name.upper()}"
    assert settings(DOCS / f"{page}.md", heading) == {
        key: (str(value), said[key]) for key, value in defaults.items()
    }


def test_what_an_attacker_can_do_at_each_epsilon():
    text = (DOCS / "choosing.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\d.]+) \| ([\d.]+) \| ([\d.]+)% \| ([\d.]+)% \|$", text, re.MULTILINE)
    assert len(rows) == 6
    for row in rows:
        epsilon, noise, found, right = map(float, row)
        mu = gaussian_mu(epsilon, 1e-5)
        assert 1 / mu == pytest.approx(noise, abs=0.05 if noise > 10 else 0.005)
        assert 100 * norm.cdf(norm.ppf(0.01) + mu) == pytest.approx(found, abs=0.05)
        assert 100 * norm.cdf(mu / 2) == pytest.approx(right, abs=0.05)


def test_public_names_are_in_the_reference():
    import nacre

    text = (DOCS / "api.md").read_text(encoding="utf-8")
    known = set(nacre.__all__) - {"__version__", "datasets"}
    assert [name for name in sorted(known) if not re.search(rf"\b{name}\b", text)] == []


# What the Google dialect has a section for: a list of names, examples.
OTHER_DIALECTS = re.compile(r"^(?:[a-z_]+(?:, [a-z_]+)* {2,}\S|Example:$|>>> )", re.MULTILINE)


def test_docstrings_are_in_the_dialect_that_the_reference_reads():
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    for path in (DOCS.parent / "src" / "nacre").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            said = ast.get_docstring(node) if isinstance(node, documented) else None
            found = OTHER_DIALECTS.search(said or "")
            assert not found, f"{path}: {found}"
