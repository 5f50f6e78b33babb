"""`nacre audit` and `nacre sign`, as people use them."""

import json
import shutil
import zipfile

import pytest


def test_controls_are_flagged_and_told(folder):
    done = folder.run("audit", "--controls", "--runs", "1000", "--json")
    found = json.loads(done.stdout)
    assert len(found) == 12
    assert all(each["passed"] for each in found)


@pytest.mark.parametrize(
    "arguments", [[], ["--method", "pearl", "--controls"], ["--controls", "--runs", "3"],
                  ["--method", "wgan"], ["--method", "pearl", "--runs", "1"]],
)  # fmt: skip
def test_what_cannot_be_audited_is_told(arguments, folder):
    done = folder.run("audit", *arguments)
    assert done.exit_code == 2


def test_the_model_that_is_shown_is_the_one_that_was_signed(fitted, tmp_path, monkeypatch):
    """Somebody exchanges the file between two looks at it."""
    model, signed, key = (tmp_path / name for name in ("m.nacre", "signed.nacre", "holder.key"))
    for path in (model, signed):
        shutil.copyfile(fitted / "out.nacre", path)
    assert fitted.run("sign", signed, "--new-key", key).exit_code == 0
    real = zipfile.ZipFile

    def exchanged(file, *given):
        found = real(file, *given)
        if signed.exists():
            signed.replace(model)
        return found

    monkeypatch.setattr(zipfile, "ZipFile", exchanged)
    signer = key.with_suffix(".pub")
    assert fitted.run("show", model, "--verify", "--signer", signer).exit_code == 1
    assert fitted.run("show", model, "--verify", "--signer", signer).exit_code == 0


def test_a_model_is_signed_and_its_signer_checked(fitted, tmp_path):
    model, key, other = (tmp_path / name for name in ("m.nacre", "holder.key", "other.key"))
    shutil.copyfile(fitted / "out.nacre", model)
    assert "Unsigned" in fitted.run("show", model, "--verify").stdout
    assert fitted.run("sign", model, "--new-key", key).exit_code == 0
    assert fitted.run("sign", "--new-key", other).exit_code == 0
    shown = fitted.run("show", model, "--verify", "--signer", key.with_suffix(".pub"), "--json")
    assert json.loads(shown.stdout)["verification"]["signature"]["trusted"] is True
    wrong = fitted.run("show", model, "--verify", "--signer", other.with_suffix(".pub"))
    assert wrong.exit_code == 1
    assert "not signed by that key" in wrong.stderr
    unsigned = fitted.run(
        "show", fitted / "out.nacre", "--verify", "--signer", key.with_suffix(".pub")
    )
    assert unsigned.exit_code == 1
    for mistake in (["sign"], ["sign", model], ["show", model, "--signer", other]):
        assert fitted.run(*mistake).exit_code == 2
