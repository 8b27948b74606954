"""What a study asks: the words of ``study.toml``, which are those of `lightburst.sweep`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema, core_schema

from lightburst.compile import check_seeds
from lightburst.errors import InputError, did_you_mean, inside, show
from lightburst.scenario import Scenario, load
from lightburst.scenario.explain import explain
from lightburst.scenario.fields import Section, refuse
from lightburst.scenario.load import read_toml
from lightburst.study.axes import is_range
from lightburst.study.block import Block
from lightburst.study.design import Design

_AXES = "values by path, as { workload.load = [0.2, 0.4] }"
_CHANGES = "changes by name, as { SACK = { transport.recovery = 'sack' } }"
_PAIRS = "a list of pairs of variants, as [['Reno', 'SACK']]"
_SEEDS = "how many seeds, as 10 for the seeds 1 to 10, or a list of different ones"
_SCENARIO = "a table of the scenario's keys, or the name of its file"
_METRICS = "a list of names of metrics, as ['slowdown_p99', 'throughput_bps']"


@dataclass(frozen=True)
class _Only:
    """The type of a field that a function checks; stands in an ``Annotated``.

    Attributes
    ----------
    allowed : str
        What can be written, for errors.
    fits : callable
        Tells whether a value can stand there.
    """

    allowed: str
    fits: Callable[[Any], bool]

    def _validate(self, value: object) -> object:
        if not self.fits(value):
            raise refuse(self.allowed)
        return value

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._validate)


def _names(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)


def _pairs(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(
        _names(pair) and len(pair) == 2 for pair in value
    )


class StudyDescription(Section):
    """A base scenario, what varies, how often it is run, and what is asked of the runs."""

    instead: ClassVar[str] = "; lightburst.sweep runs a study"

    name: Annotated[str, _Only("text", lambda value: isinstance(value, str))] = ""
    scenario: Annotated[
        Any, _Only(_SCENARIO, lambda value: isinstance(value, Scenario | Mapping | str | PathLike))
    ]
    over: Annotated[Any, _Only(_AXES, lambda value: isinstance(value, Mapping))] = Field({})
    linked: Annotated[
        Any,
        _Only(
            f"a list of {_AXES}",
            lambda value: (
                isinstance(value, list | tuple) and all(isinstance(axis, Mapping) for axis in value)
            ),
        ),
    ] = ()
    variants: Annotated[Any, _Only(_CHANGES, lambda value: isinstance(value, Mapping))] = Field({})
    seeds: Annotated[Any, _Only(_SEEDS, lambda value: value is not None)] = 10
    compare: Annotated[Any, _Only(_PAIRS, _pairs)] = ()
    metrics: Annotated[Any, _Only(_METRICS, _names)] = ()

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], directory: Path | None = None) -> Self:
        """Make one of nested dictionaries, as `tomllib` gives them.

        Parameters
        ----------
        values : mapping
            The tables.
        directory : Path, optional
            What the names of files in it are relative to.

        Raises
        ------
        InputError
            With every key that is not allowed.
        """
        tables = dict(values)
        if isinstance(given := tables.get("scenario"), str):
            tables["scenario"] = load((directory or Path()) / given)
        elif isinstance(given, Mapping):
            with inside("scenario."):
                tables["scenario"] = Scenario.from_dict(given, directory)
        if isinstance(tables.get("over"), Mapping):
            tables["over"] = flat(tables["over"], is_leaf=_is_axis)
        if isinstance(tables.get("linked"), list):
            tables["linked"] = [
                flat(one, is_leaf=_is_axis) if isinstance(one, Mapping) else one
                for one in tables["linked"]
            ]
        if isinstance(tables.get("variants"), Mapping):
            tables["variants"] = {
                name: flat(changes) if isinstance(changes, Mapping) else changes
                for name, changes in tables["variants"].items()
            }
        try:
            return cls.model_validate(tables)
        except ValidationError as error:
            raise explain(error, cls) from None

    @cached_property
    def design(self) -> Design:
        """The points; `InputError` if they cannot be made."""
        found = Design.of(self.scenario, self.over, self.linked, self.variants)
        for place, pair in enumerate(self.compare):
            for name in pair:
                if name not in found.variants:
                    known = (
                        ", ".join(map(show, found.variants)) or "none, for there are no variants"
                    )
                    near = did_you_mean(name, found.variants)
                    raise InputError(f"compare[{place}]", show(name), f"one of {known}{near}")
            if pair[0] == pair[1]:
                raise InputError(f"compare[{place}]", f"{show(pair[0])} twice", _PAIRS)
        return found

    @cached_property
    def block(self) -> Block:
        """The runs; `InputError` if a point does not fit the scenario."""
        return self.design.block(self.seeds)

    @property
    def number_of_runs(self) -> int:
        """How many runs there are, at the most."""
        return self.design.number * len(check_seeds(self.seeds))


def flat(
    tables: Mapping[str, Any], prefix: str = "", *, is_leaf: Callable[[Any], bool] | None = None
) -> dict[str, Any]:
    """Write nested tables as values by path.

    Parameters
    ----------
    tables : mapping
        As `tomllib` gives ``transport.recovery = "sack"``. A key that is a path itself, in quotes,
        ends there, and its value can be a table.
    prefix : str
        The path of the table.
    is_leaf : callable, optional
        Tells of a table whether it is a value.

    Returns
    -------
    dict of str to object
    """
    found: dict[str, Any] = {}
    for key, value in tables.items():
        table = isinstance(value, Mapping) and "." not in key
        if table and not (is_leaf and is_leaf(value)):
            found |= flat(value, f"{prefix}{key}.", is_leaf=is_leaf)
        else:
            found[prefix + key] = value
    return found


def _is_axis(value: Any) -> bool:
    """Tell a range from a table of paths."""
    return is_range(value) and not {"from", "to", "step", "number"}.isdisjoint(value)


def load_study(path: str | PathLike[str]) -> StudyDescription:
    """Read a study file.

    Parameters
    ----------
    path : str or path-like
        A TOML file; the names of files in it are relative to its directory.

    Returns
    -------
    StudyDescription

    Raises
    ------
    InputError
        When the file cannot be read or is not TOML; otherwise with every key that is not allowed.
    """
    return StudyDescription.from_dict(read_toml(path), Path(path).parent)
