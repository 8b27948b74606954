"""The points of a sweep: axes, linked axes and variants over a base scenario.

An axis varies one field, a linked axis several fields together, a variant is a named set of
changes. Every combination is a point. An axis does not vary where its field does not exist, or is
set, under a variant or under a value of another axis (such as ``switching.kind``): there a single
point replaces many equal ones.
"""

import itertools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import pandas as pd
from pydantic import BaseModel

from lightburst.expressions import Expression
from lightburst.foundation.errors import InputError, combine
from lightburst.scenario import Scenario
from lightburst.scenario.section import plain
from lightburst.study.design.sample import Sample
from lightburst.study.design.structures import Axis, Changes, Structure, read
from lightburst.study.execution.block import Block
from lightburst.study.execution.stopping import Stopping
from lightburst.study.runs import Point, Seeds, Study, parameters_of, scenario_digest

#: Column with the name of the variant.
VARIANT: Final = "variant"
#: Column with the number of a point in the sample.
SAMPLE: Final = "sample"


class Place(NamedTuple):
    """A point of a sweep.

    Attributes
    ----------
    variant : str or None
        Name of the variant; None without variants.
    changes : mapping of str to object
        Settings of the variant, by path.
    settings : mapping of str to object
        Settings of the axes, by path.
    sample : int or None
        Number in the sample, from 1; None if nothing is sampled.
    """

    variant: str | None
    changes: Changes
    settings: Changes
    sample: int | None = None

    @property
    def point(self) -> Point:
        """All changes to the base scenario."""
        return {**self.changes, **self.settings}


