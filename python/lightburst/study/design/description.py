"""The description of a study: the keys of ``study.toml`` and of `lightburst.sweep`."""

import math
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import (
    Field,
    ValidationError,
    WithJsonSchema,
)

from lightburst.compile import MOST_SEEDS, check_seeds
from lightburst.foundation.errors import InputError, did_you_mean, inside, show
from lightburst.foundation.terminology import called_here
from lightburst.result.saving import TABLES
from lightburst.scenario import Scenario, load
from lightburst.scenario.fields import Whole
from lightburst.scenario.reading.loading import read_toml
from lightburst.scenario.reading.messages import explain
from lightburst.scenario.section import Section
from lightburst.study.design.axes import RANGE_KEYS, is_range
from lightburst.study.design.points import Design
from lightburst.study.design.sample import Sample
from lightburst.study.design.validated import Only
from lightburst.study.execution.block import Block
from lightburst.study.execution.stopping import Stopping
from lightburst.study.search.wanted import Optimise, Sensitivity

_AXES = "values by path, as { workload.load = [0.2, 0.4] }"
_CHANGES = "changes by name, as { SACK = { transport.recovery = 'sack' } }"
_PAIRS = "a list of pairs of variants, as [['Reno', 'SACK']]"
_SCENARIO = "a table of the scenario's keys, or the name of its file"
_OWN = "expressions by name, as { mice = 'p99 of slowdown where bytes < 100 kB' }"
_METRIC = "the name of a metric, as 'slowdown_p99'"
_METRICS = "a list of names of metrics, as ['slowdown_p99', 'throughput_bps']"
_KEEP = f"a list of some of {', '.join(TABLES)}, as ['flows']"
_LINKED = f"a list of {_AXES}"
_TOLD = "'variant', or the path of an axis"
_AT = "values by path, as { switching.buffer_ports = 2 }"
_PRECISION = "a part of the mean, as '2 %' or 0.02"
_PERCENT = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,12})?) ?%")
#: Number of seeds of a study that does not specify any.
USUAL_SEEDS: Final = 10


_FORM_TEXT: Final = {"type": "string"}
_FORM_TABLE: Final = {"type": "object"}
_FORM_NAMES: Final = {"type": "array", "items": _FORM_TEXT}
_FORM_PAIRS: Final = {"type": "array", "items": {**_FORM_NAMES, "minItems": 2, "maxItems": 2}}
_FORM_KEEP: Final = {"type": "array", "items": {"enum": list(TABLES)}}
_FORM_PART: Final = {
    "if": _FORM_TEXT,
    "then": {"pattern": f"^{_PERCENT.pattern}$"},
    "else": {"type": "number", "exclusiveMinimum": 0},
}
_FORM_SEEDS: Final = {
    "if": {"type": "array"},
    "then": {"items": {"type": "integer", "minimum": 0}, "minItems": 1},
    "else": {"type": "integer", "minimum": 1},
}
_FORM_OWN: Final = {**_FORM_TABLE, "additionalProperties": _FORM_TEXT}
# `lightburst.study.design.json_schema` refines these forms with the schema of scenarios.
_FORM_TABLES: Final = {"type": "array", "items": _FORM_TABLE}
_FORM_SCENARIO: Final = {"if": _FORM_TEXT, "else": _FORM_TABLE}


def _names(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)


def _pairs(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(
        _names(pair) and len(pair) == 2 for pair in value
    )


def _tables(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, Mapping) for one in value)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_scenario(value: Any) -> bool:
    return isinstance(value, Scenario)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _part(value: Any) -> bool:
    return _fraction(value) is not None


def _fraction(value: Any) -> float | None:
    """Read a fraction from ``"2 %"`` or 0.02; None if it is neither, or not above zero."""
    number = value
    if isinstance(value, str) and (match := _PERCENT.fullmatch(value)):
        number = float(match[1]) / 100
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    return float(number) if 0 < number < math.inf else None


class Target(Section):
    """A target precision: a point is run until the mean of a metric is known well enough.

    Attributes
    ----------
    metric : str
        Metric whose mean decides.
    precision : str or float
        Half-width of its 95 % interval relative to the mean: ``"2 %"``, or 0.02.
    minimum, maximum : int
        Smallest and largest number of runs per point.
    budget : int or None
        Largest number of runs of all points together.
    """

    metric: Annotated[str, Only(_METRIC, _is_text, _FORM_TEXT)]
    precision: Annotated[Any, Only(_PRECISION, _part, _FORM_PART)]
    minimum: Annotated[int, Whole(2, MOST_SEEDS)] = 10
    maximum: Annotated[int, Whole(2, MOST_SEEDS)] = 100
    budget: Annotated[int, Whole(1)] | None = None

    @property
    def stopping(self) -> Stopping:
        """The stopping rule of this target."""
        precision = _fraction(self.precision)
        assert precision is not None
        return Stopping(self.metric, precision, first=self.minimum, budget=self.budget)


