"""What a sweep visits: axes, linked axes and variants over a base scenario.

An axis names one field, a linked axis several that move together, a variant is a set of changes
with a name. Every combination is a point. Where a variant (or a value of another axis, such as
``switching.kind``) has no such field, or sets it itself, the axis does not vary, and there is one
point in place of many equal ones.
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

from lightburst.errors import InputError, combine
from lightburst.expressions import Expression
from lightburst.scenario import Scenario
from lightburst.scenario.fields import plain
from lightburst.study.block import Block
from lightburst.study.sample import Sample
from lightburst.study.stopping import Stopping
from lightburst.study.structures import Axis, Changes, Structure, read
from lightburst.study.sweep import Point, Seeds, Study, parameters_of, scenario_digest

#: The column with the name of the variant.
VARIANT: Final = "variant"
#: The column with the number of a point in the sample.
SAMPLE: Final = "sample"


class Place(NamedTuple):
    """A point of a sweep.

    Attributes
    ----------
    variant : str or None
        Its name; None without variants.
    changes : mapping of str to object
        What the variant sets.
    settings : mapping of str to object
        What the axes set.
    sample : int or None
        Its number in the sample, from 1; None where nothing is sampled.
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
        What all points have in common.
    axes : tuple of Axis
        In the user's order, the last one varying fastest.
    variants : mapping of str to mapping
        Changes by name; none if there are none.
    structures : tuple
        Which axes vary where.
    sample : Sample, optional
        How points are drawn; without it all combinations are visited.
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
        """Read axes and variants as a user gives them.

        Parameters
        ----------
        base : Scenario
            What all points have in common.
        over : mapping of str to iterable or mapping
            Values, or a range, by path; see `lightburst.study.axes.values_of`.
        linked : iterable of mapping
            Several such paths in each, which move together: lists and ranges of one length.
        variants : mapping of str to mapping
            Changes by name, as `Scenario.with_` takes them.
        sample : Sample, optional
            How points are drawn from the axes, but for those that decide which fields there are.

        Returns
        -------
        Design

        Raises
        ------
        InputError
            If one of them is something else, a path is there twice, or an axis names a field that
            no variant has.
        """
        axes, named, structures = read(base, over, linked, variants, sample)
        return cls(base, axes, named, structures, sample)

    @cached_property
    def number(self) -> int:
        """How many points there are, without making them."""
        if self.sample is not None:
            return sum(self.sample.points if one.free else 1 for one in self.structures)
        return sum(
            math.prod(len(self.axes[axis].steps) for axis in one.free) for one in self.structures
        )

    @property
    def first(self) -> Place:
        """One of the points, without making the others."""
        one = self.structures[0]
        return self._place(one, (0,) * len(one.free))[1]

    @cached_property
    def places(self) -> list[Place]:
        """The points: variant by variant, then in the order of the axes."""
        names = list(self.variants)
        found = [
            ((names.index(one.variant) if one.variant else 0, *indices), place)
            for one in self.structures
            for indices, place in self._of(one)
        ]
        return [place for _, place in sorted(found, key=lambda pair: pair[0])]

    def _of(self, one: Structure) -> Iterable[tuple[tuple[int, ...], Place]]:
        ranges = [range(len(self.axes[axis].steps)) for axis in one.free]
        # Of a sample the steps of all axes belong together.
        drawn = self.sample is not None and one.free
        for steps in zip(*ranges, strict=True) if drawn else itertools.product(*ranges):
            yield self._place(one, steps)

    def _place(self, one: Structure, steps: Sequence[int]) -> tuple[tuple[int, ...], Place]:
        """Give the point at a step of each axis that is free, and its place in the order."""
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
        """The columns that name a point: variant, number in the sample, path of each axis."""
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
        """Make the runs.

        Parameters
        ----------
        seeds : iterable of int, or int
            As for `Study`; all that a point may use.
        stopping : Stopping, optional
            When a point has seeds enough.
        metrics : mapping of str to str, optional
            Metrics of the user's own, as for `Study`.

        Returns
        -------
        Block
            The study, and a row of labels for each point: the variant, each path of the axes as it
            was given and, of a quantity, as a number in the SI unit.

        Raises
        ------
        InputError
            If a point does not fit the scenario, or two variants do the same.
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
        """Name the variant whose change is wrong before the path that it changes."""
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
        """Refuse two variants that are one at their first point: a comparison would say nothing."""
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
    """Give what is wrong with changes that stand alone; nothing if they fit."""
    try:
        base.with_(dict(changes))
    except InputError as error:
        return str(error)
    return ""


def _label(value: object) -> object:
    """Write a value that is a table or a list as text, so that it can name a point."""
    if isinstance(value, BaseModel):
        value = plain(value)
    return json.dumps(value) if isinstance(value, dict | list | tuple) else value


def _order(name: str, paths: Sequence[str]) -> tuple[int, bool]:
    """Sort columns: the variant, then path by path, each with its number beside it."""
    if name in (VARIANT, SAMPLE):
        return -1, name == SAMPLE
    place = max(
        (p for p in paths if name == p or name.startswith(f"{p}_")), key=len, default=paths[-1]
    )
    return paths.index(place), name != place
