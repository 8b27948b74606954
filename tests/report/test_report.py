"""Reproductions and their pages, on a paper small enough to be run in a second."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from lightburst.cli import main
from lightburst.experiment import reproduce as reproduction
from lightburst.experiment.reproduce import Reproduction, reproduce
from lightburst.foundation.errors import InputError
from lightburst.foundation.files.directory import check
from lightburst.papers import PAPERS, find
from lightburst.papers.claims import Claim, Verdict
from lightburst.papers.figure import COLUMNS, Figure
from lightburst.papers.paper import Paper, Part
from lightburst.report.saved import write_page
from lightburst.result.labels import words_of
from lightburst.result.metric_text import readable, readable_interval
from lightburst.scenario import Scenario
from lightburst.study import Block
from lightburst.study.runs import Study

BASE = Scenario.from_dict(
    {
        "topology": {"kind": "fat-tree", "k": 4},
        "switching": {"kind": "hybrid"},
        "transport": {"kind": "sawl"},
        "workload": {
            "kind": "poisson",
            "arrival_rate": "1e6 /s",
            "flows": 20,
            "size": {"kind": "constant", "value": "20 kB"},
        },
    }
)


def blocks(parts: Sequence[str], quick: bool) -> list[Block]:
    ports = [0, 1, 2]
    seeds = range(1, 3) if quick else range(1, 5)
    study = Study(BASE, {"switching.buffer_ports": ports}, seeds)
    return [Block(study, pd.DataFrame({"ports": ports}))]


def figures(runs: pd.DataFrame, version: str) -> list[Figure]:
    means = runs.groupby("ports")["throughput_bps"].mean() / 1e9
    rows = [("hybrid", "p = 4", float(x), y, 0.9 * y, 1.1 * y, 2) for x, y in means.items()]  # type: ignore[arg-type]
    data = pd.DataFrame(rows, columns=list(COLUMNS))
    return [
        Figure("one", "A <b>title</b>", f"By {version}.", "Ports", "Throughput (Gb/s)",
               ("hybrid",), ("p = 4",), data, x_log=False)
    ]  # fmt: skip


def claims(runs: pd.DataFrame) -> list[Claim]:
    return [
        Claim("good", "one", "It <i>runs</i>", 1.0, 1.0, 0.9, 1.1, Verdict.HOLDS, "any", ""),
        Claim("bad", "one", "It flies", 2.0, 1.0, 0.9, 1.1, Verdict.DIFFERS, "at least 2", "No."),
        Claim("open", "one", "?", None, None, None, None, Verdict.NOT_COMPARABLE, "none", "",
              "independent prototype"),
    ]  # fmt: skip


PARTS = {
    "all": Part("everything", figures, claims),
    "more": Part("more", figures, claims, beyond=True),
}
SMALL = Paper("small2000", "A small paper", "Nobody, 2000.", PARTS, blocks, lambda table: table)


@pytest.fixture(autouse=True)
def small_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(PAPERS, "small2000", SMALL)
    yield


def quick() -> Reproduction:
    return reproduce("small2000", quick=True, progress=False)


class Loads(HTMLParser):
    """Collects every resource that a browser would fetch, and checks that elements are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.addresses += [
            value or "" for key, value in attributes if key in {"src", "href", "srcset", "data"}
        ]
        if tag not in {"meta", "img", "line", "link", "br"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for key, value in attributes if key in {"src", "href"}]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def assert_offline(text: str) -> None:
    page = Loads(text)
    assert page.open == []
    assert all(address.startswith("data:") for address in page.addresses), page.addresses
    head = text.split("</style>")[0]
    assert "@import" not in head
    assert "url(" not in head
    assert "<link" not in text


