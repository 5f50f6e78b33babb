"""Sites with keys and rows of their own around a folder of messages."""

import dataclasses
import shutil
from pathlib import Path

import pytest
from tests.engines.conftest import SCHEMA, made

import nacre
from nacre.plan import as_encoder
from nacre.schema import Schema
from nacre.signature import new_key, read_public_key
from nacre.sites.masked import message
from nacre.sites.masked.board import Folder
from nacre.sites.masked.collect import collect
from nacre.sites.masked.holding import Holding
from nacre.sites.masked.message import SESSION, Address
from nacre.sites.masked.session import Session
from nacre.sites.masked.site import answer
from nacre.sites.terms import Terms

SMALL = Schema({name: SCHEMA.columns[name] for name in ("age", "town", "paid")}, label="paid")
TABLE = made(900).select(["age", "town", "paid"])
ONE_ROUND = nacre.MERF().small()
TWO_ROUNDS = nacre.Mosaic(whole=0, several=0, single=0, heaps=0, finer=0, cells=12).small()


def terms_of(method):
    return Terms.of(as_encoder(SMALL), method, seed=0, adjacency="add-remove", rows=None)


@dataclasses.dataclass(frozen=True)
class Around:
    """A session, its board, and what each site has."""

    path: Path
    session: Session

    @classmethod
    def made(cls, path, number, *, method=ONE_ROUND, **settings):
        names = [f"site{place}" for place in range(number)]
        keys = {name: read_public_key(new_key(path / f"{name}.key")) for name in names}
        session = Session.new(terms_of(method), keys, epsilon=1.0, delta=1e-5, **settings)
        (path / "board").mkdir()
        session.save(path / "board" / SESSION)
        return cls(path, session)

    @property
    def board(self):
        return Folder(self.path / "board")

    @property
    def names(self):
        return self.session.names

    def table(self, name):
        """A site's own rows."""
        size = TABLE.num_rows // len(self.names)
        return TABLE.slice(self.names.index(name) * size, size)

    def answer(self, *names, **settings):
        """The turns of some sites; of all if none is named."""
        settings = {"bad_rows": "zero", **settings}
        return {
            name: self.turn(name, Holding(data=self.table(name), **settings))
            for name in names or self.names
        }

    def prepared(self):
        """Keys and shares of all sites; no row has been read."""
        for _ in range(3):
            for name in self.names:
                self.turn(name, None)
        return self

    def turn(self, name, holding):
        """A site's turn."""
        return answer(
            self.board,
            holding,
            key=self.path / f"{name}.key",
            state=self.path / name,
            session=self.session.fingerprint,
        )

    def collect(self, **settings):
        return collect(self.board, **settings)

    def copied(self, path):
        """The same, to be spoiled."""
        shutil.copytree(self.path, path, dirs_exist_ok=True)
        return Around(path, self.session)


def rewritten(around, name, change):
    """A message with other contents, signed by the site itself."""
    path = around.board.fetch(name)
    address = Address.parse(name)
    found = message.read(path, around.session, address)
    body = {k: v for k, v in found.body.items() if k not in ("nacre", "sha256")}
    arrays = dict(found.arrays)
    change(body, arrays)
    path.unlink()
    message.write(path, around.session, address, around.path / f"{address.site}.key", body, arrays)


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """Four sites of which one may drop out, with keys and shares, before the first round."""
    return Around.made(tmp_path_factory.mktemp("four"), 4, dropouts=1).prepared()


@pytest.fixture(scope="session")
def sent(prepared, tmp_path_factory):
    """The same after all four have sent their vectors."""
    around = prepared.copied(tmp_path_factory.mktemp("sent"))
    around.answer()
    return around


@pytest.fixture
def around(sent, tmp_path):
    """A copy of it, to be spoiled."""
    return sent.copied(tmp_path)
