"""Flows as arrays."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Least memory of a flow in a run, with the rows of its result.
LEAST_BYTES_PER_FLOW = 480


# Stands for no join, processor or interface.
NO_JOIN = np.uint32(2**32 - 1)


@dataclass(frozen=True)
class Work:
    """Work of joins at processors, and the interfaces to which they hand their flows.

    Attributes
    ----------
    cpu : ndarray of uint32, shape (joins,)
        Processor of each join, or `NO_JOIN`.
    busy_ps : ndarray of uint64, shape (joins,)
        Time from the begin to the end of each join, in picoseconds.
    cpu_host : ndarray of uint32, shape (processors,)
        Host of each processor.
    nic : ndarray of uint32, shape (joins,) or (0,)
        Interface of the flows of each join, or `NO_JOIN`; empty if there are none.
    nic_gap_ps : ndarray of uint64, shape (interfaces,)
        Least time between the starts of two flows, in picoseconds.
    """

    cpu: NDArray[np.uint32]
    busy_ps: NDArray[np.uint64]
    cpu_host: NDArray[np.uint32]
    nic: NDArray[np.uint32]
    nic_gap_ps: NDArray[np.uint64]


@dataclass(frozen=True)
class Receives:
    """Receives that are matched in the run: a message goes to the first one posted that it fits.

    The joins by which they are posted are the last ones, in the order of the receives.

    Attributes
    ----------
    join : ndarray of uint32, shape (receives,)
        Join of each receive, which opens when it is posted and its message is there.
    source : ndarray of uint32, shape (receives,)
        Host from which the message comes, or `NO_JOIN` for any.
    tag : ndarray of uint32, shape (receives,)
        Number of the tag, or `NO_JOIN` for any.
    tag_of_flow : ndarray of uint32, shape (flows,)
        Number of the tag of each flow, or `NO_JOIN` for one that leads to a join by itself.
    busy_ps : ndarray of uint64, shape (flows,)
        Work of the receive that takes each flow, in picoseconds.
    sent : ndarray of uint32, shape (flows,) or (0,)
        Join at the source that each flow reaches when it is taken, or `NO_JOIN`; empty if none
        does.
    """

    join: NDArray[np.uint32]
    source: NDArray[np.uint32]
    tag: NDArray[np.uint32]
    tag_of_flow: NDArray[np.uint32]
    busy_ps: NDArray[np.uint64]
    sent: NDArray[np.uint32]

    @property
    def columns(self) -> dict[str, NDArray[np.uint32] | NDArray[np.uint64]]:
        """The columns of the plan."""
        columns: dict[str, NDArray[np.uint32] | NDArray[np.uint64]] = {
            "receive_join": self.join,
            "receive_source": self.source,
            "receive_tag": self.tag,
            "tag_of_flow": self.tag_of_flow,
            "receive_busy_ps": self.busy_ps,
        }
        if self.sent.size:
            columns["sent_join"] = self.sent
        return columns


@dataclass(frozen=True)
class Joins:
    """Joins, through which flows wait for others.

    A join is at one host. It opens when all flows that lead to it have arrived there whole, and all
    joins that lead to it have begun or ended. It begins when it opens, or later if its processor is
    busy; then the flows start that wait for it. It ends when its work is over.

    Attributes
    ----------
    after, towards : ndarray of uint32, shape (flows,)
        Join for which each flow waits, and join to which it leads, or `NO_JOIN`.
    delay_ps : ndarray of uint64, shape (joins,)
        Time from the begin to the start of the flows that wait, in picoseconds.
    leads : ndarray of uint32
        Joins to which the joins lead, join by join: those to which it leads when it begins, then
        those to which it leads when it ends.
    lead_offsets : ndarray of uint32, shape (2 * joins + 1,)
        Index in ``leads`` of the first of either kind of each join, and their number.
    work : Work, optional
        None if no join has a processor: all end when they begin.
    receives : Receives, optional
        None if each flow leads to a join that is known before the run.
    """

    after: NDArray[np.uint32]
    towards: NDArray[np.uint32]
    delay_ps: NDArray[np.uint64]
    leads: NDArray[np.uint32]
    lead_offsets: NDArray[np.uint32]
    work: Work | None = None
    receives: Receives | None = None

    @property
    def columns(self) -> dict[str, NDArray[np.uint32] | NDArray[np.uint64]]:
        """The columns of the plan."""
        columns: dict[str, NDArray[np.uint32] | NDArray[np.uint64]] = {
            "after_join": self.after,
            "towards_join": self.towards,
            "join_delay_ps": self.delay_ps,
            "join_leads": self.leads,
            "join_lead_offsets": self.lead_offsets,
        }
        if self.work is not None:
            columns |= {
                "join_cpu": self.work.cpu,
                "join_busy_ps": self.work.busy_ps,
                "cpu_host": self.work.cpu_host,
                "join_nic": self.work.nic,
                "nic_gap_ps": self.work.nic_gap_ps,
            }
        if self.receives is not None:
            columns |= self.receives.columns
        return columns


@dataclass(frozen=True)
class Flows:
    """The flows of a run, sorted by start time.

    Attributes
    ----------
    source, destination : ndarray of uint32, shape (flows,)
        Host numbers; source and destination of a flow differ.
    start_ps : ndarray of uint64, shape (flows,)
        Start times in picoseconds, not decreasing.
    size_bytes : ndarray of uint64, shape (flows,)
        Sizes in bytes, at least 1.
    joins : Joins, optional
        None if no flow waits for another. A flow that waits starts no earlier than ``start_ps``.
    told : dict of str to ndarray
        Columns that results read and the simulator does not: ``collective``, the collective
        operation of each flow (the step times the number of groups, plus the group).
    """

    source: NDArray[np.uint32]
    destination: NDArray[np.uint32]
    start_ps: NDArray[np.uint64]
    size_bytes: NDArray[np.uint64]
    joins: Joins | None = None
    told: dict[str, NDArray[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.source.size
