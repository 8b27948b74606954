"""``lightburst trace --network``: its tables, pictures and page, and refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lightburst as lb
from browser import assert_clean, needs_browser, opened
from lightburst.cli import main
from lightburst.experiment import network_trace
from lightburst.foundation.units import parse_duration
from lightburst.plots.charts import network as plots
from lightburst.report.run_page import run_page
from pages import scenario_of

ROOT = Path(__file__).resolve().parents[2]
CROWD = scenario_of("docs/trace.md", "crowd.toml")
FILES = {
    "network.json", "bookings.parquet", "bursts.parquet", "losses.parquet", "cuts.parquet",
    "index.html", "network.png", "network.svg", "SHA256SUMS",
}  # fmt: skip


@pytest.fixture
def crowd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("crowd.toml").write_text(CROWD, encoding="utf-8")
    return "crowd.toml"


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> lb.TracedNetwork:
    path = tmp_path_factory.mktemp("crowd") / "crowd.toml"
    path.write_text(CROWD, encoding="utf-8")
    return lb.trace_network(path)


def test_a_trace_changes_nothing_and_counts_what_the_result_counts(
    traced: lb.TracedNetwork,
) -> None:
    result, trace = traced.result, traced.trace
    assert result.digest == lb.run(result.scenario.with_({"measurement.network": None})).digest
    units = result.links["units"][[fibre.link for fibre in trace.fibres]]
    assert units.sum() == len(trace.bookings)
    assert trace.bookings.groupby("link").size().to_dict() == units[units > 0].to_dict()
    assert len(trace.losses) == result.switches["dropped_no_channel"].sum() > 0
    assert len(trace.bursts) == result.summary["bursts"]
    assert trace.bursts["number"].tolist() == list(range(len(trace.bursts)))


def test_who_lost_to_whom_is_seen_in_the_bookings(traced: lb.TracedNetwork) -> None:
    losses, bookings = traced.trace.losses, traced.trace.bookings
    rows: list[Any] = list(losses.itertuples())
    for row in rows:
        there = bookings[(bookings["link"] == row.link) & (bookings["burst"] == row.holder_burst)]
        ((start, end, channel),) = there[["start_ps", "end_ps", "channel"]].to_numpy().tolist()
        assert start < row.end_ps and row.start_ps < end
        assert channel == row.holder_channel == 0
        holder = traced.trace.bursts.loc[row.holder_burst]
        assert (row.holder_ingress, row.holder_egress) == (holder["node"], holder["egress"])
        # Both channels were taken: that is why it was lost.
        wanted = (bookings["link"] == row.link) & (bookings["start_ps"] < row.end_ps)
        taken = bookings[wanted & (bookings["end_ps"] > row.start_ps)]
        assert set(taken["channel"]) == {0, 1}
        assert row.end_ps - row.start_ps == 8 * 1000 * row.bytes // 10


@pytest.mark.filterwarnings("ignore:burst_loss rests on:lightburst.RunWarning")
@pytest.mark.parametrize("drop", ["head", "tail"])
def test_what_was_cut_off_and_for_whom(traced: lb.TracedNetwork, drop: str) -> None:
    """Every packet that the switches have cut off, within the time on the link of its holder."""
    cutting = {"kind": "segmentation", "drop": drop}
    scenario = traced.result.scenario.with_({"switching.contention": [cutting]})
    found = lb.trace_network(scenario)
    cuts = found.trace.cuts
    assert cuts["packets"].sum() == found.result.switches["packets_cut"].sum() > 0
    assert (cuts["holder_start_s"] < cuts["end_s"]).all()
    assert (cuts["start_s"] < cuts["holder_end_s"]).all()
    of = found.trace.bursts.loc[cuts["burst"]]
    assert cuts["ingress"].tolist() == of["node"].tolist()
    fibres = [found.trace.fibres[place].name for place in cuts["fibre"]]
    assert fibres == (cuts["link_source"] + " \u2192 " + cuts["link_target"]).tolist()
    first = cuts.iloc[0]
    said = str(found).splitlines()
    # On the channel of the holder, which also carries the rest of the burst.
    assert cuts["channel"].tolist() == cuts["holder_channel"].tolist()
    line = said[said.index(f"Cut off bursts on these fibres: {len(cuts)}") + 1].split()
    assert line[2:4] == ["burst", str(first["burst"])]
    had = f"{first['holder_ingress']} \u2192 {first['holder_egress']}, had channel"
    assert had in " ".join(line)
    assert f"burst {first['holder_burst']}," in " ".join(line)
    assert len(found.as_dict()["cut_bursts"]) == len(cuts)
    assert "Cut off" not in str(traced)
    # The cuts on one link, without the last of them.
    there = cuts[cuts["link_target"] == "D"]
    end = float(there["start_s"].max())
    some = lb.trace_network(scenario, links=["X:D"], end=end).trace.cuts
    assert some["burst"].tolist() == there.loc[there["start_s"] < end, "burst"].tolist() != []


LATE: dict[str, Any] = {
    "switching.offset_time": "0 s",
    "switching.control_rate": "100 Mb/s",
    "switching.header_processing_time": "4 us",
}


@pytest.mark.filterwarnings("ignore:.*headers came too late:lightburst.RunWarning")
def test_what_had_no_channel_stands_below_the_channels(traced: lb.TracedNetwork) -> None:
    """A burst lost for its late header has no channel; a burst lost on a link has its own."""
    lossy = {"loss": {"probability": 0.05}}
    found = lb.trace_network(traced.result.scenario.with_({**LATE, **lossy}))
    trace = found.trace
    losses = trace.losses.astype({"reason": str})
    assert {"late-header", "random", "no-channel"} <= set(losses["reason"])
    late = losses["reason"] == "late-header"
    assert losses["channel"].isna().tolist() == late.tolist()
    own = losses[losses["reason"] == "random"].merge(
        trace.bookings, on=["link", "burst"], suffixes=("", "_own")
    )
    assert own["channel"].tolist() == own["channel_own"].tolist() != []
    held = losses["reason"] == "no-channel"
    assert (losses.loc[held, "channel"] == losses.loc[held, "holder_channel"]).all()
    rows = trace.rows(trace.losses)
    assert set(rows[late]) == {2}
    assert set(rows[~late]) <= {0, 1}
    assert trace.without_channel == set(losses.loc[late, "fibre"])
    data = data_of(network_trace.page(found.result, trace, "as tested"))
    assert data["losses"]["channel"] == rows.tolist()
    for place, fibre in enumerate(data["fibres"]):
        assert fibre["rows"] == fibre["channels"] + (place in trace.without_channel)


def test_a_burst_that_comes_to_a_link_twice_is_the_holder_of_each_loss_once(
    traced: lb.TracedNetwork,
) -> None:
    """The deflected burst takes a loop."""
    loops = {"switching.contention": [{"kind": "deflection"}]}
    found = lb.trace_network(traced.result.scenario.with_(loops))
    losses, bookings = found.trace.losses, found.trace.bookings
    again = bookings[bookings.duplicated(["link", "burst"], keep=False)]
    pairs = losses[["link", "holder_burst"]].apply(tuple, axis=1)
    assert pairs.isin(list(zip(again["link"], again["burst"], strict=True))).any()
    assert not losses["burst"].duplicated().any()
    assert len(losses) == found.result.switches.filter(like="dropped_").to_numpy().sum()
    # The use of the channel by the holder that overlapped.
    assert (losses["holder_start_s"] < losses["end_s"]).all()
    assert (losses["start_s"] < losses["holder_end_s"]).all()


@pytest.mark.filterwarnings("ignore:.*headers came too late:lightburst.RunWarning")
@pytest.mark.parametrize("changes", [{}, LATE, {"loss": {"probability": 0.05}}])
def test_the_loss_per_hop_is_of_what_was_offered_to_fibres(
    traced: lb.TracedNetwork, changes: dict[str, Any]
) -> None:
    """Counted burst by burst: each use of a channel, and each loss for lack of one."""
    found = lb.trace_network(traced.result.scenario.with_(changes))
    losses, bookings = found.trace.losses, found.trace.bookings
    refused = losses[~losses["reason"].isin(["late-header", "random"])]
    offered = len(bookings) + len(refused)
    assert found.result.metrics["burst_loss_per_hop"] == len(losses) / offered > 0
    assert found.result.metrics["loss_per_hop"] is None
    dropped = losses[losses["reason"] != "random"]
    for row in found.result.switches.itertuples():
        here = int((dropped["node"] == row.node).sum())
        handed = int((bookings["link_source"] == row.node).sum())
        assert row.loss == pytest.approx(here / max(handed + here, 1))


def test_the_page_of_the_run_has_the_bursts_offered_to_fibres(
    traced: lb.TracedNetwork, tmp_path: Path
) -> None:
    text = run_page(traced.result.save(tmp_path / "out"))
    lost, used = len(traced.trace.losses), len(traced.trace.bookings)
    cells = [
        *("offered to a fibre", f"{used + lost:,}", ""),
        *("no channel", f"{lost:,}", f"{lost / (used + lost):.3%}"),
    ]
    table = text.partition("What the switches did")[2].partition("</table>")[0]
    assert re.findall("<td>(.*?)</td>", table) == cells


@pytest.mark.filterwarnings("ignore:burst_loss rests on:lightburst.RunWarning")
@pytest.mark.parametrize("drop", ["head", "tail"])
def test_the_page_and_the_picture_have_what_was_cut_off(
    traced: lb.TracedNetwork, drop: str
) -> None:
    cutting = {"switching.contention": [{"kind": "segmentation", "drop": drop}]}
    found = lb.trace_network(traced.result.scenario.with_(cutting))
    trace, cuts = found.trace, found.trace.cuts
    data = data_of(network_trace.page(found.result, trace, "as tested"))
    assert data["cuts"]["start"] == cuts["start_ps"].tolist()
    assert data["cuts"]["holder"] == cuts["holder_burst"].tolist()
    assert data["cuts"]["channel"] == cuts["holder_channel"].tolist()
    assert [data["bursts"]["number"][i] for i in data["cuts"]["row"]] == cuts["burst"].tolist()
    axes = plots.space_time(trace, "as tested").axes[0]
    begin, end = axes.get_xlim()
    collections: list[Any] = list(axes.collections)
    dashed = [
        path.get_extents()
        for frames in collections
        if frames.get_linestyle()[0][1] is not None
        for path in frames.get_paths()
    ]
    scale = end / plots._stretch(trace, plots._fibres(trace))[1]
    seen = cuts[(cuts["start_ps"] * scale < end) & (cuts["end_ps"] * scale > begin)]
    assert len(seen) > 0
    assert sorted(box.x0 for box in dashed) == pytest.approx(sorted(seen["start_ps"] * scale))
    assert sorted(box.x1 for box in dashed) == pytest.approx(sorted(seen["end_ps"] * scale))


def test_only_the_links_and_the_time_asked_for_are_there(traced: lb.TracedNetwork) -> None:
    scenario, whole = traced.result.scenario, traced.trace.bookings
    some = lb.trace_network(scenario, links=["X:D"], begin="3.2 ms", end=0.0034).trace
    assert [fibre[1:] for fibre in some.fibres] == [("X → D", 2)]
    begin, end = parse_duration("3.2 ms"), parse_duration("3.4 ms")
    there = (whole["start_ps"] < end) & (whole["end_ps"] > begin) & (whole["link_source"] == "X")
    expected = whole[there & (whole["link_target"] == "D")].reset_index(drop=True)
    assert some.bookings["burst"].tolist() == expected["burst"].tolist()
    assert 0 < len(some.losses) < len(traced.trace.losses)
    assert set(some.losses["burst"]) < set(traced.trace.losses["burst"])


def test_the_files(crowd: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", crowd, "--network", "--out", "net", "--format", "json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert {path.name for path in Path("net").iterdir()} == FILES
    assert about["lost"] == len(about["lost_bursts"]) == about["losses"]["no-channel"]
    kept = json.loads(Path("net/network.json").read_text("utf-8"))
    assert kept == {key: value for key, value in about.items() if key != "files"}
    bookings = pd.read_parquet("net/bookings.parquet")
    assert len(bookings) == about["bookings"]
    assert (bookings["end_s"] > bookings["start_s"]).all()
    assert set(pd.read_parquet("net/losses.parquet")["reason"]) == {"no-channel"}
    # Again into the same directory.
    assert main(["trace", crowd, "--network", "--links", "X:D", "--out", "net"]) == 0


def data_of(page: str) -> dict[str, Any]:
    """The data that the page draws."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_the_page_has_every_burst_and_needs_no_network(traced: lb.TracedNetwork) -> None:
    trace = traced.trace
    text = network_trace.page(traced.result, trace, "as tested")
    assert not re.search(r"https?://|src=|@import", text)
    data = data_of(text)
    assert data["bookings"]["start"] == trace.bookings["start_ps"].tolist()
    places = data["bookings"]["row"]
    assert [data["bursts"]["number"][i] for i in places] == data["bookings"]["burst"]
    lost = data["losses"]
    assert [data["bursts"]["number"][i] for i in lost["row"]] == trace.losses["burst"].tolist()
    assert lost["holder"] == trace.losses["holder_burst"].tolist()
    reasons = [data["bursts"]["reason"][i] for i in lost["row"]]
    assert set(reasons) == {"no-channel"}
    assert all(len(set(map(len, data[name].values()))) == 1 for name in ("bookings", "losses"))
    assert all(place < len(data["fibres"]) for place in data["bookings"]["fibre"])


