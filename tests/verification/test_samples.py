"""Queues, buffers and transmission at regular times: by hand, and invariants of any run."""

from typing import Any

import numpy as np
import pytest
from compare import differences
from plans import (
    ENGINES,
    MILLISECOND,
    Plan,
    all_optical,
    burst,
    core,
    datagram,
    electronic,
    flow_table,
    hybrid,
    path_edges,
    settings,
    star_edges,
    table,
)
from random_plans import KINDS, random_plan
from twin import Columns

TX = 7_200_000  # 9,000 bytes at 10 Gb/s: 800 ps a byte
DELAY = 40_000  # as long as 50 bytes


def three_each(switch: dict[str, Any], sample: int, gap: int = 0, *, senders: int = 2) -> Plan:
    """Hosts 0 and 1 (or one of them) send three datagrams to host 2, each `gap` after the last."""
    edges, hosts, nodes = star_edges(3)
    flows = flow_table(*((sender, 2, 0, 27_000) for sender in range(senders)))
    flows |= {
        "departures_ps": np.tile(np.arange(3, dtype=np.uint64) * np.uint64(gap), senders),
        "departure_offsets": np.arange(0, 3 * senders + 1, 3, dtype=np.uint64),
    }
    links = table(edges, hosts, delays=DELAY)
    return Plan(settings(hosts, nodes, switch, datagram(), sample_ps=sample), links, flows)


def of_link(plan: Plan, found: Columns, column: str, source: int, target: int) -> list[int]:
    """A column of the samples of the link between two nodes."""
    (link,) = np.flatnonzero((plan.links["from"] == source) & (plan.links["to"] == target))
    values: list[int] = (
        found["samples_links"][column].reshape(-1, len(plan.links["from"]))[:, link].tolist()
    )
    return values


