"""One run of the real simulator: exact times, conservation, cancellation, bad seeds."""

import json
import signal
import threading
import time
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lightburst import _core
from lightburst.compile import compile_plan
from lightburst.foundation.errors import InputError, RunWarning
from lightburst.result import metrics
from lightburst.scenario import Scenario, load
from lightburst.simulation.simulate import run, simulate
from processes import started

EXAMPLES = Path(__file__).parents[2] / "examples"

SWITCHES = ("all-optical", "hybrid", "electronic")


def scenario(
    switch: str = "hybrid",
    transport: dict[str, Any] | None = None,
    topology: dict[str, Any] | None = None,
    **workload: Any,
) -> Scenario:
    return Scenario.from_dict(
        {
            "topology": topology or {"kind": "fat-tree", "k": 4},
            "switching": {"kind": switch},
            "transport": transport or {"kind": "sawl"},
            "workload": {
                "kind": "poisson",
                "arrival_rate": "1e6 /s",
                "flows": 64,
                "size": {"kind": "constant", "value": "50 kB"},
            }
            | workload,
        }
    )


@pytest.mark.parametrize("switch", SWITCHES)
@pytest.mark.parametrize("links", [1, 2, 6])
@pytest.mark.parametrize("size", ["64 B", "9 kB", "100 kB"])
def test_a_lone_flow_of_back_to_back_datagrams_takes_the_ideal_time(
    switch: str, links: int, size: str
) -> None:
    """The ideal is an independent formula, the run goes hop by hop: equal to the picosecond."""
    datagrams = {"kind": "datagram", "spacing": "constant"}
    result = run(
        scenario(
            switch,
            datagrams,
            {"kind": "path", "links": links},
            flows=1,
            size={"kind": "constant", "value": size},
        )
    )
    taken = result.columns["flows"]["received_ps"] - result.plan.flows["start_ps"]
    assert taken.tolist() == result.columns["flows"]["ideal_ps"].tolist()


@pytest.mark.parametrize("switch", SWITCHES)
def test_a_lone_segment_under_stop_and_wait_takes_set_up_and_ideal_time(switch: str) -> None:
    result = run(
        scenario(
            switch,
            topology={"kind": "path", "links": 3},
            flows=1,
            size={"kind": "constant", "value": "9 kB"},
        )
    )
    # SYN and SYN+ACK: 64 bytes over three links of 10 m, received whole by an electronic switch.
    receptions = 3 if switch == "electronic" else 1
    one_way = 3 * 50_000 + receptions * 51_200
    # The ACK of the set-up goes ahead of the data.
    set_up = 2 * one_way + 51_200
    flows = result.columns["flows"]
    taken, ideal = flows["received_ps"] - result.plan.flows["start_ps"], int(flows["ideal_ps"][0])
    assert int(taken[0]) == ideal + set_up
    assert int((flows["acknowledged_ps"] - flows["received_ps"])[0]) == one_way
    assert result.metrics["slowdown_mean"] == pytest.approx(1 + set_up / ideal)


@pytest.mark.parametrize("switch", SWITCHES)
@pytest.mark.parametrize(("size", "most"), [("9 kB", 1.2), ("27 kB", 2.0)])
def test_a_lone_tcp_flow_waits_for_no_delayed_acknowledgement(
    switch: str, size: str, most: float
) -> None:
    """One segment; three, of which two are the first window. The 40 ms of the delayed
    acknowledgement do not matter.
    """
    alone = scenario(switch, {"kind": "tcp"}, flows=1, size={"kind": "constant", "value": size})
    flow = run(alone).flows.iloc[0]
    assert 1 < flow["slowdown"] < most
    # The FIN is acknowledged at once: 64 bytes over at most six links of 10 m.
    assert 0 < flow["acknowledged_s"] - flow["received_s"] <= 6 * 101.2e-9 + 1e-12


@pytest.mark.parametrize("switch", SWITCHES)
def test_a_loaded_network_accounts_for_everything(switch: str) -> None:
    result = run(scenario(switch), seed=3)
    totals, switches = result.columns["totals"], result.columns["switches"]
    assert result.metrics["finished"] == 64
    assert result.metrics["delivered_bytes"] == 64 * 50_000
    assert (result.flows["slowdown"] > 1).all()
    dropped = sum(int(switches[reason].sum()) for reason in metrics.drops(switches))
    assert totals["units_dropped"] == dropped == result.flows["drops"].sum()
    assert totals["units_in_flight"] == 0
    assert totals["units_created"] == totals["units_delivered"] + dropped
    assert result.metrics["packet_hops"] == result.links["units"].sum()
    assert result.links["utilisation"].between(0, 1).all()


def test_the_same_flows_run_over_every_switch() -> None:
    results = [run(scenario(switch), seed=5) for switch in SWITCHES]
    for other in results[1:]:
        for name, values in results[0].plan.flows.items():
            np.testing.assert_array_equal(values, other.plan.flows[name])
    assert len({result.digest for result in results}) == len(results)


