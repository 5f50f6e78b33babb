"""Who may drop out or collude: what is refused, and what the theorem of `Parties` promises."""

import itertools

import pytest

from nacre.errors import NacreError
from nacre.vault.parties import Parties


@pytest.mark.parametrize(
    ("sites", "dropouts", "colluding", "threshold", "shares"),
    [(2, 0, 1, 2, 1), (3, 0, 2, 3, 1), (4, 1, 1, 3, 2), (10, 2, 1, 8, 7), (10, 2, 3, 8, 5)],
)
def test_known_answers(sites, dropouts, colluding, threshold, shares):
    parties = Parties(sites=sites, dropouts=dropouts, colluding=colluding)
    assert (parties.threshold, parties.shares) == (threshold, shares)


@pytest.mark.parametrize(
    ("sites", "dropouts", "colluding"),
    [(1, 0, 1), (3, 1, 1), (2, 0, 2), (10, 5, 1), (4, 0, 0), (4, -1, 1), (4, 1, 2), (1001, 0, 1)],
)
def test_too_many_drop_outs_or_foes_are_refused(sites, dropouts, colluding):
    with pytest.raises(NacreError):
        Parties(sites=sites, dropouts=dropouts, colluding=colluding)
    with pytest.raises(NacreError, match="whole numbers"):
        Parties(sites=4.0, dropouts=1, colluding=1)


def worst(parties, targets):
    """The fewest honest sites in a total that comes to light, over all ways to call rolls.

    A collector tells each honest site which of the `targets` are missing; a secret comes to light
    with the parts of all colluding sites and of t - c honest ones.
    """
    honest, needed = range(parties.honest), parties.threshold - parties.colluding
    rolls = [
        set(r) for k in range(parties.dropouts + 1) for r in itertools.combinations(targets, k)
    ]
    fewest = parties.honest
    for told in itertools.product(rolls, repeat=parties.honest):
        left_out = [sum(site in roll for roll in told) for site in honest]
        seeds = {site for site in honest if parties.honest - left_out[site] >= needed}
        keys = {site for site in honest if left_out[site] >= needed}
        assert not seeds & keys  # never both secrets of a site
        if seeds | keys == set(honest) and seeds:
            fewest = min(fewest, len(seeds))
    return fewest


@pytest.mark.parametrize(
    ("sites", "dropouts", "colluding", "targets"),
    [(3, 0, 1, 2), (4, 1, 1, 3), (5, 1, 1, 4), (5, 1, 2, 3), (6, 1, 1, 5), (7, 2, 1, 3)],
)
def test_no_way_to_call_rolls_leaves_less_noise_than_promised(sites, dropouts, colluding, targets):
    parties = Parties(sites=sites, dropouts=dropouts, colluding=colluding)
    assert worst(parties, range(targets)) == parties.shares  # it holds, and is reached
