"""``[topology]``: nodes and links."""

from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from lightburst.foundation.units import (
    DelayPerLength,
    Duration,
    Length,
    Rate,
    parse_duration,
    parse_length,
    parse_rate,
)
from lightburst.scenario.fields import DataFile, Name, Whole, refuse_at
from lightburst.scenario.section import Section

_LINK_LENGTH = parse_length("10 m")
_LINK_RATE = parse_rate("10 Gb/s")
# Light in a fibre of refractive index 1.5.
_PROPAGATION_PS_PER_M = 5000.0
# Layers of a network in which only some switches have hosts.
EDGE_AND_CORE = ("edge", "core")


MOST_WAVELENGTHS = 256
Wavelengths = Annotated[int, Whole(1, MOST_WAVELENGTHS)]


class _Topology(Section):
    """Fields of every topology."""

    came_later: ClassVar[frozenset[str]] = frozenset({"wavelengths"})

    wavelengths: Wavelengths = Field(
        1,
        description=(
            "Channels of each link between two switches, each with the rate of the link; links of "
            "hosts have one. Each channel is a link of its own between the switches, so that a "
            "unit finds this many equally good next hops, of which `routing.choice` selects one: "
            'with `"free"` any channel that is free now, which is full wavelength conversion; with '
            '`"flow-hash"` a flow, and so all bursts from one edge to another, stays on one '
            "channel of each link. Switches of kind `obs` reserve channels instead."
        ),
    )


class _Links(_Topology):
    """Fields of every topology whose links have a length.

    Attributes
    ----------
    link_length : float
        Metres.
    link_rate : int
        Bits a second, in each direction.
    propagation : float
        Delay in picoseconds a metre.
    """

    link_length: Length = Field(
        _LINK_LENGTH,
        description=(
            "Length of each link. The default is one of the four of minakhmetov2018 (10 m, 100 m, "
            "1 km, 10 km), that of its figure 2a."
        ),
    )
    link_rate: Rate = Field(
        _LINK_RATE,
        description=(
            "Rate of each link, in each direction. The default is that of minakhmetov2018."
        ),
    )
    propagation: DelayPerLength = Field(
        _PROPAGATION_PS_PER_M,
        description=(
            "Propagation delay per unit of length. The default is that of light in a fibre of "
            'refractive index 1.5, a usual value; minakhmetov2018 states none. With `"0 ps/m"` '
            "each link has a delay of 1 ps."
        ),
    )


class FatTree(_Links):
    """A k-ary fat-tree: k³/4 hosts, 5k²/4 switches of k ports.

    Attributes
    ----------
    access_rate : int or None
        Bits a second, in each direction; None for `link_rate`.
    """

    layers: ClassVar[tuple[str, ...]] = ("edge", "aggregation", "core")
    came_later: ClassVar[frozenset[str]] = _Topology.came_later | {"access_rate"}

    kind: Literal["fat-tree"] = "fat-tree"
    k: Annotated[int, Whole(2, 128, even=True)] = Field(
        8,
        description=(
            "Ports of each switch. 8 gives the 128 servers and 80 switches of minakhmetov2018."
        ),
    )
    access_rate: Rate | None = Field(
        None,
        description=(
            "Rate of the links of hosts, in each direction; by default `link_rate`. Switches with "
            "links of several rates must be `electronic`."
        ),
    )

    @property
    def largest_degree(self) -> int:
        """Number of links of the switch with the most links."""
        return self.k * self.wavelengths

    @property
    def hosts_known(self) -> int:
        """Number of hosts."""
        return self.k**3 // 4


class PathTopology(_Links):
    """Two hosts and a chain of switches between them."""

    layers: ClassVar[tuple[str, ...]] = ()

    kind: Literal["path"] = "path"
    links: Annotated[int, Whole(1, 10_000)] = Field(
        description=(
            "Number of links from one host to the other; the number of switches is one less."
        )
    )

    @property
    def largest_degree(self) -> int:
        """Number of links of the switch with the most links; 0 without a switch."""
        hosts = max(0, 4 - self.links)
        return hosts + (2 - hosts) * self.wavelengths if self.links > 1 else 0

    @property
    def hosts_known(self) -> int:
        """Number of hosts."""
        return 2