def test_electronics_converts_every_bit_and_light_none() -> None:
    assert run(scenario("all-optical")).metrics["conversions_per_delivered_bit"] == 0
    electronic = run(scenario("electronic"))
    mean_switches = np.average(
        electronic.flows["path_links"] - 1, weights=electronic.flows["delivered_bytes"]
    )
    converted = electronic.metrics["conversions_per_delivered_bit"]
    assert isinstance(converted, float)
    # Acknowledgements, set-up and close come on top of the data.
    assert mean_switches < converted < 1.1 * mean_switches


def test_the_time_limit_names_why_flows_did_not_finish() -> None:
    limited = scenario().with_({"measurement.time_limit": "40 us"})
    with pytest.warns(RunWarning, match="64 of 64 flows did not finish"):
        result = run(limited)
    assert result.metrics["finished"] == 0
    assert set(result.flows["status"]) == {"time-limit", "not-started"}
    started = result.flows["status"] == "time-limit"
    assert (result.flows.loc[started, "start_s"] <= 40e-6).all()
    assert (result.flows.loc[~started, "start_s"] > 40e-6).all()


@pytest.mark.parametrize(
    ("changes", "warns"),
    [
        ({}, False),
        ({"min_timeout": "40 ms"}, False),
        ({"min_timeout": "39.9 ms"}, True),
        ({"min_timeout": "10 ms", "acknowledge_every": 1}, False),
        ({"min_timeout": "10 ms", "acknowledgement_delay": "1 ms"}, False),
    ],
)
def test_a_timeout_below_the_delay_of_an_acknowledgement_is_a_warning(
    changes: dict[str, Any], warns: bool
) -> None:
    warnings = simulate(scenario(transport={"kind": "tcp", **changes}, flows=1)).warnings
    assert len(warnings) == warns
    for words in warnings:
        assert words.startswith(
            "transport.min_timeout (39.9 ms) is below acknowledgement_delay (40 ms)"
        )


@pytest.mark.parametrize("seed", [-1, 2**64, True, 1.5, "7"])
def test_a_seed_that_is_none_is_refused(seed: Any) -> None:
    with pytest.raises(InputError, match=r"^seed: given .*allowed: a whole number from 0"):
        run(scenario(), seed)


def test_the_largest_seed_is_a_seed() -> None:
    assert run(scenario(), 2**64 - 1).digest != run(scenario(), 2**64 - 2).digest


def endless() -> Scenario:
    """A run of minutes, unless it is stopped."""
    return scenario(flows=20_000, size={"kind": "constant", "value": "100 MB"})


@pytest.mark.parametrize(
    ("path", "topic"),
    [
        ("choice", "choices"),
        ("label", "labels"),
        ("switches.0.kind", "switches"),
        ("switches.0.assembly.kind", "assemblies"),
        ("groups.1.transport.kind", "transports"),
        ("groups.1.transport.congestion_control.kind", "congestion_controls"),
        ("groups.1.transport.recovery.kind", "recoveries"),
    ],
)
def test_the_core_refuses_a_word_that_it_does_not_know(path: str, topic: str) -> None:
    bursts = {"kind": "burst", "assembly": {"kind": "timer", "time": "1 ms"}}
    tcp = {"kind": "tcp", "recovery": "new-reno"}
    table = scenario().to_dict()["workload"]
    groups = {"a": {"workload": table}, "b": {"workload": table, "transport": tcp}}
    given = scenario().with_(switching=bursts, workload=None, groups=groups)
    plan = compile_plan(given, 1)
    settings = json.loads(json.dumps(plan.settings))
    *sections, name = (int(key) if key.isdecimal() else key for key in path.split("."))
    reduce(getitem, sections, settings)[name] = "nonsense"
    known = ", ".join(_core.registry()[topic])
    with pytest.raises(
        ValueError, match=f'^unreadable plan: no "nonsense" in {topic}; known: {known}$'
    ):
        _core.simulate(json.dumps(settings), plan.nodes, plan.links, plan.flows)


def test_cancelling_from_another_thread_ends_a_run() -> None:
    cancel = _core.Cancel()
    threading.Timer(1.0, cancel.set).start()
    with pytest.raises(_core.Cancelled):
        run(endless(), cancel=cancel)


def test_control_c_ends_a_run_that_would_last_for_hours() -> None:
    program = (
        "from test_simulate import endless, run\n"
        "print('started', flush=True)\n"
        "try:\n"
        "    run(endless())\n"
        "finally:\n"
        "    print('stopped', flush=True)\n"
    )
    with started(program) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=30)
        assert out == "stopped\n"
    assert process.returncode == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.toml")), ids=lambda file: file.stem)
def test_no_flow_of_an_example_is_faster_than_its_ideal_and_no_link_busier_than_time(
    file: Path,
) -> None:
    result = run(load(file))
    # Endless flows have none.
    slowdowns = result.flows["slowdown"][result.flows["completion_time_s"].notna()]
    assert (slowdowns >= 1).all()
    assert result.links["utilisation"].between(0, 1).all()
