"""The closed form of a mixture's characteristic function equals the sum over its rows."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nacre.embed.fourier import draw_frequencies
from nacre.histograms.cells import layout_cells
from nacre.methods.targets import transforms
from nacre.nets.characteristic import MixtureCharacteristic
from nacre.nets.logits import MixtureLogits
from nacre.schema import Code, Layout, Number

LAYOUT = Layout(numbers=(Number("a", 3), Number("b", 200)), codes=(Code("c", 3), Code("d", 2)))


@pytest.mark.parametrize("orders", [((1, 1.0),), ((2, 1.0),), ((1, 0.3), (2, 0.4), (3, 0.3))])
def test_equals_brute_force(orders):
    rng = np.random.default_rng(0)
    columns = [0, 1, 2, 3]
    drawn = draw_frequencies(
        LAYOUT, width=11, blocks=2, columns=columns, orders=orders, scales=(1.0, 9.0), rng=rng
    )
    cells = layout_cells(LAYOUT)
    sizes = [c.size for c in cells] + [3, 2]
    components, labels = 4, 2
    tables = [rng.dirichlet(np.ones(s), components) for s in sizes]
    weights = rng.dirichlet(np.ones(components * labels)).reshape(labels, components)
    characteristic = MixtureCharacteristic(*transforms(drawn, cells, columns))
    for block in range(2):
        given = [np.stack([tables[c] for c in g]).astype(np.float32) for g in characteristic.groups]
        real, imaginary = characteristic(given, weights, block)
        expected = brute_force(drawn.matrix[block], cells, tables, weights)
        np.testing.assert_allclose(real, expected.real, atol=2e-5)
        np.testing.assert_allclose(imaginary, expected.imag, atol=2e-5)


def brute_force(matrix, cells, tables, weights):
    """E exp(i t x) by summing over every combination of ticks and codes."""
    total = np.zeros((len(matrix), len(weights)), complex)
    per_tick = []
    for column, cell in enumerate(cells):
        width = cell.high - cell.low + 1
        ticks = LAYOUT.numbers[column].ticks
        owner = np.searchsorted(cell.high, np.arange(ticks + 1))
        values = np.arange(ticks + 1) / ticks
        probabilities = tables[column][:, owner] / width[owner]
        per_tick.append((values, probabilities))
    for c, d in itertools.product(range(3), range(2)):
        hot = np.zeros(5)
        hot[c] = hot[3 + d] = 1
        phase = np.exp(1j * matrix[:, 2:] @ hot)
        for r in range(weights.shape[1]):
            joint = tables[2][r, c] * tables[3][r, d]
            (u, p), (v, q) = per_tick
            first = np.exp(1j * np.outer(matrix[:, 0], u)) @ p[r]
            second = np.exp(1j * np.outer(matrix[:, 1], v)) @ q[r]
            total += np.outer(phase * first * second * joint, weights[:, r])
    return total


def test_columns_alike_are_worked_off_together_and_their_slopes_are_right():
    # Three columns of two cells, touched by three, one and no frequencies, and one of three cells.
    support = np.array([[-1, 0], [-1, 3], [0, 1], [0, 3]])
    sizes, touched = (2, 2, 2, 3), (3, 1, 0, 2)
    rng = np.random.default_rng(1)
    points = [
        np.exp(1j * rng.normal(size=(1, count, size)))
        for count, size in zip(touched, sizes, strict=True)
    ]
    characteristic = MixtureCharacteristic(support, points)
    assert characteristic.groups == ((0, 1), (3,))
    model = MixtureLogits(sizes, [], labels=2, components=3, rng=rng)
    assert model.groups == ((0, 1, 2), (3,))
    coefficients = jnp.asarray(rng.normal(size=(2, 4, 2)), jnp.float32)

    def together(model):
        tables = model.some(characteristic.groups)
        return jnp.stack(characteristic(tables, model.weights(), 0))

    def one_by_one(model):
        tables, seen, waves = model.columns(), [0] * 4, []
        for columns in support:
            factor = jnp.ones(3, jnp.complex64)
            for column in columns[columns >= 0]:
                factor = factor * (tables[column] @ points[column][0, seen[column]])
                seen[column] += 1
            waves.append(model.weights() @ factor)
        wave = jnp.stack(waves)
        return jnp.stack([wave.real, wave.imag])

    @eqx.filter_jit
    def with_slopes(f, model):
        return f(model), eqx.filter_grad(lambda m: jnp.sum(coefficients * f(m)))(model)

    (found, slopes), (wanted, others) = (with_slopes(f, model) for f in (together, one_by_one))
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    for slope, other in zip(*map(jax.tree.leaves, (slopes, others)), strict=True):
        np.testing.assert_allclose(slope, other, atol=1e-6)


def test_frequencies_out_of_order_are_refused():
    support = np.array([[0, 1], [-1, 0]])
    with pytest.raises(ValueError, match="come first"):
        MixtureCharacteristic(support, [np.ones((1, 2, 2)), np.ones((1, 1, 2))])