class Reverse(Section):
    """The direction of a link from its target to its source, where it differs from the other.

    Attributes
    ----------
    length : float or None
        Metres; None for the length of the other direction.
    rate : int or None
        Bits a second; None for the rate of the other direction.
    """

    length: Length | None = Field(
        None, description="Length from target to source; by default that of the link."
    )
    rate: Rate | None = Field(
        None, description="Rate from target to source; by default that of the link."
    )


class GraphLink(Section):
    """Link of a graph that is defined in the scenario itself, for both directions."""

    came_later: ClassVar[frozenset[str]] = frozenset({"reverse"})

    source: Annotated[str, Name()] = Field(description="Name of the node at one end.")
    target: Annotated[str, Name()] = Field(description="Name of the node at the other end.")
    length: Length | None = Field(
        None, description="Length; by default `link_length` of the topology."
    )
    rate: Rate | None = Field(None, description="Rate; by default `link_rate` of the topology.")
    wavelengths: Wavelengths | None = Field(
        None,
        description=(
            "Channels of a link between switches; by default `wavelengths` of the topology."
        ),
    )
    name: Annotated[str, Name()] | None = Field(
        None, description="Name of the link. Parallel links need names, all different."
    )
    reverse: Reverse | None = Field(
        None,
        description=(
            "Length and rate of the direction from target to source, where they differ: "
            '`reverse = { rate = "1 Gb/s" }`. By default both directions are alike.'
        ),
    )


class Graph(_Links):
    """Any connected graph, from a table of links in a file or in the scenario itself.

    Attributes
    ----------
    access_rate : int or None
        Bits a second, in each direction; None for `link_rate`.
    access_delay : int or None
        Picoseconds; None for the delay of `link_length`.
    """

    came_later: ClassVar[frozenset[str]] = _Topology.came_later | {"edges"}

    kind: Literal["graph"] = "graph"
    file: DataFile | None = Field(
        None,
        description=(
            "CSV file with a heading and the columns `source` and `target` (names of nodes) and "
            "optionally `length` and `rate` (with units), `wavelengths`, `name`, `reverse_length` "
            "and `reverse_rate`. Each link has one line for both directions; an empty cell stands "
            "for `link_length`, `link_rate`, `wavelengths`, no name, or the length and the rate of "
            "the other direction."
        ),
    )
    links: tuple[GraphLink, ...] = Field(
        (),
        description=(
            'The same table in the scenario itself, instead of a file: `links = [{ source = "a", '
            'target = "b", length = "1 km" }, ...]`.'
        ),
    )
    hosts: Literal["leaves"] | None = Field(
        None,
        description=(
            '`"leaves"`: the nodes with one link are the hosts. This is the default, unless '
            "`hosts_per_node` is given."
        ),
    )
    hosts_per_node: Annotated[int, Whole(1, 65_535)] | None = Field(
        None,
        description=(
            "Number of hosts at each node: every node is a switch with its own hosts, called "
            "`name/0`, `name/1` and so on. No node may have such a name itself."
        ),
    )
    edges: tuple[Annotated[str, Name()], ...] = Field(
        (),
        description=(
            "With `hosts_per_node`: the names of the nodes with hosts; the others only forward. By "
            "default all nodes have hosts."
        ),
    )
    access_rate: Rate | None = Field(
        None,
        description="Rate of the links of such hosts, in each direction; by default `link_rate`.",
    )
    access_delay: Duration | None = Field(
        None,
        description="Delay of the links of such hosts; by default that of `link_length`.",
    )

    # Known only after the table of links has been read.
    largest_degree: ClassVar[None] = None
    hosts_known: ClassVar[None] = None

    @property
    def layers(self) -> tuple[str, ...]:
        """Layers of the switches; empty unless edges are named."""
        return EDGE_AND_CORE if self.edges else ()

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        if (self.file is None) == (not self.links):
            given = "both" if self.links else "neither"
            raise refuse_at("file", f"{given} of file and links", "one of file and links")
        if self.hosts is not None and self.hosts_per_node is not None:
            raise refuse_at("hosts_per_node", "hosts as well", "one of hosts and hosts_per_node")
        if self.hosts_per_node is None:
            for key in ("edges", "access_rate", "access_delay"):
                if getattr(self, key) not in (None, ()):
                    allowed = "hosts_per_node as well, to whose hosts this key applies"
                    raise refuse_at(key, "no hosts_per_node beside it", allowed)
        return self


