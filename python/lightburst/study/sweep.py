"""Which runs a study consists of: points (a grid, or a list) times seeds."""

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from lightburst.errors import InputError
from lightburst.provenance import MODEL_VERSION
from lightburst.scenario import Scenario
from lightburst.simulate import check_seed

Point = Mapping[str, object]
Key = tuple[str, int]
Grid = Mapping[str, Sequence[object]] | Sequence[Point]


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run of a study.

    Attributes
    ----------
    point : Point
        The parameters that this point sets, by their paths in the scenario.
    scenario : Scenario
        The base scenario with these parameters.
    seed : int
        Seed of the run.
    scenario_digest : str
        Digest of the version of the model and the scenario.
    """

    point: Point
    scenario: Scenario
    seed: int
    scenario_digest: str

    @property
    def key(self) -> Key:
        """Digest and seed: runs with equal keys have equal results."""
        return (self.scenario_digest, self.seed)


@dataclass(frozen=True)
class Study:
    """A base scenario, the points to visit, and the seeds to run at each.

    All points run on the same seeds, so that they can be compared in pairs.

    Parameters
    ----------
    base : Scenario
        What all runs have in common.
    grid : mapping of str to sequence, or sequence of mapping
        Values for each varied path of the scenario, of which all combinations are visited, the last
        path varying fastest; or the points themselves.
    seeds : sequence of int
        Different seeds.

    Examples
    --------
    >>> Study(base, {"switching.buffer_ports": [0, 2, 5]}, seeds=range(1, 101))  # doctest: +SKIP
    """

    base: Scenario
    grid: Grid
    seeds: Sequence[int] = field(default=(1,))

    def __post_init__(self) -> None:
        for seed in self.seeds:
            check_seed(seed)
        if not self.seeds or len(set(self.seeds)) != len(self.seeds):
            raise InputError("seeds", f"{len(self.seeds)} seeds", "one or more, all different")

    @cached_property
    def points(self) -> list[Point]:
        """The points in their order; one empty point if nothing varies."""
        if isinstance(self.grid, Mapping):
            combinations = itertools.product(*self.grid.values())
            return [dict(zip(self.grid, values, strict=True)) for values in combinations]
        return list(self.grid)

    @cached_property
    def runs(self) -> list[PlannedRun]:
        """All runs, all points for one seed before the next seed.

        In this order an unfinished study has something of every point, a bad point is found early,
        and the estimate of the time left is not misled by points that take long.

        Raises
        ------
        InputError
            If a point sets a path or a value that the scenario does not have.
        """
        scenarios = [self.base.with_(dict(point)) for point in self.points]
        digests = [scenario_digest(scenario) for scenario in scenarios]
        return [
            PlannedRun(point, scenario, seed, digest)
            for seed in self.seeds
            for point, scenario, digest in zip(self.points, scenarios, digests, strict=True)
        ]


def scenario_digest(scenario: Scenario) -> str:
    """Digest under which runs of a scenario are kept.

    Parameters
    ----------
    scenario : Scenario
        The scenario.

    Returns
    -------
    str
        SHA-256 of the version of the model, the scenario and the files that it names, in hex.

    Raises
    ------
    InputError
        If a file cannot be read.
    """
    text = f"{MODEL_VERSION}\n{scenario.canonical_json()}"
    return hashlib.sha256(text.encode()).hexdigest()
