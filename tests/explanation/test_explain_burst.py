"""The fate of a burst, its possible remedies, and ``lightburst explain --burst``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.trace import rescue
from pages import scenario_of

# Hosts a, b at the edges A, B and c, d at C and D, all of which lead to X; one datagram is one
# burst, which takes 36 us at 10 Gb/s; the second comes 10 us behind the first.
TX_US, LATE_US = 36, 10
TWO: dict[str, Any] = {
    "topology": {
        "kind": "graph",
        "links": [
            *({"source": name, "target": name.upper(), "length": "0 m"} for name in "abcd"),
            *({"source": name, "target": "X"} for name in "ABCD"),
        ],
        "link_rate": "10 Gb/s",
        "link_length": "10 km",
    },
    "switching": {
        "kind": "obs",
        "assembly": {"kind": "timer", "time": "0 s"},
        "header_processing_time": "1 us",
        "offset_time": "10 us",
    },
    "transport": {
        "kind": "datagram",
        "segment_size": "45 kB",
        "header_size": "0 B",
        "spacing": "constant",
    },
    "workload": {"kind": "table", "file": "flows.csv"},
}
COLUMNS = "source,destination,start_s,size_bytes\n"
FLOWS = COLUMNS + "a,d,0,45000\nb,d,0.00001,45000\nc,b,0.00002,45000\n"


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> lb.Scenario:
    """Two bursts that need the same channel, and one that does not."""
    monkeypatch.chdir(tmp_path)
    Path("flows.csv").write_text(FLOWS, encoding="utf-8")
    return lb.Scenario.from_dict(TWO)


@pytest.fixture
def crowd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("crowd.toml").write_text(scenario_of("docs/trace.md", "crowd.toml"), encoding="utf-8")
    return "crowd.toml"


def remedy(found: lb.BurstExplanation, begins: str) -> dict[str, Any]:
    """The remedy whose text begins with these words."""
    rows = found.remedies[found.remedies["remedy"].str.startswith(begins)]
    (row,) = rows.to_dict("records")
    return {str(name): value for name, value in row.items()}


def test_who_held_the_channel_and_that_one_more_would_have_saved_it(two: lb.Scenario) -> None:
    found = lb.explain_burst(two, 1)
    about = found.about
    assert (about["ingress"], about["of_node"], about["egress"]) == ("B", 1, "D")
    assert (about["outcome"], about["reason"], about["node"]) == ("lost", "no-channel", "X")
    assert (about["link_source"], about["link_target"]) == ("X", "D")
    holder = ("holder_burst", "holder_ingress", "holder_egress", "holder_channel")
    assert [about[name] for name in holder] == [0, "A", "D", 0]
    assert about["start_s"] - about["holder_start_s"] == pytest.approx(LATE_US * 1e-6)
    assert about["end_s"] - about["start_s"] == pytest.approx(TX_US * 1e-6)
    assert found.hops["link_target"].tolist() == ["X"]
    assert (
        str(found).splitlines()[0].endswith("from B to D on path 0, 1 packet, 45 kB: it was lost.")
    )
    saved = remedy(found, "one more wavelength")
    assert saved["changes"] == {"topology.wavelengths": 2}
    assert (saved["saved"], saved["same"], saved["outcome"]) == (True, True, "arrived")
    assert (saved["way"], saved["lost"], found.lost) == ("B \u2192 X \u2192 D", 0, 1)


def test_the_delay_is_what_is_left_of_the_burst_that_has_the_channel(two: lb.Scenario) -> None:
    found = lb.explain_burst(two, 1)
    line = remedy(found, "a delay line of 26 us")
    assert line["delay_s"] == pytest.approx((TX_US - LATE_US) * 1e-6)
    assert (line["saved"], line["way"]) == (True, "B \u2192 X \u2192 D")
    # No shorter delay suffices.
    ((changed,),) = line["changes"].values()
    short = two.with_({"switching.contention": [changed | {"granularity": "25.999999 us"}]})
    assert lb.explain_burst(short, 1).about["reason"] == "delay-lines-full"
    later = remedy(lb.explain_burst(two.with_(switching__switching_time="2 us"), 1), "a delay line")
    # The matrix is set before the burst leaves.
    assert (later["saved"], later["delay_s"]) == (True, pytest.approx(28e-6))


def test_another_way_is_told_by_its_nodes(two: lb.Scenario) -> None:
    """From X to D also over Y, for which the headers have time."""
    links = [*TWO["topology"]["links"], *({"source": name, "target": "Y"} for name in "XD")]
    found = lb.explain_burst(two.with_({"topology.links": links}), 1)
    way = remedy(found, "another way")
    assert (way["saved"], way["way"]) == (True, "B \u2192 X \u2192 Y \u2192 D")
    # The star has no other path.
    assert not remedy(lb.explain_burst(two, 1), "another way")["saved"]


@pytest.mark.parametrize(
    ("reserved", "filling", "expected"),
    [
        ([], True, 100),
        ([(90, 120)], True, 122),
        # A void of 20 holds a burst of 10 with its setup of 2 before, and that of the next one.
        ([(90, 120), (140, 160)], True, 122),
        ([(90, 120), (133, 160)], True, 162),
        ([(90, 120), (134, 160)], True, 122),
        ([(90, 120), (140, 160)], False, 162),
        ([(10, 20), (114, 130)], True, 100),
        ([(10, 20), (111, 130)], True, 132),
    ],
)
def test_the_first_time_at_which_a_burst_can_leave(
    reserved: list[tuple[int, int]], filling: bool, expected: int
) -> None:
    times = np.array(reserved, np.int64).reshape(-1, 2)
    assert rescue._free_from(times, 100, 10, 2, filling=filling) == expected


@pytest.mark.parametrize(
    ("conversion", "came", "channels"),
    [
        ({"kind": "full"}, 1, [0, 1, 2, 3]),
        ({"kind": "none"}, 1, [1]),
        ({"kind": "limited", "range": 1}, 0, [0, 1]),
        ({"kind": "limited", "range": 2}, 3, [1, 2, 3]),
        ({"kind": "none"}, None, [0, 1, 2, 3]),
        ({"kind": "none"}, 7, []),
    ],
)
def test_the_channels_that_a_burst_can_use(
    conversion: dict[str, Any], came: int | None, channels: list[int]
) -> None:
    assert list(rescue._usable({"conversion": conversion}, came, 4)) == channels


def test_the_story_of_a_burst_that_arrived(two: lb.Scenario) -> None:
    found = lb.explain_burst(two, 2)
    about = found.about
    assert (about["outcome"], len(found.remedies)) == ("arrived", 0)
    assert found.hops[["link_source", "link_target", "channel"]].to_numpy().tolist() == [
        ["C", "X", 0],
        ["X", "B", 0],
    ]
    # Offset, 10 us and 1 us for each of two fibres; two fibres of 50 us; the burst itself.
    assert about["departure_s"] - about["closed_s"] == pytest.approx(12e-6)
    assert about["arrival_s"] - about["departure_s"] == pytest.approx((2 * 50 + TX_US) * 1e-6)
    assert "it arrived." in str(found)


def test_a_late_header_would_have_needed_more_offset(two: lb.Scenario) -> None:
    """All headers arrive at once; each node takes 20 us for one."""
    rows = "".join(f"{name},d,0,45000\n" for name in "abc")
    Path("flows.csv").write_text(COLUMNS + rows, encoding="utf-8")
    late = two.with_(topology__wavelengths=3, switching__header_processing_time="20 us")
    with pytest.warns(lb.RunWarning, match="headers came too late"):
        losses = lb.trace_network(late).trace.losses
    assert losses["reason"].tolist() == ["late-header"] * 2
    tried = []
    for burst in losses["burst"]:
        with pytest.warns(lb.RunWarning, match="headers came too late"):
            table = lb.explain_burst(late, int(burst)).remedies
        tried.append(table[["remedy", "saved"]].to_numpy().tolist())
    # One header waits for another, one for two others.
    assert sorted(tried, key=len) == [
        [["20 us more offset time", True]],
        [["20 us more offset time", False], ["80 us more offset time", True]],
    ]


def test_what_a_link_loses_nothing_would_have_saved(two: lb.Scenario) -> None:
    lossy = two.with_({"loss": {"drops": [{"flow": 2, "burst": 1}]}})
    found = lb.explain_burst(lossy, 2)
    assert (found.about["reason"], len(found.remedies)) == ("scripted", 0)
    assert "none that could be tried" in str(found)


def test_a_link_with_wavelengths_of_its_own_gets_one_more(two: lb.Scenario) -> None:
    links = [dict(link) for link in TWO["topology"]["links"]]
    links[-1]["wavelengths"] = 1
    changed = two.with_({"topology.links": links, "topology.wavelengths": 3})
    found = lb.explain_burst(changed, 1)
    saved = remedy(found, "one more wavelength")
    assert saved["changes"]["topology.links"][-1]["wavelengths"] == 2
    assert saved["saved"]


def test_a_burst_without_headers_is_saved_by_a_wavelength_that_is_a_link(two: lb.Scenario) -> None:
    plain = {"kind": "burst", "assembly": {"kind": "timer", "time": "0 s"}}
    found = lb.explain_burst(two.with_({"switching": plain}), 1)
    assert (found.about["reason"], found.about["holder_burst"]) == ("contention", 0)
    assert found.remedies["remedy"].tolist() == ["one more wavelength"]
    assert found.remedies["saved"].all()


def test_a_saved_result_can_be_asked(crowd: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", crowd, "--seed", "3", "--out", "kept"]) == 0
    capsys.readouterr()
    assert main(["explain", "kept", "--bursts", "--format", "json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["seed"] == 3
    kept = json.loads(Path("kept/run.json").read_text("utf-8"))
    assert about["provenance"]["digest"] == kept["provenance"]["digest"]
    assert main(["explain", "kept", "--worst"]) == 0
    assert main(["explain", "kept", "--burst", "0", "--seed", "1"]) == 0


def test_a_result_that_is_not_the_same_any_more_is_refused(
    crowd: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from lightburst.result import rerun

    real = rerun.load_saved
    other = "lightburst.cli.commands.explain.load_saved"
    monkeypatch.setattr(other, lambda path: real(path)._replace(digest="0" * 64))
    assert main(["run", crowd, "--out", "kept"]) == 0
    assert main(["explain", "kept", "--bursts"]) == 2
    assert "which now has" in capsys.readouterr().err


BAD = {
    "no such burst": (["--burst", "5000"], "--burst: given 5000", "from 0 to 119"),
    "no number": (["--burst", "x"], "--burst: given 'x'", "a whole number from 0"),
    "a flow, too": (["--burst", "1", "--flow", "2"], "--flow: given '2'", "without --burst"),
    "the worst, too": (["--burst", "1", "--worst"], "--flow: given 'worst'", "without --burst"),
    "all and one": (["--bursts", "--burst", "1"], "--burst: given '1'", "without --bursts"),
    "no bursts": (
        ["--burst", "1", "--set", "switching.kind=electronic"],
        "--burst: given switches of kind electronic",
        "'burst' or 'obs'",
    ),
}


@pytest.mark.parametrize("case", BAD.values(), ids=BAD)
def test_what_cannot_be_told_is_refused(
    case: tuple[list[str], str, str], crowd: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options, given, allowed = case
    assert main(["explain", crowd, *options]) == 2
    said = capsys.readouterr().err
    assert given in said
    assert allowed in said


def test_a_directory_that_is_no_result_is_refused(
    crowd: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty").mkdir()
    assert main(["explain", "empty", "--bursts"]) == 2
    assert "a scenario file, or a directory written by" in capsys.readouterr().err
    assert main(["run", crowd, "--out", "kept"]) == 0
    text = Path("kept/run.json").read_text("utf-8").replace('"seed": 1', '"seed": 2')
    Path("kept/run.json").write_text(text, encoding="utf-8")
    assert main(["explain", "kept", "--bursts"]) == 2
    assert "run.json" in capsys.readouterr().err
