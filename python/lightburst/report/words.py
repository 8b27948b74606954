"""The figures of a run in words: what they are called and how their values are read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

WORDS: Final = {
    "throughput_bps": "throughput",
    "makespan_s": "makespan",
    "flows": "flows",
    "finished": "finished flows",
    "delivered_bytes": "delivered",
    "retransmissions": "retransmissions",
    "timeouts": "timeouts",
    "loss_per_hop": "loss per hop",
    "loss_end_to_end": "loss end to end",
    "drops_missed": "scripted drops that never came",
    "bursts": "bursts, ACK bursts included",
    "burst_loss": "loss of bursts, ACK bursts included",
    "burst_mean_packets": "packets in a burst, mean",
    "burst_mean_bytes": "size of a burst, mean",
    "assembly_mean_s": "wait for the assembly, mean",
    "completion_time_mean_s": "completion time, mean",
    "completion_time_median_s": "completion time, median",
    "completion_time_p99_s": "completion time, 99th percentile",
    "slowdown_mean": "slowdown, mean",
    "slowdown_p99": "slowdown, 99th percentile",
    "conversions_per_delivered_bit": "conversions per delivered bit",
    "energy_j": "energy of conversions",
    "packet_hops": "packet hops",
    "events": "events",
    "wall_s": "wall clock time",
    "digest": "digest",
}

_UNITS: Final = {"_bps": "b/s", "_s": "s", "_bytes": "B", "_j": "J"}
_PREFIXES: Final = (
    (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"),
    (1e-9, "n"), (1e-12, "p"),
)  # fmt: skip


def words_of(key: str) -> str:
    """Say what a figure of the summary is called."""
    return WORDS.get(key, key.replace("_", " "))


def readable(key: str, value: float | str | None) -> str:
    """Write a figure of the summary for people.

    Parameters
    ----------
    key : str
        Its name, which carries its unit.
    value : float, str or None
        Its value in the SI base unit.

    Returns
    -------
    str
        With a unit of a fitting size: ``89.7 Gb/s``; a dash for none.
    """
    if value is None or isinstance(value, str):
        return value or "–"
    if not math.isfinite(value):
        return "–"
    unit = next((word for end, word in _UNITS.items() if key.endswith(end)), None)
    if unit is None:
        return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
    factor, prefix = next(
        ((size, word) for size, word in _PREFIXES if abs(value) >= size), (1.0, "")
    )
    return f"{value / factor:.4g} {prefix}{unit}"


def readable_interval(key: str, found: Mapping[str, float | None]) -> str:
    """Write a mean with its interval for people.

    Parameters
    ----------
    key : str
        Name of the figure.
    found : mapping of str to float
        ``mean``, ``ci_low`` and ``ci_high`` in the SI base unit.

    Returns
    -------
    str
        ``89.7 Gb/s (87.1 Gb/s to 92.3 Gb/s)``.
    """
    ends = [readable(key, found[end]) for end in ("ci_low", "ci_high")]
    mean = readable(key, found["mean"])
    return mean if ends == ["–", "–"] else f"{mean} ({ends[0]} to {ends[1]})"
