"""How a flow fared after losses: how each was repaired, how long that took, and what came of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from lightburst.trace import series, tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightburst.trace.flow import FlowTrace

_PS: Final = 1e-12


def summary(trace: FlowTrace) -> dict[str, Any]:
    """Sum up a whole run.

    Returns
    -------
    dict
        ``recoveries`` (entries into fast recovery), ``timeouts``, and ``round_trip_s`` (mean of the
        sender's samples).
    """
    windows = tables.windows(trace)
    return {
        "recoveries": int(_entered(windows)[1:].sum()),
        "timeouts": int(series.timeouts_s(trace).size),
        "round_trip_s": _mean_sample(windows["rtt_s"]),
    }


def after_loss(trace: FlowTrace, number: int, length_s: float) -> dict[str, Any]:
    """Sum up what follows the loss of one burst.

    Parameters
    ----------
    trace : FlowTrace
        What the flow did.
    number : int
        Which burst with data, from 1; it was lost.
    length_s : float
        How long after it is looked at, in seconds.

    Returns
    -------
    dict
        ``lost_at_s`` (departure of the burst), ``window`` (congestion window then, segments),
        ``burst`` (its segments), ``timeouts`` in the time after it and ``timeout_after_s`` of the
        first; ``recoveries_after`` it and before the first timeout; ``reach`` (segments from the
        first lost one to the last one sent by then); ``timer_s`` (the timeout that the sender had
        set at the loss); ``threshold`` (segments) at the end; ``received`` (segments acknowledged
        in the time); ``repaired_after_s`` (until all that was sent before the first retransmission
        is acknowledged).
    """
    windows, payload = tables.windows(trace), trace.payload_bytes
    times = series.timeouts_s(trace)
    lost = float(trace.bursts["departure_ps"][trace.bursts["data"] > 0][number - 1] * _PS)
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
    """Tell how each loss was repaired.

    Parameters
    ----------
    trace : FlowTrace
        What the flow did.

    Returns
    -------
    pandas.DataFrame
        One row for each run of bursts with data that were lost one after another: ``bursts``, how
        many; ``repaired_after_s``, from the departure of the last of them until all that was sent
        by then is acknowledged; ``timeouts`` in between. Those of which the end is not seen, or
        that took nothing that was missing, are left out.
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
        # A copy of what had arrived, sent again in vain and lost, needs no repair.
        if end > last:
            within = (times > float(at.iloc[0])) & (times <= end)
            rows.append((len(at), end - last, int(within.sum())))
    return pd.DataFrame(rows, columns=["bursts", "repaired_after_s", "timeouts"])


def progress(trace: FlowTrace, stretch_s: float, length_s: float) -> pd.DataFrame:
    """Count what is acknowledged in each stretch of a run.

    Parameters
    ----------
    trace : FlowTrace
        What the flow did.
    stretch_s, length_s : float
        Length of a stretch, and of the run, in seconds.

    Returns
    -------
    pandas.DataFrame
        One row for each stretch: ``until_s``, its end, and ``received``, segments acknowledged in
        it.
    """
    heard = series.acknowledgements(trace)
    ends = np.arange(0.0, length_s + stretch_s / 2, stretch_s)
    place = np.searchsorted(heard["time_s"], ends, side="right")
    counts = np.concatenate([[0.0], np.maximum.accumulate(heard["segment"])])[place]
    return pd.DataFrame({"until_s": ends[1:], "received": np.diff(counts)})


def _entered(windows: pd.DataFrame) -> NDArray[np.bool_]:
    """Tell in which rows a fast recovery begins."""
    state = windows["state"].astype(str).to_numpy()
    return np.asarray((state == "fast recovery") & (np.roll(state, 1) != "fast recovery"))


def _mean_sample(newest: pd.Series[float]) -> float:
    """Average the samples, of which each row has the newest; one is new where it differs."""
    known = newest.dropna()
    return float(known[known != known.shift()].mean())


def _at(heard: pd.DataFrame, time: float) -> float:
    """Count the segments that were acknowledged by a time."""
    return float(heard.loc[heard["time_s"] <= time, "segment"].max())
