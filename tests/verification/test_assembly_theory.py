"""Assembly of packets that come in a Poisson stream: sizes, intervals and delays of bursts.

The timer starts with the first packet, so that `n - 1` of the packets of a burst come within the
time `T` of the timer. A burst by size has `N` packets. By both, `P(A(t) = k)` of the arrivals after
the first integrates over `t <= T` to `P(k + 1, rate T) / rate`, with the regularised incomplete
gamma function: the time for which a burst of less than `N` packets has `k + 1` of them.
"""

from typing import NamedTuple

import numpy as np
import pytest
from plans import (
    GIGABIT,
    SECOND,
    Plan,
    burst,
    core,
    datagram,
    flow_columns,
    one_datagram_each,
    path_edges,
    settings,
    table,
)
from scipy import special

BYTES = 64
LIMIT = 4_000_000 * SECOND


class Bursts(NamedTuple):
    """Means: packets in a burst, time from one to the next, wait of a packet; in seconds."""

    packets: float
    interval: float
    delay: float


def timer(rate: float, time: float) -> Bursts:
    """A time from the first packet."""
    mean = rate * time
    return Bursts(1 + mean, time + 1 / rate, time * (1 + mean / 2) / (1 + mean))


def size(rate: float, count: int) -> Bursts:
    """A number of packets."""
    return Bursts(count, count / rate, (count - 1) / (2 * rate))


def mixed(rate: float, time: float, count: int) -> Bursts:
    """By size or by time, whichever comes first."""
    k = np.arange(count - 1)
    lasts = special.gammainc(k + 1, rate * time)
    packets = 1 + float(lasts.sum())
    waits = float(((k + 1) * lasts).sum()) / rate
    return Bursts(packets, packets / rate, waits / packets)


def simulated(rate: float, rule: str, time: float | None, count: int | None) -> Bursts:
    """The same of 200,000 packets."""
    packets = 200_000
    gaps = np.random.default_rng(11).exponential(SECOND / rate, packets)
    starts = np.cumsum(gaps).astype(np.uint64)
    flows = flow_columns([0] * packets, [1] * packets, starts, [BYTES] * packets)
    edges, hosts, nodes = path_edges(4)
    switch = burst(
        rule,
        time=None if time is None else round(time * SECOND),
        size=None if count is None else BYTES * count,
    )
    plan = Plan(
        settings(hosts, nodes, switch, datagram(BYTES), time_limit_ps=LIMIT),
        table(edges, hosts, rates=100 * GIGABIT, delays=1),
        one_datagram_each(flows),
    )
    switches = core(plan)["switches"]
    bursts, assembled = int(switches["bursts"][0]), int(switches["burst_packets"][0])
    # The rest waits at the end for a size that is not reached.
    assert packets - assembled < (count or 1)
    wait = float(switches["assembly_wait_ps"][0]) / SECOND
    return Bursts(assembled / bursts, float(starts[-1]) / SECOND / bursts, wait / assembled)


#: Computed elsewhere: rate, time, packets, interval, delay.
TIMER = [
    (1_000.0, 0.001, 2.0, 0.002, 0.00075),
    (1_000.0, 0.01, 11.0, 0.011, 0.005454545454545454),
    (100_000.0, 0.001, 101.0, 0.00101, 0.000504950495049505),
    (1.25, 1.0, 2.25, 1.8, 0.7222222222222222),
    (500.0, 0.01, 6.0, 0.012, 0.005833333333333334),
]
#: Rate, packets, time to form, delay.
SIZE = [(1_000.0, 10, 0.009, 0.0045), (100_000.0, 100, 0.00099, 0.000495)]


@pytest.mark.parametrize(("rate", "time", "packets", "interval", "delay"), TIMER)
def test_timer(rate: float, time: float, packets: float, interval: float, delay: float) -> None:
    assert timer(rate, time) == pytest.approx((packets, interval, delay), rel=1e-12)
    assert simulated(rate, "timer", time, None) == pytest.approx(timer(rate, time), rel=0.015)


@pytest.mark.parametrize(("rate", "count", "forms", "delay"), SIZE)
def test_size(rate: float, count: int, forms: float, delay: float) -> None:
    expected = size(rate, count)
    assert (expected.interval - 1 / rate, expected.delay) == pytest.approx((forms, delay))
    assert simulated(rate, "size", None, count) == pytest.approx(expected, rel=0.015)


@pytest.mark.parametrize("count", [2, 8, 11, 20])
def test_mixed(count: int) -> None:
    rate, time = 1_000.0, 0.01
    expected = mixed(rate, time, count)
    assert simulated(rate, "mixed", time, count) == pytest.approx(expected, rel=0.015)


def test_mixed_is_timer_or_size_at_its_ends() -> None:
    assert mixed(1_000, 0.01, 100) == pytest.approx(timer(1_000, 0.01), rel=1e-9)
    assert mixed(1_000, 1.0, 10) == pytest.approx(size(1_000, 10), rel=1e-9)


def test_average_delay() -> None:
    """For any arrival times."""
    found = simulated(1_000.0, "average-delay", 0.005, None)
    assert found.delay == pytest.approx(0.005, abs=1e-12)
