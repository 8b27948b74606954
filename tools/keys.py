"""Write the tables of keys in docs/scenario.md from the fields of the scenario: ``make keys``.

It also writes docs/scenario.schema.json and docs/study.schema.json, the JSON schemas of the files.

Descriptions, defaults and limits come from the fields, as in errors and in the JSON schema; the
text between the tables is written by hand. A table follows a line with its contents::

    <!-- keys: Hybrid - BaseSwitch -->      the keys of Hybrid that BaseSwitch has not
    <!-- keys: Tahoe, Sack - _Recovery -->   those of several kinds, with a column of kinds

and ends with ``<!-- end -->``. ``<!-- presets -->`` begins the table of the presets of `tcp`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from lightburst.foundation.units import Quantity
from lightburst.scenario import Scenario, schema
from lightburst.scenario.fields import (
    Bare,
    FlagOr,
    InputFile,
    Lists,
    Name,
    Real,
    Whole,
    is_named,
)
from lightburst.scenario.reading.messages import by_name, inner_model, kinds, markers
from lightburst.scenario.section import Section, given, written_default
from lightburst.scenario.tables.loss import Span
from lightburst.scenario.transport import Tcp
from lightburst.scenario.transport.presets import PRESETS
from lightburst.study.design.json_schema import schema as study_schema

PAGE = Path(__file__).resolve().parent.parent / "docs" / "scenario.md"
SCHEMA = PAGE.with_suffix(".schema.json")
STUDY_SCHEMA = PAGE.with_name("study.schema.json")
END = "<!-- end -->"
_MARK = re.compile(r"<!-- (keys: (?P<of>.*?)(?: - (?P<without>\w+))?|presets) -->")
_TABLES = ("congestion_control", "recovery")


def row(cells: Iterable[str]) -> str:
    """Return a row of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def table(headings: list[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    return [row(headings), row(["---"] * len(headings)), *map(row, rows)]


def toml(value: object) -> str:
    """Write a value as in a scenario file, formatted as code."""
    return f"`{_toml(value)}`"


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(inner)}" for key, inner in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def default(field: FieldInfo) -> str:
    """Describe the value of a field that a file does not set."""
    if field.is_required():
        return "needed"
    if isinstance(field.default, Section) and not is_named(field):
        own = given(field.default)
        return toml(own) if own else "those of its keys"
    value = written_default(field)
    return "none" if value is None else toml(value)


def allowed(field: FieldInfo) -> str:
    """Describe the allowed values of a field briefly."""
    if field.annotation is bool:
        return "`true`, `false`"
    tables = kinds(field)
    if named := by_name(field):
        return f"{named} by name"
    if tables:
        names = ", ".join(map(toml, tables))
        if get_origin(field.annotation) is tuple:
            return f"a list, each: {names}, or a table with such a `kind`"
        if is_named(field):
            return f"{names}, or a table with such a `kind`"
        bare = [marker.quantity for marker in field.metadata if isinstance(marker, Bare)]
        return "; or ".join([*map(_limits, bare), f"a table: {names}"])
    whole = next((mark for mark in field.metadata if isinstance(mark, Lists)), None)
    if whole is not None:
        return whole.allowed.replace("[[[", "`[[[").replace("]]]", "]]]`")
    rows = [one for one in (field.annotation, *get_args(field.annotation)) if _is_list(one)]
    if rows:
        inner = get_args(rows[0])[0]
        marks = getattr(inner, "__metadata__", ())
        return f"a list, each: {' and '.join(map(_limits, marks)) or _noun(inner)}"
    words = [_limits(marker) for marker in markers(field) if _limits(marker)]
    literals = [
        name
        for part in (field.annotation, *get_args(field.annotation))
        if get_origin(part) is Literal
        for name in get_args(part)
    ]
    return " or ".join(words) or ", ".join(map(toml, literals)) or _noun(field.annotation)


def _is_list(annotation: object) -> bool:
    return get_origin(annotation) is tuple


def _noun(annotation: object) -> str:
    return "a table" if inner_model(annotation) else "text"


def _limits(marker: object) -> str:
    """Describe the values of a type in ``scenario.fields`` or ``units``; empty for other types."""
    if isinstance(marker, Quantity):
        name = marker.dimension.name.split(" ", 1)[1]
        least = "more than 0" if marker.positive else "0 or more"
        most = f", at most {marker.largest}" if marker.largest else ""
        return _or(f"{name}, {least}{most}", marker.word)
    if isinstance(marker, Whole):
        number = (
            f"{'even' if marker.even else 'whole'} number, {marker.minimum} to {marker.maximum:,}"
        )
        return _or(number, marker.word, *marker.names)
    if isinstance(marker, Real):
        return marker.allowed.removeprefix("a ").replace("number ", "number, ")
    if isinstance(marker, FlagOr):
        return f"`true`, `false` or {toml(marker.word)}"
    if isinstance(marker, InputFile):
        return "name of a file"
    if isinstance(marker, Span):
        return "`[first, last]`"
    return marker.allowed if isinstance(marker, Name) else ""


def _or(text: str, *words: str | None) -> str:
    others = ", ".join(toml(word) for word in words if word)
    return f"{text}; or {others}" if others else text


def sections() -> dict[str, type[Section]]:
    """Collect the classes of a scenario's tables, and their base classes, by name."""
    found: dict[str, type[Section]] = {}
    waiting: list[type[Section]] = [Scenario]
    while waiting:
        section = waiting.pop()
        for base in section.__mro__:
            if issubclass(base, Section) and base is not Section:
                found[base.__name__] = base
        for field in section.model_fields.values():
            inner = inner_model(field.annotation)
            others = (*kinds(field).values(), *([inner] if inner else []))
            waiting += [o for o in others if issubclass(o, Section) and o.__name__ not in found]
    return found


def keys(names: list[str], without: str | None) -> list[str]:
    """Return the table of the keys of some sections, without those of another section."""
    known = sections()
    left_out = set(known[without].model_fields) if without else set()
    kinds_of: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        for key, field in known[name].model_fields.items():
            inherited = key in left_out and key not in vars(known[name])["__annotations__"]
            if key != "kind" and not inherited:
                cells = (f"`{key}`", default(field), allowed(field), field.description or "")
                kinds_of.setdefault(cells, []).append(_kind(known[name]))
    headings = ["Key", "Default", "Allowed", "What it is"]
    if len(names) == 1:
        return table(headings, kinds_of)
    return table(["Kind", *headings], ((", ".join(of), *row) for row, of in kinds_of.items()))


def _kind(section: type[Section]) -> str:
    field = section.model_fields.get("kind")
    return f"`{field.default}`" if field else ""


def presets() -> list[str]:
    """Return the table of the presets of `tcp`: the settings that differ in any of them."""
    settings = [_flat(preset) for preset in PRESETS.values()]
    paths = dict.fromkeys(path for preset in settings for path in preset)
    rows = ([f"`{p}`", *(toml(s[p]) if p in s else _usual(p) for s in settings)] for p in paths)
    return table(["Key", *map(toml, PRESETS)], rows)


def _flat(preset: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten the settings to paths; the kind of a table gets the path of the table."""
    found: dict[str, Any] = {}
    for key, value in preset.items():
        inner = value if isinstance(value, Mapping) else {"kind": value}
        found |= {
            key if name == "kind" else f"{key}.{name}": setting for name, setting in inner.items()
        }
    return found


def _usual(path: str) -> str:
    """Return the default of a setting, or ``by kind`` where the kinds of its table differ."""
    name, _, key = path.rpartition(".")
    if not name:
        return default(Tcp.model_fields[key])
    members = kinds(Tcp.model_fields[name]).values()
    defaults = {
        default(member.model_fields[key]) for member in members if key in member.model_fields
    }
    return defaults.pop() if len(defaults) == 1 else "by kind"


def written(page: str) -> str:
    """Return the page with its tables updated from the fields.

    Parameters
    ----------
    page : str
        Page with its marks, and any tables between them.

    Raises
    ------
    ValueError
        If a mark has no end, or names an unknown section.
    """
    return "\n".join(_lines(iter(page.split("\n"))))


def _lines(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line
        mark = _MARK.fullmatch(line)
        if mark is None:
            continue
        yield from (
            presets() if mark["of"] is None else keys(mark["of"].split(", "), mark["without"])
        )
        if END not in lines:  # reads on to it
            raise ValueError(f"{line} without {END}")
        yield END


def json_schema(of: Callable[[], Mapping[str, Any]] = schema) -> str:
    """Return a JSON schema as printed by ``lightburst schema``."""
    return json.dumps(of(), indent=2) + "\n"


def main() -> int:
    """Write the page and the JSON schemas."""
    SCHEMA.write_text(json_schema(), encoding="utf-8")
    STUDY_SCHEMA.write_text(json_schema(study_schema), encoding="utf-8")
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
