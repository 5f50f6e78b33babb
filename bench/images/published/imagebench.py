"""By the protocol of DPImageBench: 55,000 images, delta = 1/(n ln n), ResNet-like classifiers.

These classifiers learn for up to 200 epochs, so the numbers are for orientation: no winner.
"""

from bench.images.published.row import UNSOUND, both

SOURCE = "DPImageBench's protocol"

# Percent: MNIST, Fashion-MNIST.
_NUMBERS = (
    ("DP-FETA", 10.0, (98.1, 87.3)),
    ("DP-FETA", 1.0, (95.6, 81.7)),
    ("DP-FETA", 0.2, (None, 73.4)),
    ("DPDM", 1.0, (89.2, 76.4)),
    ("DP-MERF", 1.0, (80.3, 62.2)),
    ("DP-Kernel", 1.0, (94.0, 68.4)),
)

ROWS = tuple(
    row
    for method, epsilon, (first, second) in _NUMBERS
    for row in both(
        (None if first is None else round(first / 100, 3), round(second / 100, 3)),
        method=method,
        source=SOURCE,
        epsilon=epsilon,
        score="residual-accuracy",
        unsound=UNSOUND["functional"] if method == "DP-Kernel" else "",
    )
)
