"""Flow sizes: random draws and their mean."""

import math
from collections.abc import Callable
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from lightburst.foundation.errors import InputError
from lightburst.scenario.tables.sizes import (
    BoundedPareto,
    Constant,
    Empirical,
    Exponential,
    FlowSize,
    Lognormal,
    Pareto,
    bounded_pareto_mean,
)
from lightburst.workload.cdf import distribution

# Largest whole number up to which every integer is exact as a float.
LARGEST_SIZE = 2**53

Floats = NDArray[np.float64]


def draw_sizes(size: FlowSize, count: int, generator: np.random.Generator) -> NDArray[np.uint64]:
    """Draw the sizes of flows.

    Parameters
    ----------
    size : FlowSize
        The ``size`` table of the workload.
    count : int
        Number of sizes.
    generator : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of uint64, shape (count,)
        Bytes, rounded to nearest, at least 1.

    Raises
    ------
    InputError
        When a file cannot be used, or a size exceeds `LARGEST_SIZE` (a heavy tail without maximum).
    """
    drawn = _draw(size, count, generator)
    largest = drawn.max(initial=0.0)
    if not largest <= LARGEST_SIZE:
        raise InputError(
            "workload.size",
            f"a distribution without maximum, which gave {largest:.3g} bytes",
            f"a 'max', so that no size is above {LARGEST_SIZE} bytes",
        )
    return np.maximum(np.rint(drawn), 1).astype(np.uint64)


@singledispatch
def _draw(size: FlowSize, count: int, generator: np.random.Generator) -> Floats:
    raise AssertionError(f"no sizes are drawn for {size!r}")


@_draw.register
def _(size: Constant, count: int, generator: np.random.Generator) -> Floats:
    return np.full(count, float(size.value))


@_draw.register
def _(size: Exponential, count: int, generator: np.random.Generator) -> Floats:
    return _redrawn(lambda n: generator.exponential(size.mean, n), count, size.max)


@_draw.register
def _(size: Lognormal, count: int, generator: np.random.Generator) -> Floats:
    mu = size.log_median
    return _redrawn(lambda n: generator.lognormal(mu, size.sigma, n), count, size.max)


@_draw.register
def _(size: Pareto, count: int, generator: np.random.Generator) -> Floats:
    shape = size.tail_index

    # NumPy's pareto is the Lomax distribution: the Pareto distribution less its minimum of one.
    def draw(n: int) -> Floats:
        with np.errstate(over="ignore"):
            return size.minimum * (1 + generator.pareto(shape, n))

    return _redrawn(draw, count, size.max)


@_draw.register
def _(size: BoundedPareto, count: int, generator: np.random.Generator) -> Floats:
    # Inverse of F(x) = (1 - (minimum/x)^a) / (1 - (minimum/max)^a), with u = 1 - F in (0, 1].
    kept = -np.expm1(size.shape * np.log(size.minimum / size.max))
    u = generator.random(count)
    drawn: Floats = size.minimum * (1 - u * kept) ** (-1 / size.shape)
    return np.minimum(drawn, size.max)


@_draw.register
def _(size: Empirical, count: int, generator: np.random.Generator) -> Floats:
    return distribution(size).draw(count, generator)


def _redrawn(draw: Callable[[int], Floats], count: int, maximum: int | None) -> Floats:
    """Draw values, repeating every draw that exceeds the maximum."""
    drawn = draw(count)
    if maximum is None:
        return drawn
    # Terminates: scenarios whose maximum accepts less than one draw in a hundred are refused.
    while (above := np.flatnonzero(~(drawn <= maximum))).size:
        drawn[above] = draw(above.size)
    return drawn


def mean_size(size: FlowSize) -> float:
    """Return the mean of the sizes that `draw_sizes` draws, before rounding to whole bytes.

    Parameters
    ----------
    size : FlowSize
        The ``size`` table of the workload.

    Returns
    -------
    float
        Mean in bytes; of the truncated distribution if there is a maximum.

    Raises
    ------
    InputError
        When the mean is infinite, or a file cannot be used.
    """
    return _mean(size)


@singledispatch
def _mean(size: FlowSize) -> float:
    raise AssertionError(f"no mean is known of {size!r}")


@_mean.register
def _(size: Constant) -> float:
    return float(size.value)


@_mean.register
def _(size: Exponential) -> float:
    if size.max is None:
        return float(size.mean)
    # E[X | X <= M] = m - M / (exp(M / m) - 1)
    return size.mean - size.max / math.expm1(min(size.max / size.mean, 700.0))


@_mean.register
def _(size: Lognormal) -> float:
    from scipy.special import log_ndtr

    exponent = size.log_median + size.sigma**2 / 2
    if size.max is not None and size.sigma > 0:
        # E[X | X <= M] = exp(mu + sigma^2 / 2) Phi(d - sigma) / Phi(d), d = (ln M - mu) / sigma
        below = (math.log(size.max) - size.log_median) / size.sigma
        exponent += float(log_ndtr(below - size.sigma) - log_ndtr(below))
    return math.exp(exponent)


@_mean.register
def _(size: Pareto) -> float:
    shape = size.tail_index
    if size.max is not None:
        return bounded_pareto_mean(shape, size.minimum, size.max)
    if shape <= 1:
        raise InputError(
            "workload.size",
            f"Pareto sizes of shape {shape:g} without maximum, whose mean is infinite",
            "with 'load' sizes that have a mean: a shape above 1, or a 'max'",
        )
    return shape * size.minimum / (shape - 1)


@_mean.register
def _(size: BoundedPareto) -> float:
    return bounded_pareto_mean(size.shape, size.minimum, size.max)


@_mean.register
def _(size: Empirical) -> float:
    return distribution(size).mean
