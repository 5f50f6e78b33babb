"""Masks: published vectors, RFCs, uniform to whoever has no key, and gone in the total."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from tests.sites.masked import make_vectors, reference

from nacre.errors import NacreError
from nacre.sites.masked import masks
from nacre.sites.masked.masks import Occasion

VECTORS = json.loads(make_vectors.PATH.read_text())
OCCASION = Occasion(bytes.fromhex(VECTORS["transcript"]), VECTORS["round"], VECTORS["program"])
SECRETS = [bytes.fromhex(key) for key in VECTORS["secret_keys"]]
KEYS = [bytes.fromhex(key) for key in VECTORS["public_keys"]]
SEEDS = [bytes.fromhex(seed) for seed in VECTORS["seeds"]]
SIZE = len(VECTORS["plain"][0])


def masked(place, words, occasion=OCCASION):
    words = np.array(words, np.uint64)
    return masks.masked(words, occasion, place, SECRETS[place], SEEDS[place], KEYS)


def test_the_reference_is_that_of_the_rfcs():
    # RFC 7748, section 5.2, and RFC 8439, appendix A.1.
    scalar = bytes.fromhex("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4")
    point = bytes.fromhex("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c")
    found = "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
    assert reference.x25519(scalar, point).hex() == found
    stream = reference.chacha20(bytes(32), 1).hex()
    assert stream.startswith("76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7")


def test_published_vectors():
    assert make_vectors.vectors() == VECTORS
    assert [masks.public_of(secret) for secret in SECRETS] == KEYS
    for place in range(3):
        own = masks.self_mask(OCCASION, SEEDS[place], place, SIZE)
        assert own.tolist() == VECTORS["self_masks"][place]
        assert masked(place, VECTORS["plain"][place]).tolist() == VECTORS["masked"][place]
    for places, wanted in VECTORS["pair_masks"].items():
        low, high = map(int, places.split(","))
        for secret in (SECRETS[low], SECRETS[high]):
            assert masks.pair_mask(OCCASION, secret, (low, high), KEYS, SIZE).tolist() == wanted
            back = masks.pair_mask(OCCASION, secret, (high, low), KEYS, SIZE)
            assert not (back + np.array(wanted, np.uint64)).any()


@settings(deadline=None, max_examples=20)
@given(
    st.lists(st.lists(st.integers(0, 2**64 - 1), min_size=3, max_size=3), min_size=3, max_size=3)
)
def test_masks_fall_out_of_the_total_to_the_bit(plain):
    total = sum(masked(place, words) for place, words in enumerate(plain))
    for place in range(3):
        total = total - masks.self_mask(OCCASION, SEEDS[place], place, 3)
    assert total.tolist() == [sum(words) % 2**64 for words in zip(*plain, strict=True)]


@pytest.mark.parametrize("known", ["nothing", "its own mask", "all masks but one pair"])
def test_a_masked_vector_is_uniform_to_whoever_lacks_a_key(known):
    size = 20_000
    found = masked(0, np.zeros(size, np.uint64))
    if known != "nothing":
        found = found - masks.self_mask(OCCASION, SEEDS[0], 0, size)
    if known == "all masks but one pair":
        found = found - masks.pair_mask(OCCASION, SECRETS[2], (0, 2), KEYS, size)
    counts = np.bincount(found.view(np.uint8), minlength=256)
    assert 1e-4 < chisquare(counts).pvalue < 1 - 1e-4
    bits = np.unpackbits(found.view(np.uint8)).reshape(size, 64).mean(0)
    assert np.abs(bits - 0.5).max() < 5 * 0.5 / np.sqrt(size)
    near = np.corrcoef(found[:-1].astype(float), found[1:].astype(float))[0, 1]
    assert abs(near) < 5 / np.sqrt(size)
    # The same test notices a vector that is not hidden.
    bare = np.full(size, 2**40, np.uint64).view(np.uint8)
    assert chisquare(np.bincount(bare, minlength=256)).pvalue < 1e-4


@pytest.mark.parametrize(
    "changed", [{"transcript": bytes(32)}, {"round": 3}, {"program": "e" * 64}]
)
def test_a_mask_serves_one_occasion(changed):
    other = dataclasses.replace(OCCASION, **changed)
    for one, two in (
        (masked(0, [0] * SIZE), masked(0, [0] * SIZE, other)),
        (masks.self_mask(OCCASION, SEEDS[0], 0, SIZE), masks.self_mask(other, SEEDS[0], 0, SIZE)),
        (
            masks.pair_mask(OCCASION, SECRETS[0], (0, 1), KEYS, SIZE),
            masks.pair_mask(other, SECRETS[0], (0, 1), KEYS, SIZE),
        ),
    ):
        assert (one != two).all()


def test_fields_of_a_context_do_not_run_into_each_other():
    assert masks.derive(b"s", "use", b"ab", b"c") != masks.derive(b"s", "use", b"a", b"bc")
    wanted = reference.hkdf(b"s", reference.info(masks.LABEL, b"use", b"ab", b"c"))
    assert masks.derive(b"s", "use", b"ab", b"c") == wanted


def test_sealed_messages_are_for_one_reader_and_one_purpose():
    salt = bytes(range(32))
    sealed = masks.seal(b"a part", SECRETS[0], KEYS[1], salt, b"from 0 to 1")
    assert masks.unseal(sealed, SECRETS[1], KEYS[0], b"from 0 to 1") == b"a part"
    for changed in (bytes([sealed[0] ^ 1]) + sealed[1:], sealed[:-1] + bytes([sealed[-1] ^ 1])):
        with pytest.raises(NacreError, match="was changed"):
            masks.unseal(changed, SECRETS[1], KEYS[0], b"from 0 to 1")
    for reader, sender, about in ((2, 0, b"from 0 to 1"), (1, 2, b"from 0 to 1"), (1, 0, b"other")):
        with pytest.raises(NacreError, match="another site or session"):
            masks.unseal(sealed, SECRETS[reader], KEYS[sender], about)


def test_keys_of_no_order_are_refused():
    for public in (bytes(32), (1).to_bytes(32, "little"), b"short"):
        with pytest.raises(NacreError, match="no secret can be agreed on"):
            masks.agree(SECRETS[0], public)


def test_fresh_secrets_are_the_systems():
    assert len({masks.new_secret() for _ in range(20)}) == 20
