"""``[topology]``: which nodes there are and how they are linked."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from lightburst.scenario.fields import DataFile, Name, Section, Whole, refuse_at
from lightburst.units import (
    DelayPerLength,
    Duration,
    Length,
    Rate,
    parse_duration,
    parse_length,
    parse_rate,
)

_LINK_LENGTH = parse_length("10 m")
_LINK_RATE = parse_rate("10 Gb/s")
# Light in a fibre of refractive index 1.5.
_PROPAGATION_PS_PER_M = 5000.0


MOST_WAVELENGTHS = 256
Wavelengths = Annotated[int, Whole(1, MOST_WAVELENGTHS)]
_WAVELENGTHS = Field(
    1, description="Channels of each link between two switches, each of the link's rate."
)


class _Links(Section):
    """What every topology says of its links.

    Attributes
    ----------
    link_length : float
        Metres.
    link_rate : int
        Bits a second, in each direction.
    propagation : float
        Delay in picoseconds a metre.
    wavelengths : int
        Parallel links between two switches.
    """

    came_later: ClassVar[frozenset[str]] = frozenset({"wavelengths"})

    link_length: Length = Field(_LINK_LENGTH, description="Length of each link.")
    link_rate: Rate = Field(_LINK_RATE, description="Rate of each link, in each direction.")
    propagation: DelayPerLength = Field(
        _PROPAGATION_PS_PER_M, description="Propagation delay for each unit of length."
    )
    wavelengths: Wavelengths = _WAVELENGTHS


class FatTree(_Links):
    """A k-ary fat-tree: k³/4 hosts, 5k²/4 switches of k ports."""

    layers: ClassVar[tuple[str, ...]] = ("edge", "aggregation", "core")

    kind: Literal["fat-tree"] = "fat-tree"
    k: Annotated[int, Whole(2, 128, even=True)] = Field(8, description="Ports of each switch.")

    @property
    def largest_degree(self) -> int:
        """Links of the switch with the most of them."""
        return self.k * self.wavelengths

    @property
    def hosts_known(self) -> int:
        """How many hosts there are."""
        return self.k**3 // 4


class PathTopology(_Links):
    """Two hosts and a chain of switches between them."""

    layers: ClassVar[tuple[str, ...]] = ()

    kind: Literal["path"] = "path"
    links: Annotated[int, Whole(1, 10_000)] = Field(
        description="Links from one host to the other; the switches are one fewer."
    )

    @property
    def largest_degree(self) -> int:
        """Links of the switch with the most of them; 0 if there is no switch."""
        hosts = max(0, 4 - self.links)
        return hosts + (2 - hosts) * self.wavelengths if self.links > 1 else 0

    @property
    def hosts_known(self) -> int:
        """How many hosts there are."""
        return 2


class GraphLink(Section):
    """One undirected link of a graph that is written into the scenario itself."""

    source: Annotated[str, Name()] = Field(description="Name of the node at one end.")
    target: Annotated[str, Name()] = Field(description="Name of the node at the other end.")
    length: Length | None = Field(None, description="Length; `link_length` if absent.")
    rate: Rate | None = Field(None, description="Rate; `link_rate` if absent.")
    wavelengths: Wavelengths | None = Field(
        None, description="Channels, of a link between switches; `wavelengths` if absent."
    )
    name: Annotated[str, Name()] | None = Field(
        None, description="Name; parallel links have names that differ."
    )


class Graph(_Links):
    """Any connected graph, from a table of links in a file or in the scenario itself."""

    layers: ClassVar[tuple[str, ...]] = ()

    kind: Literal["graph"] = "graph"
    file: DataFile | None = Field(
        None,
        description="CSV with the columns source, target and, if wanted, those of `links`.",
    )
    links: tuple[GraphLink, ...] = Field(
        (), description="The links themselves, in place of a file."
    )
    hosts: Literal["leaves"] | None = Field(
        None, description="Which nodes are hosts: those with one link. The default."
    )
    hosts_per_node: Annotated[int, Whole(1, 65_535)] | None = Field(
        None, description="Or every node is a switch, and has this many hosts of its own."
    )

    # Known only when the table of links has been read.
    largest_degree: ClassVar[None] = None
    hosts_known: ClassVar[None] = None

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        if (self.file is None) == (not self.links):
            given = "both" if self.links else "neither"
            raise refuse_at("file", f"{given} of file and links", "one of file and links")
        if self.hosts is not None and self.hosts_per_node is not None:
            raise refuse_at("hosts_per_node", "hosts as well", "one of hosts and hosts_per_node")
        return self


class ObsPath(Section):
    """The path of yu2004: hosts, an edge, cores in a row, an edge, hosts.

    Attributes
    ----------
    access_rate, fibre_rate : int
        Bits a second, in each direction.
    access_delay, fibre_delay, extra_round_trip : int
        Picoseconds.
    """

    layers: ClassVar[tuple[str, ...]] = ("edge", "core")
    came_later: ClassVar[frozenset[str]] = frozenset({"wavelengths"})

    kind: Literal["obs-path"] = "obs-path"
    host_pairs: Annotated[int, Whole(1, 65_534)] = Field(
        1, description="Hosts at each end: so many senders and as many receivers."
    )
    core_nodes: Annotated[int, Whole(0, 10_000)] = Field(
        2, description="Core nodes between the two edges; the fibres are one more."
    )
    access_rate: Rate = Field(
        parse_rate("1 Gb/s"), description="Rate of the link between each host and its edge."
    )
    access_delay: Duration = Field(parse_duration("10 ms"), description="Delay of that link.")
    fibre_rate: Rate = Field(parse_rate("80 Gb/s"), description="Rate of each fibre.")
    fibre_delay: Duration = Field(parse_duration("10 ms"), description="Delay of each fibre.")
    extra_round_trip: Duration = Field(
        0, description="More round-trip time, on the receivers' links, half in each direction."
    )
    wavelengths: Wavelengths = _WAVELENGTHS

    @property
    def largest_degree(self) -> int:
        """Links of the switch with the most of them."""
        core = 2 * self.wavelengths if self.core_nodes else 0
        return max(self.host_pairs + self.wavelengths, core)

    @property
    def hosts_known(self) -> int:
        """How many hosts there are."""
        return 2 * self.host_pairs


Topology = Annotated[FatTree | PathTopology | Graph | ObsPath, Field(discriminator="kind")]
