"""Encoders fitted to the private rows without noise: DP-MERF with an autoencoder, DP-auto-GAN."""

from __future__ import annotations

import numpy as np

from nacre.audit.as_published.control import Control, gaussian_noise
from nacre.audit.bounds import Scores

# -- DP-MERF + AE ------------------------------------------------------------------------------

FREQUENCIES = np.linspace(0.5, 5.0, 10)
PUBLIC_AXIS = np.array([0.6, 0.8])


def _table(present: bool) -> np.ndarray:
    """1,001 rows in the plane whose spread along both axes is the same, but for one row.

    Replace-one: the canary lies on the first axis in one world, on the second in the other.  Rows
    of the axes differ: 200 at ±1 on the first, 800 at ±1/2 on the second.
    """
    axes = np.eye(2)
    rows = [
        np.outer(np.repeat([1.0, -1.0], 100), axes[0]),
        np.outer(np.repeat([0.5, -0.5], 400), axes[1]),
    ]
    return np.concatenate([*rows, axes[[int(present)]]])


def _embedding(codes: np.ndarray) -> np.ndarray:
    """The mean of random Fourier features of the codes; each row's has norm one."""
    angles = np.outer(codes, FREQUENCIES)
    features = np.concatenate([np.cos(angles), np.sin(angles)], axis=1) / np.sqrt(len(FREQUENCIES))
    return features.mean(axis=0)


def _fitted_axis(rows: np.ndarray) -> np.ndarray:
    """What a linear autoencoder with one code learns: the first principal axis."""
    return np.linalg.eigh(rows.T @ rows)[1][:, -1]


def _noised(mean: np.ndarray, other: np.ndarray, runs: int, rng: np.random.Generator) -> Scores:
    """Noise of the claimed sensitivity 2/m on the embedding; the likelihood ratio as score."""
    scale = gaussian_noise(2 / 1001)
    released = mean + rng.normal(0, scale, (runs, len(mean)))
    return released @ other / scale**2


def _unsound_codes(present: bool, runs: int, rng: np.random.Generator) -> Scores:
    means = [_embedding(rows @ _fitted_axis(rows)) for rows in map(_table, (False, True))]
    return _noised(means[present], means[1] - means[0], runs, rng)


def _sound_codes(present: bool, runs: int, rng: np.random.Generator) -> Scores:
    means = [_embedding(rows @ PUBLIC_AXIS) for rows in map(_table, (False, True))]
    return _noised(means[present], means[1] - means[0], runs, rng)


ENCODER_WITHOUT_NOISE = Control(
    name="encoder without noise",
    source="DP-MERF with an autoencoder (Harder, Adamczewski and Park 2021)",
    mistake="the encoder is fitted to the rows without noise, so one row moves every code",
    mend="an encoder that is public",
    published=_unsound_codes,
    corrected=_sound_codes,
)

# -- DP-auto-GAN -------------------------------------------------------------------------------

ORDINARY, STEPS, RATE, CLIP = 1000, 20, 0.05, 1.0


def _autoencoder(
    present: bool, runs: int, rng: np.random.Generator, *, noisy_encoder: bool
) -> Scores:
    """y = 1 from x, by decoder * relu(weight * x + bias) and Adam; 1,000 rows at x = 0, one at 1.

    Rows at 0 are silent at first: they move nothing.  The canary alone moves the bias, and Adam
    makes a full step of however small a gradient; then all rows speak, and all move the decoder.
    """
    rows, many = np.array([0.0, 1.0])[:, None], np.array([ORDINARY, present])[:, None]
    weight, bias, decoder = np.ones(runs), np.full(runs, -0.01), np.full(runs, 0.5)
    sigma = gaussian_noise(CLIP, steps=STEPS)
    adams = [_Adam(runs) for _ in range(3)]
    for _ in range(STEPS):
        before = weight * rows + bias
        code = np.maximum(before, 0)
        error = decoder * code - 1
        to_bias = error * decoder * (before > 0)
        gradients = [to_bias * rows, to_bias, error * code]
        clipped = gradients if noisy_encoder else gradients[2:]
        factor = np.minimum(1, CLIP / np.maximum(np.sqrt(sum(g**2 for g in clipped)), 1e-12))
        if noisy_encoder:
            noised = [(g * factor * many).sum(0) + rng.normal(0, sigma, runs) for g in gradients]
        else:
            exact = [(g * many).sum(0) for g in gradients[:2]]
            noised = [*exact, (gradients[2] * factor * many).sum(0) + rng.normal(0, sigma, runs)]
        weight, bias, decoder = (
            value - RATE * adam(gradient)
            for value, adam, gradient in zip((weight, bias, decoder), adams, noised, strict=True)
        )
    return decoder  # it alone is published; rows at 0 that speak pull it up


class _Adam:
    """Adam's direction (Kingma and Ba, 2015), one for each run."""

    def __init__(self, runs: int):
        self.step, self.mean, self.square = 0, np.zeros(runs), np.zeros(runs)

    def __call__(self, gradient: np.ndarray) -> np.ndarray:
        self.step += 1
        self.mean = 0.9 * self.mean + 0.1 * gradient
        self.square = 0.999 * self.square + 0.001 * gradient**2
        mean, square = self.mean / (1 - 0.9**self.step), self.square / (1 - 0.999**self.step)
        return mean / (np.sqrt(square) + 1e-8)


DECODER_NOISE_ONLY = Control(
    name="noise on the decoder only",
    source="DP-auto-GAN (Tantipongpipat et al. 2021), Proposition 3",
    mistake="the decoder's gradients have noise, those of the encoder before it do not",
    mend="one clipped, noised gradient of encoder and decoder together",
    published=lambda present, runs, rng: _autoencoder(present, runs, rng, noisy_encoder=False),
    corrected=lambda present, runs, rng: _autoencoder(present, runs, rng, noisy_encoder=True),
)
