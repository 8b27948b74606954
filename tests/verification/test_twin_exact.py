"""One flow on an unloaded path: its whole life to the picosecond, by formulas derived by hand.

A unit of `n` bytes whose transmission begins at 0 is received by the host at the other end of
`L` links of delay `d` and rate `R`, with `h` of header processing and `s` of switching time in
each of the `L - 1` switches, tx(n) = 8 n / R, at

    one_way(n) = L d + (L - 1) (h + s) + tx(n)      cut-through
    one_way(n) = L (d + tx(n)) + (L - 1) h          store-and-forward

A round of stop-and-wait takes one_way(segment) + one_way(control); the set-up takes one round of
two control packets, then the ACK takes the interface for tx(control) ahead of the data.
"""

from collections.abc import Callable
from typing import Any

import pytest
from plans import (
    ENGINES,
    MILLISECOND,
    START,
    Plan,
    Way,
    all_optical,
    datagram,
    electronic,
    flow_table,
    hybrid,
    lossy,
    one_flow,
    path_edges,
    saw,
    settings,
    table,
)
from twin import Columns
from twin.rng import mix, stream

Engine = Callable[[Plan], Columns]
CONTROL = 51_200  # 64 bytes at 10 Gb/s, in ps
FULL = 7_200_000  # 9,000 bytes


@pytest.mark.parametrize("engine", ENGINES)
def test_one_segment_by_hand(engine: Engine) -> None:
    # Two links of 50 ns. SYN and SYN+ACK take 100,000 + 51,200 each, the ACK the interface for
    # 51,200, the data 100,000 + 7,200,000, its ACK 151,200.
    result = engine(one_flow(2, all_optical(), saw(), 9000))
    assert result["flows"]["acknowledged_ps"][0] - START == 302_400 + 51_200 + 7_300_000 + 151_200


