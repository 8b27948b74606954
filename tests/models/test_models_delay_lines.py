"""Delay lines: the bounds, the exact loss of one channel, and simulations between them."""

from collections.abc import Callable

import numpy as np
import pytest

from lightburst import models
from lightburst.foundation.errors import InputError
from loss_simulations import agrees, delayed, interval, poisson

FINE, EQUAL, COARSE = (0.2, 5), (1.0, 4), (3.0, 2)  # granularity, delays


@pytest.mark.parametrize("load", [0.4, 1.0])
@pytest.mark.parametrize(("granularity", "delays"), [FINE, EQUAL, COARSE])
def test_one_channel_is_simulated_exactly(load: float, granularity: float, delays: int) -> None:
    lost = delayed(*poisson(1, load, 100_000), 1, granularity, delays)
    theory = float(models.delay_line_loss_one_channel(load, granularity, delays))
    assert agrees(lost, theory, precision=0.15)


@pytest.mark.parametrize(("granularity", "delays"), [FINE, (1.0, 1), COARSE])
def test_eight_channels_are_between_the_bounds(granularity: float, delays: int) -> None:
    lost = delayed(*poisson(1, 8.0, 100_000), 8, granularity, delays)
    low, high = models.delay_line_loss_bounds(8.0, 8, granularity * delays)
    mean, half = interval(lost)
    assert low + half < mean < high + half


@pytest.mark.parametrize("load", [6.4, 8.8])
def test_the_lower_bound_is_the_loss_with_very_fine_delays(load: float) -> None:
    lost = delayed(*poisson(1, load, 100_000), 8, 0.001, 500)
    assert agrees(lost, float(models.limited_delay_loss(load, 8, 0.5)), precision=0.15)


def test_one_channel_is_between_the_bounds_everywhere() -> None:
    load = np.array([1e-3, 0.1, 0.4, 0.8, 1.0, 1.5, 10.0])[:, None, None]
    granularity = np.array([0.05, 0.5, 1.0, 2.0, 8.0, 20.0])[:, None]
    delays = np.array([1, 2, 5, 30])
    exact = models.delay_line_loss_one_channel(load, granularity, delays)
    low, high = models.delay_line_loss_bounds(load, 1, granularity * delays)
    assert np.all(low <= exact * (1 + 1e-12))
    assert np.all(exact <= high * (1 + 1e-12))


def test_one_channel_has_its_limits() -> None:
    loads = np.array([0.0, 0.3, 1.0, 4.0])
    alone = models.bufferless_output_loss(loads)
    np.testing.assert_allclose(models.delay_line_loss_one_channel(loads, 1.0, 0), alone, rtol=1e-14)
    fine = models.delay_line_loss_one_channel(loads, 4e-3, 200)
    np.testing.assert_allclose(fine, models.limited_delay_loss(loads, 1, 0.8), rtol=3e-3)
    # Such a long delay equals a loss: when it ends, all bursts are over.
    coarse = models.delay_line_loss_one_channel([0.3, 1.0, 4.0], 1e5, 3)
    np.testing.assert_allclose(coarse, alone[1:], rtol=1e-12)


@pytest.mark.parametrize("load", [0.3, 1.0, 1.7])
def test_one_delay_is_a_chain_of_two_states(load: float) -> None:
    # By hand, D = 1. After a burst without delay the channel is reserved for X, which is
    # exponential. If X > 1, there are losses for X - 1; then the next arrival is late enough, or
    # gets the delay. After a burst with the delay this always holds.
    late = np.exp(-load)
    again = (1 - np.exp(-1 - load)) / (1 + load) + np.exp(-1.0) * late
    straight = late / (late + 1 - again)  # the part of the bursts without delay
    lost = load * (straight * np.exp(-1.0) + (1 - straight))
    got = float(models.delay_line_loss_one_channel(load, 1.0, 1))
    assert got == pytest.approx(lost / (1 + lost), rel=1e-12)


def test_limited_room_is_a_queue_with_so_many_places() -> None:
    for load, channels, lines in [(6.4, 8, 3), (9.0, 4, 7), (0.5, 1, 2)]:
        terms = [1.0]
        for n in range(1, channels + lines + 1):
            terms.append(terms[-1] * load / min(n, channels))
        got = float(models.limited_room_loss(load, channels, lines))
        assert got == pytest.approx(terms[-1] / sum(terms), rel=1e-13)
    assert models.limited_room_loss(12.0, 8, 100_000) == pytest.approx(1 - 8 / 12)


def test_the_bounds_meet_without_a_delay_or_a_line() -> None:
    load = np.array([0.0, 0.5, 6.4, 8.0, 20.0])
    erlang = models.erlang_b(load, 8)
    for longest, lines in ((0.0, None), (5.0, 0)):
        low, high = models.delay_line_loss_bounds(load, 8, longest, lines)
        np.testing.assert_allclose(low, erlang, rtol=1e-13)
        np.testing.assert_allclose(high, erlang, rtol=1e-13)
    # The larger of two lower bounds counts.
    few, _ = models.delay_line_loss_bounds(6.4, 8, 5.0, 1)
    assert few == models.limited_room_loss(6.4, 8, 1) > models.limited_delay_loss(6.4, 8, 5.0)
    short, _ = models.delay_line_loss_bounds(6.4, 8, 0.1, 50)
    assert short == models.limited_delay_loss(6.4, 8, 0.1) > models.limited_room_loss(6.4, 8, 50)


def test_a_long_delay_loses_only_what_cannot_be_carried() -> None:
    loss = models.limited_delay_loss([9.0, 8.0, 7.0, 0.0], 8, [1e6, 1e6, 1e6, 1e6])
    np.testing.assert_allclose(loss, [1 / 9, 1 / 8e6, 0.0, 0.0], rtol=1e-5)


BAD: list[tuple[str, Callable[[], object]]] = [
    ("longest_delay: given -1.0", lambda: models.limited_delay_loss(1.0, 8, -1.0)),
    ("lines: given 1.5", lambda: models.limited_room_loss(1.0, 8, 1.5)),
    ("wavelengths: given 0", lambda: models.delay_line_loss_bounds(1.0, 0, 1.0)),
    ("granularity: given 0.0", lambda: models.delay_line_loss_one_channel(1.0, 0.0, 2)),
    ("delays: given -1", lambda: models.delay_line_loss_one_channel(1.0, 1.0, -1)),
]


@pytest.mark.parametrize(("message", "call"), BAD)
def test_what_makes_no_sense_is_named(message: str, call: Callable[[], object]) -> None:
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value).startswith(message)
