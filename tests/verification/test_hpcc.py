"""HPCC: readings of a path to the picosecond, and the load at which windows stand still."""

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
from queue_pairs import HPCC, rdma
from test_rdma_exact import Engine, engines

RATE = 10 * GIGABIT
#: A packet and an acknowledgement on a link.
TX, CONTROL = 1086 * 800, 66 * 800
DELAY = MICROSECOND
QUEUE = {"kind": "drop-tail"}


def star(
    *rows: tuple[int, int, int, int],
    limit: int = MILLISECOND,
    delay: int = DELAY,
    **hpcc: float,
) -> Plan:
    """Messages between hosts of one switch with explicit queues."""
    hosts = 1 + max(max(source, destination) for source, destination, _, _ in rows)
    edges, hosts, nodes = star_edges(hosts)
    links = table(edges, hosts, rates=RATE, delays=delay)
    law = HPCC | hpcc
    chosen = settings(
        hosts,
        nodes,
        electronic(None, None, QUEUE),
        rdma(congestion_control=law),
        time_limit_ps=limit,
        trace=list(range(len(rows))),
    )
    return Plan(chosen, links, flow_table(*rows))


@engines
def test_one_message_alone_keeps_its_window_to_what_the_output_tells(engine: Engine) -> None:
    """T of four packets: the third acknowledgement is the second with something to compare.

    The first tells of packet 0, at the begin of its transmission, the next of packet 1, a packet's
    time later: 1086 bytes more were sent, which is the whole link, and nothing waits.
    """
    trip = 4 * TX
    result = engine(star((0, 1, START, 20 * 1024), base_round_trip_ps=trip, flows=10.0))
    rows = result["trace_windows"]
    seen = [
        (time - START, window)
        for time, window in zip(
            rows["time_ps"].tolist(), rows["congestion_window"].tolist(), strict=True
        )
    ]
    back = 4 * DELAY + 2 * TX + 2 * CONTROL
    useful, most = 1024 / 1086, RATE * trip / 8e12
    assert most == 4 * 1086
    step = most * (1.0 - 0.95) / 10.0
    # U stays at 1: a quarter of 1, and three quarters of what it was.
    wanted = min(most / (1.0 / 0.95) + step, most)
    assert seen[:3] == [
        (0, most * useful),
        (back, most * useful),
        (back + TX, wanted * useful),
    ]
    # So it is at the next two: the reference is set anew when the data sent by the first one is
    # acknowledged. Packet 4, which left with the first one, finds the output idle for a while: U
    # falls below eta, and the window is the reference and a step, at most that of the link.
    assert [window for _, window in seen[3:5]] == 2 * [wanted * useful]
    interval = back - 3 * TX
    used = 1.0 - interval / trip + interval / trip * (TX / interval)
    assert used < 0.95
    assert seen[5] == (2 * back, most * useful)


def long_messages(flows: int, expected: float, limit: int) -> Plan:
    rows = [(n, flows, n * MICROSECOND, 10**10) for n in range(flows)]
    trip, delay = 100 * MICROSECOND, 24 * MICROSECOND
    plan = star(*rows, limit=limit, delay=delay, flows=expected, base_round_trip_ps=trip)
    return plan._replace(settings={**plan.settings, "trace": []})


@pytest.mark.parametrize(
    ("flows", "expected"), [(1, 100.0), (2, 10.0), (5, 10.0), (8, 10.0), (4, 100.0)]
)
def test_the_utilisation_is_eta_and_a_step_for_each_flow(flows: int, expected: float) -> None:
    """W = W eta / U + W_AI stands still where n W / T = U B, so U = eta + n (1 - eta) / N."""
    early, late = (core(long_messages(flows, expected, end * MILLISECOND)) for end in (20, 30))
    sent = int((late["links"]["units"].astype(int) - early["links"]["units"].astype(int)).max())
    used = sent * TX / (10 * MILLISECOND)
    assert used == pytest.approx(0.95 + flows * 0.05 / expected, abs=0.005)
    delivered = late["flows"]["delivered_bytes"] - early["flows"]["delivered_bytes"]
    # The smaller the step, the longer it takes until the shares are equal.
    tolerance = 0.05 if expected == 10.0 else 0.3
    assert delivered.tolist() == pytest.approx(flows * [delivered.mean()], rel=tolerance)
    # No queue stands: less than a packet waits on average.
    waiting = [float(it["switches"]["buffer_byte_ps"][0]) for it in (early, late)]
    assert (waiting[1] - waiting[0]) / (10 * MILLISECOND) < 1086


def test_a_plan_without_explicit_queues_is_refused() -> None:
    plan = star((0, 1, START, 1024))
    plan.settings["switches"] = [electronic()]
    with pytest.raises(ValueError, match="telemetry among outputs without explicit queues"):
        core(plan)
