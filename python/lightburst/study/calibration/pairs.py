"""Statements that no tried setting meets, and pairs that none meets together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Pairs:
    """At how many settings each pair of statements is met.

    Attributes
    ----------
    together : pandas.DataFrame
        Number of settings that meet both statements, with the statements as rows and columns; on
        the diagonal the number that meet one.
    settings : int
        Number of tried settings.
    """

    together: pd.DataFrame
    settings: int

    @classmethod
    def of(cls, met: NDArray[np.bool_], names: Sequence[str]) -> Pairs:
        """Count from whether each setting meets each statement, shape (settings, statements)."""
        counts = met.astype(np.int64)
        names = list(names)
        return cls(pd.DataFrame(counts.T @ counts, index=names, columns=names), len(met))

    @property
    def nowhere(self) -> list[str]:
        """Statements that no tried setting meets."""
        alone = np.diag(self.together.to_numpy())
        return [name for name, count in zip(self.together.index, alone, strict=True) if not count]

    @property
    def apart(self) -> list[tuple[str, str]]:
        """Pairs that no tried setting meets together, though each is met by some."""
        counts, names = self.together.to_numpy(), list(self.together.index)
        alone = np.diag(counts)
        return [
            (names[i], names[j])
            for i, j in zip(*np.triu_indices(len(names), 1), strict=True)
            if alone[i] and alone[j] and not counts[i, j]
        ]