TWO_WAYS: dict[str, Any] = {
    "topology.links": [
        {"source": "a", "target": "A"},
        {"source": "b", "target": "B"},
        {"source": "A", "target": "X"},
        {"source": "A", "target": "Y"},
        {"source": "X", "target": "B"},
        {"source": "Y", "target": "B"},
    ],
    "routing.paths": 2,
    "routing.label": "random",
    "workload": {"kind": "pairs", "size": "900 kB"},
}


def test_the_choice_of_path_over_time(traced: lb.TracedNetwork) -> None:
    found = lb.trace_network(traced.result.scenario.with_(TWO_WAYS))
    trace = found.trace
    # A burst with a label is on the fibres of its path, and no others.
    for label, over in ((0, {"X", "A", "B"}), (1, {"Y", "A", "B"})):
        mine = trace.bookings[trace.bookings["label"] == label]
        assert set(mine["link_source"]) | set(mine["link_target"]) == over
    chosen = plots.chosen_paths(trace)
    assert chosen is not None
    assert set(chosen["label"]) == {0, 1}
    assert set(plots.pictures(trace, "as tested")) == {"network", "paths"}
    data = data_of(network_trace.page(found.result, trace, "as tested"))
    own = [i for i, fibre in enumerate(data["fibres"]) if "paths" in fibre]
    rows = [i for i, fibre in enumerate(data["bookings"]["fibre"]) if fibre in own]
    labels = {data["bookings"]["burst"][i]: data["bookings"]["channel"][i] for i in rows}
    assert labels == chosen["label"].to_dict()


