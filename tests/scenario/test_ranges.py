"""The values that a scenario and the simulator allow for a setting of a window law or a recovery.

Both state them, each in the file of the kind; here they are compared.
"""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import pytest
from test_settings_of_kinds import EACH, OBS, TABLES

import lightburst as lb
from lightburst import _core
from lightburst.compile import compile_plan
from lightburst.scenario.fields import Real, Whole
from lightburst.scenario.transport import Tcp
from lightburst.scenario.transport.congestion_control import COUPLED, OF_RATES


def refusal(changes: dict[str, str], **settings: Any) -> str | None:
    """Run a plan with settings that no scenario checked; returns the error of the simulator."""
    small: dict[str, Any] = {"workload.size.value": "20 kB", "loss.probability": 0.0}
    if OF_RATES & set(changes.values()):
        small["transport.recovery"] = "rack-tlp"
    if COUPLED & set(changes.values()):
        small["transport.subflows"] = 2
    plan = compile_plan(lb.load(OBS).with_(small | changes), 1)
    written = json.loads(json.dumps(plan.settings))
    (group,) = written["groups"]
    table = group["transport"]
    for name in changes:
        table = table[name.removeprefix("transport.")]
    table.update(settings)
    try:
        _core.simulate(json.dumps(written), plan.nodes, plan.links, plan.flows)
    except ValueError as error:
        return str(error)
    return None


def numbers() -> list[Any]:
    """Each setting that is a number, with its limits."""
    found = []
    for table, kind in EACH:
        for name, field in TABLES[table][kind].model_fields.items():
            found += [
                pytest.param(table, kind, name, marker, id=f"{kind}-{name}")
                for marker in field.metadata
                if isinstance(marker, Real | Whole)
            ]
    return found


@pytest.mark.parametrize(("table", "kind", "name", "limits"), numbers())
def test_the_core_takes_the_same_range_of_a_number(
    table: str, kind: str, name: str, limits: Real | Whole
) -> None:
    changes = {f"transport.{table}": kind}
    for end in (limits.minimum, limits.maximum):
        assert refusal(changes, **{name: end}) is None
        step = 1 if isinstance(limits, Whole) else 1e-6 * abs(end) or 1e-6
        beyond = end + step if end == limits.maximum else end - step
        words = refusal(changes, **{name: beyond})
        assert words is not None
        assert f"{kind}: transport.{table}.{name} must be a number from " in words


def words() -> list[tuple[dict[str, str], str, str, tuple[str, ...]]]:
    """Each setting that is one of several words, with these words."""
    fields = [(name, field) for name, field in Tcp.model_fields.items() if name != "preset"]
    found: list[Any] = [({}, "", name, get_args(field.annotation)) for name, field in fields]
    for table, kind in EACH:
        fields = list(TABLES[table][kind].model_fields.items())
        changes = {f"transport.{table}": kind}
        found += [
            (changes, f"{table}.", name, get_args(field.annotation)) for name, field in fields
        ]
    return [case for case in found if len(case[3]) > 1 and all(isinstance(w, str) for w in case[3])]


@pytest.mark.parametrize(("changes", "path", "name", "allowed"), words())
def test_the_core_takes_the_same_words(
    changes: dict[str, str], path: str, name: str, allowed: tuple[str, ...]
) -> None:
    for word in allowed:
        assert refusal(changes, **{name: word}) is None
    refused = re.search(
        rf'transport\.{path}{name} must be one of (.*), not Word\("nonsense"\)$',
        refusal(changes, **{name: "nonsense"}) or "",
    )
    assert refused is not None
    assert sorted(refused[1].split(", ")) == sorted(allowed)


def test_settings_called_alike_have_a_range_for_each_law() -> None:
    kept, share = ({"transport.congestion_control": kind} for kind in ("vegas", "fast"))
    assert refusal(kept, gamma=2.0) is None
    error = refusal(share, gamma=2.0)
    assert error is not None
    assert "fast: transport.congestion_control.gamma must be a number from 0 to 1, not" in error
