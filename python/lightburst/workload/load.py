"""Load: offered traffic as a fraction of the capacity of the senders.

The capacity is that of the hosts' links or, where edges generate the bursts, of their fibres.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightburst.foundation.formatting import exactly
from lightburst.foundation.units import (
    BITS_PER_BYTE,
    PICOSECONDS_PER_SECOND,
    format_rate,
    format_size,
)
from lightburst.scenario.tables.workload import Poisson, Workload
from lightburst.workload.edges import Edges
from lightburst.workload.sizes import mean_size


class Senders(NamedTuple):
    """The senders of a group's flows: hosts or edges.

    Attributes
    ----------
    capacity_bps : int
        Their total capacity in bits per second, in one direction.
    hosts : int
        Number of hosts that send.
    edges : int or None
        Number of edges that send, if edges generate the bursts; None if hosts send.
    """

    capacity_bps: int
    hosts: int
    edges: int | None = None

    @classmethod
    def of(
        cls,
        transport: str,
        hosts: int,
        *links: NDArray[np.integer],
        sending: NDArray[np.bool_] | None = None,
    ) -> "Senders":
        """Determine the senders for a kind of transport.

        Parameters
        ----------
        transport : str
            Kind of the transport. For ``"bursts"`` the senders are the edges, with all wavelengths
            of their fibres to other switches; for any other kind, the hosts with their links.
        hosts : int
            Number of hosts: nodes 0..hosts, whose single links come first in the columns.
        *links : ndarray of int, shape (links,)
            Columns of the links: sources, targets, rates in bits per second, numbers of channels.
        sending : ndarray of bool, shape (hosts,), optional
            Whether each host sends, or its edge for it; by default all do.
        """
        source, target, rate, channels = links
        senders = np.arange(hosts) if sending is None else np.flatnonzero(sending)
        if transport != "bursts":
            return cls(int(rate[senders].sum()), senders.size)
        edges = np.unique(target[senders])
        fibres = np.isin(source, edges) & (target >= hosts)
        capacity = (rate[fibres].astype(np.uint64) * channels[fibres].astype(np.uint64)).sum()
        return cls(int(capacity), senders.size, edges.size)


@dataclass(frozen=True)
class Offered:
    """The capacity, flow size and arrival rate that a load amounts to.

    Attributes
    ----------
    load : float
        Offered useful bits per second, divided by `capacity_bps`.
    capacity_bps : int
        Sum of the rates of the links of hosts that send, one way; where edges generate the bursts,
        of all wavelengths of the fibres that leave these edges.
    hosts : int
        Number of hosts that send.
    mean_size_bytes : float
        Mean size of a flow in bytes.
    arrival_rate : float
        Flows per second in the whole network.
    edges : int or None
        Number of edges, if the capacity is that of their fibres; None if it is that of hosts.
    of_link : str or None
        Ends of the link to which `load` refers: `capacity_bps` is then the traffic of the whole
        network at which this link is full. None: `load` refers to the capacity of the senders.
    """

    load: float
    capacity_bps: int
    hosts: int
    mean_size_bytes: float
    arrival_rate: float
    edges: int | None = None
    of_link: str | None = None

    def __str__(self) -> str:
        mean = format_size(round(float(f"{self.mean_size_bytes:.3g}")))
        links = (
            f"{self.hosts} hosts' links" if self.edges is None else f"{self.edges} edges' fibres"
        )
        flows = f"{_figures(self.arrival_rate)} flows/s of {mean}"
        whole = format_rate(self.capacity_bps)
        if self.of_link is not None:
            whole = format_rate(round(float(f"{self.capacity_bps:.3g}")))
            full = f"full with {whole} in the whole network"
            return (
                f"load {exactly(self.load)} of the hottest link, {self.of_link} ({full}): {flows}"
            )
        return f"load {exactly(self.load)} of {whole} ({links}): {flows}"


def _figures(rate: float) -> str:
    """Format a number with three significant digits, never with an exponent."""
    return f"{float(f'{rate:.3g}'):,.10g}"


def offered(workload: Workload, senders: Senders, of_link: str | None = None) -> Offered | None:
    """Compute the arrival rate that corresponds to the load of a workload.

    Parameters
    ----------
    workload : Workload
        The ``[workload]`` table.
    senders : Senders
        Senders of its flows.
    of_link : str, optional
        The link that the load refers to, if it does not refer to the senders' capacity.

    Returns
    -------
    Offered or None
        None if the workload specifies no load.

    Raises
    ------
    InputError
        When the sizes have no finite mean, or a file cannot be used.
    """
    if not isinstance(workload, Poisson) or workload.load is None:
        return None
    capacity, mean = senders.capacity_bps, mean_size(workload.size)
    rate = workload.load * capacity / (BITS_PER_BYTE * mean)
    return Offered(workload.load, capacity, senders.hosts, mean, rate, senders.edges, of_link)


def load_of(
    workload: Poisson,
    capacity_bps: int,
    start_ps: NDArray[np.uint64],
    size_bytes: NDArray[np.uint64],
    window_ps: tuple[int, int],
) -> float | None:
    """Compute the load that the flows of one run actually offered; `Offered.load` is its mean.

    Parameters
    ----------
    workload : Poisson
        Workload from which the flows were drawn.
    capacity_bps : int
        `Offered.capacity_bps`.
    start_ps, size_bytes : ndarray of uint64, shape (flows,)
        Start time and size of each flow of the workload, sorted by start time.
    window_ps : tuple of int
        Measurement window: flows that start within it (end excluded) count.

    Returns
    -------
    float or None
        Useful bits of the flows that count, divided by the capacity and by the time in which they
        could start. That time lasts from the beginning of the window to its end or to the end of
        the workload (its duration, or the start of its last flow), whichever is earlier. None if
        that time is empty.
    """
    begin, end = window_ps
    until = min(end, int(start_ps[-1]) if workload.duration is None else workload.duration)
    if until <= begin:
        return None
    counted = (start_ps >= np.uint64(begin)) & (start_ps < np.uint64(end))
    # Summed as floats: the sum may exceed 64 bits, and rounding does not matter here.
    bits = BITS_PER_BYTE * float(size_bytes[counted].sum(dtype=np.float64))
    return bits * PICOSECONDS_PER_SECOND / (capacity_bps * (until - begin))


def with_arrival_rate(workload: Workload, senders: Senders, edges: Edges | None) -> Workload:
    """Replace a load, or an arrival rate per edge, by the arrival rate of the whole network.

    Parameters
    ----------
    workload : Workload
        The ``[workload]`` table; returned unchanged if it has neither.
    senders : Senders
        Senders of its flows.
    edges : Edges or None
        Assignment of hosts to edges, for flows between edges.

    Returns
    -------
    Workload
        With `arrival_rate` in flows per second, summed over the whole network.
    """
    found = offered(workload, senders)
    if found is not None:
        return workload.model_copy(update={"arrival_rate": found.arrival_rate, "load": None})
    if isinstance(workload, Poisson) and workload.arrival_rate_per_edge is not None:
        assert edges is not None
        rate = workload.arrival_rate_per_edge * len(edges.names)
        return workload.model_copy(update={"arrival_rate": rate})
    return workload
