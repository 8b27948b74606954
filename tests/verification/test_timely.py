"""TIMELY: its answer to a slower link, to the picosecond, and the delay at which messages meet."""

from math import ceil

import pytest
from plans import (
    GIGABIT,
    MICROSECOND,
    MILLISECOND,
    START,
    Plan,
    core,
    electronic,
    flow_table,
    settings,
    star_edges,
    table,
)
from queue_pairs import TIMELY, rdma
from test_rdma_exact import CONTROL, TX, Engine, engines, sent

LINE = 10 * GIGABIT
PACKETS = 44
#: The least round trip is 20 us, of which 4 us are on the way.
LAW = TIMELY | {"low_threshold_ps": MICROSECOND}


@engines
def test_the_rate_falls_with_the_growth_of_the_round_trip(engine: Engine) -> None:
    """A message over a link of 10 Gb/s, and then one of 5 Gb/s, whose queue is never empty.

    So acknowledgements come each 2 TX, and the round trip grows by that less the gap between two
    packets. Each one cuts the rate by 0.8 of the average growth, in parts of 20 us.
    """
    edges, hosts, nodes = star_edges(2)
    links = table(edges, hosts, rates=[LINE, LINE // 2], delays=MICROSECOND)
    transport = rdma(congestion_control=LAW)
    switch = electronic(None, None)
    chosen = settings(hosts, nodes, switch, transport, trace=[0])
    result = engine(Plan(chosen, links, flow_table((0, 1, START, 100 * 1024))))
    # A packet and its acknowledgement take twice the time on the slower link.
    first = 4 * MICROSECOND + 3 * TX + 3 * CONTROL
    times, answered = [0], 0
    rate, growth = float(LINE), 0.0
    while len(times) < PACKETS:
        while first + answered * 2 * TX <= times[-1]:
            if answered:
                gap = times[answered] - times[answered - 1]
                growth = (1.0 - 0.875) * growth + 0.875 * (2 * TX - gap)
                assert growth > 0.0
            # The first one tells of no growth, and the rate is that of the link already.
            rate *= 1.0 - 0.8 * (growth / (20 * MICROSECOND))
            answered += 1
        times.append(times[-1] + ceil(8 * 10**12 * 1086 / int(rate)))
        # Packet n waits for those before it.
        begins = [2 * TX * n + TX + MICROSECOND for n in range(len(times))]
        assert times[-1] + TX + MICROSECOND <= begins[-1]
    # It falls below that of the slower link before the queue shrinks.
    assert growth > 0.0 and rate < LINE / 2
    found = [time for time, _, _ in sent(result, data=True)]
    assert found[:PACKETS] == times


def test_two_messages_meet_at_the_lower_threshold() -> None:
    """Below it both rates rise, whatever the gradient; above it they fall while the delay grows.

    So the link is full, and the delay stays near the threshold. In between the law has no
    equilibrium of its own (Zhu et al., CoNEXT 2016, section 4.2): more messages do not share.
    """
    edges, hosts, nodes = star_edges(3)
    links = table(edges, hosts, rates=LINE, delays=MICROSECOND)
    rows = [(n, 2, n * MICROSECOND, 10**10) for n in range(2)]
    transport = rdma(congestion_control=TIMELY)

    def until(milliseconds: int) -> Plan:
        limit = milliseconds * MILLISECOND
        switch = electronic(None, None)
        chosen = settings(hosts, nodes, switch, transport, time_limit_ps=limit)
        return Plan(chosen, links, flow_table(*rows))

    early, late = core(until(50)), core(until(100))
    packets = int((late["links"]["units"].astype(int) - early["links"]["units"].astype(int)).max())
    assert packets * TX / (50 * MILLISECOND) == pytest.approx(1.0, abs=0.001)
    waiting = [float(it["switches"]["buffer_byte_ps"][0]) for it in (early, late)]
    queue = (waiting[1] - waiting[0]) / (50 * MILLISECOND)
    delay = 4 * MICROSECOND + 2 * TX + 2 * CONTROL + queue * 800
    assert delay == pytest.approx(TIMELY["low_threshold_ps"], rel=0.1)
    delivered = late["flows"]["delivered_bytes"] - early["flows"]["delivered_bytes"]
    assert delivered.tolist() == pytest.approx(2 * [delivered.mean()], rel=0.02)
