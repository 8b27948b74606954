"""What the records of the twin's results must see, as if there were none."""

from collections.abc import Callable, Mapping
from pathlib import Path

import compare
import numpy as np
import pytest
import recorded_results
from compare import check_equal
from plans import Plan, core, twin
from random_plans import random_plan
from recorded_results import SHARE, digest, key_of
from twin import Columns

#: One of the twin's results is recorded, and the twin need not run for it.
SEED, KIND = 3, "packets"


def planned() -> Plan:
    return random_plan(SEED, KIND)


@pytest.fixture
def record(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Record a digest as the twin's result for the plan, with a key that is not of the share."""

    def give(result: str) -> None:
        monkeypatch.delenv(recorded_results.MODE, raising=False)
        monkeypatch.setattr(recorded_results, "key_of", lambda *_: f"{SHARE + 1:016x}")
        known: Mapping[str, str] = {f"{SHARE + 1:016x}": result}
        monkeypatch.setattr(recorded_results, "recorded", lambda: known)

    return give


def broken(result: Columns) -> Columns:
    """The result with one number wrong by one."""
    flows = dict(result["flows"])
    flows["transmissions"] = flows["transmissions"].copy()
    flows["transmissions"][-1] += 1
    return {**result, "flows": flows}


def no_twin(*_: object) -> Columns:
    raise AssertionError("the twin ran")


def test_a_core_with_the_recorded_result_is_equal_without_a_run_of_the_twin(
    record: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    record(digest(twin(planned())))
    monkeypatch.setattr(compare, "twin", no_twin)
    check_equal(planned())


def test_a_wrong_core_is_compared_with_the_twin_and_the_column_is_named(
    record: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    record(digest(twin(planned())))
    monkeypatch.setattr(compare, "core", lambda plan: broken(core(plan)))
    with pytest.raises(AssertionError, match=r"flows\.transmissions"):
        check_equal(planned())


def test_a_wrong_record_fails_also_if_the_core_is_right(record: Callable[[str], None]) -> None:
    record(digest(broken(twin(planned()))))
    with pytest.raises(AssertionError, match="make golden"):
        check_equal(planned())


@pytest.mark.parametrize("case", ["share", "always", "another purpose"])
def test_the_twin_runs_in_any_case(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = digest(twin(planned()))
    if case == "always":
        monkeypatch.setenv(recorded_results.MODE, case)
    else:
        monkeypatch.delenv(recorded_results.MODE, raising=False)
    if case != "another purpose":
        key = f"{SHARE * 7 + (case == 'always'):016x}"
        monkeypatch.setattr(recorded_results, "key_of", lambda *_: key)
    else:
        key = key_of(planned(), "stories")
    monkeypatch.setattr(recorded_results, "recorded", lambda: {key: result})
    monkeypatch.setattr(compare, "twin", no_twin)
    with pytest.raises(AssertionError, match="the twin ran"):
        check_equal(planned())


def test_records_of_another_twin_do_not_count(tmp_path: Path) -> None:
    file = tmp_path / "records.txt"
    file.write_text("one\nkey result\n")
    assert recorded_results.read(file, "one") == {"key": "result"}
    assert recorded_results.read(file, "another") == {}


def test_each_source_of_the_twin_is_in_its_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All modules that the twin consists of are among the sources."""
    before = recorded_results.sources()
    listed = {path for one in recorded_results.SOURCES for path in recorded_results.HERE.glob(one)}
    names = {str(path.relative_to(recorded_results.HERE)) for path in listed}
    assert {"twin/laws.py", "twin/simulation.py", "linux/state.py", "compare.py"} <= names
    for path in listed:
        copy = tmp_path / path.relative_to(recorded_results.HERE)
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(path.read_bytes())
    monkeypatch.setattr(recorded_results, "HERE", tmp_path)
    assert recorded_results.sources() == before
    with (tmp_path / "twin" / "laws.py").open("a") as changed:
        changed.write("#\n")
    assert recorded_results.sources() != before


def test_a_key_has_all_of_a_plan() -> None:
    """Each table and setting, and the type of each column."""
    plan = planned()
    flows = {**plan.flows, "bytes": plan.flows["bytes"] + np.uint64(1)}
    links = {**plan.links, "delay_ps": plan.links["delay_ps"].astype(np.int64)}
    others = [
        plan._replace(settings={**plan.settings, "seed": 5}),
        plan._replace(flows=flows),
        plan._replace(links=links),
        plan._replace(kinds=[0, *plan.nodes["switch"][1:].tolist(), 0]),
    ]
    keys = {key_of(one, "result") for one in (plan, *others)}
    assert len(keys | {key_of(plan, "stories")}) == len(others) + 2


def test_a_digest_has_each_number_and_not_its_width() -> None:
    result = core(planned())
    wide = {
        group: {
            name: value.astype(f"{value.dtype.kind}8") if isinstance(value, np.ndarray) else value
            for name, value in columns.items()
        }
        for group, columns in result.items()
    }
    assert digest(wide) == digest(result)
    assert digest(broken(result)) != digest(result)
    totals = {**result["totals"], "events": result["totals"]["events"] + 1}
    assert digest({**result, "totals": totals}) != digest(result)
    less = {name: column for name, column in result["flows"].items() if name != "drops"}
    assert digest({**result, "flows": less}) != digest(result)


def test_the_records_are_kept_in_order() -> None:
    """So that a change of one plan is a change of one line."""
    _, *lines = recorded_results.FILE.read_text().splitlines()
    assert lines == sorted(set(lines))
    assert len({line.split()[0] for line in lines}) == len(lines)