@pytest.mark.parametrize("engine", ENGINES)
def test_store_and_forward_by_hand(engine: Engine) -> None:
    # Each of two links takes 50,000 + 51,200 or 50,000 + 7,200,000.
    result = engine(one_flow(2, electronic(), saw(), 9000))
    assert result["flows"]["acknowledged_ps"][0] - START == 404_800 + 51_200 + 14_500_000 + 202_400


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("metres", [10, 100, 1000, 10_000])
@pytest.mark.parametrize("links", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize(
    ("switch", "stored"),
    [
        (all_optical(), False),
        (hybrid(0), False),
        (hybrid(2), False),
        (hybrid(2, re_emission="cut-through"), False),
        (electronic(), True),
        (electronic(queue=9000), True),
    ],
    ids=["all-optical", "hybrid-0", "hybrid-2", "hybrid-cut-through", "electronic", "one-packet"],
)
@pytest.mark.parametrize("transport", [saw(), saw(p=0.0), saw(p=4.0)], ids=["saw", "p0", "p4"])
def test_completion_time(
    engine: Engine,
    switch: dict[str, Any],
    stored: bool,
    transport: dict[str, Any],
    links: int,
    metres: int,
) -> None:
    header = 1_000
    plan = one_flow(links, switch, transport, 30_001, metres=metres, header_processing=header)
    result = engine(plan)
    way = Way(links, 5000 * metres, stored, header)
    control = way.one_way(CONTROL)
    rounds = [9000, 9000, 9000, 3001]
    end = START + 2 * control + CONTROL + sum(way.one_way(800 * n) + control for n in rounds)

    flows = result["flows"]
    assert flows["acknowledged_ps"].tolist() == [end]
    assert flows["delivered_bytes"].tolist() == [30_001]
    assert flows["transmissions"].tolist() == [4]
    assert flows["retransmissions"].tolist() == [0]
    assert flows["timeouts"].tolist() == [0]
    assert flows["status"].tolist() == [0]
    assert flows["path_links"].tolist() == [links]
    # Forward: SYN, ACK, four segments, FIN, ACK. Back: SYN+ACK, four ACKs, FIN+ACK.
    origin, target = plan.links["from"], plan.links["to"]
    forward = (origin == 0) | (target == 1) | ((origin >= 2) & (target > origin))
    assert result["links"]["units"][forward].tolist() == [8] * links
    assert result["links"]["units"][~forward].tolist() == [6] * links
    assert result["links"]["bytes"][forward].tolist() == [30_001 + 4 * 64] * links
    assert result["links"]["busy_ps"][forward].tolist() == [800 * 30_001 + 4 * CONTROL] * links
    assert result["links"]["busy_ps"][~forward].tolist() == [6 * CONTROL] * links
    assert result["switches"]["arrived"].tolist() == [14] * (links - 1)
    assert result["switches"]["forwarded"].tolist() == [14] * (links - 1)
    assert result["switches"]["buffered"].tolist() == [0] * (links - 1)
    converted = 30_001 + 10 * 64 if stored else 0
    assert result["switches"]["oe_bytes"].tolist() == [converted] * (links - 1)
    assert result["switches"]["eo_bytes"].tolist() == [converted] * (links - 1)
    totals = result["totals"]
    assert totals["units_created"] == totals["units_delivered"] == 14
    assert totals["units_dropped"] == totals["units_in_flight"] == 0
    assert totals["packet_hops"] == 14 * links


@pytest.mark.parametrize("engine", ENGINES)
def test_headers_and_small_segments(engine: Engine) -> None:
    # 8,960 useful bytes and 40 of header in a full segment; the last carries 10 bytes: 50 on the
    # wire, and so 64.
    result = engine(one_flow(1, all_optical(), saw(header_bytes=40), 8970))
    control = 50_000 + CONTROL
    end = START + 2 * control + CONTROL + (50_000 + FULL + control) + 2 * control
    assert result["flows"]["acknowledged_ps"].tolist() == [end]
    assert result["flows"]["transmissions"].tolist() == [2]
    assert result["links"]["bytes"].tolist() == [9000 + 64 + 4 * 64, 4 * 64]


@pytest.mark.parametrize("engine", ENGINES)
def test_transmission_times_round_up(engine: Engine) -> None:
    # 64 bytes at 3 Gb/s: 170,666.67 ps; 100 bytes: 266,666.67 ps.
    edges, hosts, nodes = path_edges(1)
    plan = Plan(
        settings(hosts, nodes, all_optical(), saw()),
        table(edges, hosts, rates=3 * 10**9, delays=1),
        flow_table((0, 1, 0, 100)),
    )
    assert engine(plan)["flows"]["acknowledged_ps"].tolist() == [4 * 170_667 + 266_667 + 4]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("p", [None, 0.0, 0.3, 4.0])
def test_switching_time_parts_the_ack_from_the_data(engine: Engine, p: float | None) -> None:
    # The output that the ACK took at `a` is busy until a + s + tx(ACK), the data behind it comes at
    # a + tx(ACK): it is lost, and sent again when the timer ends. T was averaged over 1 ms and the
    # round of the SYN; the round of the second transmission is not measured; then T only
    # averages.
    links, switching = 3, 1_000
    result = engine(one_flow(links, all_optical(switching), saw(p=p), 18_000))
    way = Way(links, switching=switching)
    control, full = way.one_way(CONTROL), way.one_way(FULL)
    timeout = (2 * control + MILLISECOND) // 2
    waited = timeout + int((p or 0.0) * FULL)
    end = START + 2 * control + CONTROL + waited + 2 * (full + control)
    assert result["flows"]["acknowledged_ps"].tolist() == [end]
    assert result["flows"]["transmissions"].tolist() == [3]
    assert result["flows"]["retransmissions"].tolist() == [1]
    assert result["flows"]["timeouts"].tolist() == [1]
    assert result["switches"]["dropped_contention"].tolist() == [1, 0]


@pytest.mark.parametrize("engine", ENGINES)
def test_switching_time_of_the_hybrid_switch(engine: Engine) -> None:
    # The data that finds the ACK's output busy is buffered in the first switch: received at s + tx
    # after it came, it leaves s later. From then on it meets no other unit.
    links, switching = 3, 1_000
    result = engine(one_flow(links, hybrid(1, switching_time=switching), saw(), 18_000))
    way = Way(links, switching=switching)
    control, full = way.one_way(CONTROL), way.one_way(FULL)
    end = START + 2 * control + CONTROL + (switching + FULL) + 2 * (full + control)
    assert result["flows"]["acknowledged_ps"].tolist() == [end]
    assert result["flows"]["timeouts"].tolist() == [0]
    assert result["switches"]["buffered"].tolist() == [1, 0]
    assert result["switches"]["oe_bytes"].tolist() == [9000, 0]
    assert result["switches"]["eo_bytes"].tolist() == [9000, 0]
    assert result["switches"]["buffer_max_bytes"].tolist() == [9000, 0]
    assert result["switches"]["buffer_byte_ps"].tolist() == [9000.0 * (switching + FULL), 0.0]


@pytest.mark.parametrize("engine", ENGINES)
def test_timers_shorter_than_the_round_trip(engine: Engine) -> None:
    """A connection with many unnecessary retransmissions, followed by hand (in ps).

    One link of 10,000,000: a control packet takes 10,051,200, data 17,200,000; `T` = 15,000,000.

    ==========  ===================================  =============================================
    time        sender                               receiver
    ==========  ===================================  =============================================
             0  SYN
    10,051,200                                       SYN+ACK, to be repeated at 25,051,200
    15,000,000  timeout: SYN; T = 16,500,000
    20,102,400  SYN+ACK (no sample): ACK
    20,153,600  data, to be repeated at 36,653,600
    25,051,200                                       second SYN, before the timer: SYN+ACK
    30,153,600                                       ACK: established
    35,102,400  second SYN+ACK: ACK
    36,653,600  timeout: data; T = 18,150,000
    37,353,600                                       data: ACK
    47,404,800  ACK (no sample): the end. FIN
    53,853,600                                       second data: ACK, ignored at 63,904,800
    57,456,000                                       FIN: FIN+ACK, to be repeated at 72,456,000
    65,554,800  timeout: FIN; T = 19,965,000
    67,507,200  FIN+ACK: ACK; closed
    72,456,000                                       timeout: FIN+ACK
    75,606,000                                       second FIN: FIN+ACK
    77,558,400                                       ACK: closed
    82,507,200  second FIN+ACK: ACK
    85,657,200  third FIN+ACK: ACK, comes at 95,708,400
    ==========  ===================================  =============================================
    """
    transport = saw(initial_timeout_ps=15_000_000, receiver_timers=True)
    result = engine(one_flow(1, all_optical(), transport, 9000, metres=2000))
    assert result["flows"]["acknowledged_ps"].tolist() == [START + 47_404_800]
    assert result["flows"]["transmissions"].tolist() == [2]
    assert result["flows"]["retransmissions"].tolist() == [1]
    assert result["flows"]["timeouts"].tolist() == [3]  # those of the sender
    assert result["flows"]["delivered_bytes"].tolist() == [9000]
    # SYN 2, ACK 5, data 2, FIN 2; SYN+ACK 2, ACK 2, FIN+ACK 3.
    assert result["links"]["units"].tolist() == [11, 7]
    # A timer is still armed at the receiver: for the answer that came at 77,558,400.
    assert result["totals"]["end_ps"] >= START + 95_708_400


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("elapsed", "sent"), [(10_199_999, 1), (10_200_000, 2)])
def test_tau_is_that_of_a_whole_segment(engine: Engine, elapsed: int, sent: int) -> None:
    # T' = 3 us + p tau, tau that of 9,000 bytes, headers included; the answer takes 20 us.
    transport = saw(p=1.0, initial_timeout_ps=3_000_000, header_bytes=40)
    limit = START + elapsed
    result = engine(one_flow(1, all_optical(), transport, 9000, metres=2000, time_limit_ps=limit))
    # The SYN, perhaps twice; the first has been answered.
    assert result["links"]["units"].tolist() == [sent, 1]


