"""Sites and whoever collects as processes of their own, over https with a certificate."""

import datetime
import ipaddress
import os
import socket
import subprocess
import sys
import time
import warnings

import pyarrow.parquet as pq
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.sites.masked.conftest import Around

from nacre import archive, sites
from nacre.errors import NacreError
from nacre.signature import new_key, sign
from nacre.sites.masked.holding import Holding
from nacre.sites.masked.message import CONTEXT, Address, largest
from nacre.sites.masked.server import make_app
from nacre.sites.masked.site import answer
from nacre.sites.masked.web import Unreachable, Web

with warnings.catch_warnings():
    # Starlette would rather have a successor of httpx, which is not in our lock.
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

LIMIT = 240  # seconds, on a machine that does other things, too


def certified(path):
    """A certificate for this machine that nobody else has signed, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    here = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([here]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (path / "tls.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (path / "tls.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return path / "tls.pem", path / "tls.key"


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def started(*arguments):
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    return subprocess.Popen(
        [sys.executable, "-m", "nacre", "site", *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ended(processes):
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


def reached(web, server):
    """Wait until the server answers."""
    for _ in range(LIMIT * 5):
        try:
            return web.names()
        except NacreError:
            if server.poll() is not None:
                pytest.fail(server.communicate()[0])
            time.sleep(0.2)
    pytest.fail("the server did not come up")


@pytest.mark.slow
def test_four_sites_of_which_one_drops_out_over_https(tmp_path):
    """One site and the server are processes of their own; to start one takes longest."""
    around = Around.made(tmp_path, 4, dropouts=1)
    certificate, key = certified(tmp_path)
    port = free_port()
    address = f"https://127.0.0.1:{port}"
    pq.write_table(around.table("site0"), tmp_path / "site0.parquet")
    server = started(
        "serve", around.board, "--certificate", certificate, "--key", key, "--port", port,
        "--patience", 0.1,
    )  # fmt: skip
    processes = [server]
    try:
        web = Web(address, authority=certificate)
        assert "session.nacre" in reached(web, server)
        with pytest.raises(NacreError, match="not trusted"):
            Web(address).names()
        site = started(
            "answer", address, tmp_path / "site0.parquet", "--ca", certificate, "--no-ledger",
            "--key", tmp_path / "site0.key", "--state", tmp_path / "site0",
            "--session", around.session.fingerprint, "--bad-rows", "zero",
            "--wait", LIMIT, "-o", tmp_path / "site0.answers",
        )  # fmt: skip
        processes.append(site)
        until = time.monotonic() + LIMIT
        while "1.answers" not in web.names():
            assert time.monotonic() < until and site.poll() in (None, 0)
            for name in ("site1", "site2"):
                _turn(around, web, name, Holding(data=around.table(name), bad_rows="zero"))
            if "site3.shares" not in web.names():  # it joins, and is never heard of again
                _turn(around, web, "site3", None)
            time.sleep(0.2)
        said, _ = site.communicate(timeout=LIMIT)
        assert site.returncode == 0, said
        found = sites.Answers.read(tmp_path / "site0.answers")
        roll = around.board.fetch("1.roll")
        assert roll.exists() and "site3.1.masked" not in around.board.names()
        assert found.given[0].sums.noise[0] > around.session.plan.releases[0].noise
    finally:
        ended(processes)


def _turn(around, web, name, holding):
    key, state = around.path / f"{name}.key", around.path / name
    answer(web, holding, key=key, state=state, session=around.session.fingerprint)


@pytest.fixture(scope="module")
def client(sent, tmp_path_factory):
    around = sent.copied(tmp_path_factory.mktemp("served"))
    return TestClient(make_app(around.board)), around


def test_the_server_takes_signed_messages_only(client):
    http, around = client
    message = around.board.fetch("site0.1.masked").read_bytes()
    assert "site0.1.masked" in http.get("/").json()["names"]
    assert http.get("/site0.1.masked").content == message
    assert http.put("/site0.1.masked", content=message).status_code == 201  # sent again
    changed = bytearray(message)
    changed[len(changed) // 2] ^= 1
    for name, content in (
        ("site0.1.masked", bytes(changed)),
        ("site1.1.reveal", message),
        ("site0.1.reveal", b"nothing"),
    ):
        refused = http.put(f"/{name}", content=content)
        assert refused.status_code == 409 and "/tmp" not in refused.text
    assert around.board.fetch("site0.1.masked").read_bytes() == message
    assert "site1.1.reveal" not in around.board.names()


def test_nothing_is_parsed_before_its_signature_is_known(client, tmp_path, monkeypatch):
    http, _ = client
    parsed = []
    real = archive.json.loads

    def noted(text, **settings):
        parsed.append(len(text))
        return real(text, **settings)

    archive.write(tmp_path / "much", {"file": "reveal", "much": [[]] * 2000}, {})
    monkeypatch.setattr(archive.json, "loads", noted)
    refused = http.put("/site0.1.reveal", content=(tmp_path / "much").read_bytes())
    assert refused.status_code == 409 and "not signed by 'site0'" in refused.text
    new_key(tmp_path / "stranger.key")
    sign(tmp_path / "much", tmp_path / "stranger.key", context=CONTEXT)
    parsed.clear()
    refused = http.put("/site0.1.reveal", content=(tmp_path / "much").read_bytes())
    assert refused.status_code == 409 and "not signed by 'site0'" in refused.text
    assert max(parsed, default=0) < 1000  # the signature itself, at most


def test_the_server_keeps_to_the_board(client):
    http, around = client
    (around.path / "board" / "notes.txt").write_text("mine")
    (around.path / "board" / ".hidden").write_text("mine")
    assert not {"notes.txt", ".hidden"} & set(http.get("/").json()["names"])
    for name in ("notes.txt", ".hidden", "..%2Fsite0.key", "site0.key", "1.roll"):
        assert http.get(f"/{name}").status_code == 404
    for name in ("1.roll", "session.nacre", "9.answers", "stranger.keys", "site0.7.masked"):
        assert http.put(f"/{name}", content=b"x").status_code == 404
    assert http.delete("/site0.keys").status_code == 405
    much = b"0" * (largest(around.session, Address("reveal", "site0", 1)) + 1)
    assert http.put("/site0.1.reveal", content=much).status_code == 413
    assert Address("reveal", "site0", 1).name not in around.board.names()


def test_the_server_follows_no_links(client):
    """Whoever may write to the folder must not have any file of the server's owner sent."""
    http, around = client
    secret = around.path / "site0.key"
    (around.path / "board" / "site3.1.reveal").symlink_to(secret)
    os.mkfifo(around.path / "board" / "7.roll")
    for name in ("site3.1.reveal", "7.roll"):
        found = http.get(f"/{name}")
        assert found.status_code == 404 and b"PRIVATE" not in found.content
        (around.path / "board" / name).unlink()


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "https://", "https://host/path"])
def test_only_https_addresses_are_boards(address):
    with pytest.raises(NacreError, match="https://host:port"):
        Web(address)


def test_a_server_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(Unreachable, match="cannot be reached"):
        Web(f"https://127.0.0.1:{free_port()}").names()
    (tmp_path / "no.pem").write_text("none")
    with pytest.raises(NacreError, match="no certificate"):
        Web("https://127.0.0.1:1", authority=tmp_path / "no.pem")
