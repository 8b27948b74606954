"""A plain event simulation of bursts and channels, with which the theory of loss is compared.

Lengths have the mean 1. A simulation returns for each burst whether it was lost, or the part lost.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LAWS = ("exponential", "constant", "two")


def lengths_of(law: str, rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Lengths of mean 1: the squares of their variation are 1, 0 and 2.25."""
    if law == "exponential":
        return rng.exponential(1, count)
    if law == "constant":
        return np.ones(count)
    return np.where(rng.random(count) < 0.1, 5.5, 0.5)


def poisson(
    seed: int, load: float, count: int, law: str = "exponential"
) -> tuple[list[float], list[float]]:
    """Times of arrival, and lengths."""
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.exponential(1 / load, count))
    return times.tolist(), lengths_of(law, rng, count).tolist()


def interval(
    values: Sequence[float], weights: Sequence[float] | None = None
) -> tuple[float, float]:
    """Mean (or sum over sum of the weights), and four standard errors of it, from 25 batches."""
    heights = [np.mean(batch) for batch in np.array_split(np.asarray(values, float), 25)]
    if weights is not None:
        widths = [np.mean(batch) for batch in np.array_split(np.asarray(weights, float), 25)]
        heights = [height / width for height, width in zip(heights, widths, strict=True)]
    return float(np.mean(heights)), 4 * float(np.std(heights, ddof=1)) / 5


def agrees(
    values: Sequence[float],
    theory: float,
    weights: Sequence[float] | None = None,
    precision: float = 0.1,
) -> bool:
    """Whether the theory is in the interval, and the interval is narrow."""
    mean, half = interval(values, weights)
    assert half <= precision * theory, f"{mean} +- {half} says little of {theory}"
    return abs(mean - theory) <= half


def fibre(times: list[float], lengths: list[float], channels: int) -> list[bool]:
    """Full conversion, no buffer."""
    ends: list[float] = []
    lost = []
    for time, length in zip(times, lengths, strict=True):
        while ends and ends[0] <= time:
            heapq.heappop(ends)
        lost.append(len(ends) == channels)
        if not lost[-1]:
            heapq.heappush(ends, time + length)
    return lost


def unconverted(times: list[float], lengths: list[float], channels: int) -> list[bool]:
    """No conversion: each burst comes on a wavelength and stays on it."""
    ends = [0.0] * channels
    lost = []
    for time, length, channel in zip(
        times, lengths, np.random.default_rng(1).integers(channels, size=len(times)), strict=True
    ):
        lost.append(ends[channel] > time)
        if not lost[-1]:
            ends[channel] = time + length
    return lost


def few_sources(
    seed: int, idle_load: float, sources: int, channels: int, count: int, law: str, dumping: bool
) -> tuple[list[bool], float, float]:
    """Sources that are idle, send, and are idle again; a lost burst is sent to its end, or not.

    Returns the loss, the part of the time in which all channels are busy, and the mean number of
    busy ones.
    """
    rng = np.random.default_rng(seed)
    idle = iter(rng.exponential(1 / idle_load, count + sources).tolist())
    lengths = lengths_of(law, rng, count).tolist()
    events = [(next(idle), source, "begin") for source in range(sources)]
    heapq.heapify(events)
    busy, last, full, work = 0, 0.0, 0.0, 0.0
    lost: list[bool] = []
    while len(lost) < count:
        now, source, kind = heapq.heappop(events)
        full += (now - last) * (busy == channels)
        work += (now - last) * busy
        last = now
        if kind == "begin":
            lost.append(busy == channels)
            end = now + lengths[len(lost) - 1]
            if not lost[-1]:
                busy += 1
                heapq.heappush(events, (end, source, "end"))
            elif dumping:
                heapq.heappush(events, (end, source, "dumped"))
            else:
                heapq.heappush(events, (now + next(idle), source, "begin"))
        else:
            busy -= kind == "end"
            heapq.heappush(events, (now + next(idle), source, "begin"))
    return lost, full / last, work / last


def reserved(
    times: list[float], lengths: list[float], offsets: list[float], channels: int
) -> list[bool]:
    """JET: a channel is reserved at a time, for an interval that begins an offset later.

    Among the channels that are free then, the one that became free last is taken.
    """
    reservations: list[list[tuple[float, float]]] = [[] for _ in range(channels)]
    lost = []
    for time, length, offset in zip(times, lengths, offsets, strict=True):
        head, tail = time + offset, time + offset + length
        best: tuple[float, list[tuple[float, float]]] | None = None
        for channel in reservations:
            channel[:] = [(start, end) for start, end in channel if end > time]
            if any(start < tail and end > head for start, end in channel):
                continue
            before = max((end for _, end in channel if end <= head), default=-math.inf)
            if best is None or before > best[0]:
                best = before, channel
        lost.append(best is None)
        if best is not None:
            best[1].append((head, tail))
    return lost


def segmented(
    times: list[float], lengths: list[float], channels: int, victim: str
) -> tuple[list[float], list[bool]]:
    """Cut one of two bursts that collide: the lost parts of bursts, and the bursts without a
    channel.

    The victim is ``"first"``, the burst that would end first, the new one or another; ``"other"``,
    the one of the others that would end first; or ``"any"`` of the others. A victim other than the
    new burst loses its tail.
    """
    rng = np.random.default_rng(1)
    ends = [0.0] * channels
    lost, met = [], []
    for time, length in zip(times, lengths, strict=True):
        first = min(range(channels), key=ends.__getitem__)
        met.append(ends[first] > time)
        if victim == "any" and met[-1]:
            first = int(rng.integers(channels))
        if victim == "first" and time + length < ends[first]:
            lost.append(length)
            continue
        lost.append(max(0.0, ends[first] - time))
        ends[first] = time + length
    return lost, met


def delayed(
    times: list[float], lengths: list[float], channels: int, granularity: float, delays: int
) -> list[bool]:
    """Delay lines: a burst waits the shortest delay after which a channel has no later use."""
    free = [0.0] * channels
    lost = []
    for time, length in zip(times, lengths, strict=True):
        wait = math.ceil(max(0.0, min(free) - time) / granularity)
        lost.append(wait > delays)
        if not lost[-1]:
            head = time + wait * granularity
            # The channel that becomes free last before the head.
            channel = max((i for i in range(channels) if free[i] <= head), key=free.__getitem__)
            free[channel] = head + length
    return lost


def network(
    routes: Sequence[Sequence[str]], loads: Sequence[float], channels: int, count: int, seed: int
) -> tuple[list[int], list[bool]]:
    """Bursts that cross links in sequence, without delay: the route of each, and whether it is
    lost.
    """
    rng = np.random.default_rng(seed)
    total = sum(loads)
    times, lengths = poisson(seed, total, count)
    chosen = rng.choice(len(routes), size=count, p=[load / total for load in loads]).tolist()
    ends: dict[tuple[str, str], list[float]] = {}
    lost = []
    for time, length, route in zip(times, lengths, chosen, strict=True):
        for link in itertools.pairwise(routes[route]):
            busy = ends.setdefault(link, [])
            while busy and busy[0] <= time:
                heapq.heappop(busy)
            if len(busy) == channels:
                lost.append(True)
                break
            heapq.heappush(busy, time + length)
        else:
            lost.append(False)
    return chosen, lost
