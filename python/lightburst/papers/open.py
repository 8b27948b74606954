"""Parameters that a paper leaves open, as data: ``open.toml``, fixed before any run.

The file has a table for each parameter below ``parameters``, by its name:

- ``path``: a field of the scenario, and its values: ``from`` and ``to``, with ``scale = "log"`` for
  equal ratios, or a list ``choices``.
- In place of these a table ``choices``: by name of the choice the settings, by path. Such a
  parameter is the paper's own: it moves several fields, or is none of a scenario.
- ``base``: the value, or the name of the choice, that ``scenario.toml`` has.
- ``why``: why it is open.
- ``where``: labels of the paper's points, as ``{ access = 125e3 }``, to which it is restricted.

Two more keys name claims by patterns, as ``gain-*``: ``logarithms`` those whose numbers are ratios,
and ``left_out`` those that say nothing about these parameters.
"""

from __future__ import annotations

import fnmatch
import math
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from lightburst.foundation.errors import InputError, did_you_mean, show
from lightburst.scenario.change import field_at, split
from lightburst.scenario.reading.loading import read_toml
from lightburst.study.design.axes import Range, range_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from lightburst.papers.paper import Paper
    from lightburst.scenario import Scenario

#: Name of the file in the package of a paper.
FILE: Final = "open.toml"
#: Significant digits of the values of a setting, few enough to be quoted.
DIGITS: Final = 3
_TOP: Final = ("parameters", "logarithms", "left_out")
_KEYS: Final = ("path", "from", "to", "scale", "choices", "base", "why", "where")
_EXAMPLE: Final = (
    "path, from and to, base and why, as { path = 'topology.access_rate', from = '10 Mb/s', "
    "to = '1 Gb/s', scale = 'log', base = '100 Mb/s', why = 'section 3 does not state it' }"
)
_MISSING: Final = object()


@dataclass(frozen=True)
class Parameter:
    """A parameter that a paper leaves open.

    Attributes
    ----------
    name : str
        Its name in the file.
    why : str
        Why it is open.
    base : object
        The value of the paper's scenario, or the name of its choice.
    path : str
        Field that it sets; empty for a parameter of the paper's own.
    range : Range or None
        Range of the values; None for choices.
    choices : mapping of str to mapping
        Settings by path, by the choice in words.
    where : mapping of str to tuple
        Values of labels to which it is restricted, by label.
    part : float
        Fraction of the range at which the base is.
    """

    name: str
    why: str
    base: object
    path: str
    range: Range | None
    choices: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    where: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    part: float = 0.0

    @property
    def number(self) -> int | None:
        """Number of choices; None for a range."""
        return None if self.range else len(self.choices)

    @property
    def log(self) -> bool:
        """Whether a range has a logarithmic scale."""
        return self.range is not None and self.range.scale == "log"

    def settings(self, part: float) -> Mapping[str, object]:
        """Return the settings, by path, at a fraction of the range in [0, 1)."""
        if self.range is not None:
            return {self.path: self.range.sampled(part, DIGITS)}
        return self.choices[self._choice(part)]

    def written(self, part: float) -> object:
        """Return the value at a fraction, or the choice in words."""
        return self.settings(part)[self.path] if self.range else self._choice(part)

    def _choice(self, part: float) -> str:
        return list(self.choices)[min(int(part * len(self.choices)), len(self.choices) - 1)]

    def holds_for(self, labels: pd.Series[Any]) -> bool:
        """Return whether a point with these labels is one to which the parameter belongs."""
        return all(labels[name] in values for name, values in self.where.items())


@dataclass(frozen=True)
class Open:
    """All that a paper leaves open.

    Attributes
    ----------
    parameters : tuple of Parameter
        The parameters, in the order of the file.
    logarithms, left_out : tuple of str
        Patterns of claims whose numbers are ratios, and of claims that are left out.
    base : Scenario
        Scenario of the paper.
    """

    parameters: tuple[Parameter, ...]
    logarithms: tuple[str, ...]
    left_out: tuple[str, ...]
    base: Scenario

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(one.name for one in self.parameters)

    def is_ratio(self, claim: str) -> bool:
        """Return whether the number of a claim, named by its id, is a ratio."""
        return any(fnmatch.fnmatchcase(claim, pattern) for pattern in self.logarithms)

    def leaves_out(self, claim: str) -> bool:
        """Return whether a claim, named by its id, is left out."""
        return any(fnmatch.fnmatchcase(claim, pattern) for pattern in self.left_out)

    def at(
        self, parts: Iterable[float], scenario: Scenario, labels: pd.Series[Any]
    ) -> dict[str, object]:
        """Return what a setting changes at one of the paper's points.

        A point that sets a field to another value than the base does so on purpose, and keeps it.

        Parameters
        ----------
        parts : sequence of float
            The setting: a fraction of the range of each parameter.
        scenario : Scenario
            Scenario of the point.
        labels : Series
            Labels of the point.

        Returns
        -------
        dict
            Values by path.
        """
        found: dict[str, object] = {}
        for one, part in zip(self.parameters, parts, strict=True):
            if one.holds_for(labels):
                found |= {
                    path: value
                    for path, value in one.settings(part).items()
                    if value_at(scenario, path) == value_at(self.base, path)
                }
        return found


