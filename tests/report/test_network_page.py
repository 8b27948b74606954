"""The page of a saved run: its network, its worst flows and their explanations."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from test_report import assert_offline

import lightburst as lb
from browser import WIDTHS, assert_clean, needs_browser, opened
from lightburst.cli import main
from lightburst.explanation.flow import explain
from lightburst.explanation.worst_flows import worst_flows
from lightburst.foundation.errors import InputError
from lightburst.foundation.files import checksums
from lightburst.plots.charts.places import HOST, positions
from lightburst.report.network_map import network_charts, network_tables
from lightburst.report.page import Chart
from lightburst.report.saved import write_page
from lightburst.topology.nsfnet import nsfnet_places

FLOWS = {
    "kind": "poisson",
    "arrival_rate": "1e6 /s",
    "flows": 40,
    "size": {"kind": "constant", "value": "20 kB"},
}
TREE = lb.Scenario.from_dict(
    {
        "name": "Tree",
        "topology": {"kind": "fat-tree", "k": 4},
        "switching": {"kind": "all-optical"},
        "transport": {"kind": "sawl"},
        "workload": FLOWS,
    }
)


@pytest.fixture(scope="module")
def result() -> lb.Result:
    return lb.run(TREE, 1)


@pytest.fixture(scope="module")
def saved(result: lb.Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("saved") / "run"
    result.save(place)
    write_page(place)
    return place


def drawn(links: pd.DataFrame, switches: pd.DataFrame) -> tuple[Chart, dict[str, Any]]:
    """Return the chart of a network, and the data of its layers by their columns."""
    (chart,) = network_charts(links, switches)
    return chart, chart.specification["datasets"]


def halves(links: pd.DataFrame, switches: pd.DataFrame) -> list[dict[str, Any]]:
    _, data = drawn(links, switches)
    return next(rows for rows in data.values() if "Utilisation" in rows[0] and "y2" in rows[0])


def test_each_direction_of_each_link_has_its_own_utilisation(result: lb.Result) -> None:
    rows = {row["Link"]: row for row in halves(result.links, result.switches)}
    assert len(rows) == len(result.links) == 96
    for link in result.links.itertuples():
        row = rows[f"{link.source} \u2192 {link.target}"]
        assert row["utilisation"] == pytest.approx(link.utilisation, rel=1e-12)
    back = [rows["\u2009".join(name.split()[::-1]).replace("\u2009", " ")] for name in rows]
    assert any(
        a["utilisation"] != b["utilisation"] for a, b in zip(rows.values(), back, strict=True)
    )
    # The two halves of a link meet in its middle.
    for one, other in zip(rows.values(), back, strict=True):
        assert (one["x2"], one["y2"]) == (other["x2"], other["y2"])
        assert one["x"] + other["x"] == pytest.approx(2 * one["x2"])


def test_wavelengths_are_drawn_as_one_link_with_their_mean() -> None:
    ran = lb.run(TREE.with_(topology__wavelengths=2, switching__kind="electronic"), 1)
    rows = {row["Link"]: row for row in halves(ran.links, ran.switches)}
    assert len(ran.links) > len(rows) == 96
    means = ran.links.groupby(["source", "target"])["utilisation"].mean()
    for row in means.reset_index().itertuples():
        one = rows[f"{row.source} \u2192 {row.target}"]
        assert one["utilisation"] == pytest.approx(row.utilisation)


def test_what_was_dropped_and_lost_is_marked(result: lb.Result) -> None:
    _, data = drawn(result.links, result.switches)
    rings = next(rows for rows in data.values() if rows and all(r.get("loss") for r in rows))
    lossy = result.switches[result.switches["loss"] > 0]
    assert {row["name"]: row["loss"] for row in rings} == dict(
        zip(lossy["node"].astype(str), lossy["loss"], strict=True)
    )
    # Every unit that a switch dropped had wanted some link, and is counted there.
    crosses = crosses_of(data)
    wanted = result.links.query("dropped > 0")
    assert {row["Link"]: row["Dropped before it"] for row in crosses} == {
        f"{one['source']} \u2192 {one['target']}": f"{one['dropped']:,} of {one['all']:,} units"
        for one in wanted.assign(all=wanted["units"] + wanted["dropped"]).to_dict("records")
    }
    assert sum(row["gone"] for row in crosses) == result.columns["totals"]["units_dropped"] > 0
    assert "Lost on the way" not in crosses[0]
    links = result.links.assign(lost=0, dropped=0)
    links.loc[5, "lost"] = 7
    _, data = drawn(links, result.switches)
    (cross,) = crosses_of(data)
    assert cross["Lost on the way"] == f"7 of {links.units[5]:,} units"
    # A run saved by a version without this count.
    _, data = drawn(links.drop(columns="dropped"), result.switches)
    assert crosses_of(data) == [cross]


def crosses_of(data: dict[str, Any]) -> list[dict[str, Any]]:
    return next(rows for rows in data.values() if rows and all(r.get("gone") for r in rows))


def test_a_network_too_large_to_be_drawn_is_summed_up_by_layer() -> None:
    few = TREE.with_(topology__k=12, workload__flows=5)
    ran = lb.run(few, 1)
    chart, data = drawn(ran.links, ran.switches)
    assert "by layer" in chart.title
    rows = max(data.values(), key=len)
    assert sorted(row["between"] for row in rows) == sorted(
        f"{a} \u2192 {b}"
        for one, other in [(HOST, "edge"), ("edge", "aggregation"), ("aggregation", "core")]
        for a, b in [(one, other), (other, one)]
    )
    up = ran.links[ran.links["source"] < 12**3 // 4]["utilisation"]
    row = next(row for row in rows if row["between"] == "host \u2192 edge")
    assert (row["Links"], row["high"]) == (f"{len(up):,}", up.max())
    assert row["median"] == np.median(up)


def test_the_busiest_links_are_listed(result: lb.Result) -> None:
    layers, busiest = network_tables(result.links, result.switches)
    most = next(result.links.nlargest(1, "utilisation").itertuples())
    assert busiest.rows[0][0] == f"{most.source} \u2192 {most.target}"
    assert busiest.rows[0][1] == f"{most.utilisation:.3%}"
    assert sum(int(str(row[1])) for row in layers.rows) == len(result.links)


def network(*edges: tuple[str, str], delay: float = 1.0) -> nx.Graph[Any]:
    graph: nx.Graph[Any] = nx.Graph()
    graph.add_edges_from(edges, delay_s=delay)
    return graph


def layers(graph: nx.Graph[Any]) -> dict[Any, str]:
    return {node: HOST if str(node).startswith("h") else "switch" for node in graph}


def test_leaves_and_spines_stand_in_rows_over_their_hosts() -> None:
    graph = network(
        *((f"l{leaf}", f"s{spine}") for leaf in range(3) for spine in range(2)),
        *((f"h{host}", f"l{host % 3}") for host in range(6)),
    )
    places = positions(graph, layers(graph))
    assert {places[node][1] for node in ("s0", "s1")} == {2.0}
    assert {places[f"l{leaf}"][1] for leaf in range(3)} == {1.0}
    assert {places[f"h{host}"][1] for host in range(6)} == {0.0}
    # Hosts are below their leaf, side by side.
    order = sorted((f"h{host}" for host in range(6)), key=lambda host: places[host])
    assert order == ["h0", "h3", "h1", "h4", "h2", "h5"]


def test_a_path_is_a_line_and_nsfnet_a_map() -> None:
    graph = network(("a", "b"), ("b", "c"), ("h0", "a"), ("c", "h1"))
    places = positions(graph, layers(graph))
    assert [places[node] for node in "abc"] == [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)]
    assert places["h0"][0] < 0 < 2 < places["h1"][0]
    names = list(nsfnet_places())
    star = network(*((names[0], name) for name in names[1:]))
    places = positions(star, dict.fromkeys(names, "switch"))
    assert places["WA"][0] < places["IL"][0] < places["NJ"][0]
    assert places["TX"][1] < places["GA"][1] < places["MI"][1] < places["WA"][1]


def test_other_networks_have_distances_on_paper_that_follow_the_delays() -> None:
    # A square of 3 by 4 with its diagonals fits on paper: Kamada and Kawai find it.
    graph: nx.Graph[Any] = nx.Graph()
    for a, b, delay in [("a", "b", 3), ("b", "c", 4), ("c", "d", 3), ("d", "a", 4), ("a", "c", 5),
                        ("b", "d", 5)]:  # fmt: skip
        graph.add_edge(a, b, delay_s=delay)
    places = positions(graph, layers(graph))
    scale = np.hypot(*np.subtract(places["a"], places["b"])) / 3
    for a, b, delay in graph.edges.data("delay_s"):
        assert np.hypot(*np.subtract(places[a], places[b])) == pytest.approx(
            scale * delay, rel=0.01
        )


def test_the_worst_flows_are_those_of_the_largest_slowdown_that_count() -> None:
    flows = pd.DataFrame(
        {
            "slowdown": [1.0, np.inf, 7.0, np.nan, 7.0, np.nan, 90.0],
            "counted": [True, True, True, True, True, True, False],
            "status": [*2 * ["finished", "time-limit"], "finished", "lost", "finished"],
        }
    )
    # The fourth was not meant to finish; the sixth was lost.
    assert list(worst_flows(flows).index) == [1, 5, 2, 4, 0]
    assert list(worst_flows(flows, 2).index) == [1, 5]
    assert list(worst_flows(flows.drop(columns="counted")).index) == [1, 5, 6, 2, 4, 0]


def test_what_happened_to_the_worst_flows_is_on_the_page(saved: Path, result: lb.Result) -> None:
    text = (saved / "index.html").read_text()
    assert_offline_but_for_anchors(text)
    worst = list(worst_flows(result.flows).index)
    assert re.findall(r'<section id="flow-(\d+)">', text) == [str(n) for n in worst[:3]]
    assert re.findall(r'<a href="#flow-(\d+)">below</a>', text) == [str(n) for n in worst[:3]]
    assert f"--flow {worst[3]}<" in text
    told = explain(TREE, int(worst[0]), 1)
    for sentence in str(told).splitlines()[:3]:
        assert sentence.replace("'", "&#39;") in text
    assert f"Packets lost: {len(told.losses)}" in text


def assert_offline_but_for_anchors(text: str) -> None:
    assert_offline(re.sub(r'href="#[^"]*"', 'href="data:"', text))


def copied(saved: Path, place: Path) -> Path:
    return Path(shutil.copytree(saved, place / "copy"))


def forged(saved: Path, place: Path, table: str, key: str, value: object) -> Path:
    """Change a value in a result, with matching checksums."""
    copy = copied(saved, place)
    about = json.loads((copy / "run.json").read_text())
    about[table][key] = value
    (copy / "run.json").write_text(json.dumps(about))
    (copy / checksums.SUMS).unlink()
    checksums.seal(copy)
    return copy


def test_how_many_are_told_can_be_asked_for(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = copied(saved, tmp_path)
    for number in (0, 12):
        assert main(["report", str(copy), "--explain", str(number)]) == 0
        text = (copy / "index.html").read_text()
        assert len(re.findall("<section id=", text)) == number
    before = capsys.readouterr()
    assert main(["report", str(copy), "--explain", "51"]) == 2
    assert "--explain: given 51; allowed: a whole number from 0 to 50" in capsys.readouterr().err
    assert main(["report", str(copy), "--explain", "two"]) == 2
    (copy / "run.json").unlink()
    assert main(["report", str(copy), "--explain", "1"]) == 2
    assert "a single run" in capsys.readouterr().err
    assert before.err == ""


def test_a_run_that_gives_something_else_now_is_not_explained(saved: Path, tmp_path: Path) -> None:
    copy = forged(saved, tmp_path, "provenance", "digest", "0123456789ab" * 5)
    write_page(copy)
    text = (copy / "index.html").read_text()
    assert "<section" not in text
    assert "a result with the digest" in text
    assert "lightburst explain DIR --flow N" in text


def test_a_long_run_is_repeated_only_when_asked_for(saved: Path, tmp_path: Path) -> None:
    copy = forged(saved, tmp_path, "summary", "events", 30_000_000)

    def never(*arguments: Any, **options: Any) -> lb.Result:
        raise AssertionError("nothing is to be run")

    write_page(copy, simulate=never)
    assert "lightburst explain DIR --flow N" in (copy / "index.html").read_text()
    write_page(copy, 1)
    assert "<section" in (copy / "index.html").read_text()


@needs_browser
def test_the_page_in_a_browser(saved: Path, tmp_path: Path) -> None:
    found = opened(saved / "index.html", tmp_path)
    assert_clean(found)
    for width in WIDTHS:
        charts = found[width]["charts"]
        assert charts["network"]["rule"] == 96
        # 48 middles of links, 16 hosts, 20 switches and the rings of those that dropped units.
        assert charts["network"]["symbol"] > 48 + 16 + 20
        assert charts["completion"]["line"] == 1


HOSTILE = "<img src=x onerror=hacked=1>"


@needs_browser
def test_names_of_a_file_run_no_script(tmp_path: Path) -> None:
    """Names from a stranger, with matching checksums: as data and as text."""
    name = "</script><script>hacked=1</script>" + HOSTILE
    links = [
        {"source": HOSTILE, "target": f"</script><script>hacked=2</script>{n}", "length": "1 km"}
        for n in "ab"
    ]
    scenario = lb.Scenario.from_dict(
        {
            "name": name,
            "topology": {"kind": "graph", "links": links, "hosts_per_node": 1,
                         "link_rate": "10 Gb/s"},
            "switching": {"kind": "electronic"},
            "transport": {"kind": "sawl"},
            "workload": FLOWS,
        }
    )  # fmt: skip
    lb.run(scenario, 1).save(tmp_path / "run")
    page = write_page(tmp_path / "run")
    hover = """
      const told = [];
      for (const kind of ["rule line", "symbol path"])
        for (const mark of document.querySelectorAll(`#network .mark-${kind}`)) {
          mark.dispatchEvent(new PointerEvent("pointermove", {bubbles: true}));
          await new Promise((done) => setTimeout(done, 20));
          told.push(document.querySelector("#vg-tooltip-element").innerText);
        }
      return told.join(" ");
    """
    found = opened(page, tmp_path, hover)
    assert_clean(found)
    assert all(HOSTILE in frame["done"] for frame in found.values())


def test_an_option_of_a_missing_directory_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="DIR"):
        write_page(tmp_path / "none", 1)
