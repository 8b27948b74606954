"""Rows of the states of senders."""

from typing import NamedTuple


class WindowRow(NamedTuple):
    """The state of a sender after an acknowledgement or a timeout; windows in bytes."""

    time_ps: int
    flow: int
    congestion_window: float
    inflation: float
    slow_start_threshold: float
    in_flight: int
    rtt_ps: int
    rto_ps: int
    state: int
    #: Bytes per second; 0 without pacing.
    pacing: int
    #: `UNKNOWN` if losses are not found by time.
    reordering_window_ps: int
    undone: int
