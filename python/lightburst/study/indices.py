"""Sobol indices: how much of the variance of a mean is due to which parameter.

Every parameter is taken as uniform over its range (on a logarithmic scale: its logarithm), over the
values of a list or of a range with steps, and over the variants, all independent of each other. The
first-order index of a parameter is the share of the variance that would go if it alone were fixed;
its total index is the share that would stay if all others were [1]_. The difference is what it does
together with others. They are estimated from Saltelli's sample: a base sample of N points by
Sobol's sequence and, for each parameter, the same with this parameter from another one, N (d + 2)
points [2]_; intervals are SALib's [3]_, normal ones with the standard deviation of bootstrap
resamples.

Each point is the mean over the same seeds. What the noise of these means does to the indices: with
a share s of noise in the variance of the means, independent from point to point, every first-order
index is too low by the factor 1 - s, and a total index T becomes T (1 - s) + s. What a seed does to
all points alike cancels. `noise_share` estimates s.

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

from lightburst.study.search import needed

FloatArray = NDArray[np.float64]

_CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Indices:
    """Indices of one metric, in the order of the parameters; arrays of float of shape (d,).

    Attributes
    ----------
    first, total : ndarray
        First-order and total indices.
    first_half, total_half : ndarray
        Half of their 95 % intervals.
    mean, variance : float
        Of the metric over all parameters, noise included, by the base sample.
    noise : float
        The share of noise in that variance; NaN with one seed.
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
        Parameters.
    points : int
        Of the base sample, a power of two. The sample of half as many is the first half of it.
    seed : int
        Of the scrambling.

    Returns
    -------
    ndarray of float, shape (points * (dimensions + 2), dimensions)
        From 0 to less than 1.
    """
    saltelli = needed("SALib.sample.sobol")
    drawn = saltelli.sample(_problem(dimensions), points, calc_second_order=False, seed=seed)
    return np.asarray(drawn, dtype=np.float64)


def analyse(dimensions: int, values: FloatArray, resamples: int, seed: int) -> Indices:
    """Estimate the indices of one metric.

    Parameters
    ----------
    dimensions : int
        Parameters.
    values : ndarray of float, shape (points * (dimensions + 2), seeds)
        The metric at the points of `sample`, in their order, all finite; not all means are equal.
    resamples : int
        Of the bootstrap.
    seed : int
        Of the bootstrap, from 1.

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
        Runs of all points on the same seeds.

    Returns
    -------
    float
        From 0 to 1: the mean square of what neither the point nor the seed explains (a two-way
        analysis of variance without repetitions), over the number of seeds, as a part of the
        variance of the means; NaN with one seed, or where the means are equal.
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
    """Give the sizes of the base sample at which there is an answer: each twice the one before."""
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
