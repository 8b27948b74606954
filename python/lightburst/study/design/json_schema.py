"""The JSON schema of study files, which includes that of scenarios."""

from typing import Any, Final

from lightburst.scenario.model import Scenario
from lightburst.scenario.reading.json_schema import draft7
from lightburst.scenario.reading.json_schema import schema as of_scenarios
from lightburst.study.design.description import StudyDescription

#: Identifier of the schema; it is not an address.
ID: Final = "urn:lightburst:study"

Node = dict[str, Any]

# A path starts with a key of a scenario and continues in the same string or in nested tables.
_PATH: Final = {"pattern": rf"^({'|'.join(Scenario.model_fields)})(\..+)?$"}
_VALUES: Final = {"type": "array", "minItems": 1}
_RANGE: Final = {
    "properties": {
        **{key: {"type": ["string", "number"]} for key in ("from", "to", "step")},
        "number": {"type": "integer", "minimum": 1},
        "scale": {"enum": ["linear", "log"]},
    },
    "required": ["from", "to"],
    "additionalProperties": False,
}


def schema() -> Node:
    """Return the JSON schema of study files.

    Returns
    -------
    dict
        A draft-7 schema. Everything that it refuses, `lightburst.sweep` refuses too. It covers the
        keys of a study and of its scenario, the form of axes, and the first key of their paths.
    """
    found, scenario = draft7(StudyDescription, ID, "A study of lightburst"), of_scenarios()
    inner = scenario.pop("definitions")
    own = {key: table for key, table in scenario.items() if not key.startswith("$")}
    ours = {**_axes(), "Scenario": own}
    twice = set(found["definitions"]) & set(inner) | set(ours) & (set(inner) | set(found))
    if twice:
        raise ValueError(f"definitions of two things: {', '.join(sorted(twice))}")
    found["definitions"] |= inner | ours
    for key, form in _FOLLOWS.items():
        found["properties"][key] |= form
    return found


def _ref(name: str) -> Node:
    return {"$ref": f"#/definitions/{name}"}


# Forms that depend on the scenario schema. Keywords next to a "$ref" are ignored, hence "allOf".
_FOLLOWS: Final[dict[str, Node]] = {
    "scenario": {"else": _ref("Scenario")},
    "over": {"allOf": [_ref("Axes")]},
    "linked": {"items": _ref("Axes")},
    "variants": {"additionalProperties": _ref("Changes")},
}


def _axes() -> dict[str, Node]:
    """Return definitions for tables of paths: keys with dots in quotes, or nested tables."""
    table = {"type": "object"}
    # Any single one of these keys marks a range, so that a wrong key next to it is reported.
    none_of_it = {"propertyNames": {"not": {"enum": ["from", "to", "step", "number"]}}}
    is_range = {**table, "not": none_of_it}
    inside = {"if": is_range, "then": _RANGE, "else": _ref("AxesInside")}
    axis = {"if": table, "then": inside, "else": _VALUES}
    return {
        "Axes": {**table, "propertyNames": _PATH, "additionalProperties": axis},
        "AxesInside": {**table, "additionalProperties": axis},
        "Changes": {**table, "propertyNames": _PATH},
    }
