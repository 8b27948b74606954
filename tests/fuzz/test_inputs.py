"""Every input runs or is refused in words, within a limited time."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hostile
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tomli_w
from cases import cases, in_words, limited
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, data

from lightburst import _core, load
from lightburst.cli.commands.run import changed
from lightburst.foundation.errors import InputError
from lightburst.result.metrics import to_json
from lightburst.scenario import Scenario
from lightburst.simulation.simulate import simulate

RUN_S = 0.3  # then a run is stopped: one that does not stop hangs

SMALL: dict[str, Any] = hostile.BASES[2]


def simulated(scenario: Scenario) -> None:
    """Run for a moment, and read every table that a user might."""
    cancel = _core.Cancel()
    timer = threading.Timer(RUN_S, cancel.set)
    timer.start()
    try:
        result = simulate(scenario, 1, cancel=cancel)
    finally:
        timer.cancel()
    json.dumps(to_json(result.metrics), allow_nan=False)
    assert result.digest
    assert all(text.isprintable() for text in result.warnings)
    for table in (result.flows, result.links, result.groups, result.size_classes):
        assert table is not None
    assert Scenario.from_dict(scenario.to_dict()) == scenario


def runs_or_is_refused(make: Callable[[], Scenario]) -> None:
    """Check that an input runs or is refused."""
    try:
        with limited():
            simulated(make())
    except _core.Cancelled:
        pass
    except InputError as error:
        in_words(error)
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        # Hypothesis can shrink an Exception.
        raise AssertionError(f"panic: {error}") from error


@cases(0.35)
@given(hostile.scenarios())
def test_dictionaries(values: dict[str, Any]) -> None:
    runs_or_is_refused(lambda: Scenario.from_dict(values))


@cases(0.15)
@given(hostile.scenarios())
def test_files(tmp_path_factory: pytest.TempPathFactory, values: dict[str, Any]) -> None:
    file = tmp_path_factory.getbasetemp() / "scenario.toml"
    try:
        file.write_text(tomli_w.dumps(values))
    except (TypeError, ValueError, AttributeError):  # TOML cannot express it
        return
    runs_or_is_refused(lambda: load(file))


@cases(0.15)
@given(data())
def test_set(drawn: DataObject) -> None:
    base = drawn.draw(st.sampled_from(hostile.BASES))
    settings = drawn.draw(st.lists(hostile.settings(base), min_size=1, max_size=3))
    runs_or_is_refused(lambda: changed(Scenario.from_dict(base), settings))


def with_file(table: str, kind: str, file: Path) -> Scenario:
    """A small scenario, with a file in one of its tables."""
    base = Scenario.from_dict(SMALL)
    return base.with_({table: {"kind": kind, "file": str(file)}})


@cases(0.1)
@given(content=hostile.flow_csv())
def test_flow_tables(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    file = tmp_path_factory.mktemp("flows") / "flows.csv"
    file.write_bytes(content)
    runs_or_is_refused(lambda: with_file("workload", "table", file))


@cases(0.15)
@given(table=hostile.flow_parquet())
def test_flow_tables_in_parquet(tmp_path_factory: pytest.TempPathFactory, table: pa.Table) -> None:
    file = tmp_path_factory.mktemp("flows") / "flows.parquet"
    try:
        pq.write_table(table, file)
    except (pa.ArrowException, UnicodeEncodeError):  # Parquet cannot hold it
        return
    runs_or_is_refused(lambda: with_file("workload", "table", file))


@cases(0.05)
@given(content=hostile.link_csv())
def test_graphs(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    file = tmp_path_factory.mktemp("links") / "links.csv"
    file.write_bytes(content)
    runs_or_is_refused(lambda: with_file("topology", "graph", file))


@cases(0.05)
@given(content=hostile.sizes_text())
def test_size_files(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    file = tmp_path_factory.mktemp("sizes") / "sizes.txt"
    file.write_bytes(content)
    runs_or_is_refused(lambda: with_file("workload.size", "empirical", file))
