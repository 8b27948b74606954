"""Reads variants and axes, and determines which axes vary under which conditions.

The fields of a scenario depend on its variant and on axes such as ``switching.kind``. Variants and
such deciding axes are therefore read first; each combination of their values is a structure, which
determines which of the other axes vary.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, NoReturn

from pydantic.fields import FieldInfo

from lightburst.foundation.errors import InputError, show
from lightburst.foundation.units import as_python
from lightburst.scenario import Scenario
from lightburst.scenario.change import check_path, field_at, split
from lightburst.study.design.axes import is_range, sampled_values, together, values_of
from lightburst.study.design.sample import Sample

Changes = Mapping[str, object]

_OVER: Final = "values by path, as {'workload.load': [0.2, 0.4]}"
# Limit on the number of linked axes, far above any practical study.
_MOST_AXES: Final = 1000
_VARIANTS: Final = "changes by name, as {'SACK': {'transport.recovery': 'sack'}}"


class Axis(NamedTuple):
    """An axis: fields that vary together.

    Attributes
    ----------
    paths : tuple of str
        Paths of the fields; the first one names the axis.
    steps : sequence of tuple of object
        A value per path for each step.
    """

    paths: tuple[str, ...]
    steps: Sequence[tuple[object, ...]]

    @property
    def name(self) -> str:
        """The first path, which names the axis."""
        return self.paths[0]


class Structure(NamedTuple):
    """A variant together with one value of each axis that decides which fields exist.

    Attributes
    ----------
    variant : str or None
        Name of the variant; None without variants.
    changes : mapping of str to object
        Settings of the variant, by path.
    indices : mapping of int to int
        Step of each axis that is fixed here, by index of the axis.
    fixed : mapping of str to object
        Settings of these steps, by path.
    free : mapping of int to tuple of str
        Paths that vary here, by index of their axis.
    """

    variant: str | None
    changes: Changes
    indices: Mapping[int, int]
    fixed: Changes
    free: Mapping[int, tuple[str, ...]]


class Structures(NamedTuple):
    """Axes, variants, and the structures that result from them.

    Attributes
    ----------
    axes : tuple of Axis
        Axes in the user's order.
    variants : mapping of str to mapping
        Changes by name of the variant.
    structures : tuple of Structure
        All structures.
    """

    axes: tuple[Axis, ...]
    variants: Mapping[str, Changes]
    structures: tuple[Structure, ...]


def read(
    base: Scenario, over: Any, linked: Any, variants: Any, sample: Sample | None
) -> Structures:
    """Read axes and variants in the form a user gives them; for parameters see `Design.of`."""
    named = _variants(variants)
    given = _axes(over, linked)
    first: Sequence[tuple[str | None, Changes]] = list(named.items()) or [(None, {})]
    structures = [Structure(name, changes, {}, {}, {}) for name, changes in first]
    axes: dict[int, Axis] = {}
    parts = _parts(given, sample)
    for place in sorted(given, key=lambda place: _structural_first(given, place)):
        axes[place] = _axis(base, given[place], structures, parts.get(place))
        structures = list(_with_axis(base, given, axes, place, structures))
    return Structures(tuple(axes[place] for place in sorted(axes)), named, tuple(structures))


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
    """Return the paths of each axis, with the specifications of their values."""
    if not isinstance(over, Mapping | None):
        raise InputError("over", show(over), _OVER)
    found: list[Mapping[str, Any]] = [{path: spec} for path, spec in (over or {}).items()]
    for place, axis in enumerate(listed(linked)):
        if not isinstance(axis, Mapping) or not axis:
            raise InputError(f"linked[{place}]", show(axis), _OVER)
        found.append(axis)
    seen: set[str] = set()
    for path in (path for axis in found for path in axis):
        check_path(path, "over")
        if path in seen:
            raise InputError(f"over.{path}", "twice", "each path on one axis")
        seen.add(path)
    return dict(enumerate(found))


def listed(linked: Any) -> tuple[Any, ...]:
    """Return linked axes as a tuple; `InputError` if they are not a list, or too many."""
    if isinstance(linked, Mapping | str) or not isinstance(linked, Iterable):
        raise InputError("linked", show(linked), f"a list of {_OVER}")
    found = tuple(islice(linked, _MOST_AXES + 1))
    if len(found) > _MOST_AXES:
        raise InputError("linked", f"more than {_MOST_AXES:,}", f"up to {_MOST_AXES:,}")
    return found


def _structural_first(
    given: Mapping[int, Mapping[str, Any]], place: int
) -> tuple[bool, bool, int, int]:
    """Sort key for axes that puts those first whose values decide which fields exist."""
    paths = [split(path) for path in given[place]]
    others = [split(path) for axis in given.values() for path in axis]
    kind = any(keys[-1] == "kind" for keys in paths)
    above = any(len(keys) < len(o) and o[: len(keys)] == keys for keys in paths for o in others)
    return not kind, not above, min(map(len, paths)), place


def _parts(
    given: Mapping[int, Mapping[str, Any]], sample: Sample | None
) -> Mapping[int, Sequence[float]]:
    """Draw the sample; return one column per axis that does not decide which fields exist."""
    if sample is None:
        return {}
    axes = [place for place in given if not _decides(given, place)]
    if not axes:
        raise InputError("sample", f"{sample.points} points", "axes to draw them from, in over")
    return dict(zip(axes, sample.draw(len(axes)).T.tolist(), strict=True))


def _decides(given: Mapping[int, Mapping[str, Any]], place: int) -> bool:
    """Return whether the values of an axis decide which fields exist."""
    return _structural_first(given, place)[:2] != (True, True)


def _axis(
    base: Scenario,
    given: Mapping[str, Any],
    structures: Sequence[Structure],
    parts: Sequence[float] | None,
) -> Axis:
    """Read the values of an axis, whose type comes from the first structure with its field."""
    lists: list[Sequence[object]] = []
    for path, spec in given.items():
        where = f"over.{path}"
        field = field_of(base, path, spec, structures) if is_range(spec) else None
        if parts is None:
            lists.append(values_of(where, spec, field))
        else:
            lists.append(sampled_values(where, spec, field, parts))
    lengths = [len(values) for values in lists]
    if len(set(lengths)) > 1:
        numbers = ", ".join(f"{n} for {path}" for path, n in zip(given, lengths, strict=True))
        raise InputError(f"linked.{next(iter(given))}", numbers, "as many values for each")
    return Axis(tuple(given), together(lists))


def field_of(
    base: Scenario, path: str, spec: Mapping[str, Any], structures: Sequence[Structure]
) -> FieldInfo:
    """Return the field of a range, from the first structure that has it.

    Parameters
    ----------
    base : Scenario
        Base scenario of all points.
    path : str
        Path of the field.
    spec : mapping
        Specification of the range.
    structures : sequence of Structure
        Structures in which the field may vary.

    Returns
    -------
    FieldInfo

    Raises
    ------
    InputError
        If no structure has the field.
    """
    probe = spec.get("from", 0)
    fields = (field_at(base, {**one.changes, **one.fixed, path: probe}, path) for one in structures)
    if (field := next(filter(None, fields), None)) is None:
        _refuse(base, path, probe, structures)
    return field


def _with_axis(
    base: Scenario,
    given: Mapping[int, Mapping[str, Any]],
    axes: Mapping[int, Axis],
    place: int,
    structures: Sequence[Structure],
) -> Iterable[Structure]:
    """Vary an axis in structures with its fields, split into one structure per value if it decides.

    An axis decides which fields exist if its path is the beginning of another axis's path, or if it
    is the ``kind`` of a table.
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


def _refuse(base: Scenario, path: str, value: object, structures: Sequence[Structure]) -> NoReturn:
    """Refuse a path that does not exist, with the scenario's own error message."""
    if all(path in one.changes for one in structures):
        allowed = "a field that not every variant sets itself"
        raise InputError(f"over.{path}", f"a field that {_names(structures)} set", allowed)
    for one in structures:
        base.with_({**one.changes, **one.fixed, path: value})
    raise InputError(f"over.{path}", show(value), "a field of the scenario")


def _names(structures: Sequence[Structure]) -> str:
    """List the names of the variants."""
    return ", ".join(dict.fromkeys(f"'{one.variant}'" for one in structures))
