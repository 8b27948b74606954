"""DCQCN against the fixed point of its fluid model.

Y. Zhu et al. 2015, section 5.1, and "ECN or delay: lessons learnt from analysis of DCQCN and
TIMELY", CoNEXT 2016, section 3.1: n flows with equal rates, at which neither the current nor the
target rate changes.
"""

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
from queue_pairs import DCQCN, rdma
from scipy.optimize import brentq

RATE = 40 * GIGABIT
PACKET = 1086
#: Packets a second of the link, and of the step of the target rate.
C, STEP = RATE / (8 * PACKET), DCQCN["additive_increase_bps"] / (8 * PACKET)
#: The slope of the paper's marks, but up to five times its queue: the model has no upper threshold,
#: above which all is marked.
MARKING = {
    "kind": "marking",
    "min_threshold_bytes": 5_000,
    "max_threshold_bytes": 980_000,
    "max_probability": 0.05,
}
#: The model has no packets, and takes the rates for equal at each instant.
TOLERANCE = 0.15


def fixed_point(flows: int) -> float:
    """The share of marked packets at which equations 5 to 7 of the model stand still."""
    rate = C / flows
    tau, tau_alpha, timer = (
        DCQCN[f"{name}_ps"] / 1e12 for name in ("notification_interval", "alpha_interval", "timer")
    )
    byte_counter, fast = DCQCN["byte_counter_bytes"] / 1024, DCQCN["fast_recovery"]

    def drift_of_target(p: float) -> float:
        """Change of the target rate where the current rate stands still."""
        q = 1 - p
        alpha, notified = 1 - q ** (tau_alpha * rate), 1 - q ** (tau * rate)
        by_bytes = rate * p / (q**-byte_counter - 1)
        by_time = rate * p / (q ** (-timer * rate) - 1)
        above = rate * alpha / tau * notified / (by_bytes + by_time)
        rises = q ** (fast * byte_counter) * by_bytes + q ** (fast * timer * rate) * by_time
        drift: float = STEP * rises - above / tau * notified
        return drift

    found: float = brentq(drift_of_target, 1e-6, 0.05)
    return found


def long_messages(flows: int, milliseconds: int) -> Plan:
    """So many endless messages into one host."""
    edges, hosts, nodes = star_edges(flows + 1)
    links = table(edges, hosts, rates=RATE, delays=MICROSECOND)
    rows = [(n, flows, n * MICROSECOND, 10**10) for n in range(flows)]
    chosen = settings(
        hosts,
        nodes,
        electronic(None, None, MARKING),
        rdma(),
        time_limit_ps=milliseconds * MILLISECOND,
    )
    return Plan(chosen, links, flow_table(*rows))


@pytest.mark.parametrize("flows", [2, 4, 6])
def test_marks_and_rates_are_those_of_the_fluid_model(flows: int) -> None:
    """Between 150 and 300 ms, when the rates have settled."""
    early, late = (core(long_messages(flows, end)) for end in (150, 300))
    marks = int(late["switches"]["marked"][0]) - int(early["switches"]["marked"][0])
    sent = int((late["links"]["units"].astype(int) - early["links"]["units"].astype(int)).max())
    assert marks / sent == pytest.approx(fixed_point(flows), rel=TOLERANCE)
    # The link is full, and each flow has its share.
    assert sent / 0.15 == pytest.approx(C, rel=0.01)
    delivered = late["flows"]["delivered_bytes"] - early["flows"]["delivered_bytes"]
    assert delivered.tolist() == pytest.approx(flows * [delivered.mean()], rel=TOLERANCE)
