"""From counts to metrics: ratios, shares and quantiles, and the types of both."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lightburst.foundation.errors import InputError
from lightburst.foundation.support import COUNT, OF

# A table is a mapping of column names to arrays; "totals" is one of names to whole numbers.
Table = Mapping[str, Any]
Columns = Mapping[str, Table]
FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]
Counts = NDArray[np.uint64]
Metric = float | int | str | None

PS: Final = 1e-12
#: The end of an unfinished flow.
UNFINISHED: Final = np.uint64(2**64 - 1)


def quantiles(values: FloatArray, *probabilities: float) -> list[float]:
    """Return interpolated quantiles, as `numpy.quantile`; infinite where a neighbour is."""
    ordered, last = np.sort(values), values.size - 1
    found = []
    for probability in probabilities:
        place = probability * last
        low, part = int(place), place - int(place)
        # Infinite values are not subtracted from each other, nor multiplied by zero.
        below, above = float(ordered[low]), float(ordered[min(low + 1, last)])
        found.append(below if part == 0 or above == below else below + part * (above - below))
    return found


def ratio(numerator: float, denominator: float) -> float | None:
    """Return the quotient; None if the denominator is zero."""
    return numerator / denominator if denominator else None


def share(name: str, seen: int, of: int) -> dict[str, Metric]:
    """Return a share with its two counts, from which intervals are computed.

    Parameters
    ----------
    name : str
        Name of the share: ``burst_loss``.
    seen, of : int
        Number of units with the event, and of all units.

    Returns
    -------
    dict
        ``burst_loss``, None without any unit, ``burst_loss_count`` and ``burst_loss_of``.
    """
    return {name: ratio(seen, of), f"{name}{COUNT}": seen, f"{name}{OF}": of}


def jain_index(values: ArrayLike) -> float:
    """Jain's fairness index, (sum x)^2 / (n sum x^2).

    Parameters
    ----------
    values : array_like of float
        Shares of n users, such as throughputs; not below 0, in any unit.

    Returns
    -------
    float
        1 if all values are equal, 1/n if one user has everything. NaN without values, and if all
        are 0.

    Raises
    ------
    InputError
        If a value is below 0.

    References
    ----------
    R. Jain, D. Chiu, W. Hawe, DEC TR-301 (1984), equation 1.

    Examples
    --------
    >>> jain_index([1, 1, 1, 0])
    0.75
    """
    given = np.asarray(values, dtype=np.float64).ravel()
    if (given < 0).any():
        raise InputError("values", str(given.min()), "numbers not below 0")
    return float(jain_of_sums(np.array(given.size), given.sum(), np.square(given).sum()))


def jain_of_sums(number: NDArray[Any], total: Any, squares: Any) -> FloatArray:
    """Jain's index from count, sum and sum of squares; NaN if all values are 0."""
    found = np.full(number.shape, np.nan)
    np.divide(np.square(total), number * squares, out=found, where=squares > 0)
    return found
