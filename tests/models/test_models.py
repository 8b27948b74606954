"""The closed forms against independent numbers, limits, and slow definitions."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from lightburst import models

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "loss_closed_forms.json").read_text())


def test_erlang_b_equals_the_reference() -> None:
    rows = REFERENCE["erlang_b_8_servers"]
    got = models.erlang_b([row["A"] for row in rows], 8)
    np.testing.assert_allclose(got, [row["B"] for row in rows], rtol=1e-12)


def test_one_output_equals_the_reference() -> None:
    rows = REFERENCE["one_output"]
    got = models.bufferless_output_loss([row["rho"] for row in rows])
    np.testing.assert_allclose(got, [row["B"] for row in rows], rtol=1e-12)


def test_erlang_b_equals_its_definition_as_a_sum() -> None:
    load, servers = 3.7, 6
    terms = [load**n / math.factorial(n) for n in range(servers + 1)]
    assert models.erlang_b(load, servers) == pytest.approx(terms[-1] / sum(terms), rel=1e-13)


def test_erlang_b_broadcasts_and_survives_large_systems() -> None:
    table = models.erlang_b([[10.0], [1000.0], [0.0]], [0, 1, 10, 1000])
    assert table.shape == (3, 4)
    np.testing.assert_allclose(table[:, 0], 1.0)
    np.testing.assert_array_equal(table[2, 1:], 0.0)
    # Jagerman's asymptote for a critically loaded group: 1 / B(n, n) = sqrt(pi n / 2) + 2/3 + ...
    assert table[1, 3] == pytest.approx(1 / (math.sqrt(500 * math.pi) + 2 / 3), rel=1e-4)
    assert np.all(np.diff(table[:2], axis=1) < 0)


@pytest.mark.parametrize("servers", [1, 8, 200])
def test_erlang_b_load_is_the_inverse(servers: int) -> None:
    blocking = np.array([1e-9, 1e-3, 0.2, 0.9])
    load = models.erlang_b_load(blocking, servers)
    np.testing.assert_allclose(models.erlang_b(load, servers), blocking, rtol=1e-9)
    assert models.erlang_b_load(0.0, servers) == 0.0


def test_engset_equals_its_definition_and_tends_to_erlang() -> None:
    a, sources, servers = 0.3, 10, 4
    terms = [math.comb(sources, n) * a**n for n in range(servers + 1)]
    assert models.engset_time_congestion(a, sources, servers) == pytest.approx(
        terms[-1] / sum(terms), rel=1e-13
    )
    others = [math.comb(sources - 1, n) * a**n for n in range(servers + 1)]
    assert models.engset_call_congestion(a, sources, servers) == pytest.approx(
        others[-1] / sum(others), rel=1e-13
    )
    # The difference from Erlang's loss falls with the number of sources.
    erlang = float(models.erlang_b(5.0, 8))
    few, many = (1 - models.engset_call_congestion(5.0 / n, n, 8) / erlang for n in (10**5, 10**6))
    assert many == pytest.approx(few / 10, rel=1e-3)
    assert 0 < many < 3e-5


def test_engset_without_competition_loses_nothing() -> None:
    assert models.engset_call_congestion(0.5, 4, 4) == 0.0
    assert models.engset_time_congestion(0.5, 3, 4) == 0.0


@pytest.mark.parametrize("load", [0.1, 0.5, 0.9])
def test_md1_occupancy_agrees_with_its_moments(load: float) -> None:
    p = models.md1_occupancy(load, 400)
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    assert 1 - p[0] == pytest.approx(float(models.md1_wait_probability(load)))
    waiting = np.maximum(np.arange(401) - 1, 0) @ p
    assert waiting == pytest.approx(float(models.md1_mean_queue(load)), rel=1e-9)
    assert p[1] == pytest.approx((1 - load) * math.expm1(load), rel=1e-13)


@pytest.mark.parametrize("load", [0.1, 0.5, 0.9])
def test_md1_wait_agrees_with_its_mean_and_erlangs_sum(load: float) -> None:
    x = np.linspace(0, 50, 5001)
    cdf = models.md1_wait_cdf(load, x)
    assert cdf[0] == pytest.approx(1 - load)
    assert np.all(np.diff(cdf) >= -1e-14)
    tail = np.trapezoid(1 - cdf, x)
    assert tail == pytest.approx(float(models.md1_mean_wait(load)), rel=2e-3)
    for wait in (0.25, 1.0, 2.5):
        # Erlang's explicit form, good at short waits.
        terms = [
            (load * (k - wait)) ** k / math.factorial(k) * math.exp(-load * (k - wait))
            for k in range(math.floor(wait) + 1)
        ]
        assert models.md1_wait_cdf(load, wait) == pytest.approx((1 - load) * sum(terms), rel=1e-12)


def test_md1_wait_agrees_with_a_simulated_queue() -> None:
    rng = np.random.default_rng(1)
    load, n = 0.7, 400_000
    arrival = np.cumsum(rng.exponential(1 / load, n))
    # Lindley: the start of service i is the largest arrival[j] + (i - j) with j <= i.
    order = np.arange(n)
    wait = np.maximum.accumulate(arrival - order) + order - arrival
    assert np.mean(wait) == pytest.approx(float(models.md1_mean_wait(load)), rel=0.03)
    assert np.mean(wait > 0) == pytest.approx(load, abs=0.01)
    assert np.mean(wait <= 1.5) == pytest.approx(float(models.md1_wait_cdf(load, 1.5)), abs=0.01)


def test_what_is_outside_the_theory_is_refused() -> None:
    with pytest.raises(ValueError, match="load"):
        models.erlang_b(-1.0, 2)
    with pytest.raises(ValueError, match="servers"):
        models.erlang_b(1.0, 1.5)
    with pytest.raises(ValueError, match="blocking"):
        models.erlang_b_load(1.0, 2)
    with pytest.raises(ValueError, match="servers"):
        models.erlang_b_load(0.5, 0)
    with pytest.raises(ValueError, match="sources"):
        models.engset_call_congestion(0.5, 0, 2)
    with pytest.raises(ValueError, match="load"):
        models.md1_mean_wait([0.5, 1.0])
    with pytest.raises(ValueError, match="largest"):
        models.md1_occupancy(0.5, -1)
    with pytest.raises(ValueError, match="wait"):
        models.md1_wait_cdf(0.5, [-1.0])
