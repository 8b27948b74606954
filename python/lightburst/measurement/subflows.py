"""Rows of a trace by flow and subflow, and the data level of connections with several subflows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from lightburst.measurement.cells import NONE, NOWHERE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from lightburst.measurement.cells import Table

# Flags of a packet: of the first in each direction, and of those from the source.
_SYN, _FORWARD = 1, 8


class _Plan(Protocol):
    """The part of a plan that is read here."""

    @property
    def flows(self) -> Mapping[str, NDArray[Any]]: ...

    @property
    def transports(self) -> Sequence[Mapping[str, Any]]: ...

    def by_flow(self, value: Callable[[dict[str, Any]], Any]) -> NDArray[Any]: ...


def subflows_of(transport: Mapping[str, Any]) -> int:
    """Return the number of subflows of each connection of a transport, by settings of the plan."""
    return int(transport.get("subflows", 1))


def has_data_level(transport: Mapping[str, Any]) -> bool:
    """Return whether the data of a connection has numbers of its own (RFC 8684, section 3.3)."""
    return bool(transport.get("reinjection") or transport.get("shared_window"))


def by_subflow(table: Table, plan: _Plan) -> Table:
    """Return rows of a trace with the numbers of their flows and subflows.

    Parameters
    ----------
    table : mapping of str to ndarray
        Columns of ``trace_segments``, ``trace_windows`` or ``trace_hops``, in which subflow ``j``
        of a flow has the number of the flow + ``j`` * (number of flows).
    plan : Plan
        The plan of the run.

    Returns
    -------
    mapping of str to ndarray
        The table itself if no connection has several subflows. Otherwise ``flow`` and
        ``holder_flow`` are numbers of flows, and there is a column ``subflow``. Packets of
        connections with a data level have ``data_sequence`` and ``data_acknowledgement`` (2^64 - 1
        where there is none) instead of the fields that carry these numbers.
    """
    if max(map(subflows_of, plan.transports), default=1) == 1:
        return table
    flows = plan.flows["source"].size
    found = dict(table)
    found["flow"] = table["flow"] % flows
    found["subflow"] = table["flow"] // flows
    if "holder_flow" in table:
        held = table["holder_flow"]
        found["holder_flow"] = np.where(held == NOWHERE, held, held % flows)
    if "sequence" in table and any(map(has_data_level, plan.transports)):
        found |= _data_level(found, plan.by_flow(has_data_level)[found["flow"]])
    return found


def _data_level(table: Table, has: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    own = table["flags"] & _FORWARD > 0
    data = has & own & (table["payload"] > 0)
    # A SYN has no Data ACK.
    answers = has & ~own & (table["flags"] & _SYN == 0)
    return {
        "data_sequence": np.where(data, table["acknowledgement"], NONE),
        "data_acknowledgement": np.where(answers, table["sequence"], NONE),
        "acknowledgement": np.where(data, 0, table["acknowledgement"]),
        "sequence": np.where(has & ~own, 0, table["sequence"]),
    }