def test_wavelengths_that_are_links_are_channels_of_their_fibre() -> None:
    """Without headers each wavelength is a link."""
    values = {
        "topology": {"kind": "obs-path", "access_rate": "1 Gb/s", "wavelengths": 3},
        "switching": {"kind": "burst", "assembly": {"kind": "timer", "time": "10 us"}},
        "routing": {"choice": "random"},
        "transport": {"kind": "datagram"},
        "workload": {"kind": "pairs", "size": "1 MB"},
    }
    found = lb.trace_network(lb.Scenario.from_dict(values))
    channels = [fibre.channels for fibre in found.trace.fibres]
    assert set(channels) == {3}
    assert set(found.trace.bookings["channel"]) == {0, 1, 2}
    same = found.trace.bookings["fibre"].map(lambda place: found.trace.fibres[place].link)
    assert (found.trace.bookings["link"] - same == found.trace.bookings["channel"]).all()


def test_a_picture_of_much_shows_a_stretch_in_which_something_was_lost(
    traced: lb.TracedNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plots, "_MOST_BURSTS", 4)
    places = list(range(len(traced.trace.fibres)))
    begin, end = plots._stretch(traced.trace, places)
    assert end - begin == 4 * 36_000_000
    assert any((traced.trace.losses["start_ps"] < end) & (traced.trace.losses["end_ps"] > begin))


