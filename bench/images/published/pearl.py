"""Liew, Takahashi and Ueno (2022), PEARL: Table 1, FID and KID on LeNet's features, (1, 1e-5)."""

from bench.images.published.row import both

SOURCE = "PEARL, Table 1"

# FID, then KID times 1,000: MNIST, Fashion-MNIST.
_TABLE_1 = {
    "DPGAN": ((22.1, 16.6), (573, 535)),
    "DPCGAN": ((17.3, 14.61), (286, 425)),
    "DP-MERF": ((49.9, 37.0), (148, 1220)),
    "PEARL without critic": ((3.79, 1.99), (77.8, 24.0)),
    "PEARL": ((3.52, 1.92), (70.5, 26.9)),
}

ROWS = tuple(
    row
    for method, (fid, kid) in _TABLE_1.items()
    for score, values in (("fid", fid), ("kid", (kid[0] / 1000, kid[1] / 1000)))
    for row in both(values, method=method, source=SOURCE, epsilon=1.0, score=score)
)
