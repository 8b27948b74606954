"""The simulator, compiled from `crates/`."""

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

class Cancelled(Exception):
    """A run was cancelled."""

class Stopped(Exception):
    """A run came to a limit: why (``events``, ``watch`` or ``clock``), and what there was then.

    The second argument has ``events``, ``now_ps``, ``pending`` (events), ``units`` on their way,
    ``waiting_bytes`` of the fullest ``link``, ``held_bytes`` of the fullest ``switch`` (its place
    among the switches), the ``retransmissions`` of the ``flow`` with the most, ``trace_rows``,
    ``samples`` and ``bins`` that are kept.
    """

class Cancel:
    """A flag that ends the runs to which it is given."""

    def set(self) -> None:
        """End the runs."""
    def is_set(self) -> bool:
        """Whether the runs are to end."""

def simulate(
    settings: str,
    nodes: dict[str, NDArray[Any]],
    links: dict[str, NDArray[Any]],
    flows: dict[str, NDArray[Any]],
    cancel: Cancel | None = None,
    event_limit: int | None = None,
    watch: Callable[[int, int], object] | None = None,
) -> dict[str, dict[str, Any]]:
    """Run a plan (see `lightburst.compile`) and return its columns.

    Releases the GIL. Raises `MemoryError` where there is no memory for the run, which then keeps
    what it has until the process ends.

    Parameters
    ----------
    settings
        The settings of the plan as JSON.
    nodes
        Column ``switch`` (uint16): for each switch which of the settings ``switches``. With the
        setting ``label`` also ``path_source``, ``path_destination``, ``path_links`` (uint32) and
        ``path_offsets`` (uint64): paths between switches with hosts, those of a pair in the order
        of their labels, each as the links in its order; those from one switch are alternatives.
        With the label ``load`` its settings are those of ``balance``.
    links
        Columns ``from``, ``to`` (uint32), ``rate_bps``, ``delay_ps`` (uint64); where
        links lose also ``lossy`` (uint8).
    flows
        Columns ``source``, ``destination`` (uint32), ``start_ps``, ``bytes``
        (uint64); for datagrams also ``departures_ps`` and ``departure_offsets``. They are read
        where they are if they are read-only and no views, else copied.
    cancel
        Ends the run when it is set.
    event_limit
        Stops a run that has not ended after so many events.
    watch
        Called some times a second with the number of events and the simulated time in picoseconds;
        what is true stops the run.

    Returns
    -------
    dict
        Tables ``flows`` (its counts in the narrowest of uint8 to uint64 that holds all),
        ``links``, ``switches``, ``drops`` (column name to array) and ``totals`` (name to
        int); with extra offsets also ``classes``, a row for each
        group; with ``displacement_threshold`` also ``reordering``; with ``bursts`` also
        ``bursts``, a row for each fate of bursts, what is counted in them and its number, and
        ``bursts_flows``, a row for each flow; with a trace also
        ``trace_segments``, ``trace_windows``, ``trace_bursts``, ``trace_hops`` and
        ``trace_path_switches``; with ``synchronisation`` its sums (name to int), and if it
        has ``series`` also ``synchronisation_bins``; with ``sample_ps`` also ``samples``,
        ``samples_links`` and ``samples_switches``, the latter two one sample after the other.

    Raises
    ------
    Cancelled
        If `cancel` was set.
    Stopped
        If the run came to `event_limit`, `watch` stopped it, or a queue outlasts the clock.
    ValueError, KeyError, TypeError
        If the plan cannot be read or run; a bug in the caller.
    """

def registry() -> dict[str, list[str]]:
    """Names that a plan may use, or a result's numbers stand for, by what they name.

    ``switches``, ``assemblies``, ``transports``, ``congestion_controls``,
    ``recoveries``, ``choices``, ``labels``, and by its name each setting of ``tcp``
    that is a word; ``statuses`` of flows, ``drop_reasons``, ``burst_fates`` and
    ``burst_contents``, what is counted in bursts, are numbered from 0 in this order.
    """

def version() -> str:
    """Version of the compiled core."""

def bench_queue(name: str, pending: int, events: int, seed: int) -> float:
    """Seconds for `events` events of the hold model with `pending` pending, after as many."""

def bench_calibration() -> float:
    """Seconds for a fixed loop: how fast this machine is now."""