def value_at(scenario: Scenario, path: str) -> object:
    """Return the value of a field of a scenario; a constant of its own where it has no such."""
    found: object = scenario
    for name in split(path):
        found = found.get(name, _MISSING) if isinstance(found, dict) else (
            getattr(found, name, _MISSING)
        )  # fmt: skip
    return found


def read(paper: Paper, base: Scenario, path: str | Path | None = None) -> Open:
    """Read the open parameters of a paper.

    Parameters
    ----------
    paper : Paper
        The paper.
    base : Scenario
        Its scenario.
    path : str or Path, optional
        File to read in place of the paper's own.

    Returns
    -------
    Open

    Raises
    ------
    InputError
        If there is no such file, or for the first key that is unknown, missing or impossible.
    """
    if path is not None:
        return read_open(read_toml(path), base)
    file = resources.files(paper.package) / FILE if paper.package else None
    if file is None or not file.is_file():
        allowed = f"a paper whose package has {FILE}, or --open with such a file"
        raise InputError("name", show(paper.name), allowed)
    with resources.as_file(file) as own:
        return read_open(read_toml(own), base)


def read_open(given: Mapping[str, Any], base: Scenario) -> Open:
    """Read the tables of an ``open.toml`` against the paper's scenario, as `read` does."""
    _known("", given, _TOP)
    ratios, out = (_patterns(key, given.get(key, [])) for key in _TOP[1:])
    tables = given.get("parameters")
    if not isinstance(tables, dict) or not tables:
        raise InputError("parameters", show(tables), f"a table for each parameter: {_EXAMPLE}")
    parameters = tuple(_parameter(name, table, base) for name, table in tables.items())
    seen: dict[str, str] = {}
    for one in parameters:
        for path in {one.path} - {""} or {key for each in one.choices.values() for key in each}:
            if path in seen and not one.where:
                allowed = f"each path once; parameters.{seen[path]} has it"
                raise InputError(f"parameters.{one.name}.path", show(path), allowed)
            seen[path] = one.name
    return Open(parameters, ratios, out, base)


def _known(where: str, table: Mapping[str, Any], keys: Sequence[str]) -> None:
    for key in table:
        if key not in keys:
            place = f"{where}.{key}".lstrip(".")
            allowed = f"one of {', '.join(keys)}{did_you_mean(key, keys)}"
            raise InputError(place, "an unknown key", allowed)


def _patterns(key: str, given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(one, str) and one for one in given):
        raise InputError(key, show(given), "a list of claims, as ['gain-*']")
    return tuple(given)


def _parameter(name: str, table: Any, base: Scenario) -> Parameter:
    where = f"parameters.{name}"
    if not isinstance(table, dict):
        raise InputError(where, show(table), f"a table with {_EXAMPLE}")
    _known(where, table, _KEYS)
    for key in ("why", "base"):
        if key not in table:
            raise InputError(f"{where}.{key}", "nothing", f"a table with {_EXAMPLE}")
    why = table["why"]
    if not isinstance(why, str) or not why.strip():
        raise InputError(f"{where}.why", show(why), "the reason in words")
    only = _where(where, table.get("where", {}))
    if isinstance(table.get("choices"), dict):
        return _own(name, where, table, base, only)
    path = table.get("path")
    if not isinstance(path, str) or value_at(base, path) is _MISSING:
        allowed = "the path of a field of the paper's scenario, as 'topology.access_rate'"
        raise InputError(f"{where}.path", show(path), allowed)
    _is_base(where, {path: table["base"]}, table["base"], base)
    if "choices" in table:
        return _listed(name, where, table, base, only)
    spec = {key: table[key] for key in ("from", "to", "scale") if key in table}
    ends = {key: spec[key] for key in ("from", "to") if key in spec}
    of = field_at(base, {path: table["base"]}, path)
    found = range_of(where, spec, of)
    if found.begin == found.end:
        raise InputError(f"{where}.to", show(ends["to"]), "more than from")
    for key, value in ends.items():
        _fits(f"{where}.{key}", base, {path: value})
    at = range_of(where, {"from": table["base"], "to": table["base"]}, of).begin
    if not found.begin <= at <= found.end:
        allowed = f"a value of the range, {ends['from']} to {ends['to']}"
        raise InputError(f"{where}.base", show(table["base"]), allowed)
    return Parameter(name, why, table["base"], path, found, {}, only, part_of(found, at))


