"""Erlang, Engset and segmentation against simulations and exact sums."""

from collections.abc import Callable
from decimal import Decimal, localcontext

import numpy as np
import pytest

from lightburst import models
from lightburst.foundation.errors import InputError
from loss_simulations import (
    LAWS,
    agrees,
    few_sources,
    fibre,
    poisson,
    segmented,
    unconverted,
)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("load", [0.4, 0.7, 1.0])
def test_erlang_b_is_what_a_fibre_loses_whatever_the_law_of_lengths(law: str, load: float) -> None:
    lost = fibre(*poisson(1, 8 * load, 100_000, law), 8)
    assert agrees(lost, float(models.erlang_b(8 * load, 8)), precision=0.2)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("load", [0.2, 1.0])
def test_without_conversion_each_wavelength_is_alone(law: str, load: float) -> None:
    lost = unconverted(*poisson(1, 8 * load, 50_000, law), 8)
    assert agrees(lost, float(models.bufferless_output_loss(load)))


def test_erlang_b_is_right_with_thousands_of_channels() -> None:
    with localcontext(prec=60):
        for load, channels in [(3200, 4096), (4096, 4096), (9000, 4096)]:
            term = total = Decimal(1)
            for n in range(1, channels + 1):
                term = term * load / n
                total += term
            exact = float(term / total)
            assert float(models.erlang_b(load, channels)) == pytest.approx(exact, rel=1e-11)


SOURCES = [(0.8, 12, 4), (0.3, 24, 6), (2.0, 5, 4)]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("load", "sources", "channels"), SOURCES)
def test_the_three_congestions_of_engset_are_those_of_few_sources(
    law: str, load: float, sources: int, channels: int
) -> None:
    lost, full, busy = few_sources(1, load, sources, channels, 60_000, law, dumping=False)
    assert agrees(lost, float(models.engset_call_congestion(load, sources, channels)))
    time = float(models.engset_time_congestion(load, sources, channels))
    assert full == pytest.approx(time, rel=0.04)
    carried = 1 - float(models.engset_traffic_congestion(load, sources, channels))
    assert busy / (sources * load / (1 + load)) == pytest.approx(carried, rel=0.02)


@pytest.mark.parametrize(("load", "sources", "channels"), SOURCES)
def test_sources_that_dump_what_is_lost(load: float, sources: int, channels: int) -> None:
    theory = float(models.engset_dumping_loss(load, sources, channels))
    lost, _, busy = few_sources(1, load, sources, channels, 60_000, "exponential", dumping=True)
    assert agrees(lost, theory)
    # The share of the offered load that is not carried is the same.
    assert busy / (sources * load / (1 + load)) == pytest.approx(1 - theory, rel=0.02)
    # Not insensitive, but nearly.
    lost, _, _ = few_sources(1, load, sources, channels, 60_000, "constant", dumping=True)
    assert np.mean(lost) == pytest.approx(theory, rel=0.1)


def dumping_chain(load: float, sources: int, channels: int) -> float:
    """Loss from the balance of all states (carried, dumped), solved as one dense system."""
    states = [
        (i, j)
        for i in range(channels + 1)
        for j in range(sources - channels + 1)
        if i + j <= sources
    ]
    rates = np.zeros((len(states), len(states)))
    for place, (i, j) in enumerate(states):
        if i + j < sources:
            begun = (i + 1, j) if i < channels else (i, j + 1)
            rates[place, states.index(begun)] = (sources - i - j) * load
        if i:
            rates[place, states.index((i - 1, j))] = i
        if j:
            rates[place, states.index((i, j - 1))] = j
    balance = np.vstack([(rates - np.diag(rates.sum(axis=1))).T[1:], np.ones(len(states))])
    p = np.linalg.solve(balance, np.eye(len(states))[-1])
    arriving = np.array([(sources - i - j) * p[n] for n, (i, j) in enumerate(states)])
    full = [i == channels for i, _ in states]
    return float(arriving[full].sum() / arriving.sum())


@pytest.mark.parametrize(("load", "sources", "channels"), [*SOURCES, (0.3, 30, 8), (4.0, 9, 1)])
def test_dumping_is_the_whole_chain(load: float, sources: int, channels: int) -> None:
    exact = dumping_chain(load, sources, channels)
    got = float(models.engset_dumping_loss(load, sources, channels))
    assert got == pytest.approx(exact, rel=1e-9)


