"""A network trained on one set of images and tested on the real test images."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from nacre.evaluate.images.comparison import ImageComparison
from nacre.evaluate.scores.metric import Value

BATCH = 128


def trained_accuracy(
    comparison: ImageComparison,
    make: Callable[[np.random.Generator], Any],
    *,
    epochs: int,
    runs: int,
) -> Value:
    """The share of test images that are classified right.

    The error is the standard deviation over the runs; of a single one, that of a share.
    """
    from nacre.evaluate.images.training import logits, train

    images, test = comparison.synthetic, comparison.real.test
    if test is None or test.labels is None:
        raise ValueError("There are no test images.")
    steps = max(comparison.effort.fewest, math.ceil(epochs * len(images) / BATCH))
    shares = []
    for run in range(runs):
        seed = comparison.real.seed + 1 + run
        network = train(make(np.random.default_rng(seed)), images, steps=steps, seed=seed)
        shares.append(float(np.mean(logits(network, test).argmax(axis=1) == test.labels)))
    share = float(np.mean(shares))
    error = np.std(shares, ddof=1) if runs > 1 else np.sqrt(share * (1 - share) / len(test))
    return Value("", share, float(error))
