"""Synthetic experiments with known truth, one function per type of interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from lightburst.study import (
    Stopping,
    batch_means,
    bootstrap_interval,
    confidence_of_each,
    difference_of_means,
    fieller_ratio,
    mean_interval,
    paired_difference,
    paired_ratio,
    permutation_difference,
    permutation_ratio,
    quantile_interval,
    ratio_of_means,
    share_interval,
)

FloatArray = NDArray[np.float64]
Generator = np.random.Generator

#: Mean of a log-normal distribution whose logarithm has mean 0 and deviation 1.
LOGNORMAL_MEAN: Final = math.exp(0.5)


@dataclass(frozen=True, slots=True)
class Case:
    """Repeatable experiment.

    Attributes
    ----------
    method, draws : str
        Tested method, and its data.
    hit : callable
        Runs one experiment with a random generator; returns whether the interval covers the truth.
    note : str
        Reason for a coverage outside 93 to 97 %, if it is.
    """

    method: str
    draws: str
    hit: Callable[[Generator], bool]
    note: str = ""


def means() -> Iterator[Case]:
    """Student's interval and the BCa bootstrap of a mean."""
    few = "Samples of a skewed law seldom hold a large one; mean and spread are then too small."
    laws: list[tuple[str, Callable[..., FloatArray], float]] = [
        ("normal", Generator.normal, 0.0),
        ("exponential", Generator.exponential, 1.0),
        ("log-normal, sigma 1", Generator.lognormal, LOGNORMAL_MEAN),
    ]
    for law, draw, truth in laws:
        for n in (5, 20, 100) if law == "normal" else (20, 100):
            yield Case(
                "mean, Student",
                f"{law}, n = {n}",
                lambda rng, draw=draw, n=n, truth=truth: mean_interval(  # type: ignore[misc]
                    draw(rng, size=n)
                ).contains(truth),
                few if n == 20 or law.startswith("log") else "",
            )
    for law, draw, truth in laws:
        for n in (20, 100) if law != "normal" else (20,):
            yield Case(
                "mean, BCa",
                f"{law}, n = {n}",
                lambda rng, draw=draw, n=n, truth=truth: bootstrap_interval(  # type: ignore[misc]
                    draw(rng, size=n)
                ).contains(truth),
                "A bootstrap draws from what it has seen, which is less spread than what it was "
                "drawn from, and holds nothing beyond its largest value.",
            )


def quantiles() -> Iterator[Case]:
    """Quantiles of a skewed distribution, by exact ranks and by the BCa bootstrap."""
    for n, q in ((50, 0.5), (100, 0.9), (1000, 0.99)):
        truth = math.exp(float(special.ndtri(q)))
        yield Case(
            f"quantile {q:g}, ranks",
            f"log-normal, sigma 1, n = {n}",
            lambda rng, n=n, q=q, truth=truth: quantile_interval(  # type: ignore[misc]
                rng.lognormal(size=n), q
            ).contains(truth),
            "Ranks are whole numbers: the interval covers at least as often as it says.",
        )
    for n, q in ((50, 0.5), (100, 0.9)):
        truth = math.exp(float(special.ndtri(q)))
        yield Case(
            f"quantile {q:g}, BCa",
            f"log-normal, sigma 1, n = {n}",
            lambda rng, n=n, q=q, truth=truth: bootstrap_interval(  # type: ignore[misc]
                rng.lognormal(size=n), partial(np.quantile, q=q)
            ).contains(truth),
            "The jackknife, from which BCa has its acceleration, knows little of a quantile.",
        )


def _flows(rng: Generator, n: int) -> tuple[FloatArray, FloatArray]:
    """Two systems on the same seeds, strongly correlated, with means of 1 and 1.5."""
    common = rng.lognormal(-0.02, 0.2, n)  # mean 1
    return common * rng.normal(1.0, 0.05, n), 1.5 * common * rng.normal(1.0, 0.05, n)


