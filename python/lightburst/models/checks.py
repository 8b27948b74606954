"""What the functions of a theory are given: read into arrays, refused where it makes no sense."""

from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lightburst.errors import InputError, show

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_MOST = 1_000_000


def refuse(bad: NDArray[np.bool_], values: NDArray[np.generic], path: str, allowed: str) -> None:
    """Raise an `InputError` that shows the first of the values that are bad, if there is one.

    Parameters
    ----------
    bad : ndarray of bool
        Which of the values cannot be used.
    values : ndarray
        All of them, of the same shape.
    path : str
        The name of the argument.
    allowed : str
        What can stand there.
    """
    if np.any(bad):
        raise InputError(path, show(values[bad].flat[0]), allowed)


def loads(given: ArrayLike, path: str = "load", what: str = "numbers of erlangs") -> FloatArray:
    """Read loads or other finite numbers from 0; `InputError` if one is negative or not finite."""
    values = np.asarray(given, dtype=np.float64)
    refuse(~((values >= 0) & np.isfinite(values)), values, path, f"finite {what} from 0")
    return values


def wholes(given: ArrayLike, path: str, least: int = 0) -> IntArray:
    """Read whole numbers; `InputError` if one is not whole, below ``least``, or above a million.

    Beyond that a recursion over them takes minutes.
    """
    values = np.asarray(given)
    fits = (values >= least) & (values <= _MOST) & (values == np.floor(values))
    refuse(~fits, values, path, f"whole numbers from {least} to {_MOST:,}")
    return cast("IntArray", values.astype(np.int64))