def test_a_reproduction_has_runs_claims_figures_and_provenance() -> None:
    found = quick()
    assert list(found.runs["ports"]) == [0, 0, 1, 1, 2, 2]
    assert list(found.runs["seed"]) == [1, 2] * 3
    assert "switching.buffer_ports" not in found.runs
    assert found.name == "small2000"
    assert found.verdicts() == {"differs": 1, "holds": 1, "not comparable": 1}
    assert list(found.table()["verdict"]) == ["holds", "differs", "not comparable"]
    assert found.provenance["runs"] == 6
    assert found.provenance["seeds"] == "1 to 2"
    assert found.provenance["packet_hops"] == found.runs["packet_hops"].sum()
    assert "small2000" in repr(found)
    assert reproduce("small2000/more", quick=True, progress=False).name == "small2000/more"


def test_a_second_call_takes_up_the_finished_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    first = quick()
    assert Path(".lightburst", "runs", "index.sqlite").is_file()

    def never(*arguments: object, **options: object) -> None:
        raise AssertionError("nothing is left to run")

    monkeypatch.setattr("lightburst.study.workers.one.simulate", never)
    again = quick()
    pd.testing.assert_frame_equal(first.runs, again.runs)
    assert first.provenance["digest"] == again.provenance["digest"]


def test_without_a_store_nothing_is_left_behind(tmp_path: Path) -> None:
    reproduce("small2000", quick=True, store=None, progress=False)
    assert list(tmp_path.iterdir()) == []


def test_the_number_of_threads_changes_nothing() -> None:
    one = reproduce("small2000", quick=True, store=None, workers=1, progress=False)
    two = reproduce("small2000", quick=True, store=None, workers=2, progress=False)
    assert one.provenance["digest"] == two.provenance["digest"]


def test_a_reproduction_plots_itself() -> None:
    found = quick()
    assert found.plot().axes[0].get_ylabel() == "Throughput (Gb/s)"
    assert len(found.plot("one").axes) == 1
    with pytest.raises(InputError, match="figure: given two; allowed: one of one"):
        found.plot("two")


def test_saved_files_and_an_offline_page(tmp_path: Path) -> None:
    page = quick().save("out")
    assert page == tmp_path / "out" / "index.html"
    assert {path.name for path in page.parent.iterdir()} == {
        "SHA256SUMS", "index.html", "one.png", "one.svg", "claims.json", "runs.parquet",
        "reproduction.json",
    }  # fmt: skip
    text = page.read_text(encoding="utf-8")
    assert_offline(text)
    for words in ("It flies", "✗ differs", "✓ holds", "○ not comparable", "at least 2", "No."):
        assert words in text
    assert "It &lt;i&gt;runs&lt;/i&gt;" in text
    assert "<b>title</b>" not in text
    paper, other = text.split("source: paper")[1].split("source: independent prototype")
    assert ("Published" in paper, "Reference" in paper) == (True, False)
    assert ("Published" in other, "Reference" in other) == (False, True)
    assert 'name="viewport"' in text
    assert "prefers-color-scheme: dark" in text
    verdicts = [claim["verdict"] for claim in json.loads((page.parent / "claims.json").read_text())]
    assert verdicts == ["holds", "differs", "not comparable"]


def test_a_saved_reproduction_is_read_back_and_written_again() -> None:
    found = quick()
    page = found.save("out")
    text = page.read_text(encoding="utf-8")
    again = reproduction.load("out")
    pd.testing.assert_frame_equal(found.runs, again.runs, check_dtype=False)
    assert again.claims == found.claims
    page.unlink()
    assert write_page("out") == page
    assert page.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("reproduction.json", "{}"),
        ("reproduction.json", "no JSON"),
        ("reproduction.json", '{"name": "nobody1999", "quick": true, "provenance": {}}'),
        ("runs.parquet", "no parquet"),
    ],
)
def test_a_damaged_reproduction_is_one_message(name: str, content: str) -> None:
    quick().save("out")
    Path("out", name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError):
        write_page("out")


def test_nothing_foreign_is_replaced() -> None:
    found = quick()
    page = found.save("out")
    found.save("out")
    (page.parent / "my-notes.txt").write_text("dear")
    with pytest.raises(InputError, match="earlier result"):
        found.save("out")
    assert (page.parent / "my-notes.txt").read_text() == "dear"


