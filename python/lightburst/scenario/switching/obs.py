"""Optical burst switching with a control plane: headers reserve channels ahead of bursts."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from lightburst.foundation.units import RATE, SIZE, TIME, Quantity
from lightburst.scenario.fields import Flag, Named, Tables, Whole, refuse_at
from lightburst.scenario.section import Section
from lightburst.scenario.switching.base import BaseSwitch
from lightburst.scenario.switching.contention import Resolver, Segmentation
from lightburst.scenario.tables.assembly import OptionalAssembly
from lightburst.scenario.tables.ordering import NoOrdering, Ordering
from lightburst.scenario.tables.topology import MOST_WAVELENGTHS

_Time = Annotated[int, Quantity(TIME, largest="1000 s")]
_Times = Annotated[dict[str, _Time], AfterValidator(Tables)]
_Own = Annotated[int | None, Quantity(TIME, largest="1000 s", word="needed")]
_Bytes = Annotated[int, Quantity(SIZE, positive=True, largest="1 MB")]
_Rate = Annotated[int | None, Quantity(RATE, positive=True, word="ideal")]
Scheduler = Literal["first-fit", "first-fit-vf", "horizon", "lauc", "lauc-vf", "random-fit"]
Signalling = Literal["jet", "jit"]


class NoConversion(Section):
    """A burst keeps its wavelength from one edge to the other."""

    kind: Literal["none"] = "none"


class LimitedConversion(Section):
    """A burst can shift by a few wavelengths at most, up or down."""

    kind: Literal["limited"] = "limited"
    range: Annotated[int, Whole(1, MOST_WAVELENGTHS)] = Field(
        description=(
            "Number of wavelengths by which a burst can be shifted at each node. The first and the "
            "last wavelength are not adjacent."
        )
    )


class FullConversion(Section):
    """A burst can continue on any wavelength."""

    kind: Literal["full"] = "full"


Conversion = Annotated[
    NoConversion | LimitedConversion | FullConversion, Field(discriminator="kind"), Named()
]


class Obs(BaseSwitch):
    """Optical burst switching with a control plane.

    A header packet precedes each burst on a control channel, and reserves one of the
    ``topology.wavelengths`` data channels of each fibre for it. The switches with hosts are the
    edges.
    """

    assembles: ClassVar[bool] = True
    sends_headers: ClassVar[bool] = True
    came_later: ClassVar[frozenset[str]] = frozenset({"contention", "ordering"})
    kind: Literal["obs"] = "obs"
    assembly: OptionalAssembly = None
    assemble_acknowledgements: Flag = Field(
        True,
        description=(
            "Whether packets without data are assembled, too. If not, each is sent at once as its "
            "own burst."
        ),
    )
    ordering: Ordering = NoOrdering()
    switching_time: _Time = Field(
        0,
        description=(
            "Time to set up a path through the switch. A header must be processed this long before "
            "its burst arrives; with `jet` the reservation of a channel begins then."
        ),
    )
    signalling: Signalling = Field(
        "jet",
        description=(
            'Begin of the reservation of a channel. `"jet"` (just enough time, Qiao and Yoo 1999): '
            'when the burst arrives. `"jit"` (just in time, Wei and McFarland 2000): as soon as '
            "the header is processed."
        ),
    )
    scheduler: Scheduler = Field(
        "lauc-vf",
        description=(
            "The channel that is reserved, of those that a burst could use. Schedulers with `-vf` "
            "also fill voids between two reservations; `lauc` and `lauc-vf` (Xiong, Vandenhoute "
            "and Cankaya 2000) take the channel that is free for the shortest time before the "
            "burst, `first-fit` and `first-fit-vf` the first one, `random-fit` a random one, voids "
            "included. `horizon` (Turner 1999) equals `lauc`."
        ),
    )
    conversion: Conversion = Field(
        FullConversion(),
        description=(
            "Wavelengths to which a burst can be converted from the one on which it arrives."
        ),
    )
    ingress: Literal["lose", "delay"] = Field(
        "delay",
        description=(
            "Handling of a burst for which no channel of the output is free at its ingress. "
            '`"delay"`: the burst and its header wait, in electronics, for the next void that is '
            'long enough. `"lose"`: as at any other node, by `contention`.'
        ),
    )
    contention: tuple[Resolver, ...] = Field(
        (),
        description=(
            "Resolutions that are tried, in this order, for a burst that finds no channel on its "
            "output. If none succeeds, the burst is lost."
        ),
    )
    header_processing_time: _Time = Field(
        0,
        description=(
            "Processing time of a header at a node, one header after the other in order of "
            "arrival. The burst does not wait meanwhile: the offset time covers this time."
        ),
    )
    header_size: _Bytes = Field(64, description="Size of a burst header packet.")
    control_rate: _Rate = Field(
        None,
        description=(
            'Rate of the control channel of each fibre. `"ideal"`: headers have no transmission '
            "time, and never wait for each other."
        ),
    )
    offset_time: _Time = Field(
        0,
        description=(
            "Time by which a header is ahead of its burst, in addition to `offset_per_hop`. At "
            "least the switching time."
        ),
    )
    offset_per_hop: _Own = Field(
        None,
        description=(
            'Part of the offset time for each fibre of the path. `"needed"`: the time of a header '
            "per fibre, `header_processing_time` and its transmission."
        ),
    )

    extra_offset: _Times = Field(
        {},
        validate_default=True,
        description=(
            "Classes by extra offset time (Yoo, Qiao and Dixit 2000): additional offset time of "
            "the bursts of a group, by the name of the group; 0 for other groups. With it each "
            "group of flows is a class, whose packets are assembled separately."
        ),
    )

    @model_validator(mode="after")
    def _something_to_gain(self) -> Self:
        for place, resolver in enumerate(self.contention):
            heads = isinstance(resolver, Segmentation) and resolver.drop == "head"
            if self.signalling == "jit" and heads:
                allowed = (
                    "drop = 'tail', or no segmentation, with signalling 'jit', which reserves a "
                    "channel from the header on, even if the burst begins later"
                )
                given = "'segmentation' with drop = 'head'"
                raise refuse_at(f"contention[{place}]", given, allowed)
        return self

    @model_validator(mode="after")
    def _each_resolver_once(self) -> Self:
        kinds = [resolver.kind for resolver in self.contention]
        for place, kind in enumerate(kinds):
            if kind in kinds[:place]:
                raise refuse_at(f"contention[{place}]", f"'{kind}' again", "each resolver once")
        return self

    @property
    def cuts(self) -> tuple[int, str] | None:
        """Index of the resolver that drops packets of bursts, and its `drop`; None without one."""
        for place, resolver in enumerate(self.contention):
            if isinstance(resolver, Segmentation):
                return place, resolver.drop
        return None

    @property
    def header_time(self) -> int:
        """Transmission time of a header on a control channel, in picoseconds."""
        if self.control_rate is None:
            return 0
        return -(-self.header_size * 8 * 10**12 // self.control_rate)

    @property
    def offset_of_hop(self) -> int:
        """Increase of the offset time per fibre of the path, in picoseconds."""
        if self.offset_per_hop is None:
            return self.header_processing_time + self.header_time
        return self.offset_per_hop

    @property
    def delay_of_header(self) -> int:
        """Zero: the burst does not wait for its header."""
        return 0

    def largest_unit(self) -> tuple[str, int | None]:
        """Return the limit of the size of a burst."""
        return "assembly.max_size", None if self.assembly is None else self.assembly.max_size
