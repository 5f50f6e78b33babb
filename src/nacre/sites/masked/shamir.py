"""A secret in parts of which any `threshold` make it up, and fewer say nothing (Shamir, 1979)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from nacre.errors import NacreError

PRIME = 2**521 - 1  # Mersenne's thirteenth; every secret of 64 bytes is below it
BYTES = 66  # of a part


def split(secret: bytes, number: int, threshold: int) -> list[bytes]:
    """Parts for places 1, 2, ... of a polynomial whose value at 0 is the secret.

    Its other coefficients come from the operating system: given threshold - 1 parts, every secret
    is as likely as before.
    """
    if not 1 <= threshold <= number or len(secret) > 64:
        raise NacreError("A secret of at most 64 bytes is divided for 1 to all of the places.")
    rest = [secrets.randbelow(PRIME) for _ in range(threshold - 1)]
    return [part_at(place, secret, rest) for place in range(1, number + 1)]


def part_at(place: int, secret: bytes, rest: list[int]) -> bytes:
    """The polynomial of these coefficients at one place."""
    value = 0
    for coefficient in reversed([int.from_bytes(secret, "big"), *rest]):
        value = (value * place + coefficient) % PRIME
    return value.to_bytes(BYTES, "big")


def combine(parts: Mapping[int, bytes], length: int) -> bytes:
    """The secret of so many bytes, by Lagrange's formula at 0, from parts by their places."""
    value = 0
    for place, part in parts.items():
        top, bottom = 1, 1
        for other in parts:
            if other != place:
                top, bottom = top * other % PRIME, bottom * (other - place) % PRIME
        value += int.from_bytes(part, "big") * top * pow(bottom, -1, PRIME)
    try:
        return (value % PRIME).to_bytes(length, "big")
    except OverflowError:
        raise NacreError("The parts of a secret do not fit together.") from None
