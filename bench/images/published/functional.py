"""Jiang, Sun and Yu (2023), Functional Rényi DP: Tables 1 and 3, CNN accuracy at delta = 1e-5.

The rows of other methods are those that this paper took from theirs.  FID is left out: it is on
Inception's features, which are not computed here.
"""

from bench.images.published.row import UNSOUND, both

SOURCE = "Functional Rényi DP, Table {}"
NAME = "Functional Rényi DP"

# Percent: MNIST, Fashion-MNIST.
_TABLE_1 = {
    1.0: {
        "DP-MERF": (80.5, 73.1),
        "GS-WGAN": (14.3, 16.6),
        "DP-HP": (74.0, 67.0),
        "PEARL": (78.2, 68.3),
        "G-PATE": (58.8, 58.1),
        "DataLens": (71.2, 64.8),
        "DPDM": (93.4, 73.6),
        NAME: (93.4, 78.8),
    },
    0.2: {
        "DP-MERF": (75.2, 67.4),
        "PEARL": (77.6, 68.0),
        "G-PATE": (22.0, 18.0),
        "DataLens": (23.4, 22.3),
        "DPDM": (71.9, 57.0),
        NAME: (91.3, 78.4),
    },
}
_TABLE_3 = {
    "DPDM": (97.3, 84.9),
    "DP-CGAN": (63.0, 46.0),
    "DP-MERF": (82.0, 73.2),
    "PEARL": (78.8, 64.9),
    "G-PATE": (80.9, 69.3),
    "DataLens": (80.7, 70.6),
    "GS-WGAN": (80.0, 65.0),
    "DP-Sinkhorn": (79.1, 68.9),
    NAME: (93.1, 79.2),
    f"{NAME}, a network a class": (96.4, 82.0),
}

ROWS = tuple(
    row
    for table, epsilon, methods in (
        (1, 1.0, _TABLE_1[1.0]),
        (1, 0.2, _TABLE_1[0.2]),
        (3, 10.0, _TABLE_3),
    )
    for method, percent in methods.items()
    for row in both(
        (round(percent[0] / 100, 3), round(percent[1] / 100, 3)),
        method=method,
        source=SOURCE.format(table),
        epsilon=epsilon,
        score="cnn-accuracy",
        unsound=UNSOUND["functional"] if method.startswith(NAME) else "",
    )
)
