"""The table of ``[switching]`` of each switch, and which kinds of switch can be combined."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lightburst.compile.settings import switch_settings
from lightburst.foundation.errors import InputError, combine, did_you_mean, some
from lightburst.foundation.units import format_rate
from lightburst.scenario.switching import Circuit, Electronic, Hybrid, Obs, Switching, tables_of
from lightburst.topology import Network


@dataclass(frozen=True, eq=False)
class Switches:
    """The switches of a network with their tables.

    Attributes
    ----------
    tables : tuple of Switching
        The tables that at least one switch has.
    paths : tuple of str
        Path of each table in the scenario.
    which : ndarray of int, shape (switches,)
        Index of each switch's table in `tables`.
    telemetry : bool
        Whether packets of any flow carry telemetry of the outputs.
    """

    tables: tuple[Switching, ...]
    paths: tuple[str, ...]
    which: NDArray[np.intp]
    telemetry: bool = False

    @property
    def assembles(self) -> NDArray[np.bool_]:
        """Whether each switch assembles bursts, shape (switches,)."""
        return np.array([table.assembles for table in self.tables])[self.which]

    @property
    def cut_through(self) -> NDArray[np.bool_]:
        """Whether each switch forwards a unit as soon as its head arrives, shape (switches,)."""
        return np.array([not table.store_and_forward for table in self.tables])[self.which]

    @property
    def pause(self) -> bool:
        """Whether any switch asks for pauses."""
        return any(isinstance(table, Electronic) and table.pfc for table in self.tables)

    @property
    def with_circuits(self) -> bool:
        """Whether switches with hosts are those of racks, which store and forward."""
        return any(isinstance(table, Circuit) for table in self.tables)

    @property
    def header_ps(self) -> NDArray[np.uint64]:
        """Header processing time of each switch in picoseconds, shape (switches,)."""
        times = [table.delay_of_header for table in self.tables]
        return np.array(times, np.uint64)[self.which]

    def settings(
        self, groups: Sequence[str | None] = ()
    ) -> tuple[list[dict[str, Any]], NDArray[np.uint16]]:
        """Return the distinct settings for the plan, and the index of each switch's settings.

        `groups` are the names of the groups of flows; a single group may have no name.
        """
        told = any(isinstance(table, Obs) and table.extra_offset for table in self.tables)
        distinct: list[dict[str, Any]] = []
        numbers = []
        for table in self.tables:
            settings = switch_settings(
                table, groups, classes=told, queues=self.pause or self.telemetry
            )
            if settings not in distinct:
                distinct.append(settings)
            numbers.append(distinct.index(settings))
        return distinct, np.array(numbers, np.uint16)[self.which]


def resolve_switches(
    switching: Switching, network: Network, *, telemetry: bool = False
) -> Switches:
    """Find the table of each switch: its own, that of its layer, or the general one.

    Parameters
    ----------
    switching : Switching
        The ``[switching]`` table; its layers are layers of the network.
    network : Network
        The network of the switches.
    telemetry : bool
        Whether packets of any flow carry telemetry of the outputs.

    Raises
    ------
    InputError
        If the table names a node that is no switch of the network, or kinds of switch that cannot
        be combined.
    """
    places: list[Sequence[int]] = [range(network.hosts, network.nodes)]
    places += [network.layers[name] for name in switching.layers]
    unknown = [name for name in switching.nodes if name not in network.switches]
    if unknown:
        raise combine(_unknown(name, network) for name in unknown)
    places += [(network.switches[name],) for name in switching.nodes]
    which = np.empty(network.nodes - network.hosts, np.intp)
    for number, nodes in enumerate(places):
        which[np.asarray(nodes, np.intp) - network.hosts] = number
    paths, tables = zip(*tables_of(switching).items(), strict=True)
    used, which = np.unique(which, return_inverse=True)
    switches = Switches(
        tuple(tables[i] for i in used), tuple(paths[i] for i in used), which, telemetry
    )
    errors = list(_misfits(tables, switches, network))
    if errors:
        raise combine(errors)
    return switches


def _unknown(name: str, network: Network) -> InputError:
    near = did_you_mean(name, network.switches)
    allowed = f"one of the switches {some(network.switches)}{near}"
    return InputError(f"switching.nodes.{name}", f"an unknown switch '{name}'", allowed)


def _misfits(
    tables: tuple[Switching, ...], switches: Switches, network: Network
) -> Iterator[InputError]:
    yield from _buffer_ports(switches, network)
    yield from _pauses(switches, network)
    yield from _telemetry(switches)
    linked = bool((network.next_to_hosts < network.hosts).any())
    if linked and any(table.assembles for table in tables):
        allowed = "a switch between any two hosts, since kind 'burst' assembles bursts at switches"
        yield InputError("topology", "hosts that are linked with each other", allowed)
    elif switches.assembles.any():
        yield from _bursts(switches, network)
    else:
        yield from _rates(switches, network)


def _buffer_ports(switches: Switches, network: Network) -> Iterator[InputError]:
    degree = network.degree[network.hosts :]
    for number, (path, table) in enumerate(zip(switches.paths, switches.tables, strict=True)):
        largest = int(degree[switches.which == number].max())
        if isinstance(table, Hybrid) and table.buffer_ports > largest:
            allowed = f"a whole number from 0 to the links of its largest switch, {largest}"
            yield InputError(f"{path}.buffer_ports", str(table.buffer_ports), allowed)


def _pauses(switches: Switches, network: Network) -> Iterator[InputError]:
    """Refuse flow control beside switches that cannot pause, or without links for its frames."""
    if not switches.pause:
        return
    for path, table in zip(switches.paths, switches.tables, strict=True):
        if not isinstance(table, Electronic):
            allowed = "'electronic' at every switch beside pfc: light cannot wait for a pause"
            yield InputError(f"{path}.kind", f"'{table.kind}'", allowed)
    ends = np.stack([network.link_from, network.link_to], axis=1)
    (there, number), (back, others) = (
        np.unique(pairs, axis=0, return_counts=True) for pairs in (ends, ends[:, ::-1])
    )
    if there.shape != back.shape or (there != back).any() or (number != others).any():
        yield InputError(
            "topology",
            "links with fewer links the other way",
            "as many links both ways beside switching.pfc: the frames that ask for a pause take "
            "the link the other way",
        )


def _telemetry(switches: Switches) -> Iterator[InputError]:
    """Refuse switches that cannot tell of their queues, if packets carry telemetry."""
    if not switches.telemetry:
        return
    for path, table in zip(switches.paths, switches.tables, strict=True):
        if not isinstance(table, Electronic):
            allowed = (
                "'electronic' at every switch beside transport.congestion_control = 'hpcc', whose "
                "packets carry the queue and the load of each output"
            )
            yield InputError(f"{path}.kind", f"'{table.kind}'", allowed)


def _bursts(switches: Switches, network: Network) -> Iterator[InputError]:
    """Refuse switches with hosts that do not assemble bursts, and links of different rates."""
    ends = network.next_to_hosts.astype(np.intp) - network.hosts
    packets = np.setdiff1d(ends, np.flatnonzero(switches.assembles))
    if packets.size:
        number = switches.which[packets[0]]
        given = f"'{switches.tables[number].kind}' at {network.name(network.hosts + packets[0])}"
        allowed = (
            "'burst' at every switch with hosts, because another switch is 'burst': these assemble"
        )
        yield InputError(f"{switches.paths[number]}.kind", given, f"{allowed} the bursts")
    # The links of hosts may have other rates: edges store packets and bursts as a whole.
    rates = network.link_rate_bps[network.between_switches]
    if rates.size and rates.min() != rates.max():
        yield InputError(
            "topology",
            f"links between switches {_span(rates)}",
            "one rate for all links between switches: a burst leaves a switch at the rate at which "
            "it arrives",
        )


def _rates(switches: Switches, network: Network) -> Iterator[InputError]:
    """Refuse cut-through between different rates: a faster link would send bytes not received."""
    ports = np.concatenate([[0], network.degree.cumsum()])
    cut_through = switches.cut_through
    if switches.with_circuits:
        cut_through[network.next_to_hosts - network.hosts] = False
    for switch in np.flatnonzero(cut_through):
        node = int(switch) + network.hosts
        rates = network.link_rate_bps[ports[node] : ports[node + 1]]
        if rates.min() != rates.max():
            kind = switches.tables[switches.which[switch]].kind
            yield InputError(
                "topology",
                f"links {_span(rates)} at {network.name(node)}",
                f"one rate for all links of a switch of kind '{kind}', which forwards a unit while "
                "receiving it; a switch of kind 'electronic' can have links of different rates",
            )
            return


def _span(rates: NDArray[np.uint64]) -> str:
    return f"from {format_rate(int(rates.min()))} to {format_rate(int(rates.max()))}"
