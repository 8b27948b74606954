"""Where an optimum is looked for, and over what variance is divided: the axes of a study as a box.

The words are those of a sweep. A range that has two ends alone is continuous (of whole numbers: all
of them); one with a step or a number has just those values; a list has categories, without an
order. Variants, and axes on which it depends which fields there are, are categories, too, and say
which of the other axes vary.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

from lightburst.errors import InputError
from lightburst.scenario import Scenario
from lightburst.scenario.change import split
from lightburst.scenario.fields import Whole
from lightburst.study.axes import Range, is_range, range_of, together, values_of
from lightburst.study.design import VARIANT, Place
from lightburst.study.structures import Structure, Structures, field_of, read

if TYPE_CHECKING:
    from lightburst.study.description import StudyDescription

_BOUNDS: Final = (
    "parameters with their bounds, as { switching.assembly.time = { from = '1 ms', to = '20 ms' } }"
)
#: More points than these are not counted.
UNCOUNTED: Final = 1 << 40


@dataclass(frozen=True)
class Dimension:
    """One parameter, or several that move together.

    Attributes
    ----------
    name : str
        The path that stands for all, or ``"variant"``.
    paths : tuple of str
        What it sets.
    steps : sequence of tuple of object
        A value for each path, step by step; none for a continuous one.
    ranges : tuple of Range
        Of each path; none where there are steps.
    ordered : bool
        Whether the steps rise, as those of a range.
    """

    name: str
    paths: tuple[str, ...]
    steps: Sequence[tuple[object, ...]] = ()
    ranges: tuple[Range, ...] = ()
    ordered: bool = False

    @property
    def whole(self) -> Whole | None:
        """The type of a single range of whole numbers; None for any other dimension."""
        alone = self.ranges[0].ruler if len(self.ranges) == 1 else None
        return alone if isinstance(alone, Whole) else None

    @property
    def number(self) -> int | None:
        """How many values there are; None where that is no small number."""
        if self.steps:
            return len(self.steps)
        if self.whole is None:
            return None if any(one.begin < one.end for one in self.ranges) else 1
        return len(self.wholes)

    @property
    def wholes(self) -> range:
        """All values of a range of whole numbers."""
        assert self.whole is not None
        step, one = (2 if self.whole.even else 1), self.ranges[0]
        return range(step * math.ceil(one.begin / step), int(one.end) + 1, step)

    def at(self, raw: float) -> dict[str, object]:
        """Give what it sets: at a step, at a whole number, or at a part of the way from 0 to 1."""
        if self.steps:
            return dict(zip(self.paths, self.steps[int(raw)], strict=True))
        if self.whole is not None:
            return {self.paths[0]: int(raw)}
        values = (one.sampled(raw) for one in self.ranges)
        return dict(zip(self.paths, values, strict=True))

    def sampled(self, part: float) -> float:
        """Give what `at` takes, at a part from 0 to less than 1, each value with its fair share."""
        if self.steps:
            return int(part * len(self.steps))
        if self.whole is not None:
            value = self.ranges[0].sampled(part)
            assert isinstance(value, int)
            return value
        return part

    @property
    def choices(self) -> Sequence[int]:
        """All that `at` can take; asked where there are so many only."""
        return self.wholes if self.whole is not None else range(self.number or 1)

    @property
    def ends(self) -> tuple[float, ...]:
        """What `at` takes at both ends; at all steps, where they have no order."""
        if self.steps:
            last = len(self.steps) - 1
            return (0, last) if self.ordered else tuple(range(last + 1))
        if self.whole is not None:
            return (self.wholes[0], self.wholes[-1])
        return (0, 1)


#: Chooses a value of a dimension, in the form that `Dimension.at` takes.
Choose = Callable[[Dimension], float]


@dataclass(frozen=True)
class Space:
    """All that can be chosen.

    Attributes
    ----------
    base : Scenario
        What all points have in common.
    axes : tuple of Dimension
        In the user's order.
    variants : mapping of str to mapping
        Changes by name.
    structures : tuple of Structure
        Which axes vary where.
    """

    base: Scenario
    axes: tuple[Dimension, ...]
    variants: Mapping[str, Mapping[str, object]]
    structures: tuple[Structure, ...]

    @classmethod
    def of(cls, base: Scenario, over: Any, linked: Any = (), variants: Any = None) -> Space:
        """Read axes and variants; the parameters are those of `lightburst.study.design.Design.of`.

        Raises
        ------
        InputError
            As there; also if a parameter has no bounds, an end of a range cannot be, or nothing
            varies.
        """
        if not over and not linked and not variants:
            raise InputError("over", "nothing", _BOUNDS)
        corners = {path: _corners(spec) for path, spec in (over or {}).items()}
        together = [{path: _corners(spec) for path, spec in axis.items()} for axis in linked]
        found = read(base, corners, together, variants, None)
        given = [{path: spec} for path, spec in (over or {}).items()] + list(linked)
        axes = tuple(_dimension(base, axis, found) for axis in given)
        space = cls(base, axes, found.variants, found.structures)
        if space.number == 1:
            raise InputError("over", "one point alone", _BOUNDS)
        space._check_ends()
        return space

    @classmethod
    def of_study(cls, study: StudyDescription) -> Space:
        """Read the axes and variants of a study, as `of` does."""
        return cls.of(study.scenario, study.over, study.linked, study.variants)

    @cached_property
    def variant(self) -> Dimension | None:
        """The choice of a variant; None if there are none."""
        steps = tuple((name,) for name in self.variants)
        return Dimension(VARIANT, (VARIANT,), steps) if steps else None

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """All that is chosen: the variant, and the axes."""
        return (self.variant, *self.axes) if self.variant else self.axes

    @property
    def columns(self) -> list[str]:
        """The names of what is chosen."""
        return [one.name for one in self.dimensions]

    @cached_property
    def number(self) -> int | None:
        """How many points there are; None where they cannot be counted."""
        total = 0
        for one in self.structures:
            numbers = [self.axes[place].number for place in one.free]
            total += math.prod(number or UNCOUNTED for number in numbers)
        return total if total < UNCOUNTED else None

    def place(self, choose: Choose) -> Place:
        """Choose a point: first what decides which axes vary, then these.

        Parameters
        ----------
        choose : callable
            Asked once for each dimension that varies there.

        Returns
        -------
        Place
        """
        left = self.structures
        if self.variant is not None:
            name = list(self.variants)[int(choose(self.variant))]
            left = tuple(one for one in left if one.variant == name)
        decided = 0
        # Whatever has been decided before, all that are left ask for the same axis next.
        while decided < len(left[0].indices):
            place = list(left[0].indices)[decided]
            wanted = int(choose(self.axes[place]))
            left = tuple(one for one in left if one.indices[place] == wanted)
            decided += 1
        one = left[0]
        chosen: dict[int, dict[str, object]] = {}
        for place, index in one.indices.items():
            values = self.axes[place].at(index)
            chosen[place] = {path: x for path, x in values.items() if path in one.fixed}
        for place, paths in one.free.items():
            values = self.axes[place].at(choose(self.axes[place]))
            chosen[place] = {path: values[path] for path in paths}
        settings = {path: x for place in sorted(chosen) for path, x in chosen[place].items()}
        return Place(one.variant, one.changes, settings)

    def is_possible(self, place: Place) -> bool:
        """Tell whether the scenario of a point can be."""
        try:
            self.base.with_(dict(place.point))
        except InputError:
            return False
        return True

    def every(self) -> list[dict[str, float]]:
        """Give what is chosen at each point that can be, by the names of dimensions.

        Raises
        ------
        InputError
            If there is no such point.
        """
        found: dict[tuple[tuple[str, float], ...], Place] = {}
        for steps in itertools.product(*(one.choices for one in self.dimensions)):
            chosen = dict(zip(self.columns, steps, strict=True))
            asked: dict[str, float] = {}
            place = self.place(partial(_noted, chosen, asked))
            found[tuple(asked.items())] = place
        possible = [dict(asked) for asked, place in found.items() if self.is_possible(place)]
        if not possible:
            self.base.with_(dict(place.point))  # says what is wrong with it
        return possible

    @property
    def first(self) -> Place:
        """One of the points that can be."""
        corners = list(self._corners())
        return next(filter(self.is_possible, corners), corners[0])

    @property
    def default(self) -> Place:
        """The base scenario as a point: with its own value of each parameter that it has."""
        values, same = self.base.to_dict(), self.base.canonical_json()
        found: dict[str, object] = {}
        for path in (path for axis in self.axes for path in axis.paths):
            held: Any = values
            for key in split(path):
                held = held.get(key) if isinstance(held, Mapping) else None
            if held is not None:
                found[path] = held
        # What stands for something else that the base scenario says is left out.
        kept = {
            path: held
            for path, held in found.items()
            if self._refused(place := Place(None, {}, {path: held})) is None
            and self.base.with_(dict(place.point)).canonical_json() == same
        }
        return Place(None, {}, kept)

    def _corners(self) -> Iterator[Place]:
        yield self.place(lambda one: one.ends[0])
        yield self.place(lambda one: one.ends[-1])

    def _check_ends(self) -> None:
        """Refuse an end of a range that no point can have, in the words of the scenario."""
        for axis in self.dimensions:
            for end in axis.ends:
                errors = [
                    error
                    for other in (0, -1)
                    if (error := self._refused(self.place(_towards(axis, end, other)))) is not None
                ]
                # What is wrong with the others is said at their turn.
                errors = [one for one in errors if self._names(one, axis)]
                if len(errors) == 2 and not self._fits_base(axis, end):
                    raise errors[0]

    def _refused(self, place: Place) -> InputError | None:
        try:
            self.base.with_(dict(place.point))
        except InputError as error:
            return error
        return None

    def _names(self, error: InputError, axis: Dimension) -> bool:
        own = (axis.paths if axis is not self.variant else ()) or ("",)
        return any(f"{one.path}.".startswith(path) for one in error.errors for path in own)

    def _fits_base(self, axis: Dimension, end: float) -> bool:
        """Tell whether the base scenario can have an end of an axis."""
        if axis is self.variant:
            return False
        return self._refused(Place(None, {}, axis.at(end))) is None


def _noted(chosen: Mapping[str, float], asked: dict[str, float], one: Dimension) -> float:
    """Choose what is given, and note that it was asked for."""
    asked[one.name] = chosen[one.name]
    return chosen[one.name]


def _towards(axis: Dimension, end: float, other: int) -> Choose:
    """Choose an end of one axis, and of all others the first or the last."""
    return lambda one: end if one.name == axis.name else one.ends[other]


def _is_continuous(spec: Any) -> bool:
    return is_range(spec) and {"step", "number"}.isdisjoint(spec)


def _corners(spec: Any) -> Any:
    """Give the ends of a continuous range in its place, for which it is known what varies where."""
    if not _is_continuous(spec):
        return spec
    ends = [spec[key] for key in ("from", "to") if key in spec]
    # What is missing is said when the range is read.
    return (ends or [0])[:1] if len(ends) < 2 or ends[0] == ends[1] else ends


def _dimension(base: Scenario, given: Mapping[str, Any], found: Structures) -> Dimension:
    """Read one axis."""
    paths = tuple(given)
    continuous = [_is_continuous(spec) for spec in given.values()]
    if any(continuous) and not all(continuous):
        allowed = "ranges with two ends alone for all of its paths, or lists of one length"
        raise InputError(f"linked.{paths[0]}", "both", allowed)
    if all(continuous):
        ranges = tuple(
            range_of(f"over.{path}", spec, field_of(base, path, spec, found.structures))
            for path, spec in given.items()
        )
        return Dimension(paths[0], paths, ranges=ranges)
    lists = [
        values_of(
            f"over.{path}",
            spec,
            field_of(base, path, spec, found.structures) if is_range(spec) else None,
        )
        for path, spec in given.items()
    ]
    return Dimension(
        paths[0],
        paths,
        steps=together(lists),
        ordered=all(is_range(spec) for spec in given.values()),
    )
