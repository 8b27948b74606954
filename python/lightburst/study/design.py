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

from lightburst.errors import InputError, show
from lightburst.expressions import Expression
from lightburst.scenario import Scenario
from lightburst.scenario.change import field_at, split
from lightburst.scenario.fields import plain
from lightburst.study.axes import is_range, sampled_values, values_of
from lightburst.study.block import Block
from lightburst.study.sample import Sample
from lightburst.study.stopping import Stopping
from lightburst.study.sweep import Point, Seeds, Study, parameters_of, scenario_digest
from lightburst.units import as_python

Changes = Mapping[str, object]
#: The column with the name of the variant.
VARIANT: Final = "variant"
#: The column with the number of a point in the sample.
SAMPLE: Final = "sample"

_OVER: Final = "values by path, as {'workload.load': [0.2, 0.4]}"
_VARIANTS: Final = "changes by name, as {'SACK': {'transport.recovery': 'sack'}}"


class Axis(NamedTuple):
    """What varies together.

    Attributes
    ----------
    paths : tuple of str
        Of the fields; the first one names the axis.
    steps : tuple of tuple of object
        A value for each path, step by step.
    """

    paths: tuple[str, ...]
    steps: tuple[tuple[object, ...], ...]

    @property
    def name(self) -> str:
        """The path that stands for all."""
        return self.paths[0]


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


class _Structure(NamedTuple):
    """A variant, with one value of each axis on which it depends which fields there are."""

    variant: str | None
    changes: Changes
    indices: Mapping[int, int]  # of steps, by axis
    fixed: Changes  # what these set
    free: Mapping[int, tuple[str, ...]]  # which paths of the other axes are there


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
    structures: tuple[_Structure, ...]
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
        named = _variants(variants)
        given = _axes(over, linked)
        first: Sequence[tuple[str | None, Changes]] = list(named.items()) or [(None, {})]
        structures = [_Structure(name, changes, {}, {}, {}) for name, changes in first]
        axes: dict[int, Axis] = {}
        parts = _parts(given, sample)
        for place in sorted(given, key=lambda place: _structural_first(given, place)):
            axes[place] = _read(base, given[place], structures, parts.get(place))
            structures = list(_with_axis(base, given, axes, place, structures))
        ordered = tuple(axes[place] for place in sorted(axes))
        return cls(base, ordered, named, tuple(structures), sample)

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
        return next(iter(self._of(self.structures[0])))[1]

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

    def _of(self, one: _Structure) -> Iterable[tuple[tuple[int, ...], Place]]:
        ranges = [range(len(self.axes[axis].steps)) for axis in one.free]
        # Of a sample the steps of all axes belong together.
        drawn = self.sample is not None and one.free
        for steps in zip(*ranges, strict=True) if drawn else itertools.product(*ranges):
            indices = {**one.indices, **dict(zip(one.free, steps, strict=True))}
            settings: dict[str, object] = {}
            for place, axis in enumerate(self.axes):
                if place in indices:
                    chosen = dict(zip(axis.paths, axis.steps[indices[place]], strict=True))
                    fixed = [path for path in axis.paths if path in one.fixed]
                    settings |= {path: chosen[path] for path in one.free.get(place, fixed)}
            order = tuple(indices.get(place, 0) for place in range(len(self.axes)))
            number = steps[0] + 1 if drawn else None
            yield order, Place(one.variant, one.changes, settings, number)

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
        study = Study(self.base, points, seeds, metrics)
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


def _variants(given: Any) -> dict[str, Changes]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError("variants", show(given), _VARIANTS)
    found: dict[str, Changes] = {}
    for name, changes in given.items():
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise InputError("variants", show(name), "names of printable characters")
        if not isinstance(changes, Mapping):
            raise InputError(f"variants.{name}", show(changes), _VARIANTS)
        found[name] = {path: as_python(value) for path, value in changes.items()}
    return found


def _axes(over: Any, linked: Any) -> dict[int, Mapping[str, Any]]:
    """Give the paths of each axis, with what was given for their values."""
    if not isinstance(over, Mapping | None):
        raise InputError("over", show(over), _OVER)
    if isinstance(linked, Mapping | str) or not isinstance(linked, Iterable):
        raise InputError("linked", show(linked), f"a list of {_OVER}")
    found: list[Mapping[str, Any]] = [{path: spec} for path, spec in (over or {}).items()]
    for place, together in enumerate(linked):
        if not isinstance(together, Mapping) or not together:
            raise InputError(f"linked[{place}]", show(together), _OVER)
        found.append(together)
    seen: set[str] = set()
    for path in (path for axis in found for path in axis):
        if path in seen:
            raise InputError(f"over.{path}", "twice", "each path on one axis")
        seen.add(path)
    return dict(enumerate(found))


