"""The metrics of a result with known columns, and its storage."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lightburst as lb
from lightburst.compile import Plan
from lightburst.foundation import counts
from lightburst.foundation.errors import InputError
from lightburst.result import metrics
from lightburst.result.result import Result
from lightburst.scenario import Scenario
from obs_scenarios import two_groups

ROOT = Path(__file__).resolve().parents[2]
UNFINISHED = 2**64 - 1
MS = 10**9  # picoseconds


def column(values: list[Any], kind: str = "u8") -> np.ndarray[Any, Any]:
    return np.array(values, dtype=kind)


def scenario(**measurement: object) -> Scenario:
    return Scenario.from_dict(
        {
            "name": "by hand",
            "topology": {"kind": "path", "links": 2},
            "switching": {"kind": "hybrid"},
            "transport": {"kind": "sawl"},
            "workload": {
                "kind": "poisson",
                "arrival_rate": "1e3 /s",
                "flows": 2,
                "size": {"kind": "constant", "value": "9 kB"},
            },
            "measurement": measurement,
        }
    )


def plan(transport: str = "sawl", switch: str = "hybrid") -> Plan:
    """Two hosts (0, 1) on one switch (2); flows of 9 and 22.5 kB from 0 to 1."""
    settings = {
        "hosts": 2,
        "nodes": 3,
        "routing": {"kind": "shortest-path"},
        "label": None,
        "time_limit_ps": 50 * MS,
        "switches": [{"kind": switch, "switching_time_ps": 700}],
        "groups": [
            {
                "transport": {
                    "kind": transport,
                    "segment_bytes": 9000,
                    "header_bytes": 0,
                    "control_bytes": 64,
                }
            }
        ],
    }
    links = {
        "from": column([0, 1, 2, 2], "u4"),
        "to": column([2, 2, 0, 1], "u4"),
        "rate_bps": column([10**10] * 4),
        "delay_ps": column([50_000] * 4),
    }
    flows = {
        "source": column([0, 0], "u4"),
        "destination": column([1, 1], "u4"),
        "start_ps": column([1 * MS, 2 * MS]),
        "bytes": column([9000, 22_500]),
    }
    nodes = {"switch": column([0], "u2")}
    return Plan(settings=settings, nodes=nodes, links=links, flows=flows)


def columns(acknowledged: list[int], delivered: list[int], status: list[int]) -> dict[str, Any]:
    """The counts of the simulator; acknowledgements took a quarter of a millisecond."""
    return {
        "flows": {
            "received_ps": column([t if t == UNFINISHED else t - MS // 4 for t in acknowledged]),
            "acknowledged_ps": column(acknowledged),
            "delivered_bytes": column(delivered),
            "transmissions": column([1, 5], "u4"),
            "retransmissions": column([0, 2], "u4"),
            "spurious_retransmissions": column([0, 1]),
            "spurious_bytes": column([0, 9000]),
            "fast_retransmits": column([0, 2]),
            "false_fast_retransmits": column([0, 1]),
            "false_timeouts": column([0, 2]),
            "reordered": column([0, 4]),
            "reorder_extent_sum": column([0, 10]),
            "reorder_extent_max": column([0, 5]),
            "duplicates": column([0, 1], "u4"),
            "timeouts": column([0, 3], "u4"),
            "drops": column([0, 3], "u4"),
            "status": column(status, "u1"),
            "path_links": column([2, 2], "u2"),
            "ideal_ps": column([MS // 2, 2 * MS]),
        },
        "links": {
            "units": column([8, 4, 4, 6]),
            "bytes": column([50_000, 256, 256, 31_500]),
            "waiting_bytes": column([9000, 0, 0, 0]),
            "busy_ps": column([5 * MS, 0, 0, 10 * MS]),
            "lost": column([0] * 4),
            "dropped": column([0] * 4),
        },
        "switches": {
            "arrived": column([12]),
            "forwarded": column([8]),
            "buffered": column([1]),
            "marked": column([0]),
            "dropped_contention": column([0]),
            "dropped_no_input_port": column([2]),
            "dropped_buffer_full": column([1]),
            "dropped_queue_full": column([0]),
            "dropped_late_header": column([0]),
            "dropped_offset_used_up": column([0]),
            "oe_bytes": column([9000]),
            "eo_bytes": column([9000]),
            "buffer_max_bytes": column([9000]),
            "buffer_byte_ps": column([9000 * 2 * MS], "f8"),
            "bursts": column([0]),
            "burst_packets": column([0]),
            "burst_bytes": column([0]),
            "assembly_wait_ps": column([0], "f8"),
        },
        "drops": {"time_ps": column([]), "units": column([])},
        "totals": {
            "events": 99,
            "packet_hops": 22,
            "end_ps": 21 * MS,
            "transmitted_until_ps": 21 * MS,
            "units_created": 12,
            "units_delivered": 9,
            "units_dropped": 3,
            "units_in_flight": 0,
            "bursts_created": 0,
            "bursts_lost": 0,
            "bursts_delivered": 0,
            "delivered_bytes": sum(delivered),
        },
    }


def finished(transport: str = "sawl", switch: str = "hybrid", **measurement: object) -> Result:
    ran = columns([2 * MS, 10 * MS], [9000, 22_500], [0, 0])
    return Result(scenario(**measurement), 7, plan(transport, switch), ran, wall_s=0.25)


def statuses(*names: str) -> list[int]:
    return [metrics.STATUSES.index(name) for name in names]


def test_summary_of_known_columns() -> None:
    summary = finished().summary
    assert summary["makespan_s"] == pytest.approx(9e-3)
    assert summary["throughput_bps"] == pytest.approx(8 * 31_500 / 9e-3)
    assert (summary["flows"], summary["finished"], summary["delivered_bytes"]) == (2, 2, 31_500)
    assert (summary["retransmissions"], summary["timeouts"]) == (2, 3)
    assert (summary["fast_retransmits"], summary["false_fast_retransmits"]) == (2, 1)
    assert (summary["false_timeouts"], summary["spurious_bytes"]) == (2, 9000)
    assert summary["reordered"] == 4
    order = finished().flows[["reorder_extent_mean", "reorder_extent_max"]]
    np.testing.assert_array_equal(order, [[np.nan, 0], [2.5, 5]])
    assert summary["loss_per_hop"] == 3 / 12
    assert summary["loss_end_to_end"] == 3 / 12
    assert summary["completion_time_mean_s"] == pytest.approx(4.25e-3)
    assert summary["completion_time_median_s"] == pytest.approx(4.25e-3)
    assert summary["completion_time_p99_s"] == pytest.approx(np.quantile([0.75e-3, 7.75e-3], 0.99))
    assert summary["conversions_per_delivered_bit"] == 9000 / 31_500
    assert summary["energy_j"] is None
    assert (summary["packet_hops"], summary["events"], summary["wall_s"]) == (22, 99, 0.25)


def test_summary_is_json_with_stable_keys_in_base_units() -> None:
    result = finished()
    assert json.loads(json.dumps(dict(result.metrics), allow_nan=False)) == result.metrics
    assert list(result.summary.index) == [
        "throughput_bps",
        "makespan_s",
        "flows",
        "finished",
        "unfinished",
        "active_flows",
        "offered_bps",
        "delivered_bytes",
        "retransmissions",
        "spurious_bytes",
        "fast_retransmits",
        "false_fast_retransmits",
        "timeouts",
        "false_timeouts",
        "reordered",
        "loss_per_hop",
        "loss_per_hop_count",
        "loss_per_hop_of",
        "loss_end_to_end",
        "loss_end_to_end_count",
        "loss_end_to_end_of",
        "drops_missed",
        "bursts",
        "burst_loss",
        "burst_loss_count",
        "burst_loss_of",
        "burst_loss_per_hop",
        "burst_loss_per_hop_count",
        "burst_loss_per_hop_of",
        "burst_mean_packets",
        "burst_mean_bytes",
        "assembly_mean_s",
        "timed_flows",
        "completion_time_mean_s",
        "completion_time_median_s",
        "completion_time_p99_s",
        "slowdown_mean",
        "slowdown_median",
        "slowdown_p99",
        "conversions_per_delivered_bit",
        "energy_j",
        "packet_hops",
        "events",
        "wall_s",
        "digest",
    ]


def test_energy_counts_the_conversions_at_hosts_and_in_switches() -> None:
    joule = {
        "host_transmit": "1e-12 J/b",
        "host_receive": "2e-12 J/b",
        "switch_oe": "4e-12 J/b",
        "switch_eo": "8e-12 J/b",
    }
    expected = 8e-12 * (50_256 * 1 + 31_756 * 2 + 9000 * 4 + 9000 * 8)
    assert finished(energy=joule).metrics["energy_j"] == pytest.approx(expected)


def test_a_flow_cut_off_by_the_time_limit_stretches_the_makespan_to_it() -> None:
    ran = columns([2 * MS, UNFINISHED], [9000, 18_000], statuses("finished", "time-limit"))
    result = Result(scenario(), 1, plan(), ran, 0.1)
    assert result.metrics["makespan_s"] == pytest.approx(49e-3)
    assert result.metrics["throughput_bps"] == pytest.approx(8 * 27_000 / 49e-3)
    assert (result.metrics["finished"], result.metrics["unfinished"]) == (1, 1)
    assert result.flows["status"].tolist() == ["finished", "time-limit"]
    assert result.flows["completion_time_s"].tolist() == pytest.approx([0.75e-3, np.inf])
    for name in ("received_s", "acknowledged_s"):
        assert np.isnan(result.flows[name]).tolist() == [False, True]


def test_a_flow_that_has_arrived_is_finished_whether_or_not_it_was_acknowledged() -> None:
    ran = columns([2 * MS, UNFINISHED], [9000, 22_500], statuses("finished", "finished"))
    ran["flows"]["received_ps"][1] = 6 * MS
    result = Result(scenario(), 1, plan(), ran, 0.1)
    assert result.metrics["finished"] == 2
    assert result.metrics["makespan_s"] == pytest.approx(49e-3)  # to the time limit
    assert result.flows["completion_time_s"].tolist() == pytest.approx([0.75e-3, 4e-3])
    assert np.isnan(result.flows["acknowledged_s"]).tolist() == [False, True]
    assert result.warnings == ()


def test_lost_datagrams_end_the_makespan_at_the_last_event() -> None:
    ran = columns([2 * MS, UNFINISHED], [9000, 18_000], statuses("finished", "lost"))
    result = Result(scenario(), 1, plan("datagram"), ran, 0.1)
    assert result.metrics["makespan_s"] == pytest.approx(20e-3)


def test_what_no_flow_reached_is_infinite_or_none() -> None:
    ran = columns([UNFINISHED] * 2, [0, 0], statuses("time-limit", "not-started"))
    summary = Result(scenario(), 1, plan(), ran, 0.1).metrics
    assert summary["throughput_bps"] == 0
    assert summary["unfinished"] == 2
    for key in ("completion_time_mean_s", "completion_time_p99_s", "slowdown_mean"):
        assert summary[key] == np.inf
    assert summary["conversions_per_delivered_bit"] is None


def test_tables_in_base_units() -> None:
    result = finished()
    assert result.flows["completion_time_s"].tolist() == pytest.approx([0.75e-3, 7.75e-3])
    assert result.flows["received_s"].tolist() == pytest.approx([1.75e-3, 9.75e-3])
    assert result.flows["acknowledged_s"].tolist() == pytest.approx([2e-3, 10e-3])
    assert result.flows["slowdown"].mean() == pytest.approx(result.metrics["slowdown_mean"])
    assert result.links["utilisation"].tolist() == pytest.approx([0.25, 0.0, 0.0, 0.5])
    assert result.links[["source", "target"]].iloc[3].tolist() == [2, 1]
    assert result.links["waiting_bytes"].tolist() == [9000, 0, 0, 0]
    switch = result.switches.iloc[0]
    assert switch["node"] == 2
    assert switch["loss"] == pytest.approx(0.25)
    assert switch["buffer_mean_bytes"] == pytest.approx(900.0)


LOSSY = {
    "loss": {"drops": [{"burst": 7}, {"segments": [20, 24], "flow": 1, "transmission": 2}]},
}


def with_bursts(units: list[int]) -> Result:
    """Edge 2 made eight bursts for edge 3 and sent five, of which three came, one of these late."""
    ran = columns([2 * MS, 10 * MS], [9000, 22_500], [0, 0])
    for name, values in (
        ("bursts", [8, 0]),
        ("burst_packets", [32, 0]),
        ("burst_bytes", [112_000, 0]),
        ("assembly_wait_ps", [8 * MS, 0]),
    ):
        ran["switches"][name] = column(values, "f8" if name.endswith("ps") else "u8")
    for name, values in ran["switches"].items():
        if name not in metrics.BURSTS:
            ran["switches"][name] = np.concatenate([values, np.zeros(1, values.dtype)])
    ran["switches"]["dropped_late_header"] = column([0, 1])
    for name, over_fibres in (("units", [5, 1]), ("lost", [2, 0])):
        ran["links"][name] = np.concatenate([ran["links"][name], column(over_fibres)])
    for name in ("bytes", "waiting_bytes", "busy_ps", "dropped"):
        ran["links"][name] = np.concatenate([ran["links"][name], column([0, 0])])
    ran["totals"] |= {"bursts_created": 9, "bursts_lost": 6, "bursts_delivered": 2}
    ran["drops"] = {"time_ps": column([MS, UNFINISHED]), "units": column(units)}
    alone = plan(switch="burst")
    links = {name: np.concatenate([ends, ends[-2:]]) for name, ends in alone.links.items()}
    links["from"], links["to"] = column([0, 1, 2, 3, 2, 3], "u4"), column([2, 3, 0, 1, 3, 2], "u4")
    made = replace(alone, links=links, settings={**alone.settings, "nodes": 4})
    return Result(scenario().with_(LOSSY), 7, made, ran, wall_s=0.25)


def test_losses_on_links_and_bursts_are_in_the_summary() -> None:
    result = with_bursts([1, 0])
    summary = result.summary
    # Three of those made found no fibre, two were lost on theirs and one behind its header there;
    # one went back. The packets that came from hosts have no part in it.
    assert summary["burst_loss_per_hop"] == (3 + 2 + 1) / (5 + 3 + 1)
    assert summary["loss_per_hop"] is None
    assert result.switches["loss"].tolist() == pytest.approx([3 / (5 + 3), 1 / (1 + 1)])
    # One of nine is still in flight, neither lost nor offered.
    assert (summary["bursts"], summary["burst_loss"]) == (9, 6 / (6 + 2))
    assert (summary["burst_mean_packets"], summary["burst_mean_bytes"]) == (4, 14_000)
    assert summary["assembly_mean_s"] == pytest.approx(8e-3 / 32)
    none = finished().summary
    assert (none["bursts"], none["drops_missed"]) == (0, 0)
    for key in (
        *("burst_loss", "burst_loss_per_hop", "burst_mean_packets", "burst_mean_bytes"),
        "assembly_mean_s",
    ):
        assert none[key] is None


def test_packets_that_links_lose_are_lost_on_a_hop() -> None:
    ran = finished().columns
    lossy = Result(
        scenario(),
        7,
        plan(),
        {**ran, "links": {**ran["links"], "lost": column([0, 3, 0, 0])}},
        wall_s=0.25,
    )
    # Three dropped of twelve that arrived, and three that never did.
    assert lossy.summary["loss_per_hop"] == (3 + 3) / (12 + 3)
    assert lossy.switches["loss"].tolist() == [3 / 12]


def test_tables_say_what_was_lost_and_assembled() -> None:
    result = with_bursts([1, 0])
    assert result.links["lost"].tolist() == [0, 0, 0, 0, 2, 0]
    edge, core = (row for _, row in result.switches.iterrows())
    assert (edge["bursts"], edge["burst_mean_packets"], edge["burst_mean_bytes"]) == (8, 4, 14_000)
    assert edge["assembly_mean_s"] == pytest.approx(8e-3 / 32)
    assert core["bursts"] == 0
    assert core[["burst_mean_packets", "burst_mean_bytes", "assembly_mean_s"]].isna().all()


def test_scripted_drops_that_never_came_are_warnings(tmp_path: Path) -> None:
    assert finished().warnings == ()
    (late,) = with_bursts([1, 2]).warnings
    assert with_bursts([1, 2]).metrics["drops_missed"] == 0
    result = with_bursts([0, 0])
    assert result.metrics["drops_missed"] == 2
    assert result.warnings == (
        late,
        "loss.drops[0] (flow = 0, burst = 7) never occurred",
        "loss.drops[1] (flow = 1, segments = [20, 24], transmission = 2) never occurred",
    )
    kept = json.loads((result.save(tmp_path / "out") / "run.json").read_text())
    assert kept["warnings"] == list(result.warnings)


def test_quantiles_are_those_of_numpy() -> None:
    values = np.random.default_rng(5).lognormal(size=1001)
    got = counts.quantiles(values, 0.5, 0.99)
    np.testing.assert_allclose(got, np.quantile(values, [0.5, 0.99]), rtol=1e-12)


@pytest.mark.parametrize(
    ("ran_in", "also"),
    [
        (lb.load(ROOT / "examples/hybrid.toml"), None),
        (two_groups(switching__extra_offset={"gold": "100 us"}), "classes"),
    ],
    ids=["hybrid", "classes"],
)
def test_the_digest_sees_every_column_of_the_core_but_not_the_engine(
    ran_in: lb.Scenario, also: str | None
) -> None:
    ran = lb.run(ran_in, seed=1).columns
    assert also is None or ran[also]
    # These follow from the plan, which has its own digest; also the links of dropped units.
    of_the_plan = {("flows", "path_links"), ("flows", "ideal_ps"), ("links", "dropped")}
    if "classes" in ran:
        of_the_plan.add(("classes", "bursts_delivered"))
    tables = ran.keys() - {"totals"}
    columns = {(table, name) for table in tables for name in ran[table]}
    assert of_the_plan < columns
    seen = {metrics.digest(ran)}
    for table, name in columns - of_the_plan:
        column = ran[table][name]
        # A run without scripted drops has an empty table of them.
        other = column + 1 if column.size else np.ones(1, column.dtype)
        seen.add(metrics.digest({**ran, table: {**ran[table], name: other}}))
    assert len(seen) == 1 + len(columns - of_the_plan)
    events = {**ran, "totals": {**ran["totals"], "events": 1}}
    assert metrics.digest(events) == metrics.digest(ran)


@pytest.mark.parametrize("table", ["flows", "links", "switches", "drops"])
def test_a_later_column_is_in_the_digest_where_something_was_counted(table: str) -> None:
    ran = finished().columns
    digests = [
        metrics.digest({**ran, table: {**ran[table], "later": np.array(values, np.uint64)}})
        for values in ([0, 0], [0, 1], [1, 0])
    ]
    assert digests[0] == finished().digest
    assert len(set(digests)) == 3


def test_a_later_column_of_switches_is_in_their_table() -> None:
    ran = finished().columns
    made = {"later": column([3]), "later_wait_ps": column([5 * MS]), "dropped_later": column([2])}
    later = Result(
        scenario(), 7, plan(), {**ran, "switches": {**ran["switches"], **made}}, wall_s=0.25
    )
    before, row = finished().switches.iloc[0], later.switches.iloc[0]
    assert (row["later"], row["later_wait_s"], row["dropped_later"]) == (3, 5e-3, 2)
    assert later.summary["loss_per_hop"] == pytest.approx(
        5 / 3 * finished().summary["loss_per_hop"]
    )
    assert row["loss"] == pytest.approx(5 / 3 * before["loss"])
    assert set(before.index) < set(row.index)


def test_save_writes_what_can_be_read_again(tmp_path: Path) -> None:
    result = finished()
    target = result.save(tmp_path / "deep" / "out")
    for name in ("flows", "links", "switches"):
        read = pd.read_parquet(target / f"{name}.parquet")
        pd.testing.assert_frame_equal(read, getattr(result, name))
    kept = json.loads((target / "run.json").read_text())
    assert kept["seed"] == 7
    assert kept["summary"] == dict(result.metrics)
    assert kept["provenance"]["seed"] == 7
    assert kept["provenance"]["digest"] == result.digest
    assert re.fullmatch(r"[0-9a-f]{40}(-dirty)?", kept["provenance"]["commit"] or "0" * 40)
    assert kept["provenance"]["plan_digest"] == result.plan.digest()
    again = Scenario.from_dict(kept["provenance"]["scenario"])
    assert again.canonical_json() == result.scenario.canonical_json()


def test_save_replaces_an_earlier_result_and_nothing_else(tmp_path: Path) -> None:
    finished().save(tmp_path / "out")
    ran = columns([3 * MS, 9 * MS], [9000, 22_500], [0, 0])
    Result(scenario(), 8, plan(), ran, 0.1).save(tmp_path / "out")
    assert json.loads((tmp_path / "out" / "run.json").read_text())["provenance"]["seed"] == 8
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]
    (tmp_path / "out" / "thesis.tex").write_text("precious")
    with pytest.raises(InputError, match="--out"):
        finished().save(tmp_path / "out")
    assert (tmp_path / "out" / "thesis.tex").exists()


def test_save_where_it_cannot_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for target in (tmp_path / "file", tmp_path / "file" / "out"):
        with pytest.raises(InputError, match="--out"):
            finished().save(target)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_result_introduces_itself() -> None:
    assert repr(finished()) == ("<Result of 'by hand', seed 7: 0.028 Gb/s, 2 of 2 flows finished>")