class ObsPath(_Topology):
    """The path of yu2004: hosts, an edge, cores in a row, an edge, hosts.

    Attributes
    ----------
    access_rate, fibre_rate : int
        Bits a second, in each direction.
    access_delay, fibre_delay, extra_round_trip : int
        Picoseconds.
    """

    layers: ClassVar[tuple[str, ...]] = EDGE_AND_CORE

    kind: Literal["obs-path"] = "obs-path"
    host_pairs: Annotated[int, Whole(1, 65_534)] = Field(
        1,
        description=(
            "Hosts on each side: this number of senders and of receivers. yu2004 considers a "
            "single flow."
        ),
    )
    core_nodes: Annotated[int, Whole(0, 10_000)] = Field(
        2,
        description=(
            "Core nodes between the two edges; the number of fibres is one more. yu2004 has two "
            "nodes and three fibres."
        ),
    )
    access_rate: Rate = Field(
        parse_rate("1 Gb/s"),
        description=(
            "Rate of the link between each host and its edge, in each direction. The default is "
            "the high access rate of yu2004, 125 MB/s; its other rates are 500 kB/s (`4 Mb/s`) and "
            "1.25 kB/s (`10 kb/s`). For its tables I and II it states none; 125 kB/s (`1 Mb/s`), "
            "that of its packet traces, fits best."
        ),
    )
    access_delay: Duration = Field(
        parse_duration("10 ms"),
        description=(
            "Delay of the link between each host and its edge. The default is that of yu2004. At "
            'least 1 ps, also for `"0 s"`.'
        ),
    )
    fibre_rate: Rate = Field(
        parse_rate("80 Gb/s"),
        description=(
            "Rate of each fibre, in each direction. The default is 10 GB/s, that of yu2004."
        ),
    )
    fibre_delay: Duration = Field(
        parse_duration("10 ms"),
        description=(
            'Delay of each fibre. The default is that of yu2004. At least 1 ps, also for `"0 s"`.'
        ),
    )
    extra_round_trip: Duration = Field(
        0,
        description=(
            "Addition to the round-trip time, half of it in each direction of the receivers' "
            "links. None by default, because the delay of a path should follow from its links. "
            "yu2004 has a round trip (RTT0) of 135 ms, but its links add up to 2 · 5 · 10 ms; the "
            'origin of the other 35 ms is open, and its tables do not decide it. `"35 ms"` gives '
            "its RTT0."
        ),
    )

    @property
    def largest_degree(self) -> int:
        """Number of links of the switch with the most links."""
        core = 2 * self.wavelengths if self.core_nodes else 0
        return max(self.host_pairs + self.wavelengths, core)

    @property
    def hosts_known(self) -> int:
        """Number of hosts."""
        return 2 * self.host_pairs


class Racks(_Links):
    """Racks of hosts, each with one link to each switch of a core.

    Attributes
    ----------
    access_rate : int or None
        Bits a second, in each direction; None for `link_rate`.
    """

    layers: ClassVar[tuple[str, ...]] = EDGE_AND_CORE

    kind: Literal["racks"] = "racks"
    racks: Annotated[int, Whole(2, 4096)] = Field(16, description="Number of racks.")
    hosts_per_rack: Annotated[int, Whole(1, 4096)] = Field(
        8, description="Number of hosts in each rack, called `rack0/0`, `rack0/1` and so on."
    )
    uplinks: Annotated[int, Whole(1, 4096)] = Field(
        4,
        description="Links of each rack: one to each of so many switches of the core.",
    )
    access_rate: Rate | None = Field(
        None,
        description=(
            "Rate of the link between each host and its rack, in each direction; by default "
            "`link_rate`."
        ),
    )

    @property
    def largest_degree(self) -> int:
        """Number of links of the switch with the most links."""
        core = self.racks * self.wavelengths
        return max(self.hosts_per_rack + self.uplinks * self.wavelengths, core)

    @property
    def hosts_known(self) -> int:
        """Number of hosts."""
        return self.racks * self.hosts_per_rack


