"""The display of objects in a notebook, made here and in a separate kernel."""

from __future__ import annotations

import html
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import lightburst as lb
from lightburst.papers.claims import Claim, Claims, Verdict

ROOT = Path(__file__).parents[2]
PATH = ROOT / "examples" / "path.toml"
NAME = "<b>bold</b> & co"


@pytest.fixture(scope="module")
def scenario() -> lb.Scenario:
    return lb.load(PATH).with_(name=NAME)


@pytest.fixture(scope="module")
def result(scenario: lb.Scenario) -> lb.Result:
    return lb.run(scenario, seed=1)


def shown(thing: Any) -> str:
    """The HTML of an object, in which the scenario's name is no tag."""
    found: str = thing._repr_html_()
    assert "<b>" not in found
    for tag in ("table", "thead", "tbody", "tr", "th", "td", "pre", "p", "ul", "li"):
        assert len(re.findall(rf"<{tag}[ >]", found)) == found.count(f"</{tag}>"), tag
    return found


def test_the_public_names_and_nothing_else() -> None:
    assert dir(lb) == sorted(lb.__all__)
    assert all(hasattr(lb, name) for name in dir(lb))


def test_a_scenario_is_shown_as_the_file_that_makes_it(scenario: lb.Scenario) -> None:
    found = shown(scenario)
    written = html.unescape(found.removeprefix("<pre>").removesuffix("</pre>"))
    assert written == str(scenario)
    assert lb.Scenario.from_dict(tomllib.loads(written)) == scenario
    assert '[topology]\nkind = "path"\nlink_length = "10 m"' in written
    assert "_ps" not in written
    assert len(repr(scenario)) < 120
    assert NAME in repr(scenario)


@pytest.mark.parametrize("name", [p.stem for p in (ROOT / "examples").glob("*.toml")])
def test_the_text_of_every_example_makes_it_again(name: str) -> None:
    example = lb.load(ROOT / "examples" / f"{name}.toml")
    assert lb.Scenario.from_dict(tomllib.loads(str(example))) == example
    assert len(repr(example)) < 200


def test_a_result_is_a_table_of_its_figures(result: lb.Result) -> None:
    found = shown(result)
    rows = dict(re.findall(r"<tr><th[^>]*>([^<]*)</th><td[^>]*>([^<]*)</td></tr>", found))
    assert list(rows) == [key for key, value in result.metrics.items() if value is not None]
    assert rows["flows"] == str(result.metrics["flows"])
    assert rows["throughput_bps"].endswith("b/s")
    assert rows["digest"] == result.digest
    for warning in result.warnings:
        assert html.escape(warning) in found


def test_what_is_told_in_words_is_shown_as_it_stands(scenario: lb.Scenario) -> None:
    told = lb.explain(scenario)
    assert html.unescape(shown(told)) == f"<pre>{told}</pre>"


def test_studies_and_replications_and_sweeps(scenario: lb.Scenario) -> None:
    study = lb.Study(scenario, {"topology.link_rate": ["1 Gb/s", "2 Gb/s"]}, seeds=2)
    assert repr(study) == "<Study of 2 points, 2 seeds each: topology.link_rate>"
    assert html.escape("'1 Gb/s', '2 Gb/s'") in shown(study)
    from lightburst.experiment.replicate import Replications

    runs = lb.replicate(scenario, seeds=2, progress=False)
    found = Replications(scenario, [1, 2], runs)
    assert repr(found) == f"<Replications of {NAME!r}: 2 seeds, 1 to 2>"
    assert "throughput_bps" in shown(found)
    swept = lb.sweep(scenario, over={"topology.link_rate": ["1 Gb/s", "2 Gb/s"]}, seeds=2)
    assert "1 Gb/s" in shown(swept)


def test_what_was_recorded_says_which_tables_it_has(scenario: lb.Scenario) -> None:
    found = lb.run(scenario.with_(measurement__trace=[0], measurement__sample="1 ms"))
    for thing in (found.trace, found.samples):
        told = shown(thing)
        assert html.escape(repr(thing).strip("<>")) in told
        rows = re.findall(r">\.(\w+)</th><td[^>]*>([\d,]+)</td><td[^>]*>(One row [^<]*)</td>", told)
        assert {name: int(number.replace(",", "")) for name, number, _ in rows} == {
            name: len(getattr(thing, name)) for name, _, _ in rows
        }
        assert len(rows) == len(re.findall("<tr>", told)) - 1
    assert len(found.trace.segments) > 0


