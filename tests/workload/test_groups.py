"""Several groups of flows in one run."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.compile import compile_plan
from lightburst.foundation.errors import InputError, RunWarning
from lightburst.workload.streams import stream

TREE: dict[str, Any] = {
    "topology": {"kind": "fat-tree", "k": 4},
    "switching": {"kind": "electronic", "queue_size": "90 kB"},
    "routing": {"choice": "flow-hash"},
}
TCP: dict[str, Any] = {"kind": "tcp", "preset": "datacentre"}
SMALL: dict[str, Any] = {"kind": "constant", "value": "20 kB"}
BACKGROUND: dict[str, Any] = {"kind": "poisson", "load": 0.3, "duration": "2 ms"}
INCAST: dict[str, Any] = {"kind": "incast", "senders": 12, "size": SMALL}


def scenario(**tables: Any) -> lb.Scenario:
    return lb.Scenario.from_dict({**TREE, **tables})


def two(**changes: Any) -> lb.Scenario:
    """Incast over background, with a transport for all groups."""
    groups = {"background": {"workload": BACKGROUND}, "query": {"workload": INCAST}}
    return scenario(transport=TCP, groups=groups).with_(changes)


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, ["source", "destination", "start_ps", "size_bytes"])
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


TRANSPORTS: dict[str, dict[str, Any]] = {
    "saw": {"kind": "saw"},
    "tcp": TCP,
    "datagram": {"kind": "datagram", "spacing": "constant", "rate": "2 Gb/s"},
}


@pytest.mark.parametrize("kind", TRANSPORTS)
def test_a_table_split_in_two_gives_what_the_whole_gives(kind: str, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    rows = []
    for start in np.sort(random.integers(0, 10**8, 60)).tolist():
        source, destination = random.choice(16, 2, replace=False).tolist()
        size = int(random.integers(1, 100_000))
        ends = {"source": source, "destination": destination}
        rows.append({**ends, "start_ps": start, "size_bytes": size})
    whole, first, second = (
        {"kind": "table", "file": write(tmp_path / f"{name}.csv", chosen)}
        for name, chosen in (("whole", rows), ("first", rows[::3]),
                             ("second", [row for i, row in enumerate(rows) if i % 3]))
    )  # fmt: skip
    transport = TRANSPORTS[kind]
    one = lb.run(scenario(transport=transport, workload=whole))
    groups = {"a": {"workload": first}, "b": {"workload": second, "transport": transport}}
    both = lb.run(scenario(transport=transport, groups=groups))
    assert both.plan.group.tolist() == [int(i % 3 > 0) for i in range(60)]
    assert both.digest == one.digest
    assert both.flows.drop(columns="group").equals(one.flows)


def test_a_group_alone_has_the_flows_that_it_has_among_others() -> None:
    alone = scenario(transport=TCP, groups={"query": {"workload": INCAST}})
    own = compile_plan(alone, 5).flows
    plan = compile_plan(two(), 5)
    chosen = plan.group == plan.group_names.index("query")
    for name, column in own.items():
        assert np.array_equal(plan.flows[name][chosen], column), name
    # Each group has its own draws, and so does another name.
    same = scenario(transport=TCP, groups={n: {"workload": INCAST} for n in ("query", "other")})
    flows = compile_plan(same, 5)
    sources = [flows.flows["source"][flows.group == number].tolist() for number in (0, 1)]
    assert sources[0] == own["source"].tolist() != sources[1]


def test_the_short_form_has_the_streams_without_a_name() -> None:
    short = compile_plan(scenario(transport=TCP, workload=INCAST), 5).flows
    named = compile_plan(scenario(transport=TCP, groups={"a": {"workload": INCAST}}), 5).flows
    assert "group" not in short | named, "there is one group only"
    drawn = stream(5, "pairs").integers(0, 16, 1)
    assert short["destination"].tolist() == 12 * drawn.tolist()
    assert (
        named["destination"].tolist()
        == 12 * stream(5, "groups/a/pairs").integers(0, 16, 1).tolist()
    )


def test_flows_that_start_at_once_stand_in_the_order_of_the_groups() -> None:
    pairs = {"kind": "pairs", "size": SMALL}
    groups = {"z": {"workload": pairs}, "a": {"workload": pairs}}
    plan = compile_plan(scenario(transport=TCP, groups=groups), 1)
    assert plan.group_names == ("z", "a")
    assert plan.group.tolist() == [0] * 8 + [1] * 8
    other = scenario(transport=TCP, groups=dict(reversed(groups.items())))
    assert compile_plan(other, 1).digest() != plan.digest()
    assert other.canonical_json() != scenario(transport=TCP, groups=groups).canonical_json()


def test_reno_beside_sack_over_one_bottleneck() -> None:
    """Six losses in a window: SACK repairs them at once, Reno waits for its timer."""
    pairs = {"kind": "pairs", "size": {"kind": "constant", "value": "400 kB"}}
    # Two flows with the same losses; hosts 0 and 1 send.
    drops = [{"flow": flow, "segments": [40, 45]} for flow in (0, 1)]
    beside = lb.Scenario.from_dict(
        {
            "topology": {"kind": "obs-path", "access_rate": "100 Mb/s", "fibre_rate": "100 Mb/s"},
            "switching": {"kind": "electronic", "queue_size": "unlimited"},
            "transport": {"kind": "tcp", "preset": "wide-area"},
            "loss": {"drops": drops},
            "groups": {
                "reno": {
                    "workload": pairs,
                    "transport": {"kind": "tcp", "preset": "wide-area", "recovery": "reno"},
                },
                "sack": {"workload": pairs},
            },
        }
    )
    result = lb.run(beside)
    rows = result.groups
    assert rows["flows"].tolist() == rows["finished"].tolist() == [1, 1]
    assert rows["timeouts"].tolist() == [1, 0]
    assert rows.loc["sack", "retransmissions"] == 6
    times = rows["completion_time_mean_s"]
    assert times["reno"] > times["sack"] + 0.15
    # Both went over the one link between the edges.
    assert result.flows["group"].tolist() == ["reno", "sack"]


def test_incast_over_background_by_group() -> None:
    result = lb.run(two())
    rows = result.groups
    assert rows.index.tolist() == ["background", "query"]
    for name, table in result.flows.groupby("group", observed=True):
        row = rows.loc[name]
        assert row["flows"] == len(table)
        assert row["delivered_bytes"] == table["delivered_bytes"].sum()
        assert row["retransmissions"] == table["retransmissions"].sum()
        assert row["completion_time_mean_s"] == pytest.approx(table["completion_time_s"].mean())
        assert row["slowdown_mean"] == pytest.approx(table["slowdown"].mean())
    for key in ("flows", "finished", "delivered_bytes", "retransmissions", "timeouts"):
        assert rows[key].sum() == result.summary[key]
    assert rows.index.name == "group"
    assert rows.loc["query", "flows"] == 12
    assert rows.loc["query", "slowdown_p99"] == result.details()["groups"]["query"]["slowdown_p99"]
    assert result.offered["background"].load == 0.3
    assert set(result.details()["groups"]) == {"background", "query"}


def test_a_group_that_does_not_count_or_does_not_finish_is_shown_so() -> None:
    """The queries start at once, before the warm-up; the rest is cut off."""
    cut = two(**{"measurement.warm_up": "10 us", "measurement.time_limit": "1 ms"})
    with pytest.warns(RunWarning, match="did not finish"):
        result = lb.run(cut)
    background, query = (row for _, row in result.groups.iterrows())
    assert query["flows"] == query["delivered_bytes"] == 0
    assert query["completion_time_p99_s"] is None or np.isnan(query["completion_time_p99_s"])
    counted = result.flows[result.flows["counted"]]
    assert set(counted["group"]) == {"background"}
    assert background["unfinished"] == np.isinf(counted["completion_time_s"]).sum() > 0
    assert background["completion_time_p99_s"] == np.inf
    assert result.details()["groups"]["background"]["completion_time_p99_s"] == "inf"


def test_groups_of_all_families_share_the_network() -> None:
    """Connections of two kinds beside datagrams: each follows its own transport."""
    groups = {
        "noise": {
            "workload": {"kind": "pairs", "size": SMALL},
            "transport": {"kind": "datagram", "segment_size": "1 kB", "rate": "1 Gb/s"},
        },
        "stop": {"workload": INCAST, "transport": {"kind": "saw", "segment_size": "9 kB"}},
        "query": {"workload": INCAST},
    }
    result = lb.run(scenario(transport=TCP, groups=groups))
    flows = result.flows.groupby("group", observed=True)["transmissions"]
    again = result.flows.groupby("group", observed=True)["retransmissions"]
    # 20 kB in segments of 1 kB, 9 kB and 1460 B of data.
    assert (flows.min() - again.min()).to_dict() == {"noise": 20, "stop": 3, "query": 14}
    assert result.groups["finished"].tolist() == [8, 12, 12]
    totals = result.columns["totals"]
    assert totals["units_created"] == totals["units_delivered"] + totals["units_dropped"]


def test_groups_that_share_no_link_do_what_each_does_alone(tmp_path: Path) -> None:
    """To the picosecond: connections of two kinds in two pods, datagrams in another."""
    pairs = []
    for source, transport in ((0, TCP), (4, TRANSPORTS["datagram"]), (8, TRANSPORTS["saw"])):
        row = {"source": source, "destination": source + 1, "start_ps": 7, "size_bytes": 50_000}
        file = write(tmp_path / f"{source}.csv", [row])
        pairs.append({"workload": {"kind": "table", "file": file}, "transport": transport})
    alone = [lb.run(scenario(**pair)).flows for pair in pairs]
    both = lb.run(scenario(groups=dict(zip("abc", pairs, strict=True)))).flows
    for i, flows in enumerate(alone):
        assert both.drop(columns="group").iloc[i].equals(flows.iloc[0])


def test_scripts_and_traces_count_in_the_merged_table() -> None:
    """A drop names a segment by the payload of its flow's own group."""
    groups = {
        "small": {"workload": {"kind": "pairs", "size": SMALL}},
        "large": {
            "workload": {"kind": "pairs", "size": SMALL},
            "transport": {"kind": "tcp", "preset": "datacentre", "segment_size": "9 kB"},
        },
    }
    drops = [{"flow": 0, "segments": [5, 5]}, {"flow": 8, "segments": [2, 2]}]
    lossy = scenario(
        transport=TCP, groups=groups, loss={"drops": drops}, measurement={"trace": [0, 8]}
    )
    result = lb.run(lossy)
    assert result.warnings == ()
    lost = result.trace.segments.query("event == 'lost'")
    assert lost["flow"].tolist() == [0, 8]
    assert lost["sequence"].tolist() == [4 * 1460, 1 * 8960]
    assert result.flows["group"][[0, 8]].tolist() == ["small", "large"]


BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "senders": ({"groups.query.workload.senders": 16}, "groups.query.workload.senders", "16"),
    "segment": (
        {"groups.query.transport": {"kind": "saw", "segment_size": "91 kB"}},
        "switching.queue_size", "90 kB",
    ),
    "no workload": ({"groups.query.workload": None}, "groups.query.workload", "nothing"),
    "a file": (
        {"groups.query.workload": {"kind": "table", "file": "/nowhere.csv"}},
        "groups.query.workload.file", "'/nowhere.csv'",
    ),
    "unknown": ({"groups.query.rate": 1}, "groups.query.rate", "an unknown key 'rate'"),
    "kind": (
        {"groups.query.transport.kind": "udp"}, "groups.query.transport.kind", "'udp'",
    ),
    "no transport": ({"transport": None}, "transport", "nothing"),
    "both": ({"workload": INCAST}, "workload", "a table beside groups"),
    "a long name": ({f"groups.{'x' * 65}.workload": INCAST}, "groups", f"'{'x' * 65}'"),
    "no name": ({'groups."".workload': INCAST}, "groups", "''"),
    "a line break": ({'groups."a\nb".workload': INCAST}, "groups", r"'a\nb'"),
    "no groups": ({"groups": {}}, "groups", "0 groups"),
    "a trace": ({"measurement.trace": [10**6]}, "measurement.trace[0]", "1000000"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be(case: str) -> None:
    changes, path, given = BAD[case]
    with pytest.raises(InputError) as error:
        compile_plan(two(**changes), 1)
    assert error.value.path == path
    assert error.value.given == given


def test_names_are_the_user_s_own() -> None:
    """Any that can be printed, also with dots; paths have these in quotes."""
    name = "10.0.0.1 → 10.0.0.2"
    named = two().with_({f'groups."{name}".workload': INCAST})
    assert lb.Scenario.from_dict(named.to_dict()) == named
    sized = named.with_({f'groups."{name}".workload.size.value': "1 kB"})
    assert lb.run(sized).groups.index.tolist() == ["background", "query", name]
    with pytest.raises(InputError, match=rf'groups\."{name}"\.workload\.senders'):
        named.with_({f'groups."{name}".workload.senders': 0})


def test_the_files_of_a_group_are_read_for_the_key_of_a_run(tmp_path: Path) -> None:
    row = {"source": 0, "destination": 1, "start_ps": 0, "size_bytes": 1}
    first = {"kind": "table", "file": write(tmp_path / "a.csv", [row])}
    second = {"kind": "table", "file": write(tmp_path / "b.csv", [row])}
    keys = [two(**{"groups.query.workload": w}).canonical_json() for w in (first, second)]
    assert keys[0] == keys[1]
    write(tmp_path / "b.csv", [row | {"size_bytes": 2}])
    assert two(**{"groups.query.workload": second}).canonical_json() != keys[0]


def test_tables_without_rows_have_their_columns() -> None:
    short = scenario(transport=TCP, workload=INCAST, measurement={"size_classes": []})
    plain, both = lb.run(short), lb.run(two())
    assert plain.groups.empty
    assert ["offered_load", *plain.groups.columns] == list(both.groups.columns)
    assert plain.groups.index.name == "group"
    assert plain.size_classes.empty
    assert plain.size_classes.columns.equals(both.size_classes.columns)
    assert plain.size_classes.index.name == "size_class"


def test_a_saved_result_has_the_groups(tmp_path: Path) -> None:
    result = lb.run(two())
    result.save(tmp_path / "out")
    saved = json.loads((tmp_path / "out/run.json").read_text("utf-8"))
    assert saved["groups"]["query"]["flows"] == 12
    assert saved["offered"]["background"]["hosts"] == 16


def test_a_run_prints_its_groups_its_presets_and_its_load(
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = str(Path(__file__).resolve().parents[2] / "examples/groups.toml")
    assert main(["run", file, "--set", "groups.query.transport.kind=sawl"]) == 0
    out = capsys.readouterr().out
    words = " ".join(out.split())
    assert "electronic, background: tcp (preset datacentre), query: sawl; seed 1" in words
    assert "background: load 0.3 of 160 Gb/s (16 hosts' links): 3,510 flows/s of 1.71 MB" in out
    assert re.search(r"┃ +┃ +background ┃ +query ┃", out)
    assert re.search(r"│ delivered +│ +[\d.]+ MB │ +2.4 MB │", out)
    assert main(["run", file, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["groups"]["query"]["flows"] == 120
    assert found["offered"]["background"]["capacity_bps"] == 160e9
    assert found["provenance"]["scenario"]["transport"]["preset"] == "datacentre"


def test_a_flow_of_a_group_is_traced(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The transport of its group matters: datagrams have nothing to trace."""
    pairs = {"kind": "pairs", "size": SMALL}
    groups = {
        "a": {"workload": pairs, "transport": TCP},
        "b": {"workload": pairs, "transport": TRANSPORTS["datagram"]},
    }
    file = tmp_path / "two.toml"
    file.write_text(scenario(groups=groups).to_toml(), encoding="utf-8")
    assert main(["trace", str(file), "--flow", "3"]) == 0
    assert "a: tcp (preset datacentre), b: datagram" in " ".join(capsys.readouterr().out.split())
    assert main(["trace", str(file), "--flow", "8"]) == 2
    assert "groups.b.transport.kind: given 'datagram'" in capsys.readouterr().err