class FigureWanted(Section):
    """A figure of a study: a metric against an axis, with one colour per value of another axis.

    Attributes
    ----------
    x, y : str
        Path of an axis, and name of a metric.
    hue, dash : str or None
        Distinguished by colour and by dashes: ``"variant"``, or the path of an axis.
    at : mapping of str to object
        Values at which the other axes are held.
    """

    x: Annotated[str, Only("the path of an axis", _is_text, _FORM_TEXT)]
    y: Annotated[str, Only(_METRIC, _is_text, _FORM_TEXT)]
    hue: Annotated[str, Only(_TOLD, _is_text, _FORM_TEXT)] | None = None
    dash: Annotated[str, Only(_TOLD, _is_text, _FORM_TEXT)] | None = None
    at: Annotated[Any, Only(_AT, _is_table, _FORM_TABLE)] = Field({})


class StudyDescription(Section):
    """A study: base scenario, variations, seeds, and the requested metrics, tables and figures.

    Attributes
    ----------
    name : str
        Name of the study.
    scenario : Scenario
        Base scenario of all runs.
    over : mapping of str to list or mapping
        Axes by path: lists of values, or ranges.
    linked : sequence of mapping
        Axes of several paths whose values change together.
    variants : mapping of str to mapping
        Sets of changes by name.
    sample : Sample or None
        Sampling of points from the axes; None runs all combinations.
    seeds : int, sequence of int, or None
        Seeds of all points; None for 10 seeds, or those of the target.
    target : Target or None
        Precision at which a point gets no more seeds.
    compare : sequence of pairs of str
        Pairs of variants to compare.
    metrics : mapping of str to str
        User-defined metrics by name, see docs/metrics.md.
    show : sequence of str
        Metrics to include in tables and comparisons.
    interval : str
        Kind of interval in these: ``"t"`` or ``"bca"``, see `lightburst.study.compare_runs`.
    figures : sequence of FigureWanted
        Figures to draw.
    keep : sequence of str
        Tables of each run to store, see `lightburst.result.saving.TABLES`.
    optimise : Optimise or None
        Search space and objectives for `lightburst.optimise`.
    sensitivity : Sensitivity or None
        Settings for `lightburst.sensitivity`, which divides variance among the axes.
    """

    instead: ClassVar[str] = "; lightburst.sweep runs a study"

    name: Annotated[str, Only("text", _is_text, _FORM_TEXT)] = ""
    scenario: Annotated[Any, Only(_SCENARIO, _is_scenario, _FORM_SCENARIO)]
    over: Annotated[Any, Only(_AXES, _is_table, _FORM_TABLE)] = Field({})
    linked: Annotated[Any, Only(_LINKED, _tables, _FORM_TABLES)] = ()
    variants: Annotated[Any, Only(_CHANGES, _is_table, _FORM_TABLE)] = Field({})
    sample: Sample | None = None
    seeds: Annotated[Any, WithJsonSchema(_FORM_SEEDS)] = None
    target: Target | None = None
    compare: Annotated[Any, Only(_PAIRS, _pairs, _FORM_PAIRS)] = ()
    metrics: Annotated[Any, Only(_OWN, _is_table, _FORM_OWN)] = Field({})
    show: Annotated[Any, Only(_METRICS, _names, _FORM_NAMES)] = ()
    interval: Literal["t", "bca"] = "t"
    figures: tuple[FigureWanted, ...] = ()
    keep: Annotated[Any, Only(_KEEP, _names, _FORM_KEEP)] = ()
    optimise: Optimise | None = None
    sensitivity: Sensitivity | None = None

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], directory: Path | None = None) -> Self:
        """Build a description from nested dictionaries, as `tomllib` returns them.

        Parameters
        ----------
        values : mapping
            Tables of the study.
        directory : Path, optional
            Directory that file names in the tables are relative to.

        Raises
        ------
        InputError
            Listing every invalid key.
        """
        tables = dict(values)
        if "scenario" not in tables and "topology" in tables:
            allowed = "a study, whose scenario stands below 'scenario'; 'lightburst run' runs one"
            raise InputError("study", "a scenario", allowed)
        if isinstance(given := tables.get("scenario"), str):
            tables["scenario"] = load((directory or Path()) / given)
        elif isinstance(given, Mapping):
            with inside("scenario."):
                tables["scenario"] = Scenario.from_dict(given, directory)
        if isinstance(tables.get("over"), Mapping):
            tables["over"] = flat(tables["over"], is_leaf=is_axis)
        if isinstance(tables.get("linked"), list):
            tables["linked"] = [
                flat(one, is_leaf=is_axis) if isinstance(one, Mapping) else one
                for one in tables["linked"]
            ]
        if isinstance(tables.get("variants"), Mapping):
            tables["variants"] = {
                name: flat(changes) if isinstance(changes, Mapping) else changes
                for name, changes in tables["variants"].items()
            }
        if _tables(tables.get("figures")):
            tables["figures"] = [
                {key: flat(value) if _is_table(value) else value for key, value in one.items()}
                for one in tables["figures"]
            ]
        try:
            return cls.model_validate(tables)
        except ValidationError as error:
            raise explain(error, cls) from None

    @cached_property
    def design(self) -> Design:
        """The points; `InputError` if they, or the comparisons, tables or figures, are invalid."""
        found = Design.of(self.scenario, self.over, self.linked, self.variants, self.sample)
        for place, pair in enumerate(self.compare):
            known = list(found.variants)
            where = f"compare[{place}]"
            for name in pair:
                _one_of(where, name, known, "one of the variants")
            if pair[0] == pair[1]:
                raise InputError(where, f"{show(pair[0])} twice", _PAIRS)
        for table in self.keep:
            _one_of("keep", table, TABLES, "some of")
        for place, figure in enumerate(self.figures):
            for key in ("x", "hue", "dash"):
                if (name := getattr(figure, key)) is not None:
                    _one_of(f"figures[{place}].{key}", name, found.columns, "what varies")
        return found

    @cached_property
    def block(self) -> Block:
        """The runs with labels; `InputError` if a point does not fit the scenario."""
        stopping = None if self.target is None else self.target.stopping
        return self.design.block(self.all_seeds, stopping, self.metrics)

    @property
    def all_seeds(self) -> Sequence[int]:
        """The seeds that a point may use; `InputError` if they are invalid."""
        if self.target is None:
            return check_seeds(USUAL_SEEDS if self.seeds is None else self.seeds)
        if self.seeds is not None:
            allowed = "nothing beside a target, whose minimum and maximum limit the number"
            raise InputError("seeds", show(self.seeds), allowed)
        least, most = self.target.minimum, self.target.maximum
        if most < least:
            raise InputError("target.maximum", str(most), f"at least target.minimum, {least}")
        return range(1, most + 1)

    @property
    def number_of_runs(self) -> int:
        """Largest possible number of runs."""
        number = self.design.number * len(self.all_seeds)
        budget = None if self.target is None else self.target.budget
        return number if budget is None else min(number, budget)

    @property
    def given_empty(self) -> list[str]:
        """Keys that define variations and were given, but empty."""
        names = [name for name in ("over", "variants", "linked") if name in self.model_fields_set]
        return [name for name in names if not getattr(self, name)]

    @property
    def metrics_named(self) -> dict[str, str]:
        """Names of the metrics that the study refers to, each with the key that names it."""
        named = dict.fromkeys(self.show, "show")
        named |= {one.y: f"figures[{place}].y" for place, one in enumerate(self.figures)}
        return named | ({} if self.target is None else {self.target.metric: "target.metric"})