# Nodes of NSFNET in the order of their numbers in the literature, which start at 1.
NSFNET_NODES = (
    *("WA", "CA1", "CA2", "UT", "CO", "TX", "NE"),
    *("IL", "PA", "GA", "MI", "NY", "DC", "NJ"),
)
_NSFNET_EDGES = ("WA", "CA1", "CA2", "TX", "GA", "MI", "DC", "NJ")
NsfnetLengths = Literal["rounded", "carobs"]


class Nsfnet(_Topology):
    """NSFNET with 14 nodes and 21 fibres; some of the nodes have hosts.

    Attributes
    ----------
    access_rate, fibre_rate : int
        Bits a second, in each direction.
    access_delay : int
        Picoseconds.
    propagation : float
        Delay in picoseconds a metre.
    """

    layers: ClassVar[tuple[str, ...]] = EDGE_AND_CORE

    kind: Literal["nsfnet"] = "nsfnet"
    edges: tuple[Annotated[str | int, Whole(1, 14, names=NSFNET_NODES)], ...] = Field(
        _NSFNET_EDGES,
        description=(
            "The nodes with hosts, by name or number; the others only forward. vlachos2008 states "
            "that 8 nodes are edges, but not which. The default are the eight nodes that the "
            "fewest shortest paths cross with the lengths `rounded` (of two equally long paths, "
            "that over the lower number)."
        ),
    )
    hosts_per_edge: Annotated[int, Whole(1, 10_000)] = Field(
        100,
        description=(
            "Number of hosts at each edge, called `WA/0`, `WA/1` and so on. Flows between the same "
            "hosts share access links; with more hosts they do so less."
        ),
    )
    access_rate: Rate = Field(
        parse_rate("100 Mb/s"),
        description=(
            "Rate of the link between each host and its edge, in each direction. vlachos2008 "
            "states none."
        ),
    )
    access_delay: Duration = Field(
        0,
        description=(
            "Delay of the link between each host and its edge; at least 1 ps. vlachos2008 states "
            "none."
        ),
    )
    fibre_rate: Rate = Field(
        parse_rate("10 Gb/s"),
        description=(
            "Rate of each fibre, or of each of its wavelengths, in each direction. The default is "
            "that of vlachos2008."
        ),
    )
    lengths: NsfnetLengths = Field(
        "rounded",
        description=(
            'Lengths of the fibres. `"rounded"`: the usual set, in hundreds of km, 300 to 2,800. '
            '`"carobs"`: those of the simulator CAROBS, 312 to 3,408 km.'
        ),
    )
    propagation: DelayPerLength = Field(
        _PROPAGATION_PS_PER_M,
        description="Propagation delay per unit of length of the fibres.",
    )

    # Depends on the table of fibres.
    largest_degree: ClassVar[None] = None

    @field_validator("edges")
    @classmethod
    def _two_or_more(cls, edges: tuple[str | int, ...]) -> tuple[str | int, ...]:
        names = nsfnet_names(edges)
        if len(names) < 2 or len(set(names)) < len(names):
            given = ", ".join(map(str, edges)) or "none"
            raise refuse_at("", given, "two or more nodes of NSFNET, each once")
        return edges

    @property
    def hosts_known(self) -> int:
        """Number of hosts."""
        return len(self.edges) * self.hosts_per_edge


def nsfnet_names(nodes: Iterable[str | int]) -> tuple[str, ...]:
    """Return the names of NSFNET nodes given by name or number."""
    return tuple(NSFNET_NODES[node - 1] if isinstance(node, int) else node for node in nodes)


Topology = Annotated[
    FatTree | PathTopology | Graph | ObsPath | Nsfnet | Racks, Field(discriminator="kind")
]