def pairs() -> Iterator[Case]:
    """Differences and ratios of two systems."""
    draws = "two systems on the same 20 seeds, log-normal flows in common"

    def difference(rng: Generator) -> bool:
        one, other = _flows(rng, 20)
        return paired_difference(one, other).contains(0.5)

    def ratio(rng: Generator) -> bool:
        one, other = _flows(rng, 20)
        return paired_ratio(other, one).contains(1.5)

    def of_means(rng: Generator) -> bool:
        one, other = _flows(rng, 20)
        return ratio_of_means(other, one).contains(1.5)

    def apart(rng: Generator) -> bool:
        one, other = _flows(rng, 20)[0], _flows(rng, 10)[1]
        return difference_of_means(one, other).contains(0.5)

    def ratio_apart(rng: Generator) -> bool:
        one, other = _flows(rng, 20)[0], _flows(rng, 10)[1]
        return ratio_of_means(other, one, shared_seeds=False).contains(1.5)

    def fieller(rng: Generator) -> bool:
        one, other = _flows(rng, 20)
        return fieller_ratio(other, one).contains(1.5)

    def fieller_apart(rng: Generator) -> bool:
        one, other = _flows(rng, 20)[0], _flows(rng, 10)[1]
        return fieller_ratio(other, one, shared_seeds=False).contains(1.5)

    yield Case("difference, paired", draws, difference)
    yield Case("ratio, geometric mean, paired", draws, ratio)
    yield Case("ratio of means, paired", draws, of_means)
    yield Case("ratio of means, Fieller", draws, fieller)
    yield Case("difference, Welch", "the same on 20 and 10 other seeds", apart)
    yield Case("ratio of means, not paired", "the same on 20 and 10 other seeds", ratio_apart)
    yield Case("ratio of means, Fieller", "the same on 20 and 10 other seeds", fieller_apart)
    yield Case(
        "ten differences, all at once",
        "20 pairs, ten metrics with correlations of 0.5",
        _ten,
        "Bonferroni's inequality is on the safe side where metrics hang together.",
    )


def bootstrapped() -> Iterator[Case]:
    """Differences and ratios of two systems by the permutation test, as in comparisons."""
    same, others = "two systems on the same {} seeds", "two systems on {} and {} other seeds"
    small = "The test supposes two systems that are alike but for their means."
    skewed = "Samples of a skewed law seldom hold a large one; the test supposes symmetry."
    for n in (20, 100):
        draws = f"{same.format(n)}, log-normal flows in common"
        yield from _two_by_permutation(draws, _flows, n, n, (0.5, 1.5), True, small)
    yield from _two_by_permutation(others.format(20, 10), _flows, 20, 10, (0.5, 1.5), False, small)
    yield from _two_by_permutation(
        others.format(100, 100), _flows, 100, 100, (0.5, 1.5), False, small
    )
    truth = (LOGNORMAL_MEAN * 0.5, 1.5)
    for n in (20, 100):
        draws = f"{same.format(n)}, log-normal with sigma 1"
        yield from _two_by_student(draws, n, truth, True)
        yield from _two_by_permutation(draws, _skewed, n, n, truth, True, skewed)
    for n in (20, 100):
        draws = f"{others.format(n, n)}, log-normal with sigma 1"
        yield from _two_by_student(draws, n, truth, False)
        yield from _two_by_permutation(draws, _skewed, n, n, truth, False, skewed)


def _skewed(rng: Generator, n: int) -> tuple[FloatArray, FloatArray]:
    """Two systems on the same seeds; the second takes 1.5 times as long in the mean."""
    common = rng.lognormal(0.0, 0.8, n)
    one, other = rng.lognormal(0.0, 0.6, (2, n))
    return common * one, 1.5 * common * other


def _two_by_student(draws: str, n: int, truth: tuple[float, float], paired: bool) -> Iterator[Case]:
    """Return the same experiments with Student's intervals."""
    test = paired_difference if paired else difference_of_means
    note = "Samples of a skewed law seldom hold a large one; mean and spread are then too small."
    safe = "Mean and spread of a skewed law are large together, which makes it too wide."

    def drawn(rng: Generator) -> tuple[FloatArray, FloatArray]:
        return _skewed(rng, n) if paired else (_skewed(rng, n)[0], _skewed(rng, n)[1])

    def ratio(rng: Generator) -> bool:
        one, other = drawn(rng)
        return ratio_of_means(other, one, shared_seeds=paired).contains(truth[1])

    def fieller(rng: Generator) -> bool:
        one, other = drawn(rng)
        return fieller_ratio(other, one, shared_seeds=paired).contains(truth[1])

    names = ("paired", "paired") if paired else ("Welch", "not paired")
    yield Case(
        f"difference, {names[0]}", draws, lambda rng: test(*drawn(rng)).contains(truth[0]), note
    )
    yield Case(f"ratio of means, {names[1]}", draws, ratio, note)
    yield Case("ratio of means, Fieller", draws, fieller, safe)


def _two_by_permutation(
    draws: str,
    systems: Callable[[Generator, int], tuple[FloatArray, FloatArray]],
    n: int,
    m: int,
    truth: tuple[float, float],
    paired: bool,
    note: str,
) -> Iterator[Case]:
    """Return the experiments of a difference and of a ratio, with `n` and `m` runs."""

    def drawn(rng: Generator) -> tuple[FloatArray, FloatArray]:
        return systems(rng, n) if paired else (systems(rng, n)[0], systems(rng, m)[1])

    def difference(rng: Generator) -> bool:
        return permutation_difference(*drawn(rng), shared_seeds=paired).contains(truth[0])

    def ratio(rng: Generator) -> bool:
        one, other = drawn(rng)
        return permutation_ratio(other, one, shared_seeds=paired).contains(truth[1])

    yield Case("difference, permutation", draws, difference, note)
    yield Case("ratio of means, permutation", draws, ratio, note)


