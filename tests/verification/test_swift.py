"""Swift: steps of one window, to the picosecond, and the equilibrium of many flows."""

import math
from itertools import pairwise

import pytest
from plans import (
    GIGABIT,
    MICROSECOND,
    MILLISECOND,
    Plan,
    core,
    electronic,
    flow_table,
    settings,
    star_edges,
    table,
)
from queue_pairs import SWIFT, rdma
from scipy.optimize import brentq
from test_rdma_exact import BACK, FORTH, TX, Engine, engines, message, sent

#: The round trip of a packet over three links without queues.
ROUND_TRIP = FORTH + BACK


def swift(**changes: object) -> dict[str, object]:
    return {"congestion_control": SWIFT | {"flow_range_ps": 0} | changes}


@engines
def test_the_target_has_a_part_for_each_switch(engine: Engine) -> None:
    """Two packets at once; the second waits for the first at the host, and has the longer trip.

    With a target of the first round trip and a picosecond more the first acknowledgement is below
    it, and the second is not: 2 + 1/2, less 0.8 of the share of TX in the trip.
    """
    base = ROUND_TRIP + 1 - 2 * 7
    chosen = swift(first_window=2.0, base_target_ps=base, hop_target_ps=7)
    result = engine(message(9, **chosen))
    rows = result["trace_windows"]
    seen = dict(zip(rows["time_ps"].tolist(), rows["congestion_window"].tolist(), strict=True))
    times = sorted(seen)
    assert [time - times[0] for time in times[:3]] == [0, ROUND_TRIP, ROUND_TRIP + TX]
    later = ROUND_TRIP + TX
    expected = 2.5 * (1.0 - 0.8 * ((later - (ROUND_TRIP + 1)) / later))
    assert [seen[time] / 1024 for time in times[:3]] == [2.0, 2.5, expected]


@engines
def test_a_window_below_one_packet_is_a_pace(engine: Engine) -> None:
    """Half a packet in each round trip: it stays, since nothing grows or shrinks at the target.

    Before the first round trip is known the second packet waits for the acknowledgement only.
    """
    chosen = swift(first_window=0.5, base_target_ps=1, hop_target_ps=0, beta=0.0)
    result = engine(message(6, **chosen))
    times = [time for time, _, _ in sent(result, data=True)]
    rate = int(8.0 * 1086 * 1e12 * 0.5 / float(ROUND_TRIP))
    gap = -(-8 * 10**12 * 1086 // rate)
    assert gap == pytest.approx(2 * ROUND_TRIP, rel=1e-7)
    assert [after - before for before, after in pairwise(times)] == [ROUND_TRIP] + 4 * [gap]


def endless(flows: int, milliseconds: int) -> Plan:
    """Endless messages into one host over a switch with an unlimited queue."""
    edges, hosts, nodes = star_edges(flows + 1)
    links = table(edges, hosts, rates=10 * GIGABIT, delays=MICROSECOND)
    rows = [(n, flows, n * 100_000, 10**10) for n in range(flows)]
    chosen = settings(
        hosts,
        nodes,
        electronic(None, None),
        rdma(congestion_control=SWIFT),
        time_limit_ps=milliseconds * MILLISECOND,
    )
    return Plan(chosen, links, flow_table(*rows))


def equilibrium(flows: int) -> tuple[float, float]:
    """Window in packets and round trip in ps, where n windows fill the link at the target."""
    alpha = 100e6 / (1 / math.sqrt(0.1) - 1 / math.sqrt(100.0))

    def target(window: float) -> float:
        scaled = alpha / math.sqrt(window) - alpha / math.sqrt(100.0)
        return 20e6 + 3.05e6 + max(0.0, min(scaled, 100e6))

    window: float = brentq(lambda w: flows * w * TX - target(w), 1e-3, 1e3)
    return window, target(window)


@pytest.mark.parametrize(("flows", "below"), [(2, False), (10, False), (25, False), (100, True)])
def test_many_flows_meet_at_the_target_of_their_windows(flows: int, below: bool) -> None:
    """Between 20 and 40 ms: the link is full, and the delay that of the target."""
    window, target = equilibrium(flows)
    assert (window < 1.0) == below
    early, late = (core(endless(flows, end)) for end in (20, 40))
    sent = int((late["links"]["units"].astype(int) - early["links"]["units"].astype(int)).max())
    assert sent * TX / (20 * MILLISECOND) == pytest.approx(1.0, abs=0.005)
    if not below:
        # Packets that are paced meet always the same others, so their windows differ.
        delivered = late["flows"]["delivered_bytes"] - early["flows"]["delivered_bytes"]
        assert delivered.max() / delivered.mean() < 1.1
    waiting = [float(it["switches"]["buffer_byte_ps"][0]) for it in (early, late)]
    queue = (waiting[1] - waiting[0]) / (20 * MILLISECOND)
    # Four delays of 1 us, a packet on two links, an acknowledgement on two; then the queue, and the
    # half of a packet that is being sent.
    idle = 4 * MICROSECOND + 2 * TX + 2 * 66 * 800
    delay = idle + queue * 800 + TX / 2
    assert delay == pytest.approx(target, rel=0.1)
