"""What reads a stranger's bytes, each with something valid to begin from."""

import contextlib
import io
import shlex
from collections.abc import Callable
from pathlib import Path

from bench.fuzz.changes import ROWS, SCHEMA

# Commands without the words that make them run long; FOLDER stands for one with small files.
COMMANDS = (
    "schema check FOLDER/t.csv -s FOLDER/s.yaml",
    "schema draft FOLDER/t.csv -o FOLDER/new.yaml --force",
    "plan FOLDER/s.yaml --epsilon 1 --delta 1e-6 --method merf --rows 100",
    "fit FOLDER/t.csv -s FOLDER/s.yaml -o FOLDER/none/x.nacre --epsilon 1 --delta 1e-6",
    "sample FOLDER/m.nacre -n 5 -o FOLDER/out.csv --seed 1 --where sex=Male",
    "show FOLDER/m.nacre --verify --signer FOLDER/holder.pub --json",
    "ledger FOLDER/none/b.db --dataset people --epsilon 3 --delta 1e-5",
    "publish FOLDER/m.nacre -o FOLDER/p.html -n 10 --registry FOLDER/e.yaml",
    "evaluate FOLDER/t.csv FOLDER/t.csv -s FOLDER/s.yaml -o FOLDER/r.html --metrics tv1",
    "sign FOLDER/m.nacre --key FOLDER/holder.key",
    "audit --method nothing --epsilon 1 --runs 8",
    "tables FOLDER/m.nacre",
)


class Readers:
    """Of each reader its name, and a function of any bytes that may refuse them in words only."""

    def __init__(self, folder: Path):
        import numpy as np
        import pyarrow as pa
        import pyarrow.csv
        import pyarrow.parquet as pq

        from nacre import archive, signature
        from nacre.schema import ImageSchema, Schema

        self.folder = folder
        (folder / "s.yaml").write_text(SCHEMA)
        (folder / "t.csv").write_text(ROWS)
        self.schema = Schema.read(folder / "s.yaml")
        self.images = ImageSchema(height=4, width=4, classes=("0", "1"))
        model = folder / "m.nacre"
        archive.write(model, {"guarantee": {"epsilon": 1.0}}, {"a": np.arange(9.0)})
        signature.new_key(folder / "holder.key")
        signature.sign(model, folder / "holder.key")
        parquet, arrays = io.BytesIO(), io.BytesIO()
        pq.write_table(pa.csv.read_csv(folder / "t.csv"), parquet)
        np.savez(arrays, images=np.zeros((2, 4, 4), np.uint8), labels=np.array(["0", "1"]))
        idx = b"\0\0\x08\x03" + b"".join(n.to_bytes(4, "big") for n in (2, 4, 4)) + bytes(32)
        self.seeds: dict[str, tuple[bytes, ...]] = {
            "schema": (SCHEMA.encode(),),
            "csv": (ROWS.encode(),),
            "parquet": (parquet.getvalue(),),
            "model": (model.read_bytes(),),
            "ledger": (b"sqlite:///x", b"postgresql://u@h:1/x", b"budget.db"),
            "npz": (arrays.getvalue(),),
            "idx": (idx,),
            "picture": self._pictures(),
            "command": tuple(command.encode() for command in COMMANDS),
        }
        self.readers: dict[str, Callable[[bytes], None]] = {
            name: getattr(self, f"_{name}") for name in self.seeds
        }

    def _pictures(self) -> tuple[bytes, ...]:
        from PIL import Image

        found = []
        for kind in ("PNG", "JPEG"):
            sink = io.BytesIO()
            Image.new("L", (4, 4), 7).save(sink, kind)
            found.append(sink.getvalue())
        return tuple(found)

    def _file(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(data)
        return path

    def _schema(self, data: bytes) -> None:
        from nacre.schema import read_any

        read_any(self._file("fuzz.yaml", data))

    def _csv(self, data: bytes) -> None:
        self._table(self._file("fuzz.csv", data))

    def _parquet(self, data: bytes) -> None:
        self._table(self._file("fuzz.parquet", data))

    def _table(self, path: Path) -> None:
        from nacre.rows import Stream, TableEncoder

        stream = Stream(TableEncoder.of(self.schema), path)
        stream.whole()
        stream.check()

    def _model(self, data: bytes) -> None:
        from nacre import archive, signature

        path = self._file("fuzz.nacre", data)
        archive.read(path)
        signature.signature_of(path)

    def _ledger(self, data: bytes) -> None:
        from nacre.ledger import Ledger

        address = data.decode("utf-8", "replace")
        if "/" in address.replace("://", "") or address.startswith("postgresql"):
            address = address.replace("/", "") + "//\0"  # nothing is written, nobody is called
        Ledger(address).datasets()

    def _npz(self, data: bytes) -> None:
        self._image_rows(self._file("fuzz.npz", data))

    def _idx(self, data: bytes) -> None:
        from nacre.rows.image_files import read_idx

        read_idx(self._file("images-idx3-ubyte", data))

    def _picture(self, data: bytes) -> None:
        place = self.folder / "pictures" / "0"
        place.mkdir(parents=True, exist_ok=True)
        (place / "a.png").write_bytes(data)
        (place / "b.png").write_bytes(self.seeds["picture"][0])
        self._image_rows(self.folder / "pictures")

    def _image_rows(self, path: Path) -> None:
        from nacre.rows import ImageEncoder, Stream

        stream = Stream(ImageEncoder(self.images), path)
        stream.whole()
        stream.check()

    def _command(self, data: bytes) -> None:
        """A command line, in this process; it may end as it likes, but not in a failure of ours."""
        from nacre.cli import app

        text = data.decode("utf-8", "replace").replace("FOLDER", str(self.folder))
        try:
            words = shlex.split(text)
        except ValueError:
            words = text.split()
        if "serve" in words or "demo" in words or "--engine" in text or "@" in text:
            return  # they would start servers, or call them
        said = io.StringIO()
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(said),
            contextlib.chdir(self.folder),
            contextlib.suppress(SystemExit),
        ):
            app(words)
        if "please report it" in said.getvalue() or "Traceback" in said.getvalue():
            raise AssertionError(f"{words}: {said.getvalue()[-500:]}")
