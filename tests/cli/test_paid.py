"""What has cost budget is not lost for want of room; a name that cannot be costs nothing."""

import re
import secrets
import tempfile
from pathlib import Path

import pytest

import nacre
from nacre.archive import read, write
from nacre.cli.paid import save_paid


def test_a_draft_that_was_paid_for_is_saved_elsewhere(folder, tmp_path, monkeypatch):
    output = tmp_path / "drafted.yaml"
    # A disk without room: what is written beside the output goes to a device that is always full.
    monkeypatch.setattr(secrets, "token_hex", lambda size: "0" * 2 * size)
    (tmp_path / ".00000000.partial").symlink_to("/dev/full")
    done = folder.run(
        *("schema", "draft", folder / "people.parquet", "-o", output, "--epsilon", "1"),
        *("--delta", "1e-6", "--ledger", folder / "budget.db", "--dataset", "people"),
    )
    assert done.exit_code == 1 and not output.exists()
    assert "No space left on device" in done.stderr
    elsewhere = Path(re.search(r"saved as (\S+\.yaml)", done.stderr)[1])
    try:
        assert folder.spent() == (pytest.approx(1), 1)
        assert nacre.Schema.read(elsewhere).releases
    finally:
        elsewhere.unlink()


def test_what_can_be_saved_nowhere_ends_the_command(tmp_path, capsys):
    def full(path):
        Path("/dev/full").write_text("x")

    with pytest.raises(Exception, match="1"):
        save_paid(full, tmp_path / "m.nacre", "model")
    assert "it is lost" in capsys.readouterr().err


def test_what_was_paid_for_makes_way_for_a_file_that_came_in_the_meantime(tmp_path, monkeypatch):
    output, spare = tmp_path / "m.nacre", tmp_path / "spare"
    output.write_text("another's")
    spare.mkdir()
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(spare))
    said = save_paid(lambda path: write(path, {"a": 1}, {}, replace=False), output, "model")
    (saved,) = spare.iterdir()
    assert "m.nacre is there already" in said and f"saved as {saved}: move it" in said
    assert output.read_text() == "another's" and read(saved)[0]["a"] == 1


@pytest.mark.parametrize("letter", ["a", "é"])
def test_a_name_with_no_room_for_what_is_written_beside_it_costs_nothing(folder, letter):
    long = letter * (240 // len(letter.encode())) + ".nacre"
    done = folder.fit(output=str(folder / long))
    assert done.exit_code == 2 and "too long" in done.stderr
    assert folder.spent() == (0, 0)
