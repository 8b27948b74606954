"""Explanations of steps of collective operations: the critical path, to the picosecond."""

import json
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import networkx
import numpy as np
import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.foundation.counts import UNFINISHED
from lightburst.foundation.errors import InputError
from lightburst.result.waits import critical_path
from lightburst.workload.flows import NO_JOIN

RING: dict[str, Any] = {
    "topology": {"kind": "fat-tree", "k": 4},
    "switching": {"kind": "electronic", "queue_size": "1 MB"},
    "transport": {"kind": "tcp", "handshake": False, "initial_window": 10},
    "workload": {
        "kind": "collective",
        "operation": "all-reduce",
        "size": "100 kB",
        "ranks": 4,
        "steps": 3,
        "placement": "strided",
        "computation": "10 us",
    },
}


def latest(result: lb.Result, join: int) -> int:
    """Return the latest arrival that a join needs, directly or through other joins."""
    flows = result.plan.flows
    received = result.columns["flows"]["received_ps"]
    direct = received[flows["towards_join"] == join]
    places = np.flatnonzero(flows["join_leads"] == join)
    before = (np.searchsorted(flows["join_lead_offsets"], places, side="right") - 1) // 2
    return int(max([*direct.tolist(), *(latest(result, int(one)) for one in before)]))


@pytest.mark.parametrize(
    ("operation", "algorithm"),
    [("all-reduce", "ring"), ("all-reduce", "halving-doubling"), ("all-to-all", "pairwise")],
)
def test_each_message_starts_when_the_one_before_opened_its_join(
    operation: str, algorithm: str
) -> None:
    """Held against all arrivals that a join needs; the path ends with the operation."""
    scenario = lb.Scenario.from_dict(RING).with_(
        workload__operation=operation, workload__algorithm=algorithm
    )
    result = lb.run(scenario, seed=3)
    flows, ran = result.plan.flows, result.columns["flows"]
    started, received = ran["started_ps"].tolist(), ran["received_ps"].tolist()
    for step in range(3):
        path = result.critical_path(step)
        numbers = path["flow"].tolist()
        operation_of = path.attrs["operation"]
        assert result.collectives["end_s"][operation_of] == path["received_s"].iloc[-1]
        for before, after in pairwise(numbers):
            assert started[after] == received[before]
            assert latest(result, int(flows["after_join"][after])) == received[before]
            assert flows["destination"][before] == flows["source"][after]
        assert {int(flows["collective"][number]) for number in numbers} == {operation_of}
        join = int(flows["after_join"][numbers[0]])
        if step == 0:
            assert join == NO_JOIN
        elif join != NO_JOIN:
            # The first message waited for the step before, and then its rank computed.
            delay = int(flows["join_delay_ps"][join])
            assert started[numbers[0]] == latest(result, join) + delay
            opener = received.index(latest(result, join))
            assert flows["collective"][opener] != operation_of
        assert path["excess_s"].min() > -1e-12


def test_a_message_that_was_overtaken_is_on_the_path() -> None:
    """Flow 1 arrives at 5, before flow 0 at 9, whose join leads to that of flow 1: flow 2 waits."""
    columns = {"flows": {"started_ps": [0, 0, 9], "received_ps": [9, 5, 12]}}
    flows = {
        "collective": [0, 0, 0],
        "after_join": [NO_JOIN, NO_JOIN, 1],
        "towards_join": [0, 1, NO_JOIN],
        "join_leads": [1],
        "join_lead_offsets": [0, 1, 1, 1, 1],
        "join_delay_ps": [0, 0],
    }
    plan = SimpleNamespace(flows={name: np.array(column) for name, column in flows.items()})
    ran = {"flows": {name: np.array(column) for name, column in columns["flows"].items()}}
    assert critical_path.path(plan, ran, 0) == [0, 2]  # type: ignore[arg-type]


def test_the_path_goes_through_the_slow_host() -> None:
    """A ring of four hosts of which one has a tenth of the rate: its messages take longest."""
    star = networkx.Graph()
    for host in range(4):
        rate = "10 Gb/s" if host == 2 else "100 Gb/s"
        star.add_edge(f"h{host}", "switch", length="10 m", rate=rate)
    scenario = lb.Scenario.from_dict(RING | {"topology": lb.topology.from_networkx(star)})
    path = lb.run(scenario.with_(workload__placement="consecutive")).critical_path()
    slow = (path["source"] == "h2") | (path["destination"] == "h2")
    time = path["completion_time_s"]
    assert time[slow].sum() > 0.8 * time.sum()
    # A ring passes each host in turn, so that the path waits for the slow one twice a round.
    assert slow.sum() >= len(path) // 2


def test_a_step_that_did_not_finish_ends_with_the_message_under_way() -> None:
    """The link of host 0 fails for good: no message leaves it, and the others wait."""
    scenario = lb.Scenario.from_dict(
        RING | {"events": [{"at": "20 us", "link": ["0", "16"], "state": "down"}]}
    )
    with pytest.warns(lb.RunWarning, match="did not finish before the time limit"):
        result = lb.run(scenario, seed=1)
    path = result.critical_path()
    last = int(path["flow"].iloc[-1])
    assert result.columns["flows"]["received_ps"][last] == UNFINISHED
    assert path.attrs["step"] == 0


def test_the_text_names_the_path_and_its_worst_message(
    capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    file = tmp_path / "ring.toml"
    file.write_text(lb.Scenario.from_dict(RING).to_toml(), encoding="utf-8")
    assert main(["explain", str(file), "--step", "1"]) == 0
    text = capsys.readouterr().out
    assert "Step 1 of group" in text
    assert "each of which waited for the one before" in text
    assert main(["explain", str(file), "--step", "1", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    worst = max(found["path"], key=lambda row: row["excess_s"])
    assert f"Flow {worst['flow']}, from" in text
    assert found["worst"]["flow"] == worst["flow"]
    assert found["time_s"] - found["ideal_s"] == pytest.approx(found["excess_s"])


def test_bad_input_gets_one_message(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    file = tmp_path / "ring.toml"
    file.write_text(lb.Scenario.from_dict(RING).to_toml(), encoding="utf-8")
    for options, words in {
        ("--step", "3"): "--step: given 3; allowed: 'slowest', or a whole number from 0 to 2",
        ("--step", "x"): "--step: given 'x'; allowed: 'slowest', or a whole number",
        ("--step", "1", "--flow", "2"): "--flow: given '2'; allowed: an option about a flow",
        ("--step", "1", "--bursts"): "--step: given '1'",
    }.items():
        assert main(["explain", str(file), *options]) == 2
        assert words in capsys.readouterr().err
    with pytest.raises(InputError, match=r"workload\.kind: given 'poisson'"):
        lb.explain_step("examples/hybrid.toml")
