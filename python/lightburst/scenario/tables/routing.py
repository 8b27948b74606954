"""``[routing]``: available paths, and the path of a unit."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_serializer, model_validator

from lightburst.foundation.units import RATE, TIME, Quantity, format_duration
from lightburst.scenario.fields import Named, Real, Whole, refuse_at
from lightburst.scenario.section import Section

Metric = Literal["hops", "delay"]
# The simulator numbers the paths of a pair in 8 bits; one number marks bursts off their path.
MOST_PATHS = 255
# Largest number of entropy values, and of a penalty: the simulator has 8 bits for each.
_MOST_ENTROPIES = _MOST_PENALTY = 255
# Largest number of next hops that are compared at random.
MOST_SAMPLES = 1000
# Largest number of load reports in transit.
_MOST_REPORTS = 1000

_Gap = Annotated[int, Quantity(TIME, positive=True, largest="1000 s")]
_Interval = Annotated[int, Quantity(TIME, positive=True, largest="1000 s")]
_Delay = Annotated[int, Quantity(TIME, largest="1000 s")]
_Capacity = Annotated[int | None, Quantity(RATE, positive=True, word="channels")]


class ByName(Section):
    """Choice without settings, written as its bare name.

    It was a plain name before choices with settings existed, and its digest must not change.
    """

    @model_serializer
    def _name(self) -> str:
        return str(type(self).model_fields["kind"].default)


class FreeChoice(ByName):
    """A next hop that is free now, uniformly at random."""

    kind: Literal["free"] = "free"


class RandomChoice(ByName):
    """A random next hop for each unit."""

    kind: Literal["random"] = "random"


class HashChoice(ByName):
    """A flow always takes the same next hop."""

    kind: Literal["flow-hash"] = "flow-hash"


class AdaptiveChoice(Section):
    """The next hop of the flow's hash, which its sender changes when the path is congested."""

    kind: Literal["adaptive"] = "adaptive"
    threshold: Annotated[float, Real(0, 1)] = Field(
        0.5,
        description=(
            "Least share of marked bytes in a congested round trip: K of PLB, whose code in Linux "
            "has 0.5. FlowBender has 0.05."
        ),
    )
    rounds: Annotated[int, Whole(1, 10**6)] = Field(
        12,
        description=(
            "Congested round trips in a row after which the path changes: "
            "`tcp_plb_rehash_rounds` of Linux. FlowBender has 1."
        ),
    )
    idle_rounds: Annotated[int, Whole(1, 10**6)] = Field(
        3,
        description=(
            "The same at a moment without data in flight, which a new path cannot reorder: "
            "`tcp_plb_idle_rehash_rounds` of Linux."
        ),
    )


class EntropySprayChoice(Section):
    """The next hop of the hash of flow and entropy value; each packet takes the next value."""

    kind: Literal["entropy-spray"] = "entropy-spray"
    entropies: Annotated[int, Whole(1, _MOST_ENTROPIES)] = Field(
        64,
        description=(
            "Number of entropy values of a queue pair, which its packets take in turns: `-paths` "
            "of htsim, with its default. At each node the values are hashed to next hops, so that "
            "more of them spread the packets more evenly."
        ),
    )
    mark_penalty: Annotated[int, Whole(0, _MOST_PENALTY)] = Field(
        1,
        description=(
            "Penalty of a value whose packet was marked, as its answer tells: the turns at which "
            "the value is passed over. htsim has 1."
        ),
    )
    trim_penalty: Annotated[int, Whole(0, _MOST_PENALTY)] = Field(
        4,
        description=(
            "Penalty of a value whose packet was trimmed (`switching.queue`), in addition to what "
            "the value has. htsim has 4."
        ),
    )
    loss_penalty: Annotated[int, Whole(0, _MOST_PENALTY)] = Field(
        15,
        description=(
            "Penalty of a value whose packet is sent again and was not trimmed; also the most that "
            "a value can have. htsim has 15. With 0 no value is ever passed over (oblivious "
            "spraying)."
        ),
    )
    recycled: Annotated[int, Whole(0, MOST_SAMPLES)] = Field(
        0,
        description=(
            "Values of acknowledgements without a mark that are remembered, and taken again before "
            "the others: REPS (Bonato et al. 2024) has 8. With 0 the values take turns alone."
        ),
    )


