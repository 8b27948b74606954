"""Pauses of priority flow control in the explanation of a flow, and in the warnings of a run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.explanation.flow import explain
from lightburst.result.pauses import class_of_groups, possible_lock

pytestmark = pytest.mark.filterwarnings("ignore::lightburst.RunWarning")


def scenario(
    folder: Path, links: list[dict[str, Any]], rows: list[str], **tables: Any
) -> lb.Scenario:
    """Datagrams over links of 10 Gb/s and 10 m, by rows of source, destination, start and bytes."""
    file = folder / "flows.csv"
    file.write_text("source,destination,start_ps,size_bytes\n" + "\n".join(rows) + "\n", "utf-8")
    given = {
        "topology": {"kind": "graph", "links": links, "link_length": "10 m"},
        "transport": {"kind": "datagram", "segment_size": "1500 B", "spacing": "constant"},
        "workload": {"kind": "table", "file": str(file)},
        "measurement": {"time_limit": "1 s"},
    }
    return lb.Scenario.from_dict(given | tables)


def electronic(**switching: Any) -> dict[str, Any]:
    return {"kind": "electronic", "queue_size": "unlimited", **switching}


#: Hosts a and b send to the slow host c and to d.
FORK = [
    *({"source": host, "target": "S", "rate": "10 Gb/s"} for host in "ab"),
    {"source": "S", "target": "T", "rate": "10 Gb/s"},
    {"source": "T", "target": "c", "rate": "1 Gb/s"},
    {"source": "T", "target": "d", "rate": "10 Gb/s"},
]


def test_the_wait_for_a_pause_is_told_from_that_behind_packets(tmp_path: Path) -> None:
    # As in tests/verification/test_pauses.py: the victim is at S at 6.25 us, the pause ends at
    # 38.6012 us, and then it waits for a packet of 1.2 us.
    asking = electronic(pfc={"xoff": "1500 B", "xon": "0 B"})
    switching = electronic(nodes={"T": asking})
    fork = scenario(tmp_path, FORK, ["a,c,0,7500", "b,d,5000000,1500"], switching=switching)
    parts = explain(fork, 1).parts.set_index("part")
    assert parts["time_ps"].to_dict() == {
        "queue": 1_200_000,
        "pause": 32_351_200,
        "way": 3 * (1_200_000 + 50_000),
    }
    assert parts.loc["pause", "node"] == "S"


def test_a_host_that_pauses_is_named(tmp_path: Path) -> None:
    # Packet k of a for c is at S at 1.25 k us; the third makes 3,000 B wait, and the link of a
    # pauses from 3.8512 us on, when the fourth has begun. A packet for b is handed over at 4 us,
    # behind none, while the fourth is transmitted until 4.8 us. Packet 4 leaves S when 1, 2 and 3
    # were transmitted, 36 us after 1.25 us, and the frame takes 101.2 ns.
    star = [{"source": "S", "target": host, "rate": "10 Gb/s"} for host in "ab"]
    star.append({"source": "S", "target": "c", "rate": "1 Gb/s"})
    switching = electronic(pfc={"xoff": "1500 B", "xon": "0 B"})
    rows = ["a,c,0,6000", "a,b,4000000,1500"]
    parts = explain(scenario(tmp_path, star, rows, switching=switching), 1).parts
    ends = 1_250_000 + 36_000_000 + 101_200
    assert parts["part"].tolist() == ["pause", "way"]
    assert parts["node"].iloc[0] == "a"
    assert parts["time_ps"].tolist() == [ends - 4_000_000, 2 * 1_250_000]


#: A ring of four switches, each with a host that sends three switches on.
RING = [{"source": at.lower(), "target": at, "rate": "4 Gb/s"} for at in "ABCD"]
RING += [{"source": a, "target": b, "rate": "10 Gb/s"} for a, b in zip("ABCD", "BCDA", strict=True)]
WAYS = [
    {"source": way[0], "destination": way[-1], "path": list(way)}
    for way in ("ABCD", "BCDA", "CDAB", "DABC")
]
PAIRS = ("ad", "ba", "cb", "dc")


def ring(folder: Path, size: int, **switching: Any) -> lb.Scenario:
    """A flow from each host to the last one around the ring."""
    rows = [f"{pair[0]},{pair[1]},0,{size}" for pair in PAIRS]
    tables = {"switching": electronic(**switching), "routing": {"routes": WAYS}}
    return scenario(folder, RING, rows, **tables)


def warned(result: lb.Result) -> list[str]:
    return [words for words in result.warnings if "priority flow control" in words]


def test_a_ring_that_locks_is_named(tmp_path: Path) -> None:
    locks = ring(tmp_path, 150_000, pfc={"xoff": "6 kB", "xon": "3 kB"})
    result = lb.run(locks)
    assert warned(result) == [
        "priority flow control has locked up: the links A - B, B - C, C - D, D - A pause and wait "
        "for each other in a cycle"
    ]
    assert not (result.flows["status"] == "finished").any()
    ran = result.links.set_index(["source", "target"])
    pauses = ran["pauses"].to_dict()
    assert min(pauses[ends] for ends in zip("ABCD", "BCDA", strict=True)) > 0
    assert pauses["B", "A"] == 0
    largest = explain(locks, 0).parts.sort_values("time_ps").iloc[-1]
    assert largest["part"] == "pause"
    # Such columns are in no result without flow control.
    assert "pauses" not in lb.run(ring(tmp_path, 150_000)).links


def test_a_ring_that_could_lock_is_named(tmp_path: Path) -> None:
    light = ring(tmp_path, 1_500, pfc={"xoff": "6 kB", "xon": "3 kB"})
    result = lb.run(light)
    assert (result.flows["status"] == "finished").all()
    assert warned(result) == [
        "priority flow control could lock up with enough traffic: by the routes in use the links "
        "A - B, B - C, C - D, D - A can wait for each other in a cycle"
    ]
    # Without the flow from d nothing waits for D - A, so that there is no cycle.
    file = tmp_path / "flows.csv"
    rows = [row for row in file.read_text("utf-8").splitlines() if not row.startswith("d")]
    file.write_text("\n".join([*rows[:2], ""]), "utf-8")
    assert warned(lb.run(light)) == []


def test_what_could_lock_is_told_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # A run that stops at its limit of events has no result, and the warning all the same.
    locks = ring(tmp_path, 150_000, pfc={"xoff": "6 kB", "xon": "3 kB"})
    locks = locks.with_(measurement__event_limit=10)
    with pytest.warns(lb.RunWarning, match="could lock up") as found, pytest.raises(lb.InputError):
        lb.run(locks)
    assert [warning.filename for warning in found] == [__file__]
    # One that could lock is told once, by `run` and by the command.
    light = ring(tmp_path, 1_500, pfc={"xoff": "6 kB", "xon": "3 kB"})
    with pytest.warns(lb.RunWarning) as found:
        lb.run(light)
    assert sum("lock up" in str(warning.message) for warning in found) == 1
    file = tmp_path / "ring.toml"
    file.write_text(light.to_toml(), "utf-8")
    assert main(["run", str(file)]) == 0
    assert capsys.readouterr().err.count("lock up") == 1


#: Commands that run the ring, as the file of a scenario or of a study.
COMMANDS = ("run --replications 2", "trace", "explain --flow 0", "sweep")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_tells_it_once_and_before_its_runs(
    command: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    light = ring(tmp_path, 1_500, pfc={"xoff": "6 kB", "xon": "3 kB"})
    name, *options = command.split()
    if name == "trace":
        light = light.with_(transport={"kind": "rdma", "congestion_control": "line-rate"})
    for limit in (10, None):
        # With the limit no run ends.
        text = light.with_(measurement__event_limit=limit).to_toml()
        (tmp_path / "ring.toml").write_text(text, "utf-8")
        study = 'scenario = "ring.toml"\nseeds = 2\n[over]\n"routing.metric" = ["hops", "delay"]\n'
        (tmp_path / "study.toml").write_text(study, "utf-8")
        file = "study.toml" if name == "sweep" else "ring.toml"
        code = main([name, file, *options])
        assert (code == 0) == (limit is None)
        assert capsys.readouterr().err.count("could lock up") == 1


def test_a_study_tells_it_once(tmp_path: Path) -> None:
    light = ring(tmp_path, 1_500, pfc={"xoff": "6 kB", "xon": "3 kB"})
    over = {"routing.metric": ["hops", "delay"]}
    runs: list[Callable[[], object]] = [
        lambda: lb.replicate(light, 2),
        lambda: lb.execute(lb.Study(light, over, seeds=2)),
        lambda: lb.sweep(light, over, seeds=2),
    ]
    for run in runs:
        with pytest.warns(lb.RunWarning) as found:
            run()
        told = [warning for warning in found if "lock up" in str(warning.message)]
        assert [warning.filename for warning in told] == [__file__]


def test_classes_that_do_not_share_links_do_not_wait_for_each_other(tmp_path: Path) -> None:
    one = ring(tmp_path, 1_500, pfc={"xoff": "6 kB"}).to_dict()
    groups = {}
    for pair in PAIRS:
        file = tmp_path / f"{pair}.csv"
        row = f"{pair[0]},{pair[1]},0,1500"
        file.write_text(f"source,destination,start_ps,size_bytes\n{row}\n", "utf-8")
        groups[pair] = {"workload": {"kind": "table", "file": str(file)}}
    del one["workload"]
    for queue, cycle in (("drop-tail", 4), ("drr", 0)):
        apart = lb.Scenario.from_dict({**one, "groups": groups}).with_(switching__queue=queue)
        plan = lb.run(apart).plan
        assert len(possible_lock(apart, plan)) == cycle
        assert len(set(class_of_groups(plan).tolist())) == (1 if cycle else 4)


def test_losses_in_spite_of_pauses_are_told(tmp_path: Path) -> None:
    switching = electronic(pfc={"xoff": "3 kB", "headroom": "1500 B"})
    slow = [{"source": "S", "target": "a", "rate": "10 Gb/s"}]
    slow.append({"source": "S", "target": "b", "rate": "1 Gb/s"})
    given = scenario(tmp_path, slow, ["a,b,0,30000"], switching=switching)
    result = lb.run(given.with_({"topology.link_length": "400 m"}))
    lost = int(result.switches["dropped_headroom_full"].sum())
    assert lost > 0
    assert warned(result) == [
        f"packets were lost in spite of priority flow control: {lost} packets found no headroom "
        "(pfc.headroom)"
    ]
