"""Loss recovery of a flow: kind of repair, its duration, and its effect on window and goodput."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from lightburst.foundation.counts import PS
from lightburst.trace import series, tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightburst.trace.flow import FlowTrace


def summary(trace: FlowTrace) -> dict[str, Any]:
    """Summarise a whole run.

    Returns
    -------
    dict
        ``recoveries`` (entries into fast recovery), ``timeouts``, and ``round_trip_s`` (mean of the
        sender's round-trip samples).
    """
    windows = tables.windows(trace)
    return {
        "recoveries": int(_entered(windows)[1:].sum()),
        "timeouts": int(series.timeouts_s(trace).size),
        "round_trip_s": _mean_sample(windows["rtt_s"]),
    }


def after_loss(trace: FlowTrace, number: int, length_s: float) -> dict[str, Any]:
    """Summarise the events after the loss of one burst.

    Parameters
    ----------
    trace : FlowTrace
        Trace of the flow.
    number : int
        Number of the lost burst among those with data, from 1.
    length_s : float
        Length of the observed interval after the loss, in seconds.

    Returns
    -------
    dict
        ``lost_at_s``: departure of the burst; ``window``: congestion window at that time, in
        segments; ``burst``: number of its segments; ``timeouts`` within the interval and
        ``timeout_after_s``, the time from the loss to the first of them; ``recoveries_after``:
        entries into fast recovery before the first timeout; ``reach``: segments from the first lost
        one to the highest one sent before the first timeout; ``timer_s``: retransmission timeout of
        the sender at the loss; ``threshold``: slow-start threshold at the end of the interval, in
        segments; ``received``: segments acknowledged in the interval; ``repaired_after_s``: time
        until all data sent before the first retransmission is acknowledged.
    """
    windows, payload = tables.windows(trace), trace.payload_bytes
    times = series.timeouts_s(trace)
    lost = float(trace.bursts["departure_ps"][trace.bursts["data"] > 0][number - 1] * PS)
    before = windows[windows["time_s"] <= lost].iloc[-1]
    window = float(before["congestion_window_bytes"]) / payload
    stop = lost + length_s if not (times > lost).any() else float(times[times > lost][0])
    within = windows["time_s"].between(lost, stop, inclusive="right").to_numpy()
    after = times[(times > lost) & (times <= lost + length_s)]
    sent, heard = series.sends(trace), series.acknowledgements(trace)
    again = sent[sent["again"] & (sent["time_s"] > lost)]
    first = float(again["time_s"].min()) if len(again) else math.nan
    highest = int(sent.loc[sent["time_s"] < first, "segment"].max()) if len(again) else 0
    done = heard.loc[heard["segment"] > highest, "time_s"]
    end = windows[windows["time_s"] <= lost + length_s].iloc[-1]
    missing = sent[sent["lost"] & (sent["departure_s"] == lost)]
    first_lost = int(missing["segment"].min())
    return {
        "lost_at_s": lost,
        "window": window,
        "burst": len(missing),
        "timeouts": int(after.size),
        "timeout_after_s": float(after[0] - lost) if after.size else math.nan,
        "recoveries_after": int((_entered(windows) & within).sum()),
        "reach": 1 + int(sent.loc[sent["time_s"] <= stop, "segment"].max()) - first_lost,
        "timer_s": float(before["rto_s"]),
        "threshold": float(end["slow_start_threshold_bytes"]) / payload,
        "received": _at(heard, lost + length_s) - _at(heard, lost),
        "repaired_after_s": float(done.iloc[0] - lost) if len(done) else math.nan,
    }


def losses(trace: FlowTrace) -> pd.DataFrame:
    """Return the repair of each loss.

    Parameters
    ----------
    trace : FlowTrace
        Trace of the flow.

    Returns
    -------
    pandas.DataFrame
        One row per run of consecutive lost bursts with data. ``bursts``: their number.
        ``repaired_after_s``: time from the departure of the last of them until all data sent by
        then is acknowledged. ``timeouts``: number in that time. Losses whose repair the trace does
        not reach, or which hit only data that had already arrived, are left out.
    """
    bursts = tables.bursts(trace)
    bursts = bursts[bursts["data"]].sort_values("departure_s", kind="stable")
    sent, heard = series.sends(trace), series.acknowledgements(trace)
    times = series.timeouts_s(trace)
    highest = np.maximum.accumulate(sent["segment"].to_numpy())
    lost = bursts["lost"].to_numpy()
    group = np.cumsum(np.diff(lost, prepend=False) != 0)
    rows = []
    for _, at in bursts["departure_s"][lost].groupby(group[lost]):
        last = float(at.iloc[-1])
        place = np.searchsorted(sent["time_s"], last, side="right") - 1
        done = np.searchsorted(heard["segment"], highest[place], side="right")
        end = float(heard["time_s"].iloc[done]) if done < len(heard) else math.nan
        # A lost burst of needless retransmissions, whose data had arrived before, needs no repair.
        if end > last:
            within = (times > float(at.iloc[0])) & (times <= end)
            rows.append((len(at), end - last, int(within.sum())))
    return pd.DataFrame(rows, columns=["bursts", "repaired_after_s", "timeouts"])


def progress(trace: FlowTrace, stretch_s: float, length_s: float) -> pd.DataFrame:
    """Count the segments acknowledged in each of equal intervals of a run.

    Parameters
    ----------
    trace : FlowTrace
        Trace of the flow.
    stretch_s, length_s : float
        Length of an interval, and of the run, in seconds.

    Returns
    -------
    pandas.DataFrame
        One row per interval: ``until_s``, its end, and ``received``, the segments acknowledged in
        it.
    """
    heard = series.acknowledgements(trace)
    ends = np.arange(0.0, length_s + stretch_s / 2, stretch_s)
    place = np.searchsorted(heard["time_s"], ends, side="right")
    counts = np.concatenate([[0.0], np.maximum.accumulate(heard["segment"])])[place]
    return pd.DataFrame({"until_s": ends[1:], "received": np.diff(counts)})


def _entered(windows: pd.DataFrame) -> NDArray[np.bool_]:
    """Return a mask of the rows in which a fast recovery begins."""
    state = windows["state"].astype(str).to_numpy()
    return np.asarray((state == "fast recovery") & (np.roll(state, 1) != "fast recovery"))


def _mean_sample(newest: pd.Series[float]) -> float:
    """Average the round-trip samples; each row holds the latest, so a change marks a new sample."""
    known = newest.dropna()
    return float(known[known != known.shift()].mean())


def _at(heard: pd.DataFrame, time: float) -> float:
    """Return the number of segments that were acknowledged by a given time."""
    return float(heard.loc[heard["time_s"] <= time, "segment"].max())
