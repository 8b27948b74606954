"""Studies: runs as the product of points (a grid or a list) and seeds."""

import hashlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from lightburst.compile import check_seeds
from lightburst.expressions import Expression, beside, check_all, parse_all
from lightburst.foundation.errors import InputError, show
from lightburst.foundation.formatting import html_table, html_text
from lightburst.foundation.provenance import MODEL_VERSION
from lightburst.foundation.units import as_python
from lightburst.scenario import Scenario, as_scenario
from lightburst.scenario.change import from_text, quantity_at
from lightburst.scenario.tables.goal import Goal
from lightburst.scenario.tables.sizes import Constant
from lightburst.scenario.tables.workload import WITHOUT_END, Table
from lightburst.scenario.transport import OPEN_LOOP

Point = Mapping[str, object]
Key = tuple[str, int]
Grid = Mapping[str, Iterable[object]] | Iterable[Point]
Seeds = int | np.integer | Iterable[int | np.integer]

_GRID = "lists of values by path, as {'transport.p': [0, 1]}, or a list of points"


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run of a study.

    Attributes
    ----------
    point : Point
        Parameters that the point sets, by path in the scenario.
    scenario : Scenario
        The base scenario with these parameters.
    seed : int
        Seed of the run.
    scenario_digest : str
        Digest of the model version and the scenario.
    """

    point: Point
    scenario: Scenario
    seed: int
    scenario_digest: str

    @property
    def parameters(self) -> dict[str, object]:
        """The point as columns of a table.

        Parameters are as given, except that numbers given as text become numbers. A quantity has a
        second column with its value in SI units, for example ``topology.link_length_m``.
        """
        return parameters_of(self.scenario, self.point)

    @property
    def key(self) -> Key:
        """Digest and seed: runs with equal keys have equal results."""
        return (self.scenario_digest, self.seed)


@dataclass(frozen=True, init=False, repr=False)
class Study:
    """A base scenario, the points to visit, and the seeds to run at each.

    All points run on the same seeds, so that they can be compared in pairs. The scenario of every
    point is built and checked immediately, in about a millisecond each. Files that a scenario
    names, its flows and its memory are checked when it runs.

    Parameters
    ----------
    base : Scenario, str or path-like
        Base scenario of all runs, or the name of its file.
    grid : mapping of str to iterable, or iterable of mapping
        Values for each varied path of the scenario: all combinations are visited, the last path
        varying fastest. Or a list of points. Values are those that `Scenario.with_` accepts, also
        in an array or a pandas column: ``np.array([0, 2, 5])``.
    seeds : iterable of int, or int
        Different seeds; a single number n means the seeds 1 to n.
    metrics : mapping of str to str, optional
        User-defined metrics by the names of their columns: ``{"mice": "p99 of slowdown where
        bytes < 100 kB"}``; see docs/metrics.md.

    Attributes
    ----------
    base : Scenario
        The scenario.
    points : list of mapping
        The points in order; one empty point if nothing varies.
    seeds : sequence of int
        The seeds.
    scenarios : list of Scenario
        Scenario of each point.
    metrics : mapping of str to Expression
        The parsed metrics.

    Raises
    ------
    InputError
        If an argument is malformed; at the first point that sets a path or value that the scenario
        does not have; or if a metric cannot be parsed, or refers to columns that the flows of a
        point do not have.

    Examples
    --------
    >>> Study(base, {"switching.buffer_ports": [0, 2, 5]}, seeds=100)  # doctest: +SKIP
    """

    base: Scenario
    points: list[Point]
    seeds: Sequence[int]
    scenarios: list[Scenario] = field(repr=False, compare=False)
    metrics: Mapping[str, Expression] = field(repr=False)

    def __init__(
        self,
        base: Scenario | str | PathLike[str],
        grid: Grid,
        seeds: Seeds = (1,),
        metrics: Mapping[str, str | Expression] | None = None,
    ) -> None:
        # Fields of a frozen dataclass can only be set in this way.
        object.__setattr__(self, "base", as_scenario(base))
        object.__setattr__(self, "points", _points(grid))
        object.__setattr__(self, "seeds", check_seeds(seeds))
        scenarios = [self.base.with_(dict(point)) for point in self.points]
        object.__setattr__(self, "scenarios", scenarios)
        own = parse_all({} if metrics is None else metrics)
        beside(dict.fromkeys(path for point in self.points for path in point), dict.fromkeys(own))
        for scenario in scenarios:
            check_all(own, scenario)
        object.__setattr__(self, "metrics", own)

    def __repr__(self) -> str:
        varied = ", ".join(self._varied()) or "nothing varies"
        return f"<Study of {len(self.points):,} points, {len(self.seeds):,} seeds each: {varied}>"

    def _repr_html_(self) -> str:
        rows = [(path, ", ".join(values)) for path, values in self._varied().items()]
        return html_table(repr(self).strip("<>"), rows) + html_text(str(self.base))

    def _varied(self) -> dict[str, list[str]]:
        """Return the different values of each varied path, as text."""
        found: dict[str, dict[str, None]] = {}
        for point in self.points:
            for path, value in point.items():
                found.setdefault(path, {})[show(value)] = None
        return {path: list(values) for path, values in found.items()}

    @cached_property
    def runs(self) -> list[PlannedRun]:
        """All runs, ordered by seed and then by point.

        In this order an unfinished study has runs of every point, an invalid point is found early,
        and slow points do not distort the estimate of the remaining time.

        Raises
        ------
        InputError
            If a file that a scenario names cannot be read.
        """
        digests = [scenario_digest(scenario) for scenario in self.scenarios]
        return [
            PlannedRun(point, scenario, seed, digest)
            for seed in self.seeds
            for point, scenario, digest in zip(self.points, self.scenarios, digests, strict=True)
        ]


def parameters_of(scenario: Scenario, point: Point) -> dict[str, object]:
    """Convert a point to columns of a table.

    Parameters
    ----------
    scenario : Scenario
        Scenario with the settings of the point.
    point : mapping of str to object
        Values by path.

    Returns
    -------
    dict of str to object
        Values by column, see `PlannedRun.parameters`.
    """
    columns: dict[str, object] = {}
    for path, value in point.items():
        read = from_text(path, value)
        columns[path] = read if isinstance(read, int | float) else value
        if found := quantity_at(scenario, path):
            quantity, held = found
            columns[f"{path}_{quantity.dimension.suffix}"] = quantity.in_si(held)
    return columns


def _points(grid: Any) -> list[Point]:
    """Return the points of a grid or of a list, with plain Python values."""
    if isinstance(grid, Mapping):
        axes = [_axis(path, values) for path, values in grid.items()]
        return [dict(zip(grid, values, strict=True)) for values in itertools.product(*axes)]
    if hasattr(grid, "to_dict"):
        raise InputError("grid", type(grid).__name__, f"{_GRID}, as to_dict('records') gives it")
    points = list(grid) if isinstance(grid, Iterable) and not isinstance(grid, str) else [grid]
    for place, point in enumerate(points):
        if not isinstance(point, Mapping):
            where = f"grid[{place}]" if isinstance(grid, list | tuple) else "grid"
            raise InputError(where, show(point), _GRID)
    if not points:
        raise InputError("grid", "no points", _GRID)
    return [{path: as_python(value) for path, value in point.items()} for point in points]


def _axis(path: str, values: Any) -> list[object]:
    """Return the values of one path."""
    if not isinstance(values, Iterable) or isinstance(values, str | bytes | Mapping):
        raise InputError(f"grid[{path!r}]", show(values), f"a list of values, as [{values!r}]")
    found = [as_python(value) for value in values]
    if not found:
        raise InputError(f"grid[{path!r}]", "no values", "a list of one or more")
    return found


def scenario_digest(scenario: Scenario, version: int | None = None) -> str:
    """Return the digest under which runs of a scenario are stored.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    version : int, optional
        Version of the model; None for the current one.

    Returns
    -------
    str
        SHA-256 of the model version, the scenario and the contents of its files, in hexadecimal.

    Raises
    ------
    InputError
        If a file cannot be read.
    """
    text = f"{MODEL_VERSION if version is None else version}\n{scenario.canonical_json()}"
    if _may_have_no_end(scenario):
        # Distinguish from older stored runs, which count active flows only until the last start.
        text += "\nactive flows until the end"
    if any(group.transport.kind in OPEN_LOOP for group in scenario.flow_groups):
        # Distinguish from older stored runs, in which losses made completion times infinite and
        # makespans
        # included the flows of other groups.
        text += "\ncompletion times of what arrived, makespans without others"
    return hashlib.sha256(text.encode()).hexdigest()


def _may_have_no_end(scenario: Scenario) -> bool:
    """Return whether all flows may be endless; a table of flows is not read to find out."""
    workloads = [group.workload for group in scenario.flow_groups]
    return all(
        isinstance(workload, Table)
        or (
            not isinstance(workload, Goal)
            and isinstance(workload.size, Constant)
            and workload.size.value == WITHOUT_END
        )
        for workload in workloads
    )
