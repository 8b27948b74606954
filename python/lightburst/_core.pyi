"""The simulator, compiled from `crates/`."""

from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import NDArray

class Cancelled(Exception):
    """A run was cancelled."""

class Stopped(Exception):
    """A run reached a limit: its name (``events``, ``watch`` or ``clock``), and the load then.

    The second argument has the numbers of ``events`` and of ``pending`` ones, ``now_ps``, ``units``
    in the network, ``waiting_bytes`` of the fullest ``link``, ``held_bytes`` of the fullest
    ``switch`` (its index among the switches), the ``retransmissions`` of the ``flow`` with the
    most, and the numbers of ``trace_rows``, ``samples`` and ``bins`` in memory.
    """

class Cancel:
    """A flag that cancels the runs to which it was passed."""

    def set(self) -> None:
        """Cancel the runs."""
    def is_set(self) -> bool:
        """Return whether the flag is set."""

def simulate(
    settings: str,
    nodes: dict[str, NDArray[Any]],
    links: dict[str, NDArray[Any]],
    flows: dict[str, NDArray[Any]],
    cancel: Cancel | None = None,
    event_limit: int | None = None,
    watch: Callable[[int, int], object] | None = None,
    parts: Sequence[int] | None = None,
    threads: int = 1,
) -> dict[str, dict[str, Any]]:
    """Run a plan (see `lightburst.compile`) and return its columns.

    Releases the GIL. Raises `MemoryError` if an allocation fails; the memory of the run then stays
    allocated until the process ends.

    Parameters
    ----------
    settings
        The settings of the plan as JSON.
    nodes
        Column ``switch`` (uint16): index of each switch's settings in the setting ``switches``.
        With the setting ``label`` also ``path_source``, ``path_destination``, ``path_links``
        (uint32) and ``path_offsets`` (uint64): paths between switches with hosts, those of a pair
        in the order of their labels, each as its links in order; parallel links are alternatives.
        With the label ``load`` the setting ``balance`` has its settings.
    links
        Columns ``from``, ``to`` (uint32), ``rate_bps``, ``delay_ps`` (uint64); with random or
        scripted losses also ``lossy`` (uint8).
    flows
        Columns ``source``, ``destination`` (uint32), ``start_ps``, ``bytes``
        (uint64); for datagrams also ``departures_ps`` and ``departure_offsets``; where flows wait
        for others ``after_join``, ``towards_join``, ``join_leads``, ``join_lead_offsets`` (uint32)
        and ``join_delay_ps`` (uint64), where joins work also ``join_cpu``, ``cpu_host``,
        ``join_nic`` (uint32), ``join_busy_ps`` and ``nic_gap_ps`` (uint64). The columns are read in
        place if they are read-only and no views, else copied.
    cancel
        Flag that cancels the run.
    event_limit
        Number of events after which an unfinished run stops.
    watch
        Called some times a second with the number of events and the simulated time in picoseconds;
        a true return value stops the run.
    parts
        Part of each node, from 0, in a network that runs in parts; see `why_whole`. The columns are
        the same to the bit. Raises `ValueError` if the network must be whole.
    threads
        Number of threads of a run in parts, at most one for each part.

    Returns
    -------
    dict
        Tables ``flows`` (its counts in the narrowest of uint8 to uint64 that holds all),
        ``links``, ``switches``, ``drops`` (column name to array) and ``totals`` (name to
        int); with extra offsets also ``classes``, a row for each
        group; where joins work ``joins``, with the begin of each (``begun_ps``, the largest number
        for one that did not open); with ``displacement_threshold`` also ``reordering``; with
        ``bursts`` also ``bursts``, a row for each fate of bursts, quantity counted in them and
        number of it, and ``bursts_flows``, a row for each flow; with a trace also
        ``trace_segments``, ``trace_windows``, ``trace_bursts``, ``trace_hops`` and
        ``trace_path_switches``; with ``synchronisation`` its sums (name to int), and if it
        has ``series`` also ``synchronisation_bins``; with ``sample_ps`` also ``samples``,
        ``samples_links`` and ``samples_switches``, the latter two one sample after the other.

    Raises
    ------
    Cancelled
        If `cancel` was set.
    Stopped
        If the run reached `event_limit`, `watch` stopped it, or a queue outlasts the clock.
    ValueError, KeyError, TypeError
        If the plan is invalid, which is a bug in the caller.
    """

def replay(capture: str) -> dict[str, list[dict[str, Any]]]:
    """Replay a recorded connection to a sender, without a network.

    Parameters
    ----------
    capture
        JSON: ``transport`` (settings of a plan's group, whose recovery goes by times of sending),
        ``handshake_ps`` (round trip of the SYN), ``window`` (receive window in bytes; that of the
        settings by default), ``end_ps`` and ``events``. An event has ``at_ps`` since the handshake,
        and either ``written`` (bytes in all) or ``acknowledgement``, ``blocks`` (start and end of
        each), ``echo`` (ECE), ``ace`` (AE, CWR and ECE as a number, where marks are counted),
        ``timestamp_ps`` (send time that is echoed), ``stamp`` (its own timestamp, in units since
        that of the handshake) and ``window``; or it has ``look_ps``, a time at which the state is
        noted.

    Returns
    -------
    dict
        ``transmissions`` with ``sequence``, ``at_ps``, ``event`` (index of the event that caused
        it; None for a timer) and ``reduced`` (CWR), and ``states`` with ``event``, ``cwnd`` and
        ``ssthresh`` in bytes, ``timeout_ps``, ``round_trip_ps`` and ``least_round_trip_ps`` (None
        before the first sample), ``state``, ``marks`` (told by counts) and counts in segments.

    Raises
    ------
    ValueError
        If the capture cannot be read.
    """

def why_whole(settings: str, joins: bool) -> str | None:
    """Return why a network with these settings of a plan cannot run in parts; None if it can.

    Parameters
    ----------
    settings
        The settings of the plan as JSON.
    joins
        Whether flows wait for others.
    """

def registry() -> dict[str, list[str]]:
    """Return the names that plans use, and those of the numbers in results, by category.

    For plans ``switches``, ``assemblies``, ``transports``, ``congestion_controls``,
    ``recoveries``, ``choices``, ``labels``, and each setting of ``tcp`` with named values, by the
    name of the setting. For results ``statuses`` of flows, ``drop_reasons``, ``burst_fates`` and
    ``burst_contents`` (quantities counted in bursts), numbered from 0 in the order of the list.
    """

def version() -> str:
    """Return the version of the compiled core."""

def bench_queue(name: str, pending: int, events: int, seed: int) -> float:
    """Return the seconds for `events` steps of the hold model, after as many steps of warm-up.

    `pending` is the constant number of events in the queue.
    """

def bench_calibration() -> float:
    """Return the seconds for a fixed loop, which measures the current speed of the machine."""
