"""The space of an optimisation or a sensitivity analysis: the axes of a study as a box.

Axes are specified as for a sweep. A range with two ends only is continuous (for integers: all
integers between them); a range with a step or a number has exactly those values; a list has
unordered categories. Variants, and axes whose values decide which fields exist, are categories as
well, and determine which of the other axes vary.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

from lightburst.foundation.errors import InputError
from lightburst.scenario import Scenario
from lightburst.scenario.change import split
from lightburst.scenario.fields import Whole
from lightburst.study.design.axes import Range, is_range, range_of, together, values_of
from lightburst.study.design.points import VARIANT, Place
from lightburst.study.design.structures import Structure, Structures, field_of, read

if TYPE_CHECKING:
    from lightburst.study.design.description import StudyDescription

_BOUNDS: Final = (
    "parameters with their bounds, as { switching.assembly.time = { from = '1 ms', to = '20 ms' } }"
)
#: Numbers of points above this are not computed.
UNCOUNTED: Final = 1 << 40


@dataclass(frozen=True)
class Dimension:
    """One parameter, or several that move together.

    Attributes
    ----------
    name : str
        The first path, which names all of them, or ``"variant"``.
    paths : tuple of str
        Paths that the parameter sets.
    steps : sequence of tuple of object
        A value per path for each step; empty if continuous.
    ranges : tuple of Range
        Range of each path; empty if there are steps.
    ordered : bool
        Whether the steps ascend, as those of a range do.
    """

    name: str
    paths: tuple[str, ...]
    steps: Sequence[tuple[object, ...]] = ()
    ranges: tuple[Range, ...] = ()
    ordered: bool = False

    @property
    def whole(self) -> Whole | None:
        """The field type of a single integer range; None for any other dimension."""
        alone = self.ranges[0].ruler if len(self.ranges) == 1 else None
        return alone if isinstance(alone, Whole) else None

    @property
    def number(self) -> int | None:
        """Number of values; None if the dimension is continuous."""
        if self.steps:
            return len(self.steps)
        if self.whole is None:
            return None if any(one.begin < one.end for one in self.ranges) else 1
        return len(self.wholes)

    @property
    def wholes(self) -> range:
        """All values of an integer range."""
        assert self.whole is not None
        step, one = (2 if self.whole.even else 1), self.ranges[0]
        return range(step * math.ceil(one.begin / step), int(one.end) + 1, step)

    def at(self, raw: float) -> dict[str, object]:
        """Return the settings at a step, an integer, or a fraction of the range from 0 to 1."""
        if self.steps:
            return dict(zip(self.paths, self.steps[int(raw)], strict=True))
        if self.whole is not None:
            return {self.paths[0]: int(raw)}
        values = (one.sampled(raw) for one in self.ranges)
        return dict(zip(self.paths, values, strict=True))

    def sampled(self, part: float) -> float:
        """Return an argument for `at` from a fraction in [0, 1), all values equally likely."""
        if self.steps:
            return int(part * len(self.steps))
        if self.whole is not None:
            value = self.ranges[0].sampled(part)
            assert isinstance(value, int)
            return value
        return part

    @property
    def choices(self) -> Sequence[int]:
        """All arguments of `at`; used only if their number is known to be small."""
        return self.wholes if self.whole is not None else range(self.number or 1)

    @property
    def ends(self) -> tuple[float, ...]:
        """Arguments of `at` at both ends, or at all steps if these have no order."""
        if self.steps:
            last = len(self.steps) - 1
            return (0, last) if self.ordered else tuple(range(last + 1))
        if self.whole is not None:
            return (self.wholes[0], self.wholes[-1])
        return (0, 1)


#: Chooses the value of a dimension, as an argument for `Dimension.at`.
Choose = Callable[[Dimension], float]


@dataclass(frozen=True)
class Space:
    """The space of points: axes and variants over a base scenario.

    Attributes
    ----------
    base : Scenario
        Base scenario of all points.
    axes : tuple of Dimension
        Axes in the user's order.
    variants : mapping of str to mapping
        Changes by name of the variant.
    structures : tuple of Structure
        The sets of axes that vary, for each variant and each value of deciding axes.
    """

    base: Scenario
    axes: tuple[Dimension, ...]
    variants: Mapping[str, Mapping[str, object]]
    structures: tuple[Structure, ...]

    @classmethod
    def of(cls, base: Scenario, over: Any, linked: Any = (), variants: Any = None) -> Space:
        """Read axes and variants: parameters as of `lightburst.study.design.points.Design.of`.

        Raises
        ------
        InputError
            As in `Design.of`; also if a parameter has no bounds, an end of a range is impossible,
            or nothing varies.
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
        """The choice of a variant as a dimension; None without variants."""
        steps = tuple((name,) for name in self.variants)
        return Dimension(VARIANT, (VARIANT,), steps) if steps else None

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """All dimensions: the variant, then the axes."""
        return (self.variant, *self.axes) if self.variant else self.axes

    @property
    def columns(self) -> list[str]:
        """Names of the dimensions."""
        return [one.name for one in self.dimensions]

    @cached_property
    def number(self) -> int | None:
        """Number of points; None if it is infinite or very large."""
        total = 0
        for one in self.structures:
            numbers = [self.axes[place].number for place in one.free]
            total += math.prod(number or UNCOUNTED for number in numbers)
        return total if total < UNCOUNTED else None

    def place(self, choose: Choose) -> Place:
        """Build a point from choices: first dimensions that decide which axes vary, then the axes.

        Parameters
        ----------
        choose : callable
            Called once for each dimension that varies at the point.

        Returns
        -------
        Place
        """
        left = self.structures
        if self.variant is not None:
            name = list(self.variants)[int(choose(self.variant))]
            left = tuple(one for one in left if one.variant == name)
        decided = 0
        # All remaining structures have the same next axis, whatever has been chosen before.
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
        """Return whether the scenario of a point is valid."""
        try:
            self.base.with_(dict(place.point))
        except InputError:
            return False
        return True

    def every(self) -> list[dict[str, float]]:
        """Return the choices of each possible point, by name of dimension.

        Raises
        ------
        InputError
            If no point is possible.
        """
        found: dict[tuple[tuple[str, float], ...], Place] = {}
        for steps in itertools.product(*(one.choices for one in self.dimensions)):
            chosen = dict(zip(self.columns, steps, strict=True))
            asked: dict[str, float] = {}
            place = self.place(partial(_noted, chosen, asked))
            found[tuple(asked.items())] = place
        possible = [dict(asked) for asked, place in found.items() if self.is_possible(place)]
        if not possible:
            self.base.with_(dict(place.point))  # raises the error that describes the point
        return possible

    @property
    def first(self) -> Place:
        """A possible point, preferably; otherwise the first corner."""
        corners = list(self._corners())
        return next(filter(self.is_possible, corners), corners[0])

    @property
    def default(self) -> Place:
        """The base scenario as a point, with its own value of each parameter that it has."""
        values, same = self.base.to_dict(), self.base.canonical_json()
        found: dict[str, object] = {}
        for path in (path for axis in self.axes for path in axis.paths):
            held: Any = values
            for key in split(path):
                held = held.get(key) if isinstance(held, Mapping) else None
            if held is not None:
                found[path] = held
        # Leave out a value that stands for another setting and would change the base scenario.
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
        """Refuse an end of a range that no point can have, with the scenario's own error."""
        for axis in self.dimensions:
            for end in axis.ends:
                errors = [
                    error
                    for other in (0, -1)
                    if (error := self._refused(self.place(_towards(axis, end, other)))) is not None
                ]
                # Errors of other axes are reported when those axes are checked.
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
        """Return whether the base scenario accepts an end of an axis."""
        if axis is self.variant:
            return False
        return self._refused(Place(None, {}, axis.at(end))) is None


def _noted(chosen: Mapping[str, float], asked: dict[str, float], one: Dimension) -> float:
    """Return the given choice, and record that it was used."""
    asked[one.name] = chosen[one.name]
    return chosen[one.name]


def _towards(axis: Dimension, end: float, other: int) -> Choose:
    """Choose an end of one axis, and the first or the last end of all others."""
    return lambda one: end if one.name == axis.name else one.ends[other]


def _is_continuous(spec: Any) -> bool:
    return is_range(spec) and {"step", "number"}.isdisjoint(spec)


def _corners(spec: Any) -> Any:
    """Replace a continuous range by its ends, which suffice to determine the structure."""
    if not _is_continuous(spec):
        return spec
    ends = [spec[key] for key in ("from", "to") if key in spec]
    # A missing end is reported when the range is read.
    return (ends or [0])[:1] if len(ends) < 2 or ends[0] == ends[1] else ends


def _dimension(base: Scenario, given: Mapping[str, Any], found: Structures) -> Dimension:
    """Convert one axis to a dimension."""
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
