"""Arguments of the theory's functions: conversion to arrays, and errors for invalid values."""

from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lightburst.foundation.errors import InputError, show

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_MOST = 1_000_000


def refuse(bad: NDArray[np.bool_], values: NDArray[np.generic], path: str, allowed: str) -> None:
    """Raise an `InputError` that shows the first invalid value, if any.

    Parameters
    ----------
    bad : ndarray of bool
        Mask of the invalid values.
    values : ndarray
        All values, of the same shape.
    path : str
        Name of the argument.
    allowed : str
        Description of the valid values.
    """
    if np.any(bad):
        raise InputError(path, show(values[bad].flat[0]), allowed)


def loads(given: ArrayLike, path: str = "load", what: str = "numbers of erlangs") -> FloatArray:
    """Convert to finite non-negative numbers, such as loads; `InputError` for other values."""
    values = np.asarray(given, dtype=np.float64)
    refuse(~((values >= 0) & np.isfinite(values)), values, path, f"finite {what} from 0")
    return values


def wholes(given: ArrayLike, path: str, least: int = 0) -> IntArray:
    """Convert to whole numbers from ``least`` to a million; `InputError` for other values.

    Recursions over larger numbers would take minutes.
    """
    values = np.asarray(given)
    fits = (values >= least) & (values <= _MOST) & (values == np.floor(values))
    refuse(~fits, values, path, f"whole numbers from {least} to {_MOST:,}")
    return cast("IntArray", values.astype(np.int64))
