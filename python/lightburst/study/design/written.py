"""Writes a study as the tables of ``study.toml``, with units for quantities."""

from collections.abc import Mapping
from typing import Any

import tomli_w
from pydantic import BaseModel

from lightburst.expressions import parse
from lightburst.foundation.units import Quantity
from lightburst.scenario.change import field_at
from lightburst.scenario.fields import Bare
from lightburst.scenario.reading.messages import markers
from lightburst.scenario.section import plain
from lightburst.study.design.axes import is_range
from lightburst.study.design.description import StudyDescription
from lightburst.study.statistics.intervals import STUDENT


def tables(study: StudyDescription) -> dict[str, Any]:
    """Write a study as nested dictionaries that `StudyDescription.from_dict` reads back.

    Parameters
    ----------
    study : StudyDescription
        The study. Its scenario is written in full, including all defaults.

    Returns
    -------
    dict
        Values that JSON can hold; None for a change that removes a field.
    """
    found: dict[str, Any] = {"name": study.name}
    if study.target is None:
        found["seeds"] = _seeds(list(study.all_seeds))
    found["metrics"] = {name: parse(metric).written for name, metric in study.metrics.items()}
    found["keep"] = list(study.keep)
    found |= {"show": list(study.show), "compare": [list(pair) for pair in study.compare]}
    if study.interval != STUDENT:
        found["interval"] = study.interval
    for name in ("sample", "target", "optimise", "sensitivity"):
        if (section := getattr(study, name)) is not None:
            found[name] = plain(section)
    found["over"] = {path: _axis(study, path, spec) for path, spec in study.over.items()}
    found["linked"] = [
        {path: _axis(study, path, spec) for path, spec in axis.items()} for axis in study.linked
    ]
    found["variants"] = {
        name: {path: _value(study, path, value, changes) for path, value in changes.items()}
        for name, changes in study.variants.items()
    }
    found["figures"] = [plain(figure) for figure in study.figures]
    kept = {key: value for key, value in found.items() if value not in ("", [], {})}
    return {**kept, "scenario": study.scenario.to_dict()}


def to_toml(study: StudyDescription) -> str | None:
    """Write a study as TOML; None if it has a change that TOML cannot express."""
    written = tables(study)
    if _has_none(written):
        return None
    return tomli_w.dumps(written)


def _has_none(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value is None or any(map(_has_none, inner))


def _seeds(seeds: list[int]) -> int | list[int]:
    return len(seeds) if seeds == list(range(1, len(seeds) + 1)) else seeds


def _axis(study: StudyDescription, path: str, spec: Any) -> Any:
    if is_range(spec):
        words = ("from", "to", "step")
        return {
            key: _value(study, path, value, {}) if key in words else value
            for key, value in spec.items()
        }
    return [_value(study, path, value, {}) for value in spec]


def _value(study: StudyDescription, path: str, value: Any, changes: Mapping[str, object]) -> Any:
    """Write a numeric value of a quantity, which Python gives in SI units, as text with a unit."""
    if isinstance(value, BaseModel):
        return plain(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return list(value) if isinstance(value, tuple) else value
    for others in (changes, *study.variants.values()):
        field = field_at(study.scenario, {**others, path: value}, path)
        for marker in markers(field) if field else ():
            quantity = marker.quantity if isinstance(marker, Bare) else marker
            if isinstance(quantity, Quantity):
                return quantity.format(quantity.parse(value))
    return value
