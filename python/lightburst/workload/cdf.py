"""Measured size distributions: points of a cumulative distribution, interpolated linearly.

The file format is that of the htsim, pFabric and HPCC tools. Each line has a size in bytes and the
probability of a size up to it, as a percentage (0 to 100) or a fraction (0 to 1). The last line,
which must be 100 or 1, decides which of the two the file uses.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lightburst.foundation.errors import InputError, show
from lightburst.foundation.units import parse_number
from lightburst.scenario.reading.files import Stamp, read_text, stamp
from lightburst.scenario.tables.sizes import Empirical

_PATH = "workload.size.file"
_LINE = "two numbers, bytes and percent or probability"


@dataclass(frozen=True, eq=False)
class Distribution:
    """A cumulative distribution, piecewise linear.

    Attributes
    ----------
    bytes : ndarray of float, shape (points,)
        Sizes in bytes, not decreasing; a repeated size is a jump of the distribution.
    probability : ndarray of float, shape (points,)
        Probability of a size less than or equal to `bytes`; not decreasing, the last is 1. The
        first entry is the probability of the first size itself.
    """

    bytes: NDArray[np.float64]
    probability: NDArray[np.float64]

    @property
    def mean(self) -> float:
        """Mean size in bytes; each linear piece contributes its midpoint."""
        shares = np.diff(self.probability, prepend=0.0)
        middles = np.concatenate([self.bytes[:1], (self.bytes[1:] + self.bytes[:-1]) / 2])
        return float(shares @ middles)

    def draw(self, count: int, generator: np.random.Generator) -> NDArray[np.float64]:
        """Draw sizes by inversion, shape (count,)."""
        return np.interp(generator.random(count), self.probability, self.bytes)


def distribution(size: Empirical) -> Distribution:
    """Return the distribution that a scenario names.

    Raises
    ------
    InputError
        When its file cannot be read or does not hold a distribution.
    """
    if size.file is None:
        return _shipped(str(size.name))
    return _read(size.file, stamp(size.file, _PATH))


@lru_cache(maxsize=8)
def _shipped(name: str) -> Distribution:
    text = resources.files("lightburst.workload").joinpath(f"data/{name}.csv").read_text("utf-8")
    return parse_distribution(text, f"{name}.csv")


@lru_cache(maxsize=8)
def _read(file: Path, _stamp: Stamp) -> Distribution:
    text = read_text(file, _PATH, "a text file that can be read")
    return parse_distribution(text, str(file))


def parse_distribution(text: str, name: str) -> Distribution:
    """Parse a cumulative distribution.

    Parameters
    ----------
    text : str
        Lines of two numbers, separated by spaces or a comma; ``#`` starts a comment; a first line
        of words is a heading.
    name : str
        Name of the file, for error messages.

    Raises
    ------
    InputError
        When the text is not a distribution; the message quotes the line.
    """
    points: list[tuple[float, float]] = []
    for number, line in enumerate(text.splitlines(), 1):
        fields = re.split(r"[,;\s]+", line.partition("#")[0].strip())
        if fields == [""] or (not points and _is_heading(fields)):
            continue
        where = f"{name} line {number}: {show(line.strip())}"
        point = _point(fields)
        if point is None:
            raise InputError(_PATH, where, _LINE)
        if points and not _follows(point, points[-1]):
            raise InputError(_PATH, where, "no line with less than the line before, nor the same")
        points.append(point)
    if not points or points[-1][1] not in (1, 100):
        given = f"{name}, which ends at {points[-1][1]:g}" if points else f"{name}, which is empty"
        raise InputError(_PATH, given, "a last line with 100 (percent) or 1 (probability)")
    if points[-1][0] < 1:
        raise InputError(_PATH, f"{name}, which has no size above zero", "sizes in bytes")
    sizes, shares = np.array(points).T
    return Distribution(sizes, shares / shares[-1])


def _is_heading(fields: list[str]) -> bool:
    return all(re.fullmatch(r"[A-Za-z_]\w*%?", word) for word in fields)


def _point(fields: list[str]) -> tuple[float, float] | None:
    size, share = map(parse_number, fields) if len(fields) == 2 else (None, None)
    if size is None or share is None:
        return None
    return (size, share) if 0 <= size < np.inf and 0 <= share <= 100 else None


def _follows(point: tuple[float, float], before: tuple[float, float]) -> bool:
    return point[0] >= before[0] and point[1] >= before[1] and point != before
