"""Load: how much traffic is offered, as a part of what can be sent.

That is what the hosts' links carry or, of bursts that edges make themselves, their fibres.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightburst.scenario.workload import Poisson, Workload
from lightburst.shown import exactly
from lightburst.units import BITS_PER_BYTE, PICOSECONDS_PER_SECOND, format_rate, format_size
from lightburst.workload.edges import Edges
from lightburst.workload.sizes import mean_size


class Senders(NamedTuple):
    """What sends the flows of a group.

    Attributes
    ----------
    capacity_bps : int
        What they can send, one way.
    hosts : int
        How many hosts there are.
    edges : int or None
        How many edges, if these make the bursts; None: hosts send.
    """

    capacity_bps: int
    hosts: int
    edges: int | None = None

    @classmethod
    def of(cls, transport: str, hosts: int, *links: NDArray[np.integer]) -> "Senders":
        """Find those of a transport, by its kind.

        Parameters
        ----------
        transport : str
            Of the kind ``"bursts"`` edges send over all their fibres to other switches, with all
            wavelengths; of any other, hosts over their links.
        hosts : int
            Which are the first nodes; each has one link, and these are the first.
        *links : ndarray of int, shape (links,)
            Their sources, targets, rates in bits a second, and numbers of channels.
        """
        source, target, rate, channels = links
        if transport != "bursts":
            return cls(int(rate[:hosts].sum()), hosts)
        edges = np.unique(target[:hosts])
        fibres = np.isin(source, edges) & (target >= hosts)
        capacity = (rate[fibres].astype(np.uint64) * channels[fibres].astype(np.uint64)).sum()
        return cls(int(capacity), hosts, edges.size)


@dataclass(frozen=True)
class Offered:
    """What a load comes to.

    Attributes
    ----------
    load : float
        Useful bits a second that arrive / `capacity_bps`.
    capacity_bps : int
        Sum of the rates of the hosts' links, one way; of bursts that edges make, of the wavelengths
        of the fibres that leave the edges.
    hosts : int
        How many there are.
    mean_size_bytes : float
        Of a flow.
    arrival_rate : float
        Flows a second, in the whole network.
    edges : int or None
        How many edges there are, if their fibres count; None: the hosts' links do.
    of_link : str or None
        The link of which `load` is a part, by its ends: `capacity_bps` is then what the whole
        network has to send so that it is full. None: of what senders can send.
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
    """Write three figures of a number, never with an exponent."""
    return f"{float(f'{rate:.3g}'):,.10g}"


def offered(workload: Workload, senders: Senders, of_link: str | None = None) -> Offered | None:
    """Tell what the load of a workload comes to.

    Parameters
    ----------
    workload : Workload
        The ``[workload]`` table.
    senders : Senders
        What sends its flows.
    of_link : str, optional
        The link that is full when the senders send what they can, if the load is a part of that.

    Returns
    -------
    Offered or None
        None if the workload has no load.

    Raises
    ------
    InputError
        When the sizes have no mean, or a file cannot be used.
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
    """Compute the load that the flows of one run really offered; `Offered.load` is its mean.

    Parameters
    ----------
    workload : Poisson
        Of which they were drawn.
    capacity_bps : int
        `Offered.capacity_bps`.
    start_ps, size_bytes : ndarray of uint64, shape (flows,)
        When each flow of the workload starts, in this order, and how much it carries.
    window_ps : tuple of int
        Flows that start from the first of these times on and before the second count.

    Returns
    -------
    float or None
        Useful bits of the flows that count / (capacity times the time in which they could start:
        from the beginning of the window to its end, or to the end of the workload, which is its
        duration or the start of its last flow, if that is earlier). None if there is no such time.
    """
    begin, end = window_ps
    until = min(end, int(start_ps[-1]) if workload.duration is None else workload.duration)
    if until <= begin:
        return None
    counted = (start_ps >= np.uint64(begin)) & (start_ps < np.uint64(end))
    # A sum of whole numbers that fits no integer is as good in floating point.
    bits = BITS_PER_BYTE * float(size_bytes[counted].sum(dtype=np.float64))
    return bits * PICOSECONDS_PER_SECOND / (capacity_bps * (until - begin))


def with_arrival_rate(workload: Workload, senders: Senders, edges: Edges | None) -> Workload:
    """Put an arrival rate in place of a load, or of one for each edge.

    Parameters
    ----------
    workload : Workload
        The ``[workload]`` table; one without either stays as it is.
    senders : Senders
        What sends its flows.
    edges : Edges or None
        Which hosts are at which edge, for flows between edges.

    Returns
    -------
    Workload
        With the flows a second of the whole network.
    """
    found = offered(workload, senders)
    if found is not None:
        return workload.model_copy(update={"arrival_rate": found.arrival_rate, "load": None})
    if isinstance(workload, Poisson) and workload.arrival_rate_per_edge is not None:
        assert edges is not None
        rate = workload.arrival_rate_per_edge * len(edges.names)
        return workload.model_copy(update={"arrival_rate": rate})
    return workload
