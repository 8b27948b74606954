"""A packet network beside circuits: by hand, and core against twin on random networks."""

from collections import Counter
from collections.abc import Callable

import pytest
from circuit_plans import bursts, packets, random_hybrid, with_packets
from compare import check_conservation, check_equal, check_stories
from plans import ENGINES, GIGABIT, MICROSECOND, Plan, traced
from twin import Columns

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("run", ENGINES)
US = MICROSECOND
#: A segment of 9 kB at 10 Gb/s, and at the 1 Gb/s of the packet network.
TX, SLOW = 7_200_000, 72_000_000
#: A segment is at its rack with the delay of its link, 50 ns.
AT_RACK = TX + 50_000
#: From a circuit switch to the host: the last bit at the rack, and the link to the host.
REST = TX + 1 * US + TX + 50_000


def hybrid(*flows: tuple[int, int, int], by: str = "size", threshold: int = 9_000) -> Plan:
    """Four racks, a circuit switch, and a packet network of 1 Gb/s and 2 us."""
    plan = bursts(*flows)
    return with_packets(plan, packets(by, threshold), GIGABIT, 2 * US)


@engines
def test_a_short_flow_goes_by_packets_and_arrives_before_its_circuit_opens(run: Engine) -> None:
    # From rack 0 to rack 3 the circuit opens at 210 us. The packet network takes two links of
    # 72 us, each with 2 us of delay.
    assert run(hybrid((0, 3, 1), threshold=8_999))["flows"]["received_ps"][0] == 210 * US + REST
    result = run(hybrid((0, 3, 1), threshold=9_000))
    expected = AT_RACK + 2 * (SLOW + 2 * US) + TX + 50_000
    assert result["flows"]["received_ps"].tolist() == [expected]
    assert expected < 210 * US
    switches = result["switches"]
    assert switches["packet_bytes"].tolist() == [9_000, *[0] * 5]
    assert not switches["circuit_bytes"].any()


@engines
def test_a_long_flow_waits_for_its_circuit(run: Engine) -> None:
    result = run(hybrid((0, 3, 2), (0, 2, 1)))
    last = 210 * US + TX + REST
    # The segment for rack 2 comes behind those two.
    short = 2 * TX + AT_RACK + 2 * (SLOW + 2 * US) + TX + 50_000
    assert result["flows"]["received_ps"].tolist() == [last, short]
    assert result["switches"]["circuit_bytes"].tolist() == [18_000, *[0] * 5]


@engines
def test_by_age_the_first_bytes_of_a_flow_go_by_packets(run: Engine) -> None:
    # Two segments of four. The last bit of the second is at rack 3 at 7.25 + 3 * 72 + 4 us; the
    # first of the circuit has left there, the second has the link of the host up to 232.6 us.
    result = run(hybrid((0, 3, 4), by="age", threshold=18_000))
    assert result["switches"]["packet_bytes"][0] == 18_000
    assert result["switches"]["circuit_bytes"][0] == 18_000
    assert result["flows"]["received_ps"].tolist() == [210 * US + TX + REST + TX]
    # A byte less, and the second goes by the circuit, third of three there.
    result = run(hybrid((0, 3, 4), by="age", threshold=17_999))
    assert result["flows"]["received_ps"].tolist() == [210 * US + 2 * TX + REST]
    assert result["switches"]["packet_bytes"][0] == 9_000


@engines
def test_queues_of_the_packet_network_drop_and_mark(run: Engine) -> None:
    """A rack drops what its queue has no room for, and marks from a threshold on."""
    plan = bursts(*[(0, 3, 1)] * 5)
    result = run(with_packets(plan, packets(queue=27_000, marks=9_001), GIGABIT, 2 * US))
    rack = {name: column[0] for name, column in result["switches"].items()}
    # They come 7.2 us apart. A tenth of the first has left when the second comes (8.1 kB are
    # left), and the third finds 16.2 kB; with it there are 25.2 kB, and 24.3 at the fourth.
    assert (rack["dropped_queue_full"], rack["marked"]) == (2, 1)
    assert rack["packet_bytes"] == 27_000


@pytest.mark.parametrize("block", range(4))
def test_core_equals_twin(block: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(50 * block, 50 * block + 50):
        plan = random_hybrid(seed)
        result = check_equal(plan)
        check_conservation(plan, result)
        switches = result["switches"]
        own = plan.settings["switches"][0]
        both = switches["packet_bytes"].sum() > 0 and switches["circuit_bytes"].sum() > 0
        seen[own["packet"]["by"]] += bool(both)
        seen["scheduler" if "scheduler" in own else own["forwarding"]] += bool(both)
        seen["marked"] += bool(switches["marked"].sum())
        seen["full"] += bool(switches["dropped_queue_full"].sum())
    assert seen["size"] >= 5 and seen["age"] >= 5, seen
    assert seen["scheduler"] and seen["opera"] and seen["direct"], seen
    assert seen["marked"] and seen["full"], seen


def test_each_unit_is_in_one_place() -> None:
    for seed in range(30):
        check_stories(traced(random_hybrid(seed)))


@pytest.mark.slow
def test_core_equals_twin_at_length() -> None:
    for seed in range(1_000, 3_000):
        check_equal(random_hybrid(seed))