class FlowletChoice(Section):
    """A random next hop for each flowlet.

    Attributes
    ----------
    gap : int
        Picoseconds.
    """

    kind: Literal["flowlet"] = "flowlet"
    gap: _Gap = Field(
        500 * 10**6,
        description=(
            "Idle time of a flow at a node above which its next packet begins a flowlet. LetFlow "
            "(NSDI 2017) uses 500 us between hosts of 1 and 10 Gb/s. Packets are overtaken if the "
            "delays of the paths differ by more."
        ),
    )


class LeastQueueChoice(Section):
    """The next hop whose output has the fewest bytes to send.

    Attributes
    ----------
    samples : int or None
        None for all next hops.
    """

    kind: Literal["least-queue"] = "least-queue"
    samples: Annotated[int | None, Whole(1, MOST_SAMPLES, word="all")] = Field(
        None,
        description=(
            "Next hops that a node compares for a unit, drawn anew for each, all different: d of "
            'DRILL (SIGCOMM 2017). With `"all"` equal ones are drawn uniformly.'
        ),
    )
    memory: Annotated[int, Whole(0, MOST_SAMPLES)] = Field(
        0,
        description=(
            "Next hops with the fewest bytes among those compared for a unit that are compared "
            "for the next unit, too: m of DRILL. Needs `samples`."
        ),
    )

    @model_validator(mode="after")
    def _remembers_samples(self) -> Self:
        if self.memory and self.samples is None:
            raise refuse_at("memory", str(self.memory), "0 with samples = 'all'")
        return self


# Choice among equally good next hops.
Choice = Annotated[
    FreeChoice
    | RandomChoice
    | HashChoice
    | AdaptiveChoice
    | FlowletChoice
    | LeastQueueChoice
    | EntropySprayChoice,
    Field(discriminator="kind"),
    Named(),
]


class FirstLabel(ByName):
    """All units take the first path."""

    kind: Literal["first"] = "first"


class RandomLabel(ByName):
    """Each unit takes a random path."""

    kind: Literal["random"] = "random"


class HashLabel(ByName):
    """A flow always takes the same path."""

    kind: Literal["hash"] = "hash"


class SubflowLabel(ByName):
    """Each subflow of a connection takes the path with its number."""

    kind: Literal["subflow"] = "subflow"


class LoadLabel(Section):
    """An ingress switches from an overloaded path to the least loaded one.

    Attributes
    ----------
    interval, delay : int
        Picoseconds.
    capacity : int or None
        Bits a second; None for the sum of the fibre's channels.
    """

    came_later: ClassVar[frozenset[str]] = frozenset({"uncongested"})

    kind: Literal["load"] = "load"
    interval: _Interval = Field(
        500 * 10**9,
        description=(
            "Interval over which the traffic offered to each link is summed and reported; each "
            "ingress chooses again after each report: tau of komatireddy2009."
        ),
    )
    threshold: Annotated[float, Real(0)] = Field(
        0.05,
        description=(
            "Load over the last interval above which a path is left, P_max of komatireddy2009. "
            "With 0 the least loaded path is always taken."
        ),
    )
    threshold_on: Literal["link", "path"] = Field(
        "link",
        description=(
            'Definition of a path\'s load: that of its most loaded `"link"`, or the sum over all '
            'its links, `"path"`. komatireddy2009 has a threshold for links, and then takes the '
            "path with the least sum, which applies in any case: paths that share links cannot "
            "differ in these."
        ),
    )
    uncongested: Literal["present", "primary"] = Field(
        "present",
        description=(
            'Path of a pair none of whose paths is above the threshold: the `"present"` one, or '
            'the `"primary"` one, that is the first. komatireddy2009 does not state whether bursts '
            'return; with `"present"` a single peak of load decides on the path of all that follow.'
        ),
    )
    delay: _Delay = Field(
        0,
        description=(
            "Delay of a report on its way to the edges. komatireddy2009 has none. At most 1000 "
            "intervals."
        ),
    )
    capacity: _Capacity = Field(
        None,
        description=(
            'Traffic of a fibre that counts as a load of 1. `"channels"`: the total rate of all '
            "its wavelengths. A rate changes the load, and nothing else; komatireddy2009 does not "
            "state the normalisation of its loads, which decides how often paths are left."
        ),
    )

    @model_validator(mode="after")
    def _in_time(self) -> Self:
        if self.delay > _MOST_REPORTS * self.interval:
            longest = format_duration(_MOST_REPORTS * self.interval)
            allowed = f"at most {_MOST_REPORTS} times interval ({longest})"
            raise refuse_at("delay", format_duration(self.delay), allowed)
        return self