def test_claims_are_a_tuple_that_shows_itself_as_a_table() -> None:
    holds = Claim("a", "1", "5 < 6", 5.0, 4.9, 4.8, 5.0, Verdict.HOLDS, "within", "")
    open_ = Claim("b", "1", NAME, None, None, None, None, Verdict.NOT_COMPARABLE, "none", "")
    claims = Claims([holds, open_])
    assert claims[0] is holds
    assert claims == (holds, open_)
    assert repr(claims) == "<Claims: 1 holds, 0 differs, 1 not comparable>"
    rows = re.findall(r"<tr><th[^>]*>([^<]*)</th>(.*?)</tr>", shown(claims))
    cells = [(name, *re.findall(r"<td[^>]*>([^<]*)</td>", rest)) for name, rest in rows]
    assert cells[1:] == [
        ("5 &lt; 6", "5", "4.9", "4.8 to 5", "holds"),
        (html.escape(NAME), "–", "–", "–", "not comparable"),
    ]


CELLS = (
    "import lightburst as lb\nprint(dir(lb) == sorted(lb.__all__))",
    "scenario = lb.load('examples/path.toml')\nscenario",
    "lb.run(scenario, seed=1)",
    "runs = lb.replicate(scenario, seeds=3)",
    "lb.explain(scenario)",
    # A few looks at the precision of the mean.
    "target = dict(metric='throughput_bps', precision='0.1 %', minimum=2, maximum=6)\n"
    "two = {'topology.link_length': ['10 m', '20 m']}\n"
    "found = lb.sweep('examples/hybrid.toml', over=two, target=target)",
    "over = {'topology.link_length': {'from': '10 m', 'to': '20 m'}}\n"
    "found = lb.optimise(scenario, over, maximise='throughput_bps', trials=4, batch=2, seeds=2)",
    "over |= {'topology.link_rate': {'from': '1 Gb/s', 'to': '2 Gb/s'}}\n"
    "found = lb.sensitivity(scenario, over, metric='throughput_bps', points=16)",
)


def bars(outputs: list[Any]) -> list[str]:
    """The bars below a cell, in words."""
    return [one["data"]["text/plain"] for one in outputs if one["output_type"] == "display_data"]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[list[Any]]:
    """The output of a fresh kernel below each of `CELLS`."""
    new: Any = nbformat.v4
    notebook = new.new_notebook(cells=[new.new_code_cell(text) for text in CELLS])
    own = tmp_path_factory.mktemp("jupyter")
    # No files of the user: neither settings of IPython nor history.
    environment = {**os.environ, "IPYTHONDIR": str(own), "JUPYTER_CONFIG_DIR": str(own)}
    client = NotebookClient(notebook, kernel_name="python3", timeout=120)
    client.resources = {"metadata": {"path": str(ROOT)}}
    client.execute(env=environment)
    return [cell.outputs for cell in notebook.cells]


# zmq and asyncio warn because of nbclient.
@pytest.mark.filterwarnings("ignore")
def test_a_fresh_kernel_shows_all_of_it(outputs: list[list[Any]]) -> None:
    first, of_scenario, of_result, of_runs, of_explanation, *_ = outputs
    assert first[0]["text"] == "True\n"
    assert of_scenario[0]["data"]["text/html"].startswith("<pre>")
    assert "<table>" in of_result[0]["data"]["text/html"]
    assert "finished" in of_result[0]["data"]["text/plain"]
    assert of_explanation[0]["data"]["text/html"].startswith("<pre>")
    # One bar, drawn until all runs were there, and no complaint about widgets.
    (bar,) = of_runs
    assert 'max="3" value="3"' in bar["data"]["text/html"]
    assert bar["data"]["text/plain"].startswith("3/3 runs, 0:00:")


@pytest.mark.filterwarnings("ignore")
def test_long_work_has_one_bar(outputs: list[list[Any]]) -> None:
    *_, of_target, of_search, of_sample = outputs
    # Two points, and seeds until there are six: one bar for all looks.
    (bar,) = bars(of_target)
    assert bar.startswith("12/12 runs, 0:00:")
    (bar,) = bars(of_search)
    assert re.match(r"4/4 trials, 0:00:\d\d, best [\d.]+ [MG]b/s at link_length = 1[\d.]+ m$", bar)
    assert "IProgress" not in str(of_search)
    (bar,) = bars(of_sample)
    assert re.match(r"64/64 points, 0:00:\d\d, topology\.link_rate [\d.]+ \(total", bar)