def test_engset_has_erlang_as_its_limit_and_an_order() -> None:
    load = models.idle_source_load(np.array([6.4 / 20, 6.4 / 1000, 6.4 / 30_000]))
    sources = np.array([20, 1000, 30_000])
    dumped = models.engset_dumping_loss(load[:2], sources[:2], 8)
    time = models.engset_time_congestion(load, sources, 8)
    call = models.engset_call_congestion(load, sources, 8)
    traffic = models.engset_traffic_congestion(load, sources, 8)
    assert np.all(time > call)
    assert np.all(call[:2] > dumped)
    assert np.all(dumped > traffic[:2])
    erlang = float(models.erlang_b(6.4, 8))
    for congestion in (time, call, traffic):
        assert congestion[-1] == pytest.approx(erlang, rel=1e-3)
    assert dumped[-1] == pytest.approx(erlang, rel=0.03)


def test_dumping_survives_large_and_small_systems() -> None:
    losses = models.engset_dumping_loss([0.0, 0.1, 1e-3, 0.5], [40, 8, 2000, 900], [8, 8, 900, 300])
    np.testing.assert_array_equal(losses[:2], 0.0)
    assert 0 <= losses[2] < 1e-300
    # With 300 erlangs and a Gaussian spread, the smallest loss is the mean excess over the
    # channels.
    assert losses[3] > np.sqrt(200 / (2 * np.pi)) / 300
    assert losses[3] < models.engset_call_congestion(0.5, 900, 300)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("load", [0.6, 1.0])
def test_segmentation_keeps_every_channel_busy(law: str, load: float) -> None:
    times, lengths = poisson(1, 8 * load, 100_000, law)
    lost, met = segmented(times, lengths, 8, "first")
    assert agrees(lost, float(models.segment_loss(8 * load, 8)), lengths, precision=0.2)
    assert agrees(met, float(models.contention_probability(8 * load, 8)))


def test_a_tail_that_is_cut_without_regard_to_its_end_gains_nothing() -> None:
    times, lengths = poisson(1, 6.4, 100_000)
    most, _ = segmented(times, lengths, 8, "any")
    assert agrees(most, float(models.erlang_b(6.4, 8)), lengths)
    # Between the two: the earlier burst that ends first gives way, also to a shorter one.
    some, _ = segmented(times, lengths, 8, "other")
    least, _ = segmented(times, lengths, 8, "first")
    assert 1.03 * sum(least) < sum(some) < 0.6 * sum(most)
    # With bursts of one length the earlier one ends first: this rule is the best.
    times, lengths = poisson(1, 6.4, 100_000, "constant")
    assert segmented(times, lengths, 8, "other")[0] == segmented(times, lengths, 8, "first")[0]


@pytest.mark.parametrize(
    ("load", "channels"), [(1.6, 8), (0.01, 8), (0.8, 1), (20, 8), (800, 1000), (3200, 4096)]
)
def test_segment_loss_is_its_sum(load: float, channels: int) -> None:
    with localcontext(prec=60):
        erlangs = Decimal(str(load))
        term = (-erlangs).exp()
        total = Decimal(0)
        for n in range(1, 5 * channels + 300):
            term *= erlangs / n
            total += term * max(0, n - channels)
        exact = float(total / erlangs)
    assert float(models.segment_loss(load, channels)) == pytest.approx(exact, rel=1e-9)


def test_the_benefit_of_segmentation_has_its_published_limits() -> None:
    channels = 10_000
    ratio = [
        float(models.segment_loss(c * channels, channels) / models.erlang_b(c * channels, channels))
        for c in (0.95, 1.0, 1.2)
    ]
    assert ratio[0] * channels == pytest.approx(0.95 / 0.05**2, rel=0.15)
    assert ratio[1] == pytest.approx(0.5, rel=0.01)
    assert ratio[2] == pytest.approx(1.0, rel=0.01)
    assert models.segment_loss(0.0, 8) == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: models.erlang_b([1.0, -2.0], 2), "load: given -2.0; allowed: finite numbers of"),
        (lambda: models.erlang_b(np.nan, 2), "load: given nan"),
        (lambda: models.erlang_b(1.0, [2, 2.5]), "servers: given 2.5; allowed: whole numbers from"),
        (lambda: models.erlang_b(1.0, np.inf), "servers: given inf"),
        (lambda: models.idle_source_load(1.0), "load_per_source: given 1.0; allowed: parts of"),
        (lambda: models.engset_dumping_loss(0.1, 0, 2), "sources: given 0; allowed: whole numbers"),
        (lambda: models.engset_call_congestion(-1, 9, 2), "load_per_idle_source: given -1.0"),
        (
            lambda: models.segment_loss(1.0, 0),
            "wavelengths: given 0; allowed: whole numbers from 1",
        ),
        (lambda: models.contention_probability(np.inf, 1), "load: given inf"),
    ],
)
def test_what_makes_no_sense_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value).startswith(message)