def test_nothing_there_is_no_error(crowd: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", crowd, "--network", "--from", "900 s", "--out", "net"]) == 0
    assert "0 bursts, 0 uses of a channel, 0 bursts lost" in capsys.readouterr().out


BAD = {
    "no such link": (["--links", "X:d"], "--links: given 'X:d'", "did you mean 'X:D'?"),
    "a host's link": (["--links", "a:A"], "--links: given 'a:A'", "between two switches"),
    "reversed": (["--from", "2 ms", "--to", "1 ms"], "--to: given 1 ms", "after begin (2 ms)"),
    "no unit": (["--to", "1"], "--to: given '1'", "a duration"),
    "negative": (["--from", "-1 ms"], "--from: given '-1 ms'", "a duration"),
    "with a flow": (["--flow", "3"], "--flow: given '3'", "without --network"),
    "with hops": (["--hops", "all"], "--hops: given 'all'", "without --network"),
    "no bursts": (
        ["--set", "switching.kind=electronic"],
        "--network: given switches of kind electronic",
        "'burst' or 'obs'",
    ),
}


@pytest.mark.parametrize("case", BAD.values(), ids=BAD)
def test_what_cannot_be_shown_is_refused(
    case: tuple[list[str], str, str], crowd: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options, given, allowed = case
    assert main(["trace", crowd, "--network", *options, "--out", "net"]) == 2
    said = capsys.readouterr().err
    assert given in said
    assert allowed in said
    assert not Path("net").exists()


def test_links_without_the_network_are_refused(
    crowd: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", crowd, "--links", "X:D"]) == 2
    assert "--links: given 'X:D'; allowed: an option about links, with --network" in (
        capsys.readouterr().err
    )


def test_more_than_a_page_holds_is_refused(
    crowd: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(network_trace, "_MOST_BOOKINGS", 10)
    assert main(["trace", crowd, "--network", "--out", "net"]) == 2
    said = capsys.readouterr().err
    assert "uses of a channel; allowed: at most 10 for a page: fewer links, or a" in said
    assert not Path("net").exists()


def test_more_than_memory_holds_is_refused_before_the_second_run(
    traced: lb.TracedNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lightburst.measurement import link_trace

    monkeypatch.setattr(link_trace, "_BYTES_PER_BOOKING", 2**40)
    with pytest.raises(lb.InputError, match=r"measurement\.network: given 8 links that carry"):
        lb.trace_network(traced.result.scenario)


def test_colours_are_of_those_with_most_bursts() -> None:
    ends = pd.Series(np.repeat(list("abcdefgh"), [1, 9, 9, 9, 9, 9, 9, 2]))
    assert list(plots._colours(ends)) == list("bcdefg")


@pytest.mark.filterwarnings("error")
def test_names_as_long_as_may_be_leave_room_for_bursts(tmp_path: Path) -> None:
    """Their beginnings and ends are drawn; matplotlib would warn that there is no room."""
    path = tmp_path / "long.toml"
    long = re.sub(r'"([abcdABCDX])"', lambda name: f'"{name[1] * 200}"', CROWD)
    path.write_text(long, encoding="utf-8")
    out = lb.trace_network(path).save(tmp_path / "out")
    drawn = (out / "network.svg").read_text(encoding="utf-8")
    assert f"{'A' * 12}\u2026{'A' * 12} \u2192 {'X' * 12}\u2026{'X' * 12}" in drawn
    assert "A" * 25 not in drawn


@needs_browser
def test_long_names_are_told_apart_on_the_page(tmp_path: Path) -> None:
    """Long names are abbreviated, within the page; the history of a burst has the whole name."""
    path = tmp_path / "long.toml"
    long = re.sub(r'"([abcdABCDX])"', lambda name: f'"{"n" * 199}{name[1]}"', CROWD)
    path.write_text(long, encoding="utf-8")
    out = lb.trace_network(path).save(tmp_path / "out")
    action = """
      const said = new Set();
      pen.fillText = (words, x, y, room) => {
        if (words.includes("\u2192")) said.add(`${words} in ${room}`);
      };
      draw();
      for (let i = 0; i < 60 && story.hidden; i++) byId("next").click();
      const legend = [...byId("legend").querySelectorAll("button")];
      return [[...said], legend.map((one) => [one.innerText, one.title.length]),
        story.hidden || story.scrollWidth <= story.clientWidth + 1,
        legend.every((one) => one.getBoundingClientRect().right <= innerWidth)];
    """
    found = opened(out / "index.html", tmp_path, action)
    assert_clean(found)
    for frame in found.values():
        fibres, legend, fits, seen = frame["done"]
        assert "nnnn\u2026nnnA \u2192 nnnn\u2026nnnX in 138" in fibres
        assert "nnnn\u2026nnnB \u2192 nnnn\u2026nnnX in 138" in fibres
        assert [f"{'n' * 14}\u2026{'n' * 13}D", 200] in legend
        assert fits and seen


@needs_browser
def test_the_page_scrolls_to_each_fibre(tmp_path: Path) -> None:
    short = {"workload.flows": 10, "workload.size": "100 kB"}
    found = lb.trace_network(lb.load(ROOT / "examples" / "obs-nsfnet.toml").with_(short))
    place = found.save(tmp_path / "traced")
    action = """
      const told = () => byId("state").textContent, first = told();
      pane.scrollTop = pane.scrollHeight;
      // A frame that is not on the screen is told of it late, and draws nothing.
      pane.dispatchEvent(new Event("scroll"));
      draw();
      return [pane.scrollHeight, pane.clientHeight, first, told(), tops.at(-1) - scroll < height];
    """
    for frame in opened(place / "index.html", tmp_path, action).values():
        assert frame["wrong"] == []
        whole, seen, first, last, there = frame["done"]
        number = len(found.trace.fibres)
        assert whole > seen, "a scroll bar says that there is more"
        assert first.startswith("rows 1 to ")
        assert f" of {number}, scroll for the others; " in first
        assert f" to {number} of {number}, " in last
        assert there, "the last fibre is in sight"
        assert "drawn" not in first
