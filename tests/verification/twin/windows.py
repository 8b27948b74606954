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
