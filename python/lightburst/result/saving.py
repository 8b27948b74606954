"""Saving of a result: JSON and Parquet files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lightburst.foundation.files.dataframes import write_parquet
from lightburst.result import metrics
from lightburst.scenario.tables.measurement import MEASUREMENTS

if TYPE_CHECKING:
    from io import BytesIO

    import pandas as pd

    from lightburst.result.result import Result
    from lightburst.scenario import Scenario

# Tables of every run, which are written without pandas.
_ALWAYS: Final = ("flows", "links", "switches")
# Tables whose content is in run.json already.
_METRIC_TABLES: Final = ("groups", "size_classes")
# Tables of workloads whose messages wait for others, with the kinds of the workload.
_OF_WORKLOADS: Final = {
    "collectives": ("collective",),
    "ranks": ("goal",),
    "timeline": ("collective", "goal"),
}

# Messages of a run above which a timeline, whose path is then long to find, is not saved unasked.
_MOST_MESSAGES: Final = 1_000_000

_OPTIONAL: Final = {name: one for one in MEASUREMENTS for name in one.tables}

#: The tables of a result that can be files, by the names of their files.
TABLES: Final = (*_ALWAYS, *_METRIC_TABLES, *_OF_WORKLOADS, *_OPTIONAL)


def needed(name: str, scenario: Scenario) -> str | None:
    """Return the missing request of a scenario for a table of `TABLES`; None if there is none."""
    if name in _OPTIONAL:
        return _OPTIONAL[name].missing(scenario.measurement)
    if (kinds := _OF_WORKLOADS.get(name)) is not None:
        has = any(one.workload.kind in kinds for one in scenario.flow_groups)
        words = " or ".join(f"'{kind}'" for kind in kinds)
        return None if has else f"workload.kind = {words}"
    return "groups" if name == "groups" and not scenario.groups else None


def write_table(result: Result, name: str, file: Path | BytesIO) -> None:
    """Write a table of `TABLES`, which the result must have, as Parquet."""
    if name in _ALWAYS:
        write_parquet(result.columns_of(name), file)
    else:
        _frame(result, name).to_parquet(file, index=False)


def _frame(result: Result, name: str) -> pd.DataFrame:
    if name in _OPTIONAL:
        return _OPTIONAL[name].table(result, name)
    if name == "timeline":
        return result.timeline()
    found: pd.DataFrame = getattr(result, name)
    return found.reset_index() if name in _METRIC_TABLES else found


def write(result: Result, directory: Path) -> None:
    """Write the tables of a result and its ``run.json`` to an existing directory."""
    for name in TABLES:
        if name == "timeline" and len(result.plan.flows["source"]) > _MOST_MESSAGES:
            continue
        if name not in _METRIC_TABLES and needed(name, result.scenario) is None:
            write_table(result, name, directory / f"{name}.parquet")
    content = {
        "summary": metrics.to_json(result.metrics),
        **result.details(),
    }
    text = json.dumps(of_run(result, content), indent=2, allow_nan=False)
    (directory / "run.json").write_text(text + "\n", encoding="utf-8")


def of_run(result: Result, found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON of a run: its seed, the given content, its warnings and its provenance."""
    return {
        "seed": result.seed,
        **found,
        "warnings": list(result.warnings),
        "provenance": result.provenance.as_dict(),
    }