def _one_of(where: str, name: str, known: Sequence[str], what: str) -> None:
    if name not in known:
        names = ", ".join(map(show, known)) or "(there are none)"
        raise InputError(where, show(name), f"{what}: {names}{did_you_mean(name, known)}")


def flat(
    tables: Mapping[str, Any], prefix: str = "", *, is_leaf: Callable[[Any], bool] | None = None
) -> dict[str, Any]:
    """Flatten nested tables to values by path.

    Parameters
    ----------
    tables : mapping
        Nested tables, as `tomllib` parses ``transport.recovery = "sack"``. A quoted key that
        contains a dot is a complete path; its value may be a table.
    prefix : str
        Path of the outer table, with a dot at its end.
    is_leaf : callable, optional
        Returns whether a table is a value rather than a level of nesting.

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


def is_axis(value: Any) -> bool:
    """Return whether a table is a range, even an incomplete one, and not a table of paths."""
    if not is_range(value):
        return False
    # A table of paths contains only lists and tables, even if its keys resemble those of a range.
    single = (key for key, end in value.items() if not isinstance(end, list | tuple | Mapping))
    meant = any(called_here(key, RANGE_KEYS) for key in single)
    return (
        meant or set(value) <= {"scale"} or not set(value).isdisjoint(set(RANGE_KEYS) - {"scale"})
    )


def load_study(path: str | PathLike[str]) -> StudyDescription:
    """Read a study file.

    Parameters
    ----------
    path : str or path-like
        TOML file; file names in it are relative to its directory.

    Returns
    -------
    StudyDescription

    Raises
    ------
    InputError
        When the file cannot be read or is not TOML, or listing every invalid key.
    """
    tables = read_toml(path)
    if "scenario" not in tables and "topology" in tables:
        allowed = (
            f"a study, which names this file as its scenario; 'lightburst run "
            f"{shlex.quote(str(path))}' runs a scenario"
        )
        raise InputError(str(path), "a scenario", allowed)
    return StudyDescription.from_dict(tables, Path(path).parent)


def is_study(path: str | PathLike[str]) -> bool:
    """Return whether a file describes a study, not a scenario; `InputError` if unreadable."""
    return "scenario" in read_toml(path)
