"""The number of flows in progress over time, and the end of its transient."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightburst.compile import Plan
from lightburst.scenario.tables.workload import WITHOUT_END
from lightburst.scenario.transport import OPEN_LOOP

Columns = Mapping[str, Mapping[str, Any]]
Times = NDArray[np.uint64]
FloatArray = NDArray[np.float64]

# Observations for MSER-5: 200 batches of five.
_BINS: Final = 1000
_BATCH: Final = 5


class Active(NamedTuple):
    """Intervals in which connections are in progress: from start to arrival of the last byte.

    Attributes
    ----------
    start_ps, stop_ps : ndarray of uint64, shape (connections,)
        Start and end of each connection; unfinished ones end at the last instant of the clock.
        Flows of datagrams or bursts, which are not connections, are left out.
    until_ps : int
        Start of the last flow, or the end of the run or of the window if earlier: afterwards the
        network only drains.
    end_ps : int
        End of the time over which `mean` averages: `until_ps`, or the end of the run or window if
        no flow has an end, so that the network never drains.
    """

    start_ps: Times
    stop_ps: Times
    until_ps: int
    end_ps: int

    @classmethod
    def of(cls, plan: Plan, columns: Columns) -> "Active":
        """Return the intervals of a run."""
        # The arrival of an unfinished flow is the last instant of the clock.
        start, stop = plan.flows["start_ps"], columns["flows"]["received_ps"]
        end = min(plan.window_ps[1], int(columns["totals"]["end_ps"]))
        until = min(end, int(start.max()))
        mine = plan.by_flow(lambda transport: transport["kind"] not in OPEN_LOOP)
        endless = bool((plan.flows["bytes"][mine] == WITHOUT_END).all())
        return cls(start[mine], stop[mine], until, end if endless else until)

    def at(self, times_ps: Times) -> NDArray[np.int64]:
        """Return the number of connections in progress at some times, shape (times,)."""
        begun = np.searchsorted(np.sort(self.start_ps), times_ps, side="right")
        over = np.searchsorted(np.sort(self.stop_ps), times_ps, side="right")
        return begun - over

    def means(self, edges_ps: Times) -> FloatArray:
        """Return the time averages of the number between increasing times, shape (times - 1,)."""
        # Differences of the total time that all flows have spent, which is the integral of `at`.
        return np.diff(self._spent(edges_ps)) / np.diff(edges_ps.astype(np.float64))

    def _spent(self, times_ps: Times) -> FloatArray:
        found = np.zeros(times_ps.size)
        for moments, sign in ((self.start_ps, 1), (self.stop_ps, -1)):
            ordered = np.sort(moments).astype(np.float64)
            before = np.searchsorted(ordered, times_ps.astype(np.float64), side="right")
            sums = np.concatenate([[0.0], np.cumsum(ordered)])
            found += sign * (before * times_ps.astype(np.float64) - sums[before])
        return found

    def mean(self, begin_ps: int) -> float | None:
        """Return the time average from `begin_ps` to `end_ps`; None without time or connections."""
        if self.start_ps.size == 0 or self.end_ps <= begin_ps:
            return None
        start, stop = (np.clip(t, begin_ps, self.end_ps) for t in (self.start_ps, self.stop_ps))
        return float((stop - start).sum(dtype=np.float64)) / (self.end_ps - begin_ps)

    def settled(self) -> tuple[int, bool]:
        """Return the end of the transient of the number of flows, by MSER-5.

        Returns
        -------
        begin_ps : int
            Begin of the first interval after the transient, of 1,000 intervals up to `until_ps`.
        settled : bool
            Whether the best cut of `mser` is in the first half.
        """
        if self.until_ps < _BINS:
            return 0, True
        edges = np.linspace(0, self.until_ps, _BINS + 1).astype(np.uint64)
        cut = mser(self.means(edges))
        return int(edges[cut.observations]), cut.settled


class Cut(NamedTuple):
    """Result of `mser`.

    Attributes
    ----------
    observations : int
        Number of observations to discard from the start.
    settled : bool
        Whether no cut in the second half would have been better.
    """

    observations: int
    settled: bool


def mser(series: FloatArray, batch: int = _BATCH) -> Cut:
    """Find the end of the warm-up of a series, by the marginal standard error rule (MSER-5).

    Parameters
    ----------
    series : ndarray of float, shape (n,)
        Observations in their order, a few batches at least.
    batch : int
        Number of consecutive observations of a batch; an incomplete last batch is ignored.

    Returns
    -------
    Cut
        Of the b batch means z the first d are discarded, where d minimises the squared standard
        error of the mean of the others, ``sum((z - mean(z))^2) / (b - d)^2``, over d up to b / 2;
        of equal minima the smallest d.

    References
    ----------
    .. [1] K. P. White, "An effective truncation heuristic for bias reduction in simulation output",
       Simulation 69(6), 1997.
    .. [2] K. P. White, M. J. Cobb, S. C. Spratt, "A comparison of five steady-state truncation
       heuristics for simulation", Winter Simulation Conference 2000: batches of five; a cut beyond
       half of the series means that it is too short.
    """
    batches = series.size // batch
    if batches == 0:
        return Cut(0, True)
    z = series[: batches * batch].reshape(batches, batch).mean(axis=1)
    z = z - z.mean()  # so that squares do not cancel
    left = np.arange(batches, 0, -1)
    total, squares = np.cumsum(z[::-1])[::-1], np.cumsum((z * z)[::-1])[::-1]
    # Rounding can make a difference of zero negative.
    error = np.maximum(squares - total**2 / left, 0) / left**2
    half = batches // 2 + 1
    # The last few batches are left out, because few values can be close to each other by chance.
    enough = max(half, batches - batch)
    place = int(np.argmin(error[:half]))
    return Cut(place * batch, bool(error[:enough].min() >= error[place]))
