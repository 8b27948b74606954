"""Columns of the simulator as cells of tables: numbers that may be missing, words, seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from lightburst._core import registry
from lightburst.foundation.counts import PS

if TYPE_CHECKING:
    import pandas as pd

Table = Mapping[str, NDArray[Any]]

#: Value for a missing time or burst.
NONE: Final = np.uint64(2**64 - 1)
#: Value for a missing node, link or flow.
NOWHERE: Final = 2**32 - 1
# Value for a missing reason of a loss.
_NO_REASON: Final = 255


def seconds(times: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return times in seconds; NaN for `NONE`."""
    return np.where(times == NONE, np.nan, times * PS)


def reasons(numbers: NDArray[np.uint8]) -> pd.Categorical[str]:
    """Return reasons for losses in words; missing without a loss."""
    return words(numbers, registry()["drop_reasons"])


def words(numbers: NDArray[np.uint8], known: Sequence[str]) -> pd.Categorical[str]:
    """Return numbers as a categorical column of words; missing for `_NO_REASON`."""
    import pandas as pd

    places = np.where(numbers == _NO_REASON, -1, numbers.astype(np.int16))
    return pd.Categorical.from_codes(places, categories=pd.Index(known))


def whole(values: NDArray[Any], known: NDArray[np.bool_]) -> pd.arrays.IntegerArray:
    """Return whole numbers, missing where `known` is False."""
    import pandas as pd

    return pd.arrays.IntegerArray(np.where(known, values, 0).astype(values.dtype), ~known)