@pytest.mark.parametrize("engine", ENGINES)
def test_one_timer_for_each_endpoint(engine: Engine) -> None:
    # T = 30 us: a timer is armed at 30 us for the SYN; for the data, sent at 253,600 with
    # T = 15,101,200, another one, because it is earlier; for the FIN, sent at 7,604,800 with
    # T = 11,226,200, none, because one is pending at 15,354,800. That one finds all answered, and
    # the first one is stale. With the start of the flow and eight arrivals: 11 events.
    transport = saw(initial_timeout_ps=30_000_000)
    result = engine(one_flow(1, all_optical(), transport, 9000))
    assert result["totals"]["events"] == 11
    assert result["totals"]["end_ps"] == START + 30_000_000


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("engine", ENGINES)
def test_a_timer_and_the_start_of_a_flow_at_its_instant_come_by_the_rank_of_their_flows(
    engine: Engine, seed: int
) -> None:
    # The SYN+ACK of the first is lost, and its timer expires when the second starts at that host.
    edges, hosts, nodes = path_edges(3)
    again = START + MILLISECOND
    drop = {"flow": 0, "acknowledgements": [1, 1]}
    loss = {"probability": 0.0, "acknowledgement_probability": 0.0, "drops": [drop]}
    transport = saw(initial_timeout_ps=MILLISECOND)
    chosen = settings(hosts, nodes, all_optical(), transport, loss=loss, trace=[0, 1], seed=seed)
    flows = flow_table((0, 1, START, 9000), (0, 1, again, 9000))
    sent = engine(Plan(chosen, lossy(table(edges, hosts), hosts), flows))["trace_segments"]
    rows = zip(sent["time_ps"].tolist(), sent["flow"].tolist(), strict=True)
    place = mix(mix(stream(seed, "ties").next() ^ again) ^ 0)
    first, second = sorted((0, 1), key=lambda flow: mix(place ^ flow))
    expected = [(again, first), (again + CONTROL, second)]
    assert [row for row in rows if row[0] >= again][:2] == expected


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("margin", "timeouts"), [(0, 0), (-1, 1)])
def test_acknowledgement_at_the_instant_of_the_timer(
    engine: Engine, margin: int, timeouts: int
) -> None:
    # The SYN's round is exactly T: the SYN+ACK is in time; with T one picosecond less it is not.
    # Stopped at that instant: ACK and data have been handed over.
    round_of_control = 2 * (50_000 + CONTROL)
    result = engine(
        one_flow(
            1,
            all_optical(),
            saw(initial_timeout_ps=round_of_control + margin),
            64,
            time_limit_ps=START + round_of_control,
        )
    )
    assert result["totals"]["end_ps"] == START + round_of_control
    assert result["flows"]["timeouts"].tolist() == [timeouts]
    assert result["flows"]["transmissions"].tolist() == [1]
    assert result["flows"]["status"].tolist() == [1]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("links", [1, 2, 6])