# Choice of one of the numbered paths of a pair.
Label = Annotated[
    FirstLabel | RandomLabel | HashLabel | SubflowLabel | LoadLabel,
    Field(discriminator="kind"),
    Named(),
]


class Route(Section):
    """Given path, in one direction."""

    source: str = Field(description="Name of the first switch, which must have hosts.")
    destination: str = Field(description="Name of the last switch, which must have hosts.")
    path: tuple[str, ...] = Field(
        description=(
            "Names of all switches of the path, from source to destination, each linked to the "
            "next."
        )
    )


class Routing(Section):
    """Shortest paths, several or given ones, and the choice among them.

    Attributes
    ----------
    choice : Section or None
        None for the default of the transport; `Scenario.routing_choice` is the name of the one in
        use.
    """

    came_later: ClassVar[frozenset[str]] = frozenset({"metric", "paths", "label", "routes"})

    choice: Choice | None = Field(
        None,
        description=(
            'The next hop of a unit, of several equally good ones. `"free"`: one that is free now, '
            'uniformly at random. `"random"`: any of them, uniformly at random. `"flow-hash"`: '
            "always the same one for a flow, and for all bursts from one edge to another (ECMP). "
            '`"adaptive"`: the same one until the path of the flow is congested, then another one. '
            '`"flowlet"`: a random one for each group of packets of a flow that follow each other '
            'closely. `"least-queue"`: the one whose output has the fewest bytes to send. '
            '`"entropy-spray"`: that of an entropy value, of which each packet of a queue pair '
            "takes the next one, except those on which a mark or a loss was seen. "
            'By default `"flow-hash"` if any flow has the transport `tcp`, which takes overtaken '
            'packets for losses, else `"free"`.'
        ),
    )
    metric: Metric = Field(
        "hops",
        description=(
            'Metric of shortest paths. `"hops"`: the number of links. `"delay"`: the sum of their '
            "delays (propagation, and header processing of the switch at the end of a link). Paths "
            "of the same length are equally good."
        ),
    )
    paths: Annotated[int, Whole(1, MOST_PATHS)] = Field(
        1,
        description=(
            "Number of paths for each pair of switches with hosts. With 1 a unit can take all "
            "shortest paths, and `choice` decides at each node. With k above 1 the paths are "
            "numbered in the order of their length by `metric`: as many link-disjoint paths as "
            "exist (those of the least total length), then the next shortest ones; fewer than k if "
            "no more exist."
        ),
    )
    label: Label = Field(
        HashLabel(),
        description=(
            "The numbered path of a unit, chosen where it enters: by its host, for a burst by its "
            'ingress edge. `"hash"`: always the same path for a flow, and for all bursts from one '
            'edge to another. `"random"`: any path for each unit, uniformly at random. `"first"`: '
            "the first path for all units, which leaves the others unused for comparison. "
            '`"subflow"`: each of the `transport.subflows` of a connection takes the path with its '
            "number, and bursts are assembled for each of them; other flows take the first path. "
            '`"load"`: bursts leave a path whose load is too high.'
        ),
    )
    routes: tuple[Route, ...] = Field(
        (), description="Given paths for some pairs of switches; for other pairs `paths` applies."
    )

    @property
    def labelled(self) -> bool:
        """Whether units take numbered paths."""
        return self.paths > 1 or bool(self.routes)
