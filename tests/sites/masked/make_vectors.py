"""Makes vectors.json from the RFCs alone: python -m tests.sites.masked.make_vectors."""

import hashlib
import json
from pathlib import Path

import numpy as np
from tests.sites.masked import reference

PATH = Path(__file__).with_name("vectors.json")
BASE = (9).to_bytes(32, "little")
LABEL = b"nacre masked sums 1"
SITES, SIZE, ROUND = 3, 10, 2


def secret(what: str, place: int) -> bytes:
    """A key that everybody knows."""
    return hashlib.sha256(f"nacre test vector: {what} {place}".encode()).digest()


def vectors() -> dict:
    """Three sites, each with ten words; all that the protocol derives for them."""
    transcript, program = secret("transcript", 0), "f" * 64
    keys = [secret("mask", place) for place in range(SITES)]
    seeds = [secret("seed", place) for place in range(SITES)]
    public = [reference.x25519(key, BASE) for key in keys]
    about = (transcript, b"%d" % ROUND, program.encode())

    def own(place):
        context = reference.info(LABEL, b"self", *about, b"%d" % place)
        return reference.words(reference.hkdf(seeds[place], context), SIZE)

    def pair(low, high):
        places = (b"%d" % low, b"%d" % high)
        context = reference.info(LABEL, b"pair", *about, *places, public[low], public[high])
        common = reference.x25519(keys[low], public[high])
        return reference.words(reference.hkdf(common, context), SIZE)

    plain = [
        np.arange(SIZE, dtype=np.uint64) * (place + 1) - np.uint64(3) for place in range(SITES)
    ]
    masked = []
    for place in range(SITES):
        found = plain[place] + own(place)
        for other in range(SITES):
            if other > place:
                found = found + pair(place, other)
            elif other < place:
                found = found - pair(other, place)
        masked.append(found)
    return {
        "transcript": transcript.hex(),
        "round": ROUND,
        "program": program,
        "secret_keys": [key.hex() for key in keys],
        "public_keys": [key.hex() for key in public],
        "seeds": [seed.hex() for seed in seeds],
        "self_masks": [[int(w) for w in own(place)] for place in range(SITES)],
        "pair_masks": {
            f"{low},{high}": [int(w) for w in pair(low, high)]
            for low in range(SITES)
            for high in range(low + 1, SITES)
        },
        "plain": [[int(w) for w in each] for each in plain],
        "masked": [[int(w) for w in each] for each in masked],
    }


if __name__ == "__main__":
    PATH.write_text(json.dumps(vectors(), indent=1) + "\n")
