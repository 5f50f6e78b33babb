"""Two sites from the shell that trust nobody with their sums: files, then a model."""

import re

import pyarrow.csv
import pytest
from tests.cli.conftest import SMALL

import nacre


@pytest.fixture
def board(folder):
    """A session of two sites with half of the rows each; its fingerprint."""
    whole = pyarrow.csv.read_csv(folder / "people.csv")
    half = whole.num_rows // 2
    for name, part in (("north", whole.slice(0, half)), ("south", whole.slice(half))):
        pyarrow.csv.write_csv(part, folder / f"{name}.csv")
        assert folder.run("sign", "--new-key", folder / f"{name}.key").exit_code == 0
    done = folder.run(
        "site", "open", folder / "board", "--schema", folder / "people.yaml",
        "--epsilon", "1", "--delta", "1e-5", *SMALL,
        "--site", f"north={folder / 'north.pub'}", "--site", f"south={folder / 'south.pub'}",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    return re.search(r"Session ([0-9a-f ]+),", done.stdout)[1]


def answered(folder, name, *more):
    return folder.run(
        "site", "answer", folder / "board", folder / f"{name}.csv",
        "--key", folder / f"{name}.key", "--state", folder / name, "--no-ledger", *more,
    )  # fmt: skip


def test_two_sites_make_one_model_by_mailing_files(folder, board):
    done = answered(folder, "north")
    assert done.exit_code == 2 and "Look at the session first" in done.stderr
    shown = folder.run("site", "show", folder / "board")
    assert board in shown.stdout and "north: key" in shown.stdout
    assert "noise of 2 sites" in shown.stdout
    sent = []
    for _ in range(4):
        for name in ("north", "south"):
            done = answered(folder, name, "--session", board, "-o", folder / f"{name}.answers")
            assert done.exit_code == 0, done.output
            sent += re.findall(r"Sent (\S+)", done.stderr)
        done = folder.run("site", "collect", folder / "board")
        assert done.exit_code == 0, done.output
    assert "All rounds are answered" in done.stderr
    assert sent == [
        "north.keys", "south.keys", "south.shares", "north.shares", "north.1.masked",
        "south.1.masked", "north.1.reveal", "south.1.reveal",
    ]  # fmt: skip
    answers = folder / "north.answers"
    shown = folder.run("site", "show", folder / "board", "--verify", "--answers", answers)
    assert "answers of all 1 rounds follow" in shown.stdout
    left = folder.run("site", "leave", "--state", folder / "north")
    assert left.exit_code == 0 and "'north' has left" in left.stderr
    assert answers.read_bytes() == (folder / "south.answers").read_bytes()
    done = folder.run("train", answers, "-o", folder / "m.nacre")
    assert done.exit_code == 0, done.output
    model = nacre.load(folder / "m.nacre")
    assert model.sample(5).num_rows == 5
    assert "2 sites of which 0 may drop out and 1 collude" in str(model.guarantee)
    shown = folder.run("show", folder / "m.nacre", "--verify")
    assert shown.exit_code == 0 and "in shares of 2 sites" in shown.stdout.replace("\n", " ")


def test_what_is_wrong_is_said(folder, board):
    again = folder.run(
        "site", "open", folder / "board", "--schema", folder / "people.yaml", "--epsilon", "1",
        "--delta", "1e-5", "--site", f"a={folder / 'north.pub'}",
    )  # fmt: skip
    assert again.exit_code == 2 and "not empty" in again.stderr
    alone = folder.run(
        "site", "open", folder / "other", "--schema", folder / "people.yaml", "--epsilon", "1",
        "--delta", "1e-5", "--site", f"a={folder / 'north.pub'}",
    )  # fmt: skip
    assert alone.exit_code == 2 and "Between 2 and" in alone.stderr
    assert not (folder / "other").exists()
    choosing = folder.run(
        "site", "open", folder / "other", "--schema", folder / "people.yaml", "--epsilon", "1",
        "--delta", "1e-5", "--method", "mosaic", "--site", f"a={folder / 'north.pub'}",
        "--site", f"b={folder / 'south.pub'}",
    )  # fmt: skip
    assert choosing.exit_code == 2 and "--set several=0" in choosing.stderr
    plain = folder.run(
        "site", "open", folder / "other", "--schema", folder / "people.yaml", "--epsilon", "1",
        "--delta", "1e-5", "--site", f"a={folder / 'north.pub'}",
        "--site", f"b={folder / 'south.pub'}",
    )  # fmt: skip
    assert plain.exit_code == 0 and ", 7 rounds" in plain.stdout
    for books in ((), ("--no-ledger", "--ledger", folder / "l.db")):
        uncounted = folder.run(
            "site", "answer", folder / "board", folder / "north.csv", "--key",
            folder / "north.key", "--state", folder / "north", "--session", board, *books,
        )  # fmt: skip
        assert uncounted.exit_code == 2 and "only a ledger" in uncounted.stderr
    waiting = folder.run("site", "collect", folder / "board")
    assert waiting.exit_code == 0 and "Waiting for 'keys': north, south" in waiting.stderr
    nowhere = folder.run("site", "show", folder / "nowhere")
    assert nowhere.exit_code == 2 and "There is no folder" in nowhere.stderr
    plain = folder.run("site", "show", "http://localhost:1")
    assert plain.exit_code == 2 and "https://host:port" in plain.stderr
