"""Signed files: who vouches for a model's certificate, or sends a message, by Ed25519.

`nacre show --verify` recomputes a guarantee from the releases that a file lists; that these were
the releases, only the data holder knows.  A signature says that the holder of a key says so.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from nacre.archive import DATES, ArchiveError, bytes_of, check_members, read
from nacre.errors import MissingExtra, NacreError

PART = "signature.json"
CONTEXT = b"nacre model signature 1\0"  # so that no other signature of the key can be taken for one
SMALL = 4096  # bytes that keys and signatures have at most


@dataclasses.dataclass(frozen=True, kw_only=True)
class Signature:
    """A signature that was checked: the bytes are those that the key's holder signed.

    Attributes:
        key: the public key, 32 bytes.
    """

    key: bytes

    @property
    def fingerprint(self) -> str:
        """By which people compare keys: the first 16 bytes of its SHA-256."""
        digest = hashlib.sha256(self.key).hexdigest()[:32]
        return " ".join(digest[i : i + 4] for i in range(0, 32, 4))


class Unsigned(ArchiveError):
    """A file that a certain key must have signed, and has not."""


def new_key(path: str | Path) -> Path:
    """Make a secret key at `path`, readable by its owner only, and its public key beside it.

    Returns:
        the public key's path, which ends in .pub.
    """
    ed25519, serialization = _cryptography()
    secret, public = Path(path), Path(path).with_suffix(".pub")
    if public == secret:
        raise NacreError("A secret key may not end in .pub, as its public key does.")
    for each in (secret, public):
        if each.exists():
            raise NacreError(f"{each} is there already, and is not replaced. Choose another name.")
    key = ed25519.Ed25519PrivateKey.generate()
    written = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    handle = os.open(secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(written)
    public.write_text(_raw(key.public_key()).hex() + "\n")
    return public


def sign(model: str | Path, key: str | Path, *, context: bytes = CONTEXT) -> Signature:
    """Sign a model file in place; an older signature gives way.

    What is signed is the description of the model, which has a checksum of every array: so all of
    the file.  The new file is written beside the old one and renamed.
    """
    path = Path(model)
    data = bytes_of(path)
    read(path, data)  # a file that is damaged is not vouched for
    secret = _secret(Path(key))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist() if name != PART}
    public = _raw(secret.public_key())
    said = {
        "algorithm": "Ed25519",
        "key": public.hex(),
        "signature": secret.sign(context + parts["model.json"]).hex(),
    }
    parts[PART] = json.dumps(said).encode()
    mode = path.stat().st_mode & 0o777
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                for name, data in parts.items():
                    archive.writestr(zipfile.ZipInfo(name, DATES), data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return Signature(key=public)


def signature_of(
    model: str | Path, *, context: bytes = CONTEXT, data: bytes | None = None
) -> Signature | None:
    """The signature of a model file, checked; None if it has none.

    Other files of nacre's are signed in another `context`, so that none is taken for another.
    Whoever goes on to use the file gives its bytes as `data`, and uses those: what lies at `model`
    may be another file a moment later.

    Raises ArchiveError if there is one and it does not fit, or if the file holds parts that the
    signature does not cover.
    """
    path = Path(model)
    return opened(path, bytes_of(path) if data is None else data, context=context)[0]


def opened(
    path: Path, data: bytes, *, context: bytes = CONTEXT, key: bytes | None = None
) -> tuple[Signature | None, dict[str, Any], dict[str, NDArray[Any]]]:
    """The signature, checked, and the document and arrays of the same bytes.

    If a `key` must have signed them, nothing is taken apart before that is known.
    """
    found, names = _checked(path, data, context)
    if key is not None and (found is None or found.key != key):
        raise Unsigned(f"{path} is not signed by the key that must have signed it: refused.")
    document, arrays = read(path, data)
    if found is not None and names != {"model.json", PART, *document["sha256"]}:
        raise ArchiveError(f"{path} has a signature that does not cover all of it: refused.")
    return found, document, arrays


def _checked(path: Path, data: bytes, context: bytes) -> tuple[Signature | None, set[str]]:
    """The signature of the description as it is written, and the names of all parts."""
    ed25519, _ = _cryptography()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_members(path, archive.infolist(), len(data))
            names = set(archive.namelist())
            if PART not in names:
                return None, names
            if archive.getinfo(PART).file_size > SMALL:
                raise ArchiveError(f"{path} has a signature of more than {SMALL} bytes: refused.")
            fields = json.loads(archive.read(PART))
            described = archive.read("model.json")
        key = bytes.fromhex(fields["key"])
        checker = ed25519.Ed25519PublicKey.from_public_bytes(key)
        checker.verify(bytes.fromhex(fields["signature"]), context + described)
    except ArchiveError:
        raise
    except zipfile.BadZipFile as error:
        if PART.encode() not in data:
            return None, set()  # what is wrong with it is said where it is read
        raise _unfit(path) from error
    except Exception as error:  # of any kind: a stranger wrote it
        raise _unfit(path) from error
    return Signature(key=key), names


def _unfit(path: Path) -> ArchiveError:
    return ArchiveError(
        f"{path} has a signature that does not fit: it was changed after it was signed, or the "
        "signature is another file's. Do not believe what it says."
    )


def read_public_key(path: str | Path) -> bytes:
    """A public key that `new_key` wrote."""
    try:
        key = bytes.fromhex(Path(path).read_bytes()[:SMALL].decode("ascii").strip())
    except ValueError:
        key = b""
    if len(key) != 32:
        raise NacreError(f"{path} is no public key. Give the .pub file of the signer.")
    return key


def public_key_of(path: str | Path) -> bytes:
    """The public key of a secret one that `new_key` wrote."""
    return _raw(_secret(Path(path)).public_key())


def _secret(path: Path) -> Any:
    ed25519, serialization = _cryptography()
    try:
        key = serialization.load_pem_private_key(path.read_bytes()[:SMALL], None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise NacreError(f"{path} is no secret Ed25519 key. Make one with `nacre sign --new-key`.")
    return key


def _raw(public: Any) -> bytes:
    return bytes(public.public_bytes_raw())


def _cryptography() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise MissingExtra(
            "Signatures need the package 'cryptography': pip install 'nacre-dp[keys]'."
        ) from None
    return ed25519, serialization
