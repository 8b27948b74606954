"""The plan of a run: the input of the simulator."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lightburst.foundation.counts import PS, UNFINISHED, FloatArray, Mask
from lightburst.measurement.window import EVERYTHING_PS, window_setting
from lightburst.scenario.switching import MAKE_BURSTS
from lightburst.scenario.tables.workload import WITHOUT_END
from lightburst.topology import Network, joins_switches
from lightburst.workload import Senders

Columns = dict[str, NDArray[Any]]

# Flows of one part, where a calculation on all flows at once would need too much memory.
_PART = 2**16
# Columns among those of flows that have other rows.
_NOT_BY_FLOW = frozenset({"departures_ps", "join_delay_ps", "beyond_join"})


@dataclass(frozen=True, eq=False)
class Plan:
    """The plan of a run: the input of the simulator.

    Attributes
    ----------
    settings : dict
        Integers, floats and names; times in picoseconds, sizes in bytes. An optional mechanism or
        measurement that the scenario does not request has no setting, and so is in no digest.
    nodes : dict of str to ndarray, shape (switches,)
        ``switch`` (uint16): index of each switch's settings in the setting ``switches``. With
        labelled paths also the columns of `lightburst.compile.paths.path_columns`.
    links : dict of str to ndarray, shape (links,)
        ``from``, ``to`` (uint32), ``rate_bps``, ``delay_ps`` (uint64), and with a ``[loss]`` table
        ``lossy`` (uint8). Shared between plans and read-only.
    flows : dict of str to ndarray, shape (flows,)
        ``source``, ``destination`` (uint32), ``start_ps``, ``bytes`` (uint64); with several groups
        ``group`` (uint16); for datagrams also ``departures_ps``, shape (datagrams,), with the
        departures of each flow up to the first one beyond the time limit, and
        ``departure_offsets``, shape (flows + 1,); where flows wait for others the
        columns of `lightburst.workload.flows.Joins` and ``Work`` there, and those that results
        read.
    window_ps : tuple of int
        Begin and end of the measurement window. Flows that start in the window are counted, and so
        are the events of links, switches and bursts in the window; the end is not part of it.
    settled : bool
        Whether the begin of the window is reliable. False if the run that searched for the end of
        the transient was too short.
    network : Network, optional
        The network, with the names of its nodes.
    """

    settings: dict[str, Any]
    nodes: Columns
    links: Columns
    flows: Columns
    window_ps: tuple[int, int] = EVERYTHING_PS
    settled: bool = True
    network: Network | None = None

    def counting(self, window_ps: tuple[int, int], *, settled: bool = True) -> "Plan":
        """Return the same plan with another measurement window."""
        others = {key: value for key, value in self.settings.items() if key != "window"}
        settings = {**others, **window_setting(window_ps)}
        return replace(self, settings=settings, window_ps=window_ps, settled=settled)

    @cached_property
    def counted(self) -> Mask:
        """Whether each flow starts in the window, shape (flows,); the others are load only."""
        begin, end = (np.uint64(time) for time in self.window_ps)
        start = self.flows["start_ps"]
        counted: Mask = (start >= begin) & (start < end)
        return counted

    @property
    def due(self) -> Mask:
        """Whether each flow is meant to finish, shape (flows,).

        False only for flows of `WITHOUT_END` bytes, the largest size that a scenario can state. A
        flow too large for the time limit remains due: otherwise a shorter limit would improve the
        percentiles.
        """
        return np.asarray(self.flows["bytes"] < WITHOUT_END)

    def started(self, columns: Mapping[str, Mapping[str, Any]]) -> "Plan":
        """Return the same plan with the starts that flows had in a run, if some wait for others.

        Flows that did not start keep the earliest time at which they might have.
        """
        if (started := columns["flows"].get("started_ps")) is None:
            return self
        began = np.where(started == UNFINISHED, self.flows["start_ps"], started)
        return replace(self, flows={**self.flows, "start_ps": began})

    def since_start_s(self, ends_ps: Any, without: FloatArray) -> FloatArray:
        """Return the seconds from the start of each flow to its end; `without` if unfinished."""
        ended = ends_ps != UNFINISHED
        return np.where(ended, (ends_ps - self.flows["start_ps"]) * PS, without)

    @cached_property
    def between_switches(self) -> NDArray[np.bool_]:
        """Whether each link joins two switches, shape (links,)."""
        return joins_switches(self.links["from"], self.links["to"], self.settings["hosts"])

    def name(self, node: int) -> str:
        """Return the name of a node; its number, if the plan has no network."""
        return str(node) if self.network is None else self.network.name(node)

    @property
    def next_to_hosts(self) -> NDArray[np.uint32]:
        """Neighbour of each host, shape (hosts,); the links from hosts come first."""
        return self.links["to"][: self.settings["hosts"]]

    @property
    def host_rate_bps(self) -> NDArray[np.uint64]:
        """Rate of each host's link in bits per second, shape (hosts,)."""
        return self.links["rate_bps"][: self.settings["hosts"]]

    @property
    def makes_bursts(self) -> bool:
        """Whether edges assemble bursts, so that links between switches carry bursts only."""
        return any(switch["kind"] in MAKE_BURSTS for switch in self.settings["switches"])

    @cached_property
    def first_of_parallel(self) -> NDArray[np.int64]:
        """First link among those parallel to each link, shape (links,)."""
        ends = self.links["from"] * np.uint64(self.settings["nodes"]) + self.links["to"]
        _, first, which = np.unique(ends, return_index=True, return_inverse=True)
        found: NDArray[np.int64] = first[which]
        return found

    @property
    def channels(self) -> NDArray[np.uint16]:
        """Number of channels of each link, shape (links,)."""
        return self.links.get("channels", np.ones(self.links["from"].size, np.uint16))

    def senders(self, transport: str) -> Senders:
        """Return the senders of a kind of transport: hosts or edges, with their capacity."""
        ends = (self.links[name] for name in ("from", "to", "rate_bps"))
        return Senders.of(transport, self.settings["hosts"], *ends, self.channels)

    @property
    def nbytes(self) -> int:
        """Bytes of all columns."""
        tables = self.nodes, self.links, self.flows
        return sum(column.nbytes for table in tables for column in table.values())

    @property
    def group_names(self) -> tuple[str, ...]:
        """Names of the groups of flows, in their order; empty for a single group."""
        groups = self.settings["groups"]
        return tuple(group["name"] for group in groups) if len(groups) > 1 else ()

    @property
    def transports(self) -> list[dict[str, Any]]:
        """Transport settings of each group."""
        return [group["transport"] for group in self.settings["groups"]]

    @property
    def group(self) -> NDArray[np.uint16]:
        """Index of each flow's group, shape (flows,)."""
        return self.flows.get("group", np.zeros(self.flows["source"].size, np.uint16))

    def parts(self) -> Iterator[tuple[slice, "Plan"]]:
        """Yield the flows in parts: the slice of each part, and the plan with only its flows."""
        number = self.flows["source"].size
        for begin in range(0, number, _PART):
            some = slice(begin, min(begin + _PART, number))
            flows = {
                name: column if name in _NOT_BY_FLOW else column[some]
                for name, column in self.flows.items()
            }
            if "departure_offsets" in flows:
                flows["departure_offsets"] = self.flows["departure_offsets"][begin : some.stop + 1]
            yield some, replace(self, flows=flows)

    def by_flow(self, value: Callable[[dict[str, Any]], Any]) -> NDArray[Any]:
        """Look up a value in the settings of each flow's transport, shape (flows,)."""
        return np.array([value(transport) for transport in self.transports])[self.group]

    def digest(self) -> str:
        """Return the SHA-256 of the settings and columns, in hexadecimal."""
        sha = hashlib.sha256()
        sha.update(json.dumps(self.settings, sort_keys=True, separators=(",", ":")).encode())
        for table in (self.nodes, self.links, self.flows):
            for name, column in table.items():
                sha.update(f"\n{name} {column.dtype.str} {column.size}\n".encode())
                sha.update(np.ascontiguousarray(column).data)
        return sha.hexdigest()