@pytest.mark.parametrize("switch", [all_optical(7), hybrid(1, switching_time=7), electronic()])
def test_datagram(engine: Engine, switch: dict[str, Any], links: int) -> None:
    plan = one_flow(links, switch, datagram(), 9000)
    stored = switch["kind"] == "electronic"
    took = Way(links, stored=stored, switching=0 if stored else 7).one_way(FULL)
    result = engine(plan)
    assert result["flows"]["acknowledged_ps"].tolist() == [START + took]
    assert result["totals"]["end_ps"] == START + took
    # The departure, and an arrival for each link.
    assert result["totals"]["events"] == 1 + links


@pytest.mark.parametrize("engine", ENGINES)
def test_datagram_under_way_at_the_time_limit_is_not_lost(engine: Engine) -> None:
    result = engine(one_flow(3, all_optical(), datagram(), 9000, time_limit_ps=START + 1))
    assert result["flows"]["status"].tolist() == [1]
    assert result["flows"]["drops"].tolist() == [0]
    assert result["totals"]["units_in_flight"] == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_time_limit(engine: Engine) -> None:
    plan = one_flow(2, all_optical(), saw(), 9000, time_limit_ps=START - 1)
    result = engine(plan)
    assert result["flows"]["status"].tolist() == [2]
    assert result["totals"]["events"] == 0
    plan.settings["time_limit_ps"] = START
    result = engine(plan)
    assert result["flows"]["status"].tolist() == [1]
    assert result["flows"]["acknowledged_ps"].tolist() == [2**64 - 1]
    assert result["totals"]["events"] == 1
    assert result["totals"]["units_in_flight"] == result["totals"]["units_created"] == 1
