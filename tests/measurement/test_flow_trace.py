"""Traces as tables, from columns that are known."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lightburst import _core
from lightburst.compile import compile_plan
from lightburst.foundation.errors import InputError
from lightburst.measurement import flow_trace, trace_tables
from lightburst.measurement.places import Places
from lightburst.result.result import Result
from lightburst.scenario import Scenario

NONE, NOWHERE = 2**64 - 1, 2**32 - 1
MS = 10**9  # picoseconds
REASONS = _core.registry()["drop_reasons"]
SCRIPTED = REASONS.index("scripted")

# time in ms, event, packet, flags, sequence, acknowledgement, payload, again, burst, reason, blocks
ROWS = [
    (0, 0, 1, 8 + 1, 0, 0, 0, 0, NONE, 255, 0),
    (1, 1, 1, 8 + 1, 0, 0, 0, 0, NONE, 255, 0),
    (2, 0, 7, 8 + 2, 1000, 0, 500, 1, NONE, 255, 0),
    (3, 2, 7, 8 + 2, 1000, 0, 500, 1, 42, SCRIPTED, 0),
    (4, 0, 8, 2, 0, 1000, 0, 0, NONE, 255, 2),
    (5, 0, 9, 4 + 2, 0, 2000, 0, 0, NONE, 255, 0),
]


def segments() -> dict[str, np.ndarray[tuple[int], np.dtype[np.generic]]]:
    columns = [np.array(values, "u8") for values in zip(*ROWS, strict=True)]
    time, event, packet, flags, sequence, acknowledgement, payload, again, burst = columns[:9]
    edges = {f"block_{end}_{i}": np.zeros(6, "u8") for i in range(4) for end in ("start", "end")}
    edges["block_start_1"][4], edges["block_end_1"][4] = 3000, 4000
    stamps = np.full((2, 6), NONE, "u8")
    stamps[:, 2] = 2 * MS, 1 * MS
    return {
        "time_ps": time * np.uint64(MS),
        "flow": np.full(6, 3, "u4"),
        "event": event.astype("u1"),
        "packet": packet,
        "flags": flags.astype("u1"),
        "sequence": sequence,
        "acknowledgement": acknowledgement,
        "payload": payload.astype("u4"),
        "retransmission": again.astype("u1"),
        "burst": burst,
        "node": np.array([0, 7, 0, 6, 7, 7], "u4"),
        "link": np.array([0, NOWHERE, 0, 2, 3, 3], "u4"),
        "holder_flow": np.array([NOWHERE] * 3 + [9] + [NOWHERE] * 2, "u4"),
        "holder_burst": np.array([NONE] * 3 + [40] + [NONE] * 2, "u8"),
        "reason": columns[9].astype("u1"),
        "blocks": columns[10].astype("u1"),
        **edges,
        "timestamp_ps": stamps[0],
        "echo_ps": stamps[1],
    }


WINDOWS = {
    "time_ps": np.array([1 * MS, 2 * MS], "u8"),
    "flow": np.array([3, 3], "u4"),
    "congestion_window": np.array([10_000.0, 1000.0]),
    "inflation": np.array([0.0, 3000.0]),
    "slow_start_threshold": np.array([np.inf, 5000.0]),
    "in_flight": np.array([2000, 1000], "u8"),
    "rtt_ps": np.array([NONE, 100 * MS], "u8"),
    "rto_ps": np.array([1000 * MS, 200 * MS], "u8"),
    "state": np.array([0, 3], "u1"),
    "pacing": np.array([0, 1_000_000], "u8"),
    "reordering_window_ps": np.array([NONE, 25 * MS], "u8"),
    "undone": np.array([0, 1], "u4"),
}
BURSTS = {
    "opened_ps": np.array([1 * MS, 2 * MS], "u8"),
    "closed_ps": np.array([2 * MS, 3 * MS], "u8"),
    "departure_ps": np.array([3 * MS, NONE], "u8"),
    "number": np.array([41, 42], "u8"),
    "node": np.array([2, 5], "u4"),
    "of_node": np.array([9, 1], "u4"),
    "egress": np.array([6, 6], "u4"),
    "label": np.array([0, 1], "u1"),
    "packets": np.array([1, 4], "u4"),
    "bytes": np.array([64, 4000], "u8"),
    "data": np.array([0, 1], "u1"),
    "arrival_ps": np.array([5 * MS, NONE], "u8"),
    "lost": np.array([0, 1], "u1"),
    "reason": np.array([255, SCRIPTED], "u1"),
    "lost_node": np.array([NOWHERE, 6], "u4"),
    "lost_link": np.array([NOWHERE, 2], "u4"),
    "lost_ps": np.array([NONE, 4 * MS], "u8"),
    "lost_start_ps": np.array([NONE, 6 * MS], "u8"),
    "holder_burst": np.array([NONE, 41], "u8"),
}
BOOKINGS = {
    "link": np.array([1, 2], "u4"),
    "channel": np.array([3, 0], "u2"),
    "start_ps": np.array([1 * MS, 2 * MS], "u8"),
    "end_ps": np.array([2 * MS, 4 * MS], "u8"),
    "made_ps": np.array([0, 1 * MS], "u8"),
    "burst": np.array([41, 42], "u8"),
    "bytes": np.array([64, 3000], "u4"),
}
CUTS = {
    "time_ps": np.array([4 * MS, 5 * MS], "u8"),
    "burst": np.array([42, 41], "u8"),
    "link": np.array([2, 1], "u4"),
    "start_ps": np.array([2 * MS, 1 * MS], "u8"),
    "packets": np.array([2, 1], "u4"),
    "bytes": np.array([3000, 64], "u4"),
    "holder_burst": np.array([41, NONE], "u8"),
}
HOPS = {
    "came_ps": np.array([1 * MS, 3 * MS], "u8"),
    "flow": np.array([3, 3], "u4"),
    "packet": np.array([1, 1], "u8"),
    "burst": np.array([NONE, 42], "u8"),
    "node": np.array([0, 6], "u4"),
    "link": np.array([0, 2], "u4"),
    "held_ps": np.array([0, 5 * MS], "u8"),
    "queued_ps": np.array([1 * MS, 0], "u8"),
    "start_ps": np.array([2 * MS, 8 * MS], "u8"),
    "arrival_ps": np.array([3 * MS, NONE], "u8"),
}
PATH_SWITCHES = {
    "time_ps": np.array([500 * 1_000 * 10**6], "u8"),
    "node": np.array([2], "u4"),
    "egress": np.array([3], "u4"),
    "before": np.array([0], "u1"),
    "label": np.array([1], "u1"),
}
# Hosts 0 and 7, and the switches 5 and 6 between them.
PLACES = Places(np.array([0, 5, 6, 7], "u4"), np.array([5, 6, 7, 6], "u4"))


def test_segments() -> None:
    table = trace_tables.segments(segments(), PLACES)
    assert table["time_s"].tolist() == pytest.approx([0, 1e-3, 2e-3, 3e-3, 4e-3, 5e-3])
    assert table["event"].tolist() == ["sent", "arrived", "sent", "lost", "sent", "sent"]
    assert table["from_source"].tolist() == [True] * 4 + [False] * 2
    for flag, rows in (("syn", {0, 1}), ("ack", {2, 3, 4, 5}), ("fin", {5})):
        assert set(np.flatnonzero(table[flag])) == rows
    lost = table.iloc[3]
    assert (lost["packet"], lost["burst"], lost["reason"]) == (7, 42, "scripted")
    assert (lost["sequence"], lost["payload_bytes"], lost["retransmission"]) == (1000, 500, True)
    assert (lost["node"], lost["link"]) == (6, 2)
    assert (lost["link_source"], lost["link_target"]) == (6, 7)
    assert (lost["holder_flow"], lost["holder_burst"]) == (9, 40)
    assert table["link"].isna().tolist() == [False, True] + [False] * 4
    assert table["link_target"].isna().tolist() == [False, True] + [False] * 4
    assert table["holder_flow"].isna().sum() == table["holder_burst"].isna().sum() == 5
    assert table["burst"].isna().sum() == table["reason"].isna().sum() == 5
    assert table["block_end_1"].tolist()[4] == 4000
    assert table["block_start_1"].isna().tolist() == [True] * 4 + [False, True]
    assert table["block_start_2"].isna().all()
    assert table["timestamp_s"].tolist()[2] == pytest.approx(2e-3)
    assert table["echo_s"].isna().tolist() == [True, True, False, True, True, True]


def test_windows() -> None:
    table = trace_tables.windows(WINDOWS)
    assert table["state"].tolist() == ["slow start", "loss"]
    assert table["slow_start_threshold_bytes"].tolist() == [np.inf, 5000]
    assert table["rtt_s"].isna().tolist() == [True, False]
    assert table["rto_s"].tolist() == pytest.approx([1.0, 0.2])
    assert table["congestion_window_bytes"].tolist() == [10_000, 1000]
    assert table["inflation_bytes"].tolist() == [0, 3000]


def test_bursts() -> None:
    table = trace_tables.bursts(BURSTS, PLACES)
    assert table["departure_s"].isna().tolist() == [False, True]
    assert table["data"].tolist() == table["lost"].tolist() == [False, True]
    assert table["reason"].isna().tolist() == [True, False]
    assert table["node"].tolist() == [2, 5]
    assert table["lost_node"].isna().tolist() == table["lost_link"].isna().tolist() == [True, False]
    lost = table.iloc[1][["lost_node", "lost_link", "lost_link_source", "lost_link_target"]]
    assert lost.tolist() == [6, 2, 6, 7]
    assert table["arrival_s"].tolist() == pytest.approx([5e-3, np.nan], nan_ok=True)
    assert table["lost_start_s"].tolist() == pytest.approx([np.nan, 6e-3], nan_ok=True)
    assert table["holder_burst"].tolist() == [pd.NA, 41]


def test_bookings() -> None:
    table = trace_tables.bookings(BOOKINGS, PLACES)
    assert table[["link", "link_source", "link_target", "channel"]].to_numpy().tolist() == [
        [1, 5, 6, 3],
        [2, 6, 7, 0],
    ]
    assert table["end_s"].tolist() == pytest.approx([2e-3, 4e-3])
    # If each wavelength is a separate link, its number is the channel.
    alone = PLACES._replace(wavelength=np.array([0, 0, 1, 0], "u2"))
    assert trace_tables.bookings({**BOOKINGS}, alone)["channel"].tolist() == [3, 1]


def test_cuts() -> None:
    table = trace_tables.cuts(CUTS, PLACES)
    assert table[["link", "link_source", "link_target"]].to_numpy().tolist() == [
        [2, 6, 7],
        [1, 5, 6],
    ]
    assert table["time_s"].tolist() == pytest.approx([4e-3, 5e-3])
    assert table["start_s"].tolist() == pytest.approx([2e-3, 1e-3])
    assert table["holder_burst"].tolist() == [41, pd.NA]


def test_hops() -> None:
    table = trace_tables.hops(HOPS, PLACES)
    assert table["burst"].tolist() == [pd.NA, 42]
    assert table[["node", "link_source", "link_target"]].to_numpy().tolist() == [
        [0, 0, 5],
        [6, 6, 7],
    ]
    assert table["held_s"].tolist() == pytest.approx([0, 5e-3])
    assert table["queued_s"].tolist() == pytest.approx([1e-3, 0])
    assert table["start_s"].tolist() == pytest.approx([2e-3, 8e-3])
    assert table["arrival_s"].isna().tolist() == [False, True]


def test_a_result_has_a_trace_if_it_was_asked_for(tmp_path: Path) -> None:
    values = {
        "topology": {"kind": "obs-path"},
        "switching": {"kind": "burst", "assembly": {"kind": "timer", "time": "1 ms"}},
        "transport": {"kind": "tcp"},
        "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "1 MB"}},
        "measurement": {"trace": [0]},
    }
    scenario = Scenario.from_dict(values)
    columns = {
        "trace_segments": segments(),
        "trace_windows": WINDOWS,
        "trace_bursts": BURSTS,
        "trace_hops": HOPS,
        "trace_path_switches": PATH_SWITCHES,
    }
    plan = compile_plan(scenario, 1)
    trace = Result(scenario, 1, plan, columns, 0.1).trace
    counted = "6 rows of segments, 2 rows of windows, 2 rows of bursts, 2 rows of hops"
    counted += ", 1 rows of path_switches"
    assert repr(trace) == f"<Trace: {counted}>"
    assert trace is not None
    assert trace.segments is trace.segments
    pd.testing.assert_frame_equal(trace.windows, trace_tables.windows(WINDOWS))
    places = Places(plan.links["from"], plan.links["to"])
    pd.testing.assert_frame_equal(trace.bursts, trace_tables.bursts(BURSTS, places))
    pd.testing.assert_frame_equal(trace.hops, trace_tables.hops(HOPS, places))
    switches = trace_tables.path_switches(PATH_SWITCHES, places)
    pd.testing.assert_frame_equal(trace.path_switches, switches)
    assert switches.to_dict("records") == [
        {"time_s": 0.5, "node": 2, "egress": 3, "before": 0, "label": 1}
    ]
    assert trace.tables == flow_trace.TABLES
    with pytest.raises(InputError, match=r"^measurement\.network: given nothing"):
        _ = trace.bookings
    of_links = {"trace_bookings": BOOKINGS, "trace_cuts": CUTS}
    kept = Result(scenario, 1, plan, {**columns, **of_links}, 0.1).trace
    pd.testing.assert_frame_equal(kept.bookings, trace_tables.bookings(BOOKINGS, places))
    pd.testing.assert_frame_equal(kept.cuts, trace_tables.cuts(CUTS, places))
    without = scenario.with_({"measurement.trace": []})
    with pytest.raises(InputError, match=r"^measurement\.trace: given nothing"):
        _ = Result(without, 1, plan, {}, 0.1).trace
    table = trace.segments
    table.to_parquet(tmp_path / "segments.parquet", index=False)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "segments.parquet"), table)
    assert json.loads(json.dumps(without.to_dict()["measurement"]["trace"])) == []