@pytest.mark.parametrize("engine", ENGINES)
def test_a_queue_that_two_senders_fill(engine: Any) -> None:
    """Twice the capacity of the output: each 7.2 us from 7.24 us on, two datagrams arrive."""
    plan = three_each(electronic(), TX // 2)
    found = engine(plan)
    times = found["samples"]["time_ps"].tolist()
    # The output is busy from 7.24 us for six datagrams, and the last one then takes its delay.
    end = TX + DELAY + 6 * TX + DELAY
    assert times == [*range(TX // 2, end, TX // 2), end]
    sent = [27_000 - 4_500 * k for k in range(1, 6)] + [0] * 10
    assert of_link(plan, found, "queue_bytes", 0, 3) == sent[: len(times)]

    def waiting(time: int) -> int:
        come = 18_000 * min(3, max(0, (time - DELAY) // TX))
        return max(0, come - max(0, time - TX - DELAY) // 800)

    queue = of_link(plan, found, "queue_bytes", 3, 2)
    assert queue == [waiting(time) for time in times]
    # 3.56 us into the first two, 7.16 us into the first four.
    assert queue[:4] == [0, 0, 13_550, 9_050]
    assert found["samples_switches"]["buffer_bytes"].tolist() == queue
    busy = of_link(plan, found, "busy_ps", 3, 2)
    assert busy == [min(6 * TX, max(0, time - TX - DELAY)) for time in times]
    assert of_link(plan, found, "busy_ps", 0, 3)[:7] == [TX // 2 * k for k in range(1, 7)] + [
        3 * TX
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_second_of_the_time_is_half_of_it(engine: Any) -> None:
    plan = three_each(electronic(), 2 * TX, 2 * TX, senders=1)
    found = engine(plan)
    assert found["samples"]["time_ps"].tolist() == [2 * TX, 4 * TX, 6 * TX, 6 * TX + 2 * DELAY]
    assert of_link(plan, found, "busy_ps", 0, 3) == [TX, 2 * TX, 3 * TX, 3 * TX]
    # A packet handed over at the instant of a sample is included.
    assert of_link(plan, found, "queue_bytes", 0, 3) == [9_000, 9_000, 0, 0]
    # The output ends each datagram 40 ns into the next interval.
    busy = [TX - DELAY, 2 * TX - DELAY, 3 * TX - DELAY, 3 * TX]
    assert of_link(plan, found, "busy_ps", 3, 2) == busy
    assert of_link(plan, found, "queue_bytes", 3, 2) == [50, 50, 50, 0]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_event_at_the_instant_of_a_sample_comes_first(engine: Any) -> None:
    """Also after a time without events, with several samples due."""
    plan = three_each(electronic(), TX // 2, 4 * TX, senders=1)
    found = engine(plan)
    queue = of_link(plan, found, "queue_bytes", 0, 3)
    times = found["samples"]["time_ps"].tolist()
    assert [queue[times.index(k * TX // 2)] for k in range(1, 10)] == [
        4_500,
        *6 * [0],
        9_000,
        4_500,
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_hybrid_switch_s_buffer(engine: Any) -> None:
    """Two heads come at once, three times: one passes, or after the first time is lost.

    The other is in the buffer until the output is free, which is when the next two come.
    """
    found = engine(three_each(hybrid(1), TX // 2))
    assert found["samples_switches"]["buffer_bytes"].tolist() == [9_000] * 6 + [0] * 3
    assert found["totals"]["units_dropped"] == 2


@pytest.mark.parametrize("engine", ENGINES)
def test_what_waits_for_its_burst(engine: Any) -> None:
    """Three datagrams come at 7.24, 14.44 and 21.64 us, and leave together after 20 us."""
    edges, hosts, nodes = path_edges(3)
    flows = flow_table((0, 1, 0, 27_000))
    flows |= {
        "departures_ps": np.zeros(3, np.uint64),
        "departure_offsets": np.array([0, 3], np.uint64),
    }
    switch = burst("timer", time=20_000_000)
    given = settings(hosts, nodes, switch, datagram(), sample_ps=5_000_000)
    found = engine(Plan(given, table(edges, hosts, delays=DELAY), flows))
    ingress = found["samples_switches"]["buffer_bytes"].reshape(-1, 2)[:, 0].tolist()
    assert ingress[:7] == [0, 9_000, 18_000, 18_000, 27_000, 0, 0]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_link_waits_while_its_switch_switches(engine: Any) -> None:
    """The head comes at 40 ns and leaves a microsecond later: until then the link is idle."""
    plan = three_each(all_optical(1_000_000), 500_000, senders=1, gap=5 * TX)
    found = engine(plan)
    assert of_link(plan, found, "busy_ps", 3, 2)[:4] == [0, 0, 460_000, 960_000]
    assert of_link(plan, found, "queue_bytes", 3, 2)[:4] == [9_000, 9_000, 8_425, 7_800]


def test_samples_and_traces_change_nothing() -> None:
    taken = 0
    for seed in range(150):
        plan = random_plan(seed, KINDS[seed % 3])
        flows = len(plan.flows["source"])
        watched = {
            "sample_ps": 20 * 10**6,
            "trace": list(range(flows)),
            "time_limit_ps": MILLISECOND,
            "bookings": None,
        }
        bare = {**watched, "sample_ps": None, "trace": None}
        expected = core(plan._replace(settings={**plan.settings, **bare}))
        found = core(plan._replace(settings={**plan.settings, **watched}))
        assert differences(expected, found) == []
        check_consistent(plan, found)
        taken += found["samples"]["time_ps"].size
    assert taken > 1000


def check_consistent(plan: Plan, found: Columns) -> None:
    """Each channel of a link transmits at most all the time; the last sample equals its total."""
    time = found["samples"]["time_ps"].astype(np.int64)
    if time.size == 0:
        assert found["totals"]["end_ps"] == 0
        return
    busy = found["samples_links"]["busy_ps"].reshape(time.size, -1).astype(np.int64)
    each = np.diff(busy, axis=0, prepend=0)
    length = np.diff(time, prepend=0)
    assert (length > 0).all()
    assert (each >= 0).all()
    channels = plan.links.get("channels", np.ones(each.shape[1], np.uint16)).astype(np.int64)
    assert (each <= length[:, np.newaxis] * channels).all()
    assert busy[-1].tolist() == found["links"]["busy_ps"].tolist()
    assert time[-1] == found["totals"]["end_ps"]
