"""Sobol indices: the shares of a metric's variance that are due to each parameter.

Every parameter is independent and uniform: over its range (on a logarithmic scale, its logarithm),
over the values of a list or of a range with steps, or over the variants. The first-order index of a
parameter is the share of the variance that would vanish if only this parameter were fixed; its
total index is the share that would remain if all others were fixed [1]_. The difference is due to
interactions with other parameters. Both are estimated from Saltelli's sample: a base sample of N
points of Sobol's sequence and, for each parameter, the same points with this parameter taken from a
second sample, N (d + 2) points in total [2]_. Intervals are those of SALib [3]_: normal intervals
with the standard deviation of bootstrap resamples.

The value at a point is a mean over seeds, the same for all points. If a share s of the variance of
these means is noise that is independent between points, then every first-order index is too low by
the factor 1 - s, and a total index T becomes T (1 - s) + s. An effect of a seed that is equal at
all points cancels. `noise_share` estimates s.

References
----------
.. [1] I. M. Sobol', "Global sensitivity indices for nonlinear mathematical models and their Monte
   Carlo estimates", Mathematics and Computers in Simulation 55(1-3), 2001, pp. 271-280.
.. [2] A. Saltelli et al., "Variance based sensitivity analysis of model output. Design and
   estimator for the total sensitivity index", Computer Physics Communications 181(2), 2010,
   pp. 259-270.
.. [3] J. Herman, W. Usher, "SALib: an open-source Python library for sensitivity analysis", Journal
   of Open Source Software 2(9), 2017, 97.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lightburst.study.search.search import needed

FloatArray = NDArray[np.float64]

_CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Indices:
    """Sobol indices of one metric, in the order of the parameters; arrays of shape (d,).

    Attributes
    ----------
    first, total : ndarray
        First-order and total indices.
    first_half, total_half : ndarray
        Half-widths of their 95 % intervals.
    mean, variance : float
        Mean and variance of the metric over all parameters, including noise, from the base sample.
    noise : float
        Share of noise in that variance; NaN with a single seed.
    """

    first: FloatArray
    first_half: FloatArray
    total: FloatArray
    total_half: FloatArray
    mean: float
    variance: float
    noise: float


def sample(dimensions: int, points: int, seed: int) -> FloatArray:
    """Draw Saltelli's sample.

    Parameters
    ----------
    dimensions : int
        Number of parameters.
    points : int
        Size of the base sample, a power of two. A sample of half the size is its first half.
    seed : int
        Seed of the scrambling.

    Returns
    -------
    ndarray of float, shape (points * (dimensions + 2), dimensions)
        Coordinates in [0, 1).
    """
    saltelli = needed("SALib.sample.sobol")
    drawn = saltelli.sample(_problem(dimensions), points, calc_second_order=False, seed=seed)
    return np.asarray(drawn, dtype=np.float64)


def analyse(dimensions: int, values: FloatArray, resamples: int, seed: int) -> Indices:
    """Estimate the indices of one metric.

    Parameters
    ----------
    dimensions : int
        Number of parameters.
    values : ndarray of float, shape (points * (dimensions + 2), seeds)
        The metric at the points of `sample`, in their order. All values are finite, and the means
        of the points are not all equal.
    resamples : int
        Number of bootstrap resamples.
    seed : int
        Seed of the bootstrap, at least 1.

    Returns
    -------
    Indices
    """
    sobol = needed("SALib.analyze.sobol")
    means = values.mean(axis=1)
    found: dict[str, Any] = sobol.analyze(
        _problem(dimensions),
        means,
        calc_second_order=False,
        num_resamples=resamples,
        conf_level=_CONFIDENCE,
        seed=seed,
    )
    step = dimensions + 2
    base = np.concatenate([means[::step], means[step - 1 :: step]])
    return Indices(
        first=np.asarray(found["S1"]),
        first_half=np.asarray(found["S1_conf"]),
        total=np.asarray(found["ST"]),
        total_half=np.asarray(found["ST_conf"]),
        mean=float(base.mean()),
        variance=float(base.var()),
        noise=noise_share(values),
    )


def noise_share(values: FloatArray) -> float:
    """Estimate the share of noise in the variance of the means of points.

    Parameters
    ----------
    values : ndarray of float, shape (points, seeds)
        Results of all points on the same seeds.

    Returns
    -------
    float
        Noise share in [0, 1]: the mean square of the residuals that neither point nor seed explains
        (two-way analysis of variance without replication), divided by the number of seeds and by
        the variance of the means. NaN with a single seed, or if all means are equal.
    """
    points, seeds = values.shape
    means = values.mean(axis=1)
    variance = float(means.var(ddof=1)) if points > 1 else 0.0
    if seeds < 2 or variance == 0:
        return math.nan
    rest = values - means[:, np.newaxis] - values.mean(axis=0) + values.mean()
    square = float((rest**2).sum()) / ((points - 1) * (seeds - 1))
    return float(min(1.0, square / seeds / variance))


def stages(points: int, least: int) -> Sequence[int]:
    """Return the base sample sizes at which results are reported, each twice the previous one."""
    found = [points]
    while found[0] // 2 >= least:
        found.insert(0, found[0] // 2)
    return found


def _problem(dimensions: int) -> dict[str, Any]:
    return {
        "num_vars": dimensions,
        "names": [str(place) for place in range(dimensions)],
        "bounds": [[0.0, 1.0]] * dimensions,
    }
