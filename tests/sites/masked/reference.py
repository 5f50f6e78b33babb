"""X25519, HKDF and ChaCha20 once more, from their RFCs alone, to check the masks by."""

import hashlib
import hmac
import struct

import numpy as np

P = 2**255 - 19


def x25519(secret: bytes, public: bytes) -> bytes:
    """RFC 7748, section 5: the Montgomery ladder."""
    k = int.from_bytes(secret, "little") & ~7 & ~(1 << 255) | 1 << 254
    u = int.from_bytes(public, "little") & ~(1 << 255)
    a, b, c, d, swap = 1, u, 0, 1, 0  # x2, x3, z2, z3
    for bit in reversed(range(255)):
        swap ^= k >> bit & 1
        if swap:
            a, b, c, d = b, a, d, c
        swap = k >> bit & 1
        e, f, g, h = (a + c) % P, (a - c) % P, (b + d) % P, (b - d) % P
        da, cb, aa, bb = h * e % P, g * f % P, e * e % P, f * f % P
        b, d = (da + cb) ** 2 % P, u * (da - cb) ** 2 % P
        a, c = aa * bb % P, (aa - bb) * (aa + 121665 * (aa - bb)) % P
    if swap:
        a, c = b, d
    return (a * pow(c, P - 2, P) % P).to_bytes(32, "little")


def hkdf(secret: bytes, info: bytes) -> bytes:
    """RFC 5869 with SHA-256, no salt, one block."""
    extracted = hmac.digest(bytes(32), secret, hashlib.sha256)
    return hmac.digest(extracted, info + b"\1", hashlib.sha256)


def chacha20(key: bytes, blocks: int) -> bytes:
    """RFC 8439, section 2.3, nonce zero, from block zero."""
    out = b""
    for counter in range(blocks):
        start = [*struct.unpack("<4I", b"expand 32-byte k"), *struct.unpack("<8I", key)]
        start += [counter, 0, 0, 0]
        x = list(start)
        for _ in range(10):
            for a, b, c, d in (
                (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
                (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14),
            ):  # fmt: skip
                for one, two, three, turn in (
                    (a, b, d, 16),
                    (c, d, b, 12),
                    (a, b, d, 8),
                    (c, d, b, 7),
                ):
                    x[one] = (x[one] + x[two]) % 2**32
                    mixed = x[three] ^ x[one]
                    x[three] = (mixed << turn | mixed >> (32 - turn)) % 2**32
        out += struct.pack("<16I", *((p + q) % 2**32 for p, q in zip(x, start, strict=True)))
    return out


def info(*fields: bytes) -> bytes:
    """Fields of a context, each with its length in front."""
    return b"".join(struct.pack(">I", len(field)) + field for field in fields)


def words(key: bytes, size: int) -> np.ndarray:
    """The first words of a keystream."""
    return np.frombuffer(chacha20(key, -(-size // 8)), "<u8")[:size]
