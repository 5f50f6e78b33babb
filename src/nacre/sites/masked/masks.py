"""Masks: X25519 key agreement, HKDF-SHA256, and the keystream of ChaCha20 as 64-bit words.

Two sites agree on a mask that one adds and the other takes off, so that it falls out of their
sum; a mask of a site's own lies above, so that a vector stays hidden even if the masks that it
shares with others become known (Bonawitz et al., 2017).  Each is bound to all that it is for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from nacre.errors import MissingExtra, NacreError

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF
except ImportError:
    raise MissingExtra(
        "Sites that mask their sums need the package 'cryptography': pip install 'nacre-dp[keys]'."
    ) from None

LABEL = b"nacre masked sums 1"
SALT = 32  # bytes of a sealed message that make its key unlike any other
Words = NDArray[np.uint64]


@final
@dataclasses.dataclass(frozen=True)
class Occasion:
    """What a mask is for: it serves nothing else.

    Attributes:
        transcript: a digest of the session and of the keys of all its sites.
        round: counted from one.
        program: which question is answered, on which grid: `shares.fingerprint`.
    """

    transcript: bytes
    round: int
    program: str

    def key(self, secret: bytes, use: str, *fields: bytes) -> bytes:
        """32 bytes for this occasion and use, from a secret."""
        about = (self.transcript, b"%d" % self.round, self.program.encode(), *fields)
        return derive(secret, use, *about)


def derive(secret: bytes, use: str, *fields: bytes) -> bytes:
    """32 bytes by HKDF-SHA256; each field is written with its length, so that none runs over."""
    info = b"".join(
        len(field).to_bytes(4, "big") + field for field in (LABEL, use.encode(), *fields)
    )
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(secret)


def new_secret() -> bytes:
    """A secret X25519 key from the operating system."""
    return X25519PrivateKey.generate().private_bytes_raw()


def public_of(secret: bytes) -> bytes:
    """The public key of a secret one."""
    return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def agree(secret: bytes, public: bytes) -> bytes:
    """What the holders of two keys have in common, and nobody else."""
    try:
        other = X25519PublicKey.from_public_bytes(public)
        return X25519PrivateKey.from_private_bytes(secret).exchange(other)
    except ValueError:
        raise NacreError("A site's key is none: no secret can be agreed on with it.") from None


def keystream(key: bytes, size: int) -> Words:
    """`size` words of ChaCha20's keystream, the first byte of each the lowest."""
    stream = Cipher(algorithms.ChaCha20(key, bytes(16)), mode=None).encryptor()
    return np.frombuffer(stream.update(bytes(8 * size)), "<u8").astype(np.uint64)


def pair_mask(
    occasion: Occasion, secret: bytes, places: tuple[int, int], keys: Sequence[bytes], size: int
) -> Words:
    """What the site at the first of two `places` adds for the one at the second.

    Args:
        occasion: what it is for.
        secret: the secret key of either of the two.
        places: of the two sites.
        keys: public keys of all sites for this round.
        size: how many words.
    """
    mine, other = places
    low, high = sorted(places)
    peer = keys[other] if public_of(secret) == keys[mine] else keys[mine]
    # By place, too: a site that shows another's key as its own must not get that one's mask.
    about = (b"%d" % low, b"%d" % high, keys[low], keys[high])
    key = occasion.key(agree(secret, peer), "pair", *about)
    found = keystream(key, size)
    return found if mine == low else np.zeros(size, np.uint64) - found


def self_mask(occasion: Occasion, seed: bytes, place: int, size: int) -> Words:
    """What the site at `place` adds for itself."""
    return keystream(occasion.key(seed, "self", b"%d" % place), size)


def masked(
    words: Words, occasion: Occasion, place: int, secret: bytes, seed: bytes, keys: Sequence[bytes]
) -> Words:
    """One site's words under all its masks, modulo 2^64."""
    found = words + self_mask(occasion, seed, place, words.size)
    for other in range(len(keys)):
        if other != place:
            found += pair_mask(occasion, secret, (place, other), keys, words.size)
    return found


def commitment(seed: bytes, session: bytes, place: int, number: int) -> str:
    """By which the seed of a site and round is known again, once its parts were put together."""
    return derive(seed, "commitment", session, b"%d" % place, b"%d" % number).hex()


def seal(message: bytes, secret: bytes, public: bytes, salt: bytes, *about: bytes) -> bytes:
    """A message for the holder of `public` alone, who will know that `secret`'s holder sent it.

    Its key is used once: `salt` is random, and in front of what is sealed.
    """
    key = derive(agree(secret, public), "sealed", salt, *about)
    return salt + ChaCha20Poly1305(key).encrypt(bytes(12), message, None)


def unseal(sealed: bytes, secret: bytes, public: bytes, *about: bytes) -> bytes:
    """The inverse of `seal`, with the receiver's secret key and the sender's public one."""
    key = derive(agree(secret, public), "sealed", sealed[:SALT], *about)
    try:
        return ChaCha20Poly1305(key).decrypt(bytes(12), sealed[SALT:], None)
    except InvalidTag:
        raise NacreError(
            "A sealed message was changed, or is for another site or session."
        ) from None
