"""Runs of a sweep as a data cube, with one dimension per axis and one for the seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from lightburst.study.design.points import SAMPLE, VARIANT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import xarray as xr

    from lightburst.study.design.points import Design
    from lightburst.study.design.structures import Axis

_UNITS: Final = {
    "bps": "b/s", "s": "s", "bytes": "B", "m": "m", "j": "J", "per_s": "1/s", "s_per_m": "s/m",
    "j_per_bit": "J/b",
}  # fmt: skip
_PLACE: Final = "place of the row"


def cube_of(design: Design, runs: pd.DataFrame, metrics: Sequence[str]) -> xr.Dataset:
    """Convert runs to a data cube.

    Parameters
    ----------
    design : Design
        Points of the sweep.
    runs : pandas.DataFrame
        One row per run, see `lightburst.Sweep.runs`.
    metrics : sequence of str
        Numeric columns.

    Returns
    -------
    xarray.Dataset
        One variable per metric, over ``variant``, the axes by their paths, and ``seed``. For a
        sample the dimension ``sample`` replaces the axes, whose values become coordinates along it.
        Coordinates of quantities are in SI units. A run for which an axis does not vary is repeated
        at all values of the axis. Missing runs are NaN.
    """
    known = {path: _coordinate(runs, path) for axis in design.axes for path in axis.paths}
    rows = runs
    if design.sample is None:
        for axis in design.axes:
            rows = spread(rows, axis, runs)
    names = [name for name in design.columns if name in rows]
    dimensions = names
    if design.sample is not None:
        dimensions = [name for name in names if name in (VARIANT, SAMPLE)]
        if SAMPLE in rows:
            rows = rows.assign(**{SAMPLE: rows[SAMPLE].fillna(0)})
    keys = pd.DataFrame({name: rows[known.get(name, name)] for name in (*dimensions, "seed")})
    found = keys.join(rows[list(metrics)]).set_index(list(keys)).to_xarray()
    order = {
        name: _order(design, rows if name == SAMPLE else runs, known, name) for name in dimensions
    }
    found = found.reindex(order)
    found = found.assign_coords(_beside(design, rows, known, dimensions, found))
    for name in (*found.data_vars, *found.coords):
        if unit := _unit(known.get(str(name), str(name))):
            found[name].attrs["units"] = unit
    return found


def spread(rows: pd.DataFrame, axis: Axis, runs: pd.DataFrame) -> pd.DataFrame:
    """Repeat the runs for which an axis does not vary at each value of the axis.

    Parameters
    ----------
    rows : pandas.DataFrame
        Runs or means.
    axis : Axis
        Axis along which to repeat.
    runs : pandas.DataFrame
        Runs that contain the values of the axis.

    Returns
    -------
    pandas.DataFrame
        Rows, with each one without a value replaced by one per value.
    """
    if axis.name not in rows or not rows[axis.name].isna().any():
        return rows
    columns = columns_of(axis, rows)
    values = runs[columns].dropna(subset=[axis.name]).drop_duplicates()
    rows = rows.reset_index(drop=True)
    missing = rows[axis.name].isna()
    alone = rows[missing].drop(columns=columns).reset_index(names=_PLACE)
    repeated = alone.merge(values, how="cross").set_index(_PLACE)[rows.columns]
    return pd.concat([rows[~missing], repeated]).sort_index(kind="stable").reset_index(drop=True)


def columns_of(axis: Axis, rows: pd.DataFrame) -> list[str]:
    """Return the columns of an axis: its paths, and their duplicates in SI units."""
    names = [str(name) for name in rows.columns]
    own = {path: {path, *(f"{path}_{end}" for end in _UNITS)} for path in axis.paths}
    return [name for name in names if any(name in known for known in own.values())]


def _coordinate(runs: pd.DataFrame, path: str) -> str:
    """Return the numeric column of a path in SI units, or the path if there is none."""
    return next((f"{path}_{end}" for end in _UNITS if f"{path}_{end}" in runs), path)


def _order(design: Design, runs: pd.DataFrame, known: dict[str, str], name: str) -> list[Any]:
    """Return the coordinates of a dimension in the order of the study."""
    if name == VARIANT:
        return list(design.variants)
    return list(dict.fromkeys(runs[known.get(name, name)].dropna()))


def _beside(
    design: Design,
    rows: pd.DataFrame,
    known: dict[str, str],
    dimensions: Sequence[str],
    found: xr.Dataset,
) -> dict[str, Any]:
    """Return further paths of an axis as coordinates along its dimension."""
    coordinates: dict[str, Any] = {}
    for axis in design.axes:
        along = axis.name if axis.name in dimensions else SAMPLE
        at = rows[known.get(along, along)]
        for path in axis.paths:
            if path not in dimensions and along in dimensions and path in rows:
                values = rows[known[path]].groupby(at).first()
                coordinates[path] = (along, values.reindex(found[along].to_numpy()).to_numpy())
    return coordinates


def _unit(name: str) -> str:
    ends = sorted((end for end in _UNITS if name.endswith(f"_{end}")), key=len)
    return _UNITS[ends[-1]] if ends else ""
