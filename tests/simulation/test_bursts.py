"""Burst switching, losses and traces, from the outside: a scenario in, a result out."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lightburst.cli import main
from lightburst.experiment.replicate import replicate
from lightburst.foundation.errors import InputError, RunWarning
from lightburst.result.result import Result
from lightburst.scenario import Scenario, load
from lightburst.simulation.simulate import run, simulate

OBS = load(Path(__file__).parents[2] / "examples/obs.toml")
INGRESS, CORE, EGRESS = 2, 3, 5


def obs(changes: dict[str, Any] | None = None, **more: Any) -> Scenario:
    """The path of the paper with one flow of 1 MB; by default without losses."""
    least = {"loss": None, "workload.size": {"kind": "constant", "value": "1 MB"}}
    return OBS.with_(least | (changes or {}), **more)


def datagrams(size: str, changes: dict[str, Any]) -> Result:
    """Datagrams back to back, without a wait for their burst."""
    values = {
        "transport": {"kind": "datagram", "segment_size": "1 kB", "spacing": "constant"},
        "switching.assembly": {"kind": "timer", "time": "0 s"},
        "workload.size": {"kind": "constant", "value": size},
    }
    return run(obs(values | changes))


def taken_ps(result: Result) -> int:
    return int((result.columns["flows"]["received_ps"] - result.plan.flows["start_ps"])[0])


@pytest.mark.parametrize("size", ["1 B", "1 kB", "20 kB"])
@pytest.mark.parametrize(
    "rates",
    [("1 Gb/s", "80 Gb/s"), ("1 Gb/s", "1 Gb/s"), ("8 Gb/s", "2.5 Gb/s"), ("10 kb/s", "80 Gb/s")],
)
def test_a_lone_flow_that_waits_for_no_burst_takes_the_ideal_time(
    rates: tuple[str, str], size: str
) -> None:
    result = datagrams(size, {"topology.access_rate": rates[0], "topology.fibre_rate": rates[1]})
    assert taken_ps(result) == int(result.columns["flows"]["ideal_ps"][0])


def test_a_packet_waits_for_the_timer_and_cores_for_their_switching_time() -> None:
    """One datagram of 1 kB: 8 us at 1 Gb/s, 100 ns at 80 Gb/s; five links of 10 ms."""
    way = 5 * 10**10 + 2 * 8_000_000 + 100_000
    changes = {
        "switching.assembly.time": "3 ms",
        "switching.switching_time": "7 ns",
        "switching.header_processing_time": "11 ns",
        "topology.extra_round_trip": "35 ms",
    }
    result = datagrams("1 kB", changes)
    # Two cores switch; four links lead to a switch.
    assert taken_ps(result) == way + 3 * 10**9 + 2 * 7000 + 4 * 11_000 + 17_500_000_000
    assert result.metrics["assembly_mean_s"] == pytest.approx(3e-3)


@pytest.mark.parametrize(
    ("assembly", "packets"),
    [
        # A packet comes each 8 us, the first 8 us after the start, and one when the timer expires.
        ({"kind": "timer", "time": "32 us"}, [5, 5, 5, 5]),
        ({"kind": "timer", "time": "31 us"}, [4, 4, 4, 4, 4]),
        ({"kind": "size", "size": "5 kB"}, [5, 5, 5, 5]),
        ({"kind": "size", "size": "4001 B"}, [5, 5, 5, 5]),
        ({"kind": "mixed", "size": "7 kB", "time": "32 us"}, [5, 5, 5, 5]),
        ({"kind": "mixed", "size": "4 kB", "time": "32 us"}, [4, 4, 4, 4, 4]),
        ({"kind": "timer", "time": "1 s", "max_size": "5999 B"}, [5, 5, 5, 5]),
        ({"kind": "timer", "time": "31 us", "min_size": "9 kB"}, [4, 4, 4, 4, 4]),
    ],
    ids=lambda value: " ".join(map(str, value.values())) if isinstance(value, dict) else "",
)
def test_bursts_are_as_large_as_the_rule_says(assembly: dict[str, str], packets: list[int]) -> None:
    result = datagrams("20 kB", {"switching.assembly": assembly, "measurement.trace": [0]})
    bursts = result.trace.bursts
    assert bursts["packets"].tolist() == packets
    padded = 9000 if "min_size" in assembly else 0
    assert bursts["bytes"].tolist() == [max(1000 * count, padded) for count in packets]
    edge = result.switches.set_index("node").loc[INGRESS]
    assert edge["bursts"] == result.metrics["bursts"] == len(packets)
    assert edge["burst_mean_packets"] == result.metrics["burst_mean_packets"] == 20 / len(packets)
    assert edge["burst_mean_bytes"] == pytest.approx(bursts["bytes"].mean())
    assert result.metrics["delivered_bytes"] == 20_000


def test_a_size_that_is_never_reached_is_never_sent() -> None:
    with pytest.warns(RunWarning, match="never sends a burst that does not fill"):
        result = datagrams("4 kB", {"switching.assembly": {"kind": "size", "size": "5 kB"}})
    assert result.metrics["delivered_bytes"] == 0
    assert result.columns["totals"]["units_in_flight"] == 4


def test_acknowledgements_may_go_alone() -> None:
    together, alone = (
        run(obs({"switching.assemble_acknowledgements": whether})) for whether in (True, False)
    )
    for result, waits in ((together, True), (alone, False)):
        back = result.switches.set_index("node").loc[EGRESS]
        assert (back["assembly_mean_s"] > 0) == waits
        assert (back["burst_mean_packets"] > 1) == waits
    assert alone.summary["makespan_s"] < together.summary["makespan_s"]


@pytest.mark.parametrize("on", ["first-link", "every-link"])
def test_units_are_lost_with_the_probability_on_the_links_that_lose(on: str) -> None:
    """20,000 datagrams, one burst each; four standard deviations."""
    p, sent = 0.1, 20_000
    result = datagrams("20 MB", {"loss": {"probability": p, "on": on}})
    lost = result.links.set_index(["source", "target"])["lost"]
    fibres = 3 if on == "every-link" else 1
    deviation = np.sqrt(sent * p * (1 - p))
    first = lost[INGRESS, CORE]
    assert first == pytest.approx(sent * p, abs=4 * deviation)
    arrived = sent * (1 - p) ** fibres
    delivered = result.metrics["delivered_bytes"]
    assert isinstance(delivered, int)
    assert delivered / 1000 == pytest.approx(arrived, abs=4 * np.sqrt(fibres) * deviation)
    assert lost.sum() == sent - delivered / 1000 == result.columns["totals"]["bursts_lost"]
    assert result.metrics["burst_loss"] == result.metrics["loss_end_to_end"] == lost.sum() / sent
    assert np.count_nonzero(lost) == fibres


def test_acknowledgements_are_lost_apart_from_data() -> None:
    result = run(obs({"loss": {"acknowledgement_probability": 0.2}}))
    lost = result.links.set_index(["source", "target"])["lost"]
    # The SYN, the FIN and the last ACK of the handshake carry no data either.
    assert lost[EGRESS, EGRESS - 1] > lost[INGRESS, CORE]
    assert result.metrics["delivered_bytes"] == 1_000_000
    # Acknowledgements are cumulative: the next one repeats the content of a lost one.
    assert result.metrics["retransmissions"] == result.flows["duplicates"].sum()


DROPS: list[tuple[dict[str, Any], int]] = [
    # The scripted drops, and the number of data segments lost first with their numbers.
    ({"segments": [20, 24]}, 20),
    ({"segments": [1, 1]}, 1),
    ({"window": 40}, 0),
    ({"burst": 7}, 0),
]


@pytest.mark.parametrize(("drop", "first"), DROPS, ids=lambda value: str(value))
def test_a_scripted_drop_loses_what_it_says(drop: dict[str, Any], first: int) -> None:
    result = run(obs({"loss.drops": [drop], "measurement.trace": [0]}))
    assert result.warnings == ()
    assert result.columns["drops"]["units"].tolist() == [1]
    segments, bursts = result.trace.segments, result.trace.bursts
    lost = segments[segments["event"] == "lost"]
    (number,) = lost["burst"].unique()
    assert set(lost["reason"]) == {"scripted"}
    gone = bursts.set_index("number").loc[number]
    assert gone["lost"]
    assert (gone["packets"], gone["reason"]) == (len(lost), "scripted")
    assert int(result.columns["drops"]["time_ps"][0]) == round(gone["departure_s"] * 1e12)
    if first:
        assert first in set(lost["sequence"] // 1000 + 1)
    if "burst" in drop:
        with_data = bursts[bursts["data"] & (bursts["node"] == INGRESS)]
        assert with_data["number"].tolist().index(number) == drop["burst"] - 1
    assert result.metrics["finished"] == 1


def test_drops_of_retransmissions_and_of_acknowledgements() -> None:
    drops = [{"segments": [20, 20], "transmission": n} for n in (1, 2)]
    result = run(obs({"loss.drops": [*drops, {"acknowledgements": [5, 6]}]} | TRACED))
    assert result.columns["drops"]["units"].tolist() == [1, 1, 2]
    segments = result.trace.segments
    lost = segments[segments["event"] == "lost"]
    twice = lost[(lost["sequence"] == 19_000) & (lost["payload_bytes"] > 0)]
    assert twice["retransmission"].tolist() == [False, True]
    back = lost[~lost["from_source"]]
    assert back["burst"].nunique() == 2
    assert (back["payload_bytes"] == 0).all()


TRACED = {"measurement.trace": [0]}


def test_a_trace_agrees_with_the_counters_and_changes_nothing() -> None:
    scenario = obs({"loss.probability": 0.02})
    plain, traced = run(scenario, 3), run(scenario.with_(TRACED), 3)
    with pytest.raises(InputError, match=r"^measurement.trace: given nothing; .*trace=\[0\]"):
        _ = plain.trace
    assert plain.digest == traced.digest
    segments, flow = traced.trace.segments, traced.flows.iloc[0]
    sent, arrived, lost = (segments[segments["event"] == e] for e in ("sent", "arrived", "lost"))
    data = sent[sent["payload_bytes"] > 0]
    assert len(data) == flow["transmissions"]
    assert data["retransmission"].sum() == flow["retransmissions"] > 0
    assert len(lost) == flow["drops"] == traced.columns["totals"]["units_dropped"]
    assert len(sent) == traced.columns["totals"]["units_created"]
    assert sorted(sent["packet"]) == sorted([*arrived["packet"], *lost["packet"]])
    assert segments["time_s"].is_monotonic_increasing
    bursts = traced.trace.bursts
    assert bursts["lost"].sum() == traced.columns["totals"]["bursts_lost"]
    # The share of all bursts, including those of acknowledgements, which are not lost here.
    of_data = bursts[bursts["data"]]["lost"].mean()
    assert traced.metrics["burst_loss"] == bursts["lost"].mean() < of_data
    timeouts = (traced.trace.windows["state"] == "loss") & (
        traced.trace.windows["state"].shift() != "loss"
    )
    assert timeouts.sum() <= flow["timeouts"]


def test_what_was_traced_is_saved(tmp_path: Path) -> None:
    result = run(obs(TRACED))
    target = result.save(tmp_path / "out")
    for name in ("segments", "windows", "bursts"):
        read = pd.read_parquet(target / f"trace_{name}.parquet")
        pd.testing.assert_frame_equal(read, getattr(result.trace, name))
    # An earlier result with traces is replaced by one without.
    run(obs()).save(tmp_path / "out")
    assert not list(target.glob("trace_*"))


def test_a_drop_that_never_came_is_said_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    scenario = obs({"loss.drops": [{"burst": 7}, {"burst": 100_000}]})
    Path("obs.toml").write_text(scenario.to_toml(), encoding="utf-8")
    words = "loss.drops[1] (flow = 0, burst = 100000) never occurred"
    assert main(["run", "obs.toml", "--out", "out"]) == 0
    printed = capsys.readouterr()
    assert printed.err == f"warning: {words}\n"
    assert json.loads(Path("out/run.json").read_text())["warnings"] == [words]
    assert main(["report", "out"]) == 0
    assert words in Path("out/index.html").read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["run", "obs.toml", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["warnings"], found["drops_missed"]) == ([words], 1)
    assert main(["run", "obs.toml", "--replications", "2", "--format", "json"]) == 0
    assert capsys.readouterr().err.endswith(f"warning: {words}\n")


# A burst of 100 kB is never full: SYN after SYN waits for company.
STALLED = {"switching.assembly": {"kind": "size", "size": "100 kB"}}
STALL = (
    "1 of 1 flows did not finish before the time limit (1000 s), 1 of them with nothing delivered, "
    "and assembly by size alone never sends a burst that does not fill"
)


def test_flows_that_did_not_finish_are_said_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("obs.toml").write_text(obs(STALLED).to_toml(), encoding="utf-8")
    assert main(["run", "obs.toml", "--out", "out"]) == 0
    assert capsys.readouterr().err == f"warning: {STALL}\n"
    assert main(["report", "out"]) == 0
    assert STALL in Path("out/index.html").read_text(encoding="utf-8")
    assert main(["run", "obs.toml", "--replications", "2", "--out", "two"]) == 0
    assert capsys.readouterr().err.endswith(f"warning: {STALL}\n")
    assert json.loads(Path("two/replications.json").read_text())["warnings"] == [STALL]
    assert main(["report", "two"]) == 0
    assert STALL in Path("two/index.html").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore:links and losses:lightburst.RunWarning")
def test_a_flow_cut_off_half_way_has_delivered_something() -> None:
    with pytest.warns(RunWarning, match="1 of 1 flows did not finish"):
        result = run(obs({"measurement.time_limit": "300 ms"}))
    assert 0 < result.flows["delivered_bytes"][0] < 1_000_000
    unfinished, short = result.warnings
    assert unfinished == "1 of 1 flows did not finish before the time limit (300 ms)"
    assert short.startswith("links and losses are counted for 300 ms, less than 10 times")


@pytest.mark.parametrize(
    ("size", "warned"),
    # In 600 ms a host's link of 1 Gb/s carries 75 MB: the warning comes although no larger flow
    # could finish.
    [("1000 TB", False), ("999 TB", True), ("75 MB", True)],
)
def test_a_flow_without_end_is_no_warning(
    size: str, warned: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    changes = {"measurement.time_limit": "600 ms", "workload.size.value": size}
    result = simulate(obs(changes))
    assert result.metrics["finished"] == 0
    assert bool(result.warnings) == warned
    found = replicate(obs(changes), [1, 2])
    assert bool(found.warnings) == warned


def test_datagrams_that_are_lost_are_no_warning() -> None:
    result = datagrams("100 kB", {"loss.probability": 0.5})
    assert result.flows["status"].tolist() == ["lost"]
    assert result.warnings == ()
