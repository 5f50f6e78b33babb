"""Every Python block and every terminal line of the documentation runs, in the page's order."""

import re
import shlex

import pytest
from typer.testing import CliRunner

from nacre.cli import app

from .pages import PAGES, blocks

# A comment behind a print that starts like a number, a tuple or a list is what it prints.
PRINTED = re.compile(r"print\(.*\)  # ([\d(\[].*)$", re.MULTILINE)
LANGUAGES = {"python", "console", "yaml", "text"}  # only `text` is not looked at
WITH_CODE = [page for page in PAGES if any(b.language == "python" for b in blocks(page))]
WITH_COMMANDS = [page for page in PAGES if any(b.language == "console" for b in blocks(page))]


def test_there_are_examples():
    assert {page.stem for page in WITH_CODE} >= {"quickstart", "schema", "choosing", "ledger"}
    assert {page.stem for page in WITH_COMMANDS} >= {"quickstart", "schema"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_say_what_they_are(page):
    assert {block.language for block in blocks(page)} <= LANGUAGES
    assert page.read_text(encoding="utf-8").count("\n```") % 2 == 0


@pytest.mark.filterwarnings("ignore::UserWarning")  # a page may warn; it may not fail
@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.stem)
def test_python_runs_and_prints_what_the_page_says(page, desk, capsys):
    names = {"__name__": "__main__"}
    for block in blocks(page):
        if block.language != "python":
            continue
        if 'save("people.nacre")' in block.text:  # which replaces nothing, as it should be
            (desk / "people.nacre").unlink()
        lines = "\n" * block.line + block.text  # so that errors name the page's own line
        exec(compile(lines, str(page), "exec"), names)
        printed = capsys.readouterr().out
        for said in PRINTED.findall(block.text):
            for number in re.split(r", (?=\d)", said):
                assert number in printed


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.stem)
def test_commands_run(page, desk):
    for block in blocks(page):
        if block.language != "console":
            continue
        for line in block.text.replace("\\\n", " ").splitlines():
            assert line.startswith("$ nacre "), f"{page.name}: {line!r} is not a command"
            _, _, *arguments = shlex.split(line)
            if "--force" not in arguments:  # then nothing is overwritten, as it should be
                for name in ("draft.yaml", "public.html", "report.html"):
                    (desk / name).unlink(missing_ok=True)
            found = CliRunner().invoke(app, arguments)
            assert found.exit_code == 0, f"{page.name}: {line}\n{found.output}"