def part_of(found: Range, value: float) -> float:
    """Return the fraction of a range at which a value is."""
    if found.scale == "linear":
        return (value - found.begin) / (found.end - found.begin)
    return math.log(value / found.begin) / math.log(found.end / found.begin)


def _where(where: str, given: Any) -> dict[str, tuple[object, ...]]:
    if not isinstance(given, dict):
        raise InputError(f"{where}.where", show(given), "labels of points, as { access = 125e3 }")
    return {
        name: tuple(values) if isinstance(values, list) else (values,)
        for name, values in given.items()
    }


def _listed(
    name: str, where: str, table: Mapping[str, Any], base: Scenario, only: Any
) -> Parameter:
    for key in ("from", "to", "scale"):
        if key in table:
            raise InputError(f"{where}.{key}", show(table[key]), "nothing beside choices")
    values, path = table["choices"], table["path"]
    if not isinstance(values, list) or len(values) < 2:
        raise InputError(f"{where}.choices", show(values), "a list of two values or more")
    if any(value in values[:place] for place, value in enumerate(values)):
        raise InputError(f"{where}.choices", show(values), "different values")
    if table["base"] not in values:
        raise InputError(f"{where}.base", show(table["base"]), f"one of choices, {show(values)}")
    for value in values:
        _fits(f"{where}.choices", base, {path: value})
    choices = {words_of(value): {path: value} for value in values}
    part = (values.index(table["base"]) + 0.5) / len(values)
    return Parameter(name, table["why"], table["base"], path, None, choices, only, part)


def _own(name: str, where: str, table: Mapping[str, Any], base: Scenario, only: Any) -> Parameter:
    for key in ("path", "from", "to", "scale"):
        if key in table:
            raise InputError(f"{where}.{key}", show(table[key]), "nothing beside named choices")
    choices = table["choices"]
    if len(choices) < 2:
        raise InputError(f"{where}.choices", show(choices), "two choices or more, by name")
    for choice, settings in choices.items():
        at = f"{where}.choices.{choice}"
        if not isinstance(settings, dict) or not settings:
            raise InputError(at, show(settings), "settings by path, as { 'transport.p' = 4 }")
        for path in settings:
            if value_at(base, path) is _MISSING:
                raise InputError(at, show(path), "paths of the paper's scenario")
        _fits(at, base, settings)
    if table["base"] not in choices:
        allowed = f"one of {', '.join(choices)}{did_you_mean(table['base'], choices)}"
        raise InputError(f"{where}.base", show(table["base"]), allowed)
    _is_base(where, choices[table["base"]], table["base"], base)
    part = (list(choices).index(table["base"]) + 0.5) / len(choices)
    return Parameter(name, table["why"], table["base"], "", None, choices, only, part)


def words_of(value: object) -> str:
    """Write a value of a choice, or of a base, as in a file."""
    if isinstance(value, dict):
        return " ".join(str(part) for part in value.values())
    return str(value).lower() if isinstance(value, bool) else str(value)


def _fits(where: str, base: Scenario, settings: Mapping[str, object]) -> None:
    """Refuse settings that the paper's scenario does not take, with the scenario's own words."""
    try:
        base.with_(dict(settings))
    except InputError as error:
        raise InputError(where, error.given, error.allowed) from None


def _is_base(where: str, settings: Mapping[str, object], given: object, base: Scenario) -> None:
    """Refuse a base that is not what the paper's scenario has."""
    _fits(f"{where}.base", base, settings)
    changed = base.with_(dict(settings))
    for path in settings:
        if value_at(changed, path) != value_at(base, path):
            has = base.to_dict()
            for key in split(path):
                has = has[key]
            allowed = f"the value of the paper's scenario, {path} = {show(has)}"
            raise InputError(f"{where}.base", show(given), allowed)