@dataclass(frozen=True)
class Design:
    """The points of a sweep.

    Parameters
    ----------
    base : Scenario
        Base scenario of all points.
    axes : tuple of Axis
        Axes in the user's order; the last varies fastest.
    variants : mapping of str to mapping
        Changes by name of the variant; empty without variants.
    structures : tuple
        The sets of axes that vary, for each variant and each value of deciding axes.
    sample : Sample, optional
        Sampling of points; None visits all combinations.
    """

    base: Scenario
    axes: tuple[Axis, ...]
    variants: Mapping[str, Changes]
    structures: tuple[Structure, ...]
    sample: Sample | None = None

    @classmethod
    def of(
        cls,
        base: Scenario,
        over: Any = None,
        linked: Any = (),
        variants: Any = None,
        sample: Sample | None = None,
    ) -> "Design":
        """Read axes and variants in the form a user gives them.

        Parameters
        ----------
        base : Scenario
            Base scenario of all points.
        over : mapping of str to iterable or mapping
            Values or a range, by path; see `lightburst.study.design.axes.values_of`.
        linked : iterable of mapping
            Mappings of several paths that move together: lists or ranges of equal length.
        variants : mapping of str to mapping
            Changes by name, in the form of `Scenario.with_`.
        sample : Sample, optional
            Sampling of the axes, except those whose values decide which fields exist.

        Returns
        -------
        Design

        Raises
        ------
        InputError
            If an argument is malformed, a path occurs twice, or an axis names a field that no
            variant has.
        """
        axes, named, structures = read(base, over, linked, variants, sample)
        return cls(base, axes, named, structures, sample)

    @cached_property
    def number(self) -> int:
        """Number of points, computed without building them."""
        if self.sample is not None:
            return sum(self.sample.points if one.free else 1 for one in self.structures)
        return sum(
            math.prod(len(self.axes[axis].steps) for axis in one.free) for one in self.structures
        )

    @property
    def first(self) -> Place:
        """The first point, computed without building the others."""
        one = self.structures[0]
        return self._place(one, (0,) * len(one.free))[1]

    @cached_property
    def places(self) -> list[Place]:
        """All points, ordered by variant and then by the axes."""
        names = list(self.variants)
        found = [
            ((names.index(one.variant) if one.variant else 0, *indices), place)
            for one in self.structures
            for indices, place in self._of(one)
        ]
        return [place for _, place in sorted(found, key=lambda pair: pair[0])]

    def _of(self, one: Structure) -> Iterable[tuple[tuple[int, ...], Place]]:
        ranges = [range(len(self.axes[axis].steps)) for axis in one.free]
        # In a sample the steps of all axes advance together.
        drawn = self.sample is not None and one.free
        for steps in zip(*ranges, strict=True) if drawn else itertools.product(*ranges):
            yield self._place(one, steps)

    def _place(self, one: Structure, steps: Sequence[int]) -> tuple[tuple[int, ...], Place]:
        """Return the point at given steps of the free axes, and its sort key."""
        indices = {**one.indices, **dict(zip(one.free, steps, strict=True))}
        settings: dict[str, object] = {}
        for place, axis in enumerate(self.axes):
            if place in indices:
                chosen = dict(zip(axis.paths, axis.steps[indices[place]], strict=True))
                fixed = [path for path in axis.paths if path in one.fixed]
                settings |= {path: chosen[path] for path in one.free.get(place, fixed)}
        order = tuple(indices.get(place, 0) for place in range(len(self.axes)))
        number = steps[0] + 1 if self.sample is not None and one.free else None
        return order, Place(one.variant, one.changes, settings, number)

    @property
    def columns(self) -> list[str]:
        """Columns that name a point: variant, number in the sample, path of each axis."""
        names = [axis.name for axis in self.axes]
        if self.sample is not None:
            names.insert(0, SAMPLE)
        return [VARIANT, *names] if self.variants else names

    def block(
        self,
        seeds: Seeds,
        stopping: Stopping | None = None,
        metrics: Mapping[str, str | Expression] | None = None,
    ) -> Block:
        """Build the runs.

        Parameters
        ----------
        seeds : iterable of int, or int
            As for `Study`: all seeds that a point may use.
        stopping : Stopping, optional
            Rule for the number of seeds per point.
        metrics : mapping of str to str, optional
            User-defined metrics, as for `Study`.

        Returns
        -------
        Block
            The study, and a row of labels per point: the variant, and each path of the axes as
            given, for a quantity also as a number in SI units.

        Raises
        ------
        InputError
            If a point does not fit the scenario, or two variants are identical.
        """
        points = [place.point for place in self.places]
        try:
            study = Study(self.base, points, seeds, metrics)
        except InputError as error:
            raise self._whose(error) from None
        self._refuse_twins(study)
        rows: list[dict[str, object]] = []
        for place, scenario in zip(self.places, study.scenarios, strict=True):
            given = {VARIANT: place.variant, SAMPLE: place.sample}
            named = {name: value for name, value in given.items() if value is not None}
            found = parameters_of(scenario, place.settings)
            rows.append({**named, **{name: _label(value) for name, value in found.items()}})
        paths = [path for axis in self.axes for path in axis.paths]
        names = list(dict.fromkeys(name for row in rows for name in row))
        names.sort(key=lambda name: _order(name, paths))
        return Block(study, pd.DataFrame(rows, columns=names), stopping)

    def _whose(self, error: InputError) -> InputError:
        """Prefix the path of an error with the variant whose change caused it."""
        found = []
        for single in error.errors:
            for name, changes in self.variants.items():
                changed = any(f"{single.path}.".startswith(f"{path}.") for path in changes)
                if changed and str(single) in _said(self.base, changes):
                    path = f"variants.{name}.{single.path}"
                    found.append(InputError(path, single.given, single.allowed))
                    break
            else:
                found.append(single)
        return combine(found)

    def _refuse_twins(self, study: Study) -> None:
        """Refuse two variants with identical first points, which cannot usefully be compared."""
        seen: dict[str, str] = {}
        done = set()
        for place, scenario in zip(self.places, study.scenarios, strict=True):
            if place.variant is None or place.variant in done:
                continue
            done.add(place.variant)
            digest = scenario_digest(scenario)
            if digest in seen:
                given = f"the same as '{seen[digest]}'"
                raise InputError(f"variants.{place.variant}", given, "changes that differ")
            seen[digest] = place.variant


def _said(base: Scenario, changes: Changes) -> str:
    """Return the error message of a set of changes on its own; empty if they are valid."""
    try:
        base.with_(dict(changes))
    except InputError as error:
        return str(error)
    return ""


def _label(value: object) -> object:
    """Convert a value that is a table or list to text, so that it can label a point."""
    if isinstance(value, BaseModel):
        value = plain(value)
    return json.dumps(value) if isinstance(value, dict | list | tuple) else value


def _order(name: str, paths: Sequence[str]) -> tuple[int, bool]:
    """Sort key for columns: the variant, the sample, then each path followed by its SI number."""
    if name in (VARIANT, SAMPLE):
        return -1, name == SAMPLE
    place = max(
        (p for p in paths if name == p or name.startswith(f"{p}_")), key=len, default=paths[-1]
    )
    return paths.index(place), name != place
