"""A result as JSON and as files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lightburst import metrics
from lightburst.sampled import TABLES as SAMPLED

if TYPE_CHECKING:
    from lightburst.result import Result

_TABLES: Final = ("flows", "links", "switches")


def write(result: "Result", directory: Path) -> None:
    """Write the tables of a result and its ``run.json`` into a directory that is there."""
    measurement = result.scenario.measurement
    written = {name: getattr(result, name) for name in _TABLES}
    if result.traced:
        written |= {f"trace_{name}": getattr(result.trace, name) for name in result.trace.tables}
    if measurement.reordering is not None:
        written["reordering"] = result.reordering
    if measurement.synchronisation is not None and measurement.synchronisation.series:
        written["synchronisation"] = result.synchronisation
    if measurement.bursts is not None:
        written["bursts"] = result.bursts
    if measurement.sample is not None:
        written |= {f"samples_{name}": getattr(result.samples, name) for name in SAMPLED}
    for name, table in written.items():
        table.to_parquet(directory / f"{name}.parquet", index=False)
    content = {
        "summary": metrics.to_json(result.metrics),
        **result.details(),
    }
    text = json.dumps(of_run(result, content), indent=2, allow_nan=False)
    (directory / "run.json").write_text(text + "\n", encoding="utf-8")


def of_run(result: "Result", found: Mapping[str, Any]) -> dict[str, Any]:
    """Put what was found in a run between its seed, and its warnings and its provenance."""
    return {
        "seed": result.seed,
        **found,
        "warnings": list(result.warnings),
        "provenance": result.provenance.as_dict(),
    }
