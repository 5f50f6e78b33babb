"""Keys and parts of keys that are false, copied or exchanged: who dealt them is named."""

import shutil

import pytest
from tests.sites.masked.conftest import Around, rewritten

from nacre.errors import NacreError
from nacre.sites.masked import setup
from nacre.sites.masked.message import Address


def test_keys_cannot_be_exchanged_in_the_middle(around, prepared):
    def another(body, arrays):
        body["channel"] = "09" + "0" * 62

    rewritten(around, "site3.keys", another)
    with pytest.raises(NacreError, match="changed in the middle"):
        around.turn("site0", None)


@pytest.mark.parametrize("bad", ["number", "length", "kind", "absent", "spelling"])
def test_keys_that_are_none_are_refused(tmp_path, bad):
    around = Around.made(tmp_path, 2)
    for name in around.names:
        around.turn(name, None)

    def spoil(body, arrays):
        if bad == "number":
            body["masks"] = []
        elif bad == "absent":
            del body["seeds"]
        else:
            said = {"length": "00", "kind": "00" * 32, "spelling": body["channel"].upper()}
            body["channel"] = said[bad]

    rewritten(around, "site1.keys", spoil)
    (tmp_path / "board" / "site0.shares").unlink(missing_ok=True)
    shutil.rmtree(tmp_path / "site0")
    (tmp_path / "board" / "site0.keys").unlink()
    with pytest.raises(NacreError, match="keys that are none|key is none"):
        around.turn("site0", None)


def test_a_copied_key_is_refused(tmp_path):
    """A site that shows another's key would add the mask of that one's pairs a second time."""
    around = Around.made(tmp_path, 3)
    for name in around.names:
        around.turn(name, None)
    honest = around.board.message(around.session, Address("keys", "site1")).body["masks"]
    rewritten(around, "site2.keys", lambda body, arrays: body.update(masks=honest))
    (tmp_path / "board" / "site0.keys").unlink()
    shutil.rmtree(tmp_path / "site0")
    with pytest.raises(NacreError, match="Two sites show the same key"):
        around.turn("site0", None)


def test_false_parts_do_not_count(around):
    around.collect()
    for name in around.names:
        around.turn(name, None)

    def false(body, arrays):
        body["parts"]["site1"] = body["parts"]["site0"]

    rewritten(around, "site0.1.reveal", false)
    assert around.collect().wrote == ("1.answers",)  # three others are enough
    around.board.fetch("1.answers").unlink()
    rewritten(around, "site3.1.reveal", false)
    found = around.collect()
    assert set(found.waiting) == {"site0", "site3"}
    assert "part of 'site1' is false" in found.refused[0]


def test_a_site_whose_parts_do_not_fit_together_is_named(tmp_path, monkeypatch):
    around = Around.made(tmp_path, 3)
    real = setup.shamir.split

    def inconsistent(secret, number, threshold):
        return [*real(secret, number, threshold)[:-1], *real(bytes(32), number, threshold)[-1:]]

    for name in around.names:
        around.turn(name, None)
    with monkeypatch.context() as patch:
        patch.setattr(setup.shamir, "split", inconsistent)
        around.turn("site1", None)
    around.prepared().answer()
    around.collect()
    for name in around.names:
        around.turn(name, None)
    with pytest.raises(NacreError, match="'site1' has dealt out .* may be spent already"):
        around.collect()


@pytest.mark.parametrize("what", ["sealed", "digest", "transcript"])
def test_a_dealer_of_bad_parts_is_named_before_a_row_is_read(tmp_path, what):
    around = Around.made(tmp_path, 2)
    for name in ("site0", "site1", "site0"):
        around.turn(name, None)

    def spoil(body, arrays):
        if what == "sealed":
            arrays["to-site1"] = arrays["to-site1"][::-1].copy()
        elif what == "digest":
            body["digests"]["site1"] = ["0" * 64] * 2
        else:
            body["transcript"] = "0" * 64

    rewritten(around, "site0.shares", spoil)
    with pytest.raises(NacreError, match="parts of 'site0' for 'site1' cannot be used"):
        around.answer("site1")
    assert "site1.1.masked" not in around.board.names()
