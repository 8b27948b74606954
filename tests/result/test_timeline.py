"""Timelines of collectives and schedules: bars at known times, their bounds, and the picture."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lightburst as lb
from lightburst.foundation.errors import InputError
from lightburst.plots.charts import timeline as drawn
from lightburst.report.saved import write_page
from lightburst.result.waits import timeline

EXAMPLES = Path(__file__).parents[2] / "examples"
MOST = timeline.MOST_HOSTS, timeline.MOST_BARS

TWO_RANKS = """num_ranks 2
rank 0 {
c: calc 100000
s: send 9000b to 1 tag 0
s requires c
}
rank 1 {
c: calc 5000
r: recv 9000b from 0 tag 0
d: calc 70000
d requires r
}
"""


@cache
def ring(k: int = 4, **changes: Any) -> lb.Result:
    """Two steps of an all-reduce in two groups of eight ranks, with computation between."""
    keys = {"workload__ranks": 8, "workload__steps": 2} | changes
    return lb.run(lb.load(EXAMPLES / "all-reduce.toml").with_(topology__k=k, **keys), seed=1)


@pytest.fixture
def schedule(tmp_path: Path) -> lb.Result:
    """A message of one packet between two ranks that compute."""
    file = tmp_path / "two.goal"
    file.write_text(TWO_RANKS)
    return lb.run(lb.load(EXAMPLES / "goal.toml").with_(workload__file=str(file)), seed=1)


def bars(table: pd.DataFrame, *what: str) -> list[tuple[Any, ...]]:
    """Host, kind, begin and end in whole nanoseconds."""
    rows = table[table["what"].isin(what)]
    times = (1e9 * rows[["start_s", "end_s"]]).round().astype(int).to_numpy().tolist()
    return [
        (host, kind, *time)
        for host, kind, time in zip(rows["host"], rows["what"], times, strict=True)
    ]


def test_the_bars_of_a_schedule_are_at_known_times(schedule: lb.Result) -> None:
    """Work to send and to receive takes 1.5 us; the message leaves when that to send is over."""
    table = schedule.timeline()
    assert bars(table, "calc", "send")[:2] == [
        (0, "calc", 0, 100_000),
        (0, "send", 100_000, 101_500),
    ]
    arrives = round(1e9 * float(schedule.flows["received_s"].iloc[0]))
    assert bars(table, "sent", "received") == [
        (0, "sent", 101_500, arrives),
        (1, "received", 101_500, arrives),
    ]
    assert bars(table, "calc", "recv")[1:] == [
        (1, "calc", 0, 5_000),
        (1, "recv", arrives, arrives + 1_500),
        (1, "calc", arrives + 1_500, arrives + 71_500),
    ]
    on_path = table[table["on_path"]]
    assert bars(on_path, *timeline.WHAT) == [
        row for row in bars(table, *timeline.WHAT) if row != (1, "calc", 0, 5_000)
    ]
    assert table["size_bytes"].tolist() == [9_000 * (flow >= 0) for flow in table["flow"]]


def test_messages_are_at_both_ends_and_computations_between_the_steps() -> None:
    result = ring()
    table, flows = result.timeline(), result.flows
    assert table.attrs["shown"] == "all hosts and all bars"
    for what, here, there in (
        ("sent", "source", "destination"),
        ("received", "destination", "source"),
    ):
        own = table[table["what"] == what].sort_values("flow")
        assert own["host"].tolist() == flows[here].tolist()
        assert own["peer"].tolist() == flows[there].astype(str).tolist()
        assert own["start_s"].tolist() == flows["start_s"].tolist()
        assert own["end_s"].tolist() == flows["received_s"].tolist()
    calc = table[table["what"] == "calc"]
    assert calc["host"].tolist() == list(range(16))
    assert (calc["end_s"] - calc["start_s"]).tolist() == pytest.approx([200e-6] * 16, rel=1e-9)
    # Each begins when the last message of step 0 has come.
    came = (
        table[(table["what"] == "received") & (table["step"] == 0)].groupby("host")["end_s"].max()
    )
    assert calc["start_s"].tolist() == pytest.approx(came.tolist(), rel=1e-12)


def test_the_path_that_is_marked_is_the_critical_path() -> None:
    result = ring()
    for step in ("slowest", 0):
        table, path = result.timeline(step), result.critical_path(step)
        marked = table[table["on_path"] & (table["what"] == "sent")].sort_values("start_s")
        assert marked["flow"].tolist() == path["flow"].tolist()
    # The computation before its first message, of the second step alone.
    computed = result.timeline(1)
    computed = computed[computed["on_path"] & (computed["what"] == "calc")]
    first = result.critical_path(1).iloc[0]
    assert computed["host"].tolist() == [first["source"]]
    assert computed["end_s"].tolist() == [first["start_s"]]
    assert not (result.timeline(0)["on_path"] & (result.timeline(0)["what"] == "calc")).any()


def test_a_large_run_is_shown_in_part() -> None:
    """128 hosts in eight groups: the slowest step, of its group."""
    result = ring(8, workload__ranks=16)
    table, path = result.timeline(), result.critical_path()
    step, group = path.attrs["step"], path.attrs["group"]
    assert table.attrs["shown"] == f"step {step} of 0 to 1; group {group} of 0 to 7"
    messages = table[table["flow"] >= 0]
    assert set(messages["step"]) == {step}
    assert set(messages["group"]) == {group}
    assert table["host"].nunique() == 16
    assert set(path["flow"]) <= set(messages["flow"])


def test_hosts_and_bars_have_bounds() -> None:
    """Of 128 hosts in one group those last on the path; of many bars the longest."""
    result = ring(8, workload__ranks=128, workload__steps=1, workload__size="1 MB")
    table, path = result.timeline(), result.critical_path()
    assert table["host"].nunique() == MOST[0]
    assert len(table) == MOST[1]
    of_hosts, of_bars = table.attrs["shown"].split("; ")
    assert of_hosts == "32 of 128 hosts, those last on the critical path first"
    assert of_bars.startswith("3,000 of ")
    last = path.iloc[-15:]
    assert set(last["source"]) | set(last["destination"]) <= set(table["host"])
    shown = path[path["source"].isin(table["host"])]
    assert set(shown["flow"]) <= set(table["flow"])
    others = timeline.bars(result.plan, result.columns, np.arange(len(result.flows)))
    others = others.of(np.isin(others.host, table["host"]) & ~np.isin(others.flow, table["flow"]))
    shortest = (table["end_s"] - table["start_s"])[~table["on_path"]].min()
    assert (others.end - others.start).max() * 1e-12 <= shortest * (1 + 1e-9)


def test_bars_of_one_band_lie_beside_each_other_and_the_path_is_one_line(
    schedule: lb.Result,
) -> None:
    found = drawn.prepared(ring().timeline())
    for _, lane in found.sort_values("start_s").groupby(["host", "low"]):
        ends = lane[["start_s", "end_s"]].to_numpy()
        assert (ends[1:, 0] >= ends[:-1, 1]).all()
    assert (found["low"] >= found["host"]).all()
    assert (found["high"] <= found["host"] + 1).all()
    # Host 0: work at the top, the message below; host 1: the message at the bottom.
    corners = drawn.path(drawn.prepared(schedule.timeline()))
    arrives = 1e6 * float(schedule.flows["received_s"].iloc[0])
    times = [
        0,
        100,
        100,
        101.5,
        101.5,
        arrives,
        arrives,
        arrives + 1.5,
        arrives + 1.5,
        arrives + 71.5,
    ]
    assert corners["time"].tolist() == pytest.approx(times)
    heights = corners["y"].to_numpy()
    assert (heights[:6] < [0.35] * 4 + [0.65, 1.95]).all()
    assert heights[4] > 0.35
    assert heights[5] > 1.65
    assert (np.abs(heights[6:] - heights[6]) < 1e-9).all()


def test_colours_are_those_of_groups_or_steps() -> None:
    kinds = drawn.prepared(ring().timeline())["kind"]
    assert set(kinds) == {"group 0", "group 1", "computation"}
    kinds = drawn.prepared(ring(workload__groups=1).timeline())["kind"]
    assert set(kinds) == {"step 0", "step 1", "computation"}
    kinds = drawn.prepared(ring(workload__groups=1, workload__steps=9).timeline())["kind"]
    assert set(kinds) == {*(f"step {n}" for n in range(6)), "other steps", "computation"}


def test_the_page_of_a_run_has_a_timeline_that_zooms(tmp_path: Path) -> None:
    result = ring()
    result.save(tmp_path / "run")
    page = write_page(tmp_path / "run").read_text(encoding="utf-8")
    assert 'id="timeline"' in page
    chart = json.dumps(drawn.chart(drawn.prepared(result.timeline())))
    assert '"bind": "scales"' in chart
    assert len(chart) < 300 * len(result.timeline())
    assert "Shown: all hosts and all bars." in page


def test_others_have_no_timeline() -> None:
    result = lb.run(lb.load(EXAMPLES / "electronic.toml").with_(workload__flows=20), seed=1)
    with pytest.raises(InputError, match=r"workload.kind: given .*'collective' or 'goal'"):
        result.timeline()
    with pytest.raises(InputError, match="step: given 7"):
        lb.plot.timeline(ring(), step=7)