def test_a_failed_write_leaves_the_earlier_result(monkeypatch: pytest.MonkeyPatch) -> None:
    found = quick()
    page = found.save("out")
    before = page.read_bytes()

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lightburst.experiment.reproduce._write_json", full)
    with pytest.raises(InputError, match="No space left"):
        found.save("out")
    assert page.read_bytes() == before
    assert {path.name for path in Path().iterdir()} == {"out", ".lightburst"}


def test_the_command_prints_tables_and_the_paths_of_the_files(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["reproduce", "small2000", "--quick", "--out", "out"]) == 0
    out = capsys.readouterr().out
    paper, other = out.split("source: paper")[1].split("source: independent prototype")
    # A title has the whole line, even above a small table.
    assert "(1 holds, 1 differs, 0 not comparable)" in paper
    assert "It flies: published 2, measured 1" in paper
    assert "reference" not in paper
    # A prototype's number is not published, and a claim about it cannot differ.
    assert "reference" in other
    assert "published" not in other
    assert "What differs" not in other
    for name in ("one.png", "one.svg", "index.html"):
        assert str(Path("out", name).resolve()) in out


def test_the_command_gives_a_list_of_claims_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "small2000", "--quick", "--format", "json", "--out", "out"]) == 0
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert [claim["id"] for claim in found] == ["good", "bad", "open"]
    assert list(found[0]) == [
        "id", "figure", "statement", "published", "measured", "ci_low", "ci_high", "verdict",
        "note", "origin", "reading", "statement_id", "statement_text", "statement_verdict", "was",
        "difference",
    ]  # fmt: skip
    assert found[2]["measured"] is None
    assert "index.html" in said.err


def test_papers_and_parts_are_found_by_name() -> None:
    assert find("minakhmetov2018")[1] == ("fig2a", "fig2b", "maxima")
    assert find("minakhmetov2018/beyond")[1] == ("beyond",)
    for name in ("minakhmetov2018/", "minakhmetov2018/fig9", "", "/fig2a"):
        with pytest.raises(InputError, match="minakhmetov2018/fig2a"):
            find(name)


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("throughput_bps", 89.7e9, "89.7 Gb/s"),
        ("makespan_s", 0.0138, "13.8 ms"),
        ("completion_time_median_s", 3.37e-4, "337 µs"),
        ("delivered_bytes", 168_700_000, "168.7 MB"),
        ("flows", 1024, "1,024"),
        ("packet_hops", 200_151.25, "200,151"),
        ("throughput_variance_bps2", -4e12, "-4 (Mb/s)²"),
        ("loss_per_hop", 0.005185, "0.005185"),
        ("energy_j", None, "–"),
        ("makespan_s", 0.0, "0 s"),
        ("slowdown_p99", float("nan"), "–"),
        ("digest", "abc", "abc"),
    ],
)
def test_figures_are_written_for_people(key: str, value: float | None, text: str) -> None:
    assert readable(key, value) == text


def test_intervals_are_written_for_people() -> None:
    full = {"mean": 2e9, "ci_low": 1e9, "ci_high": 3e9}
    assert readable_interval("throughput_bps", full) == "2 Gb/s (1 to 3 Gb/s)"
    wide = {"mean": 2e9, "ci_low": 9e8, "ci_high": 3e9}
    assert readable_interval("throughput_bps", wide) == "2 Gb/s (900 Mb/s to 3 Gb/s)"
    assert readable_interval("slowdown_p99", {"mean": 2, "ci_low": 1.5, "ci_high": 2.5}) == (
        "2 (1.5 to 2.5)"
    )
    assert readable_interval("flows", {"mean": 2.0, "ci_low": 2.0, "ci_high": 2.0}) == "2"
    single = {"mean": 2e9, "ci_low": None, "ci_high": None}
    assert readable_interval("throughput_bps", single) == "2 Gb/s"
    assert words_of("completion_time_p99_s") == "completion time, 99th percentile"


def test_a_place_is_checked_before_the_work(tmp_path: Path) -> None:
    assert check("a/b/c") == tmp_path / "a" / "b" / "c"
    assert list(tmp_path.iterdir()) == []
    Path("file").write_text("")
    with pytest.raises(InputError, match="--out"):
        check("file/below")