def _structural_first(
    given: Mapping[int, Mapping[str, Any]], place: int
) -> tuple[bool, bool, int, int]:
    """Sort axes so that those come first on which it depends which fields there are."""
    paths = [split(path) for path in given[place]]
    others = [split(path) for axis in given.values() for path in axis]
    kind = any(keys[-1] == "kind" for keys in paths)
    above = any(len(keys) < len(o) and o[: len(keys)] == keys for keys in paths for o in others)
    return not kind, not above, min(map(len, paths)), place


def _parts(
    given: Mapping[int, Mapping[str, Any]], sample: Sample | None
) -> Mapping[int, Sequence[float]]:
    """Draw the sample: for each axis that does not decide which fields there are, its column."""
    if sample is None:
        return {}
    axes = [place for place in given if not _decides(given, place)]
    if not axes:
        raise InputError("sample", f"{sample.points} points", "axes to draw them from, in over")
    return dict(zip(axes, sample.draw(len(axes)).T.tolist(), strict=True))


def _decides(given: Mapping[int, Mapping[str, Any]], place: int) -> bool:
    """Whether it depends on an axis which fields others have."""
    return _structural_first(given, place)[:2] != (True, True)


def _read(
    base: Scenario,
    given: Mapping[str, Any],
    structures: Sequence[_Structure],
    parts: Sequence[float] | None,
) -> Axis:
    """Read the values of an axis, whose type follows from the first structure that has it."""
    lists = []
    for path, spec in given.items():
        where = f"over.{path}"
        field = None
        if is_range(spec):
            probe = spec.get("from", 0)
            fields = (
                field_at(base, {**one.changes, **one.fixed, path: probe}, path)
                for one in structures
            )
            field = next(filter(None, fields), None)
            if field is None:
                _refuse(base, path, probe, structures)
        if parts is None:
            lists.append(values_of(where, spec, field))
        else:
            lists.append(sampled_values(where, spec, field, parts))
    lengths = [len(values) for values in lists]
    if len(set(lengths)) > 1:
        numbers = ", ".join(f"{n} for {path}" for path, n in zip(given, lengths, strict=True))
        raise InputError(f"linked.{next(iter(given))}", numbers, "as many values for each")
    return Axis(tuple(given), tuple(zip(*lists, strict=True)))


def _with_axis(
    base: Scenario,
    given: Mapping[int, Mapping[str, Any]],
    axes: Mapping[int, Axis],
    place: int,
    structures: Sequence[_Structure],
) -> Iterable[_Structure]:
    """Let an axis vary where its fields are there, in one structure for each value if it decides.

    Which fields others have depends on it if one of their paths begins with its own, or it is the
    kind of a table.
    """
    axis = axes[place]
    decides = _decides(given, place)
    missing = dict.fromkeys(axis.paths)
    found = []
    for one in structures:
        first = dict(zip(axis.paths, axis.steps[0], strict=True))
        changes = {**one.changes, **one.fixed}
        there = tuple(
            path
            for path in axis.paths
            if path not in one.changes and field_at(base, {**changes, path: first[path]}, path)
        )
        for path in there:
            missing.pop(path, None)
        if not there:
            found.append(one)
        elif not decides:
            found.append(one._replace(free={**one.free, place: there}))
        else:
            for index, step in enumerate(axis.steps):
                chosen = dict(zip(axis.paths, step, strict=True))
                fixed = {**one.fixed, **{path: chosen[path] for path in there}}
                indices = {**one.indices, place: index}
                found.append(one._replace(fixed=fixed, indices=indices))
    for path in missing:
        _refuse(base, path, dict(zip(axis.paths, axis.steps[0], strict=True))[path], structures)
    return found


def _refuse(base: Scenario, path: str, value: object, structures: Sequence[_Structure]) -> None:
    """Refuse a path that leads nowhere, in the words of the scenario."""
    if all(path in one.changes for one in structures):
        allowed = "a field that not every variant sets itself"
        raise InputError(f"over.{path}", f"a field that {_names(structures)} set", allowed)
    for one in structures:
        base.with_({**one.changes, **one.fixed, path: value})
    raise InputError(f"over.{path}", show(value), "a field of the scenario")


def _names(structures: Sequence[_Structure]) -> str:
    """Name the variants."""
    return ", ".join(dict.fromkeys(f"'{one.variant}'" for one in structures))
