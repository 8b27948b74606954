"""Consequences of the list of optional measurements, for any list."""

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field

import lightburst as lb
from lightburst import _core
from lightburst.compile import compile_plan
from lightburst.foundation.errors import InputError
from lightburst.measurement.base import OptionalMeasurement
from lightburst.result.labels import WORDS
from lightburst.result.saving import TABLES, needed
from lightburst.scenario.fields import Flag
from lightburst.scenario.tables.measurement import MEASUREMENTS, Measurement
from lightburst.simulation import completed

#: Bursts of two connections, so that all can be measured.
BASE: dict[str, Any] = {
    "topology": {"kind": "obs-path"},
    "switching": {"kind": "burst", "assembly": {"kind": "timer", "time": "1 ms"}},
    "transport": {"kind": "tcp"},
    "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "20 kB"}},
}
#: A value with which a scenario requests each measurement.
ASKED: dict[str, Any] = {
    "warm_up": "0 s",
    "flow_throughput": True,
    "bursts": {},
    "trace": [0],
    "network": {},
    "reordering": {},
    "synchronisation": {"series": True},
    "sample": "10 ms",
}
#: The load of every run that is stopped; the core adds the rows of measurements.
LOAD = {
    *("events", "now_ps", "pending", "units", "link", "waiting_bytes", "switch", "held_bytes"),
    *("flow", "retransmissions"),
}
FIRST = ("base", "samples", "synchronisation")


class LaterMeasurement(OptionalMeasurement):
    """A measurement of a later version."""

    key = "later"


class LaterTable(Measurement):
    """``[measurement]`` of a later version."""

    later: Annotated[Flag, Field(description="Asks for it."), LaterMeasurement()] = False


class LaterScenario(lb.Scenario):
    """Its scenario."""

    measurement: LaterTable = Field(LaterTable(), description="As before.")


@pytest.fixture(scope="module")
def plain() -> lb.Result:
    return lb.run(lb.Scenario.from_dict(BASE))


def test_one_that_nobody_asks_for_moves_no_digest() -> None:
    now, later = lb.Scenario.from_dict(BASE), LaterScenario.from_dict(BASE)
    assert now.canonical_json() == later.canonical_json()
    asked = later.with_(measurement__later=True)
    assert now.canonical_json() != asked.canonical_json()


def test_each_has_a_key_and_is_asked_for_by_it() -> None:
    known = tuple(one for one in MEASUREMENTS if one.key in ASKED)
    assert {one.key for one in known} == ASKED.keys()
    assert Measurement().asked == ()
    everything = lb.Scenario.from_dict({**BASE, "measurement": {**ASKED, "until": "9 s"}})
    assert everything.measurement.asked == known
    result = lb.run(everything)
    tables = [name for one in known for name in one.tables]
    assert set(tables) <= set(TABLES)
    assert [name for name in tables if needed(name, everything) is not None] == []
    # Every metric that it adds has a label, and no label is without such a metric.
    labels = {key for one in known for key in one.labels}
    assert labels <= WORDS.keys()
    assert labels - result.metrics.keys() == {"warm_up_s"}  # of a run that finds its own


def test_the_plan_has_no_word_of_those_that_nobody_asks_for() -> None:
    plan = compile_plan(lb.Scenario.from_dict(BASE), 1)
    asked = lb.Scenario.from_dict({**BASE, "measurement": {**ASKED, "until": "1 s"}})
    words = compile_plan(asked, 1).settings.keys() - plan.settings.keys()
    looks = {"trace", "bookings", "sample_ps", "displacement_threshold", "synchronisation"}
    assert words == looks | {"bursts", "window"}
    assert None not in plan.settings.values()


def test_a_message_names_the_rows_that_the_core_counts() -> None:
    asked = lb.Scenario.from_dict({**BASE, "measurement": ASKED})
    plan = compile_plan(asked, 1)
    tables = plan.nodes, plan.links, plan.flows
    with pytest.raises(_core.Stopped) as caught:
        _core.simulate(json.dumps(plan.settings), *tables, event_limit=1)
    _, load = caught.value.args
    assert {one.held[0] for one in asked.measurement.asked if one.held} == load.keys() - LOAD


def test_what_a_result_has_not_it_says_how_to_ask_for(plain: lb.Result) -> None:
    for one in MEASUREMENTS:
        if one.attribute:
            with pytest.raises(InputError, match=f"with_.measurement__{one.key}=") as caught:
                getattr(plain, one.attribute)
            assert caught.value.path == f"measurement.{one.key}"
            assert one.attribute in dir(plain)
            assert getattr(type(plain), one.attribute).__doc__ == one.read.__doc__


def test_type_checkers_know_the_properties_of_the_list() -> None:
    tree = ast.parse(Path(completed.__file__).read_text("utf-8"))
    made = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "CompletedRun")
    told = next(node for node in made.body if isinstance(node, ast.If))
    names = {ast.unparse(one.target) for one in told.body if isinstance(one, ast.AnnAssign)}
    assert names == {one.attribute for one in MEASUREMENTS if one.attribute}


@pytest.mark.parametrize("module", FIRST)
def test_each_file_can_be_imported_first(module: str) -> None:
    subprocess.run([sys.executable, "-c", f"import lightburst.measurement.{module}"], check=True)
