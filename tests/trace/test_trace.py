"""Series of a trace, its pictures, and ``lightburst trace``."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text

import lightburst as lb
from lightburst.cli import main
from lightburst.plots.charts import traces as plots
from lightburst.trace import FlowTrace, series
from lightburst.trace.flow import ARRIVED, FIN, FORWARD, LOST, SENT, SYN
from traces import SECOND, Log, trace

ROOT = Path(__file__).resolve().parents[2]
MS = 1e-3
SCENARIO = """
name = "lossy"
[topology]
kind = "obs-path"
access_rate = "100 Mb/s"
[switching]
kind = "burst"
assembly = { kind = "timer", time = "1 ms" }
[loss]
drops = [{ burst = 12 }, { segments = [400, 404] }]
[transport]
kind = "tcp"
segment_size = "1500 B"
header_size = "40 B"
[workload]
kind = "pairs"
size = { kind = "constant", value = "1 MB" }
"""
PICTURES = ("time-sequence", "windows", "rates", "packets")
FILES = {
    "trace.json", "trace.pcapng", "trace_segments.parquet", "trace_windows.parquet",
    "trace_bursts.parquet", "trace_hops.parquet", "SHA256SUMS",
    *(f"{stem}.{end}" for stem in PICTURES for end in ("png", "svg"))
}  # fmt: skip


def test_what_was_sent_and_when_its_burst_left() -> None:
    sent = series.sends(trace())
    assert sent["segment"].tolist() == [0, 1, 2, 3, 4, 5, 6, 1, 3, 7, 3, 4]
    assert sent["again"].tolist() == [False] * 7 + [True, True, False, True, True]
    assert sent["lost"].tolist() == [n in {1, 3, 8} for n in range(12)]
    assert sent["time_s"].tolist()[7:] == pytest.approx([46 * MS, 47 * MS, 48 * MS, 0.3, 0.301])
    # Ten milliseconds later they are at the edge, and join the bursts 2, 5 and 6.
    assert sent["departure_s"].tolist() == pytest.approx(
        [33 * MS] * 7 + [59 * MS] * 3 + [0.312] * 2
    )


def test_a_packet_whose_burst_never_left_has_no_departure() -> None:
    whole = trace()
    whole.bursts["departure_ps"][-1] = 2**64 - 1
    assert series.sends(whole)["departure_s"].isna().tolist() == [False] * 10 + [True] * 2
    missing = {name: values[:-1] for name, values in whole.bursts.items()}
    again = trace(bursts=missing)
    assert series.sends(again)["departure_s"].isna().tolist() == [False] * 10 + [True] * 2
    assert len(series.packet_trace(again)) == 10
    later = {name: values[2:] for name, values in whole.bursts.items()}
    assert series.sends(trace(bursts=later))["departure_s"].isna().tolist()[:7] == [True] * 7


def test_without_bursts_a_packet_leaves_when_it_is_sent() -> None:
    none = {name: values[:0] for name, values in trace().bursts.items()}
    sent = series.sends(trace(bursts=none))
    assert sent["departure_s"].equals(sent["time_s"])


def test_the_packets_modulo_something() -> None:
    rows = series.packet_trace(trace(), modulo=3)
    assert rows["packet"].tolist() == [0, 1, 2, 0, 1, 2, 0, 1, 0, 1, 0, 1]
    kinds = ["sent", "lost", "sent", "lost", "sent", "sent", "sent", "sent again", "lost", "sent",
             "sent again", "sent again"]  # fmt: skip
    assert rows["kind"].tolist() == kinds


def test_what_was_acknowledged() -> None:
    heard = series.acknowledgements(trace())
    assert heard["segment"].tolist() == [1, 1, 1, 1, 1, 3, 3, 7.5, 7.5, 7.5]
    assert heard["time_s"].iloc[0] == pytest.approx(42 * MS)
    blocks = series.sack_blocks(trace())
    first = blocks[blocks["time_s"] < 44.5 * MS].sort_values(["time_s", "first"])
    assert first[["first", "end"]].to_numpy().tolist() == [[2, 3], [2, 3], [4, 5]]
    assert blocks["duplicate"].sum() == 1
    assert blocks[blocks["duplicate"]].iloc[0].tolist()[1:3] == [4, 5]


def test_a_duplicate_above_the_acknowledgement_is_told_from_what_is_held() -> None:
    log = Log()
    log.packet(0, 2, acknowledgement=1000, blocks=((4000, 5000), (3000, 6000)))
    log.packet(1, 2, acknowledgement=1000, blocks=((7000, 8000), (3000, 6000)))
    blocks = series.sack_blocks(trace(log))
    assert blocks[blocks["duplicate"]]["first"].tolist() == [4]
    assert series.sack_blocks(trace(Log())).empty


def test_timeouts_are_where_nothing_came() -> None:
    assert series.timeouts_s(trace()).tolist() == [0.3]


def test_a_closer_look_is_at_the_first_loss() -> None:
    begin, end = series.close_up(trace())
    trip, lost = 21 * MS, 21.1 * MS  # the first value is in the windows, the second in the log
    assert begin == pytest.approx(lost - 2 * trip)
    assert end == pytest.approx(0.3 + 3 * trip)
    slow = Log()
    for at, burst in ((0, 1), (SECOND, None)):
        slow.data(at, 0, burst=burst)
    assert series.close_up(trace(slow)) == pytest.approx((-2 * trip, 22 * trip))
    begin, end = series.close_up(trace(windows={"rtt_ps": np.array([], "u8")}))
    assert begin < lost < end
    calm = Log()
    calm.data(SECOND, 0)
    # Its data arrives 10 ms later, and no more comes.
    assert series.close_up(trace(calm)) == pytest.approx((1.0, 1.01))
    calm.data(2 * SECOND, 1)
    assert series.close_up(trace(calm)) == pytest.approx((1.0, 1.0 + 8 * trip))
    assert series.close_up(trace(Log())) == (0.0, 1.0)


def test_counts() -> None:
    found = series.summary(trace())
    assert found == {
        "flow": 3, "source": 0, "destination": 300, "size_bytes": 7500, "segments": 12,
        "retransmissions": 4, "acknowledgements": 10, "losses": {"scripted": 3}, "trimmed": 0,
        "returned": 0, "bursts": 3, "bursts_lost": 2,
    }  # fmt: skip


def real(**changes: Any) -> tuple[lb.Result, FlowTrace]:
    base = {
        "topology": {"kind": "obs-path", "access_rate": "200 Mb/s", "host_pairs": 2},
        "switching": {"kind": "burst", "assembly": {"kind": "timer", "time": "1 ms"}},
        "loss": {"probability": 0.05, "acknowledgement_probability": 0.02},
        "transport": {"kind": "tcp", "segment_size": "1500 B", "header_size": "40 B"},
        "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "1 MB"}},
        "measurement": {"trace": [0, 1]},
    }
    result = lb.run(lb.Scenario.from_dict(base).with_(changes), seed=5)
    return result, FlowTrace.of(result, max(result.scenario.measurement.trace))


@pytest.mark.parametrize(
    "assembly",
    [
        {"kind": "timer", "time": "1 ms"},
        {"kind": "size", "size": "6 kB"},
        {"kind": "mixed", "time": "2 ms", "size": "20 kB"},
    ],
    ids=lambda assembly: str(assembly["kind"]),
)
def test_the_burst_that_is_found_is_the_one_that_was_lost(assembly: dict[str, str]) -> None:
    # A SYN would wait for a burst that is large enough.
    changes = {"switching.assembly": assembly, "switching.assemble_acknowledgements": False}
    with warnings.catch_warnings():
        # With bursts of one size the last may never fill.
        warnings.simplefilter("ignore", lb.RunWarning)
        _, found = real(**changes, **{"topology.host_pairs": 1, "measurement.trace": [0]})
    table, bursts = found.segments, found.bursts
    lost = (table["event"] == LOST) & (table["flags"] & FORWARD > 0) & (table["payload"] > 0)
    departure = dict(zip(bursts["number"].tolist(), bursts["departure_ps"].tolist(), strict=True))
    order = np.argsort(table["packet"][lost])
    expected = [departure[number] * 1e-12 for number in table["burst"][lost][order].tolist()]
    sent = series.sends(found)
    assert len(expected) > 5
    assert sent["departure_s"][sent["lost"]].tolist() == pytest.approx(expected, rel=1e-14)
    unsaid = {**table, "burst": np.full_like(table["burst"], 2**64 - 1)}
    again = series.sends(replace(found, segments=unsaid))
    pd.testing.assert_frame_equal(again, sent)


def test_the_burst_that_the_trace_names_is_taken_before_any_other() -> None:
    whole = trace()
    whole.segments["burst"][whole.segments["burst"] == 2] = 5
    departures = series.sends(whole)["departure_s"].tolist()[:4]
    assert departures == pytest.approx([33 * MS, 59 * MS, 33 * MS, 59 * MS])


@pytest.mark.parametrize("kind", ["tcp", "saw"])
def test_counts_are_those_of_the_result(kind: str) -> None:
    result, found = real(**{"transport.kind": kind, "loss.probability": 0.2})
    row, table, counted = result.flows.iloc[1], found.segments, series.summary(found)
    assert counted["segments"] == row["transmissions"]
    assert counted["retransmissions"] == row["retransmissions"] > 5
    assert sum(counted["losses"].values()) == row["drops"] > 5
    # Each SYN and FIN without data after the first one was sent when the timer had expired.
    others = sum(
        max(int(((table["flags"] == flag | FORWARD) & (table["event"] == SENT)).sum()) - 1, 0)
        for flag in (SYN, FIN)
    )
    assert series.timeouts_s(found).size == row["timeouts"] - others > 0
    last = series.acknowledgements(found)["segment"].max()
    assert last * found.payload_bytes == row["delivered_bytes"] == 1_000_000
    assert counted["bursts"] == int((found.bursts["data"] > 0).sum()) > 20


def test_each_packet_arrives_once_or_is_lost_once() -> None:
    _, found = real()
    table = found.segments
    ended = table["packet"][(table["event"] == ARRIVED) | (table["event"] == LOST)]
    assert len(np.unique(ended)) == len(ended)
    with pytest.raises(KeyError, match="flow 2 was not traced"):
        FlowTrace.of(real()[0], 2)


def test_pictures_show_what_there_is_and_say_what_it_is(tmp_path: Path) -> None:
    drawn = plots.pictures(trace(), "Where it comes from.", modulo=7)
    assert tuple(drawn) == PICTURES
    for canvas in drawn.values():
        words = " ".join(text.get_text() for text in cast(list[Text], canvas.findobj(Text)))
        assert "Where it comes from." in words.replace("\n", " ")
        assert canvas.axes[-1].get_xlabel() == "Time (s)"
        assert all(axes.get_ylabel() for axes in canvas.axes)
        assert canvas.findobj(Legend)
    whole = drawn["time-sequence"].axes[0]
    dots = {line.get_marker(): len(line.get_xdata()) for line in whole.lines}  # type: ignore[arg-type]
    assert (dots["."], dots["^"], dots["x"]) == (8, 4, 3)
    flight, window, threshold = drawn["windows"].axes[0].lines
    assert np.max(window.get_ydata()) == pytest.approx(4.322)  # segments
    assert np.max(flight.get_ydata()) == 3
    assert np.isnan(threshold.get_ydata()[0])  # type: ignore[index]
    for name in ("a", "b"):
        plots.save(plots.time_sequence(trace(), "x"), tmp_path, name)
    for end in ("png", "svg"):
        assert (tmp_path / f"a.{end}").read_bytes() == (tmp_path / f"b.{end}").read_bytes()
    none = {name: values[:0] for name, values in trace().windows.items()}
    assert list(plots.pictures(trace(Log(), windows=none), "x")) == ["time-sequence"]


def test_no_word_of_a_picture_is_clipped_however_long_the_flow() -> None:
    for name, canvas in plots.pictures(trace(), "x").items():
        if name == "time-sequence":
            for axes in canvas.axes:
                axes.set_ylim(0, 999_999)
        canvas.draw_without_rendering()
        drawn, (width, height) = canvas.get_tightbbox(), canvas.get_size_inches()
        assert min(drawn.x0, drawn.y0, width - drawn.x1, height - drawn.y1) > 0, name


def test_a_state_is_painted_from_its_first_row_to_the_next_state() -> None:
    axes = Figure().add_subplot()
    time, states = np.arange(8.0), np.array([0, 0, 0, 1, 1, 0, 3, 3], dtype=np.int8)
    plots._states(axes, time, states)
    times = [
        [np.asarray(part.vertices)[:, 0] for part in painted.get_paths()]
        for painted in axes.collections
    ]
    found = [[(float(part.min()), float(part.max())) for part in parts] for parts in times]
    assert found == [[(0, 3), (5, 6)], [(3, 5)], [], [(6, 7)]]
    # The number of corners is that of the state's changes, and not of the acknowledgements.
    long = Figure().add_subplot()
    plots._states(long, np.arange(10_000.0), np.zeros(10_000, dtype=np.int8))
    assert len(np.asarray(long.collections[0].get_paths()[0].vertices)) < 10


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "lossy.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def test_the_command_writes_everything_and_says_where(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", "lossy.toml", "--out", "traced", "--format", "json"]) == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert printed.err == ""
    assert {Path(file).name for file in found["files"]} == FILES
    assert {path.name for path in Path("traced").iterdir()} == FILES
    assert found["losses"] == {"scripted": found["retransmissions"]}
    # the twelfth with data, and the two that hold segments 400 to 404
    assert found["bursts_lost"] == 3
    saved = json.loads(Path("traced", "trace.json").read_text("utf-8"))
    assert set(found) - set(saved) == {"files"}
    assert all(found[key] == value for key, value in saved.items())
    rows = pd.read_parquet("traced/trace_segments.parquet")
    assert (rows["event"] == "lost").sum() == found["retransmissions"]
    assert len(pd.read_parquet("traced/trace_bursts.parquet")) >= found["bursts"]
    # Another one replaces it, and is a table for people.
    assert main(["trace", "lossy.toml", "--out", "traced", "--set", "transport.kind=saw"]) == 0
    assert "lossy: burst, saw; flow 0, seed 1" in capsys.readouterr().out


def test_without_a_directory_nothing_is_written(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", "lossy.toml", "--set", "loss.drops=[{burst = 100000}]"]) == 0
    said = capsys.readouterr()
    assert "retransmissions" in said.out
    assert "never occurred" in said.err
    assert list(scenario.parent.iterdir()) == [scenario]


def test_the_way_of_a_packet_is_printed(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "lossy.toml", "--hops", "all", "--format", "json"]) == 0
    hops = json.loads(capsys.readouterr().out)["hops"]
    assert [hop["packet"] for hop in hops] == sorted(hop["packet"] for hop in hops)
    # The SYN is the first packet: from host 0 over two edges and two cores to host 1.
    syn = [hop for hop in hops if hop["packet"] == 0]
    assert [hop["node"] for hop in syn] == [0, 2, 3, 4, 5]
    assert [hop["link_target"] for hop in syn] == [2, 3, 4, 5, 1]
    assert [hop["held_s"] for hop in syn] == pytest.approx([0, MS, 0, 0, 0])
    assert [hop["burst"] for hop in syn] == [None, 0, 0, 0, None]
    assert sum(hop["arrival_s"] is None for hop in hops) > 1
    assert main(["trace", "lossy.toml", "--hops", "0"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    heading = "packet burst node to came held queued begins arrives"
    way = lines[lines.index(heading.split()) + 1 :]
    assert way[1][:4] == ["0", "0", "2", "3"]
    assert len(way) == 5


def test_window_and_throughput_are_printed_in_bins(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = ["--bins", "50 ms", "--format", "json", "--out", "out"]
    assert main(["trace", "lossy.toml", *told]) == 0
    said = json.loads(capsys.readouterr().out)
    rows = said["bins"]
    assert [row["time_s"] for row in rows[:2]] == pytest.approx([0.05, 0.1])
    assert sum(row["throughput_bps"] for row in rows) * 0.05 / 8 == pytest.approx(
        said["size_bytes"]
    )
    assert rows[0]["window_segments"] == rows[-1]["window_segments"] == 0
    table = pd.read_parquet(Path("out", "trace_bins.parquet"))
    assert table.to_dict("records") == rows
    # No bin lies after the end of the run, though data is left to send.
    values = (
        "measurement.time_limit=130 ms",
        *(f"transport.{w}_window=500" for w in ("initial", "advertised")),
    )
    cut = [word for value in values for word in ("--set", value)]
    assert main(["trace", "lossy.toml", *cut, "--bins", "5 ms", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["bins"][-1]["time_s"] <= 0.1301
    assert main(["trace", "lossy.toml", "--bins", "50 ms"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines.index(list(rows[0])) > 0


BAD: dict[str, tuple[list[str], list[str]]] = {
    "bins of no time": (["--bins", "0 s"], ["--bins", "given 0 s", "for 1,000,000 bins"]),
    "bins without a unit": (["--bins", "13"], ["--bins", "given '13'", "a duration"]),
    "no such flow": (["--flow", "1"], ["--flow", "given 1", "the number of a flow, 0 to 0"]),
    "negative flow": (["--flow", "-1"], ["--flow", "-1"]),
    "flow in words": (["--flow", "first"], ["--flow", "first"]),
    "no such packet": (["--hops", "9999999"], ["--hops", "9999999", "flow 0"]),
    "packet in words": (["--hops", "first"], ["--hops", "first"]),
    "bad seed": (["--seed", "x"], ["--seed", "x"]),
    "datagrams": (
        ["--set", "transport.kind=datagram", "--set", "loss.drops=[]"],
        ["transport.kind", "datagram", "acknowledgements"],
    ),
    "too large for IPv4": (
        ["--set", "transport.segment_size=66 kB", "--out", "traced"],
        ["transport.segment_size", "65,495 B"],
    ),
    "not ours": (["--out", "."], ["--out", "working directory"]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_message_and_leaves_nothing(
    name: str, scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options, words = BAD[name]
    assert main(["trace", "lossy.toml", *options]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert all(word in said.err for word in words)
    assert list(scenario.parent.iterdir()) == [scenario]


def test_a_large_segment_can_be_followed_without_a_capture(scenario: Path) -> None:
    assert main(["trace", "lossy.toml", "--set", "transport.segment_size=66 kB"]) == 0
