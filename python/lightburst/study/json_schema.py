"""The JSON schema of study files, around that of scenarios (`lightburst.scenario.json_schema`)."""

from typing import Any, Final

from lightburst.scenario.json_schema import draft7
from lightburst.scenario.json_schema import schema as of_scenarios
from lightburst.scenario.model import Scenario
from lightburst.study.description import StudyDescription

#: What the schema is called; it is no address.
ID: Final = "urn:lightburst:study"

Node = dict[str, Any]

# A path begins with a key of a scenario, and goes on in quotes or in tables below it.
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
    """Give the JSON schema of study files.

    Returns
    -------
    dict
        Draft 7. What it refuses `lightburst.sweep` refuses, too; it knows the keys of a study and
        of its scenario, the form of axes, and with which key of a scenario their paths begin.
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


# What hangs on the keys of a scenario. Beside a reference nothing else counts, so it stands in one.
_FOLLOWS: Final[dict[str, Node]] = {
    "scenario": {"else": _ref("Scenario")},
    "over": {"allOf": [_ref("Axes")]},
    "linked": {"items": _ref("Axes")},
    "variants": {"additionalProperties": _ref("Changes")},
}


def _axes() -> dict[str, Node]:
    """Give the tables of paths: their keys stand in quotes with dots, or as tables in tables."""
    table = {"type": "object"}
    # One of these keys is enough, so that a wrong one beside it is named.
    none_of_it = {"propertyNames": {"not": {"enum": ["from", "to", "step", "number"]}}}
    is_range = {**table, "not": none_of_it}
    inside = {"if": is_range, "then": _RANGE, "else": _ref("AxesInside")}
    axis = {"if": table, "then": inside, "else": _VALUES}
    return {
        "Axes": {**table, "propertyNames": _PATH, "additionalProperties": axis},
        "AxesInside": {**table, "additionalProperties": axis},
        "Changes": {**table, "propertyNames": _PATH},
    }