def shares() -> Iterator[Case]:
    """Losses in 20 runs, of units lost individually or several at once."""
    wide = "Counts are whole numbers: the interval covers at least as often as it says."
    once = "Where none is seen, the bound supposes units that are lost independently."
    for p in (1e-4, 3e-4, 1e-2):
        for size, words, note in ((1, "each alone", wide), (5, "five at once", once)):

            def hit(rng: Generator, p: float = p, size: int = size) -> bool:
                lost = size * rng.binomial(1000 // size, p, 20)
                return share_interval(lost, np.full(20, 1000)).contains(p)

            yield Case("share", f"20 runs of 1,000 units, {p:g} lost, {words}", hit, note)


def _ten(rng: Generator) -> bool:
    noise, each = rng.normal(size=(20, 10)) + rng.normal(size=(20, 1)), confidence_of_each(0.95, 10)
    return all(paired_difference(np.zeros(20), x, each).contains(0.0) for x in noise.T)


def waits(load: float, number: int, rng: Generator, *, constant: bool = False) -> FloatArray:
    """Simulate waits at an initially empty queue, in mean service times (Lindley's recursion).

    Parameters
    ----------
    load : float
        Utilisation; arrivals are Poisson.
    number : int
        Number of customers, in order of arrival.
    rng : Generator
        Random generator.
    constant : bool
        Whether all services take the same time (M/D/1) instead of an exponential time (M/M/1).
    """
    services = np.ones(number) if constant else rng.exponential(size=number)
    sums = np.concatenate([[0.0], np.cumsum(services - rng.exponential(1 / load, number))])
    return np.asarray(sums - np.minimum.accumulate(sums))


def long_runs() -> Iterator[Case]:
    """Batch means of the waits at a queue, after MSER-5 and without a warm-up."""
    for constant, load, number in (
        (True, 0.5, 10_000),
        (True, 0.8, 10_000),
        (True, 0.8, 100_000),
        (False, 0.5, 10_000),
        (False, 0.8, 10_000),
        (False, 0.8, 100_000),
        (False, 0.9, 100_000),
    ):
        truth = load / (1 - load) / (2 if constant else 1)
        draws = f"{'M/D/1' if constant else 'M/M/1'}, load {load:g}, {number:,} waits from empty"
        for cut in (None, 0):
            yield Case(
                "batch means, MSER-5" if cut is None else "batch means, nothing cut off",
                draws,
                _queue(load, number, constant, cut, truth),
                "Too short for the load: batches hang together, and their means are skewed."
                + (" MSER-5 takes a busy beginning for a warm-up." * (cut is None)),
            )


def _queue(
    load: float, number: int, constant: bool, cut: int | None, truth: float
) -> Callable[[Generator], bool]:
    """Return an experiment: a long run of a queue, and the coverage of its mean by batch means."""

    def hit(rng: Generator) -> bool:
        return batch_means(waits(load, number, rng, constant=constant), warm_up=cut).contains(truth)

    return hit


def stopped(rule: Stopping, draw: Callable[..., FloatArray], most: int) -> Callable[..., bool]:
    """Return an experiment that draws from a distribution with mean 1 until the rule stops."""

    def hit(rng: Generator) -> bool:
        x = draw(rng, size=most)
        n = next(look for look in rule.looks(most) if look == most or rule.enough(x[:look]))
        return mean_interval(x[:n]).contains(1.0)

    return hit


def stopping() -> Iterator[Case]:
    """Sequential stopping: Student's interval of the samples requested by the rule."""
    note = "Each look is a chance to stop on samples that are alike by accident."

    def normal(rng: Generator, size: int) -> FloatArray:
        return rng.normal(1.0, 0.03, size)

    yield Case(
        "stopping at 1 %",
        "normal, deviation 3 % of the mean, 10 to 100 samples",
        stopped(Stopping("x", precision=0.01), normal, 100),
        note,
    )
    yield Case(
        "stopping at 10 %",
        "exponential, 10 to 2,000 samples",
        stopped(Stopping("x", precision=0.1), Generator.exponential, 2000),
        note,
    )
    yield Case(
        "stopping at 10 %",
        "exponential, 30 to 2,000 samples",
        stopped(Stopping("x", precision=0.1, first=30), Generator.exponential, 2000),
        note,
    )


def cases() -> list[Case]:
    """Return all experiments, in the order of docs/statistics.md."""
    return [*means(), *shares(), *quantiles(), *pairs(), *bootstrapped(), *long_runs(), *stopping()]
