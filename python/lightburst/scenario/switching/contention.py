"""``switching.contention``: resolvers tried in order for a burst without a free channel."""

from typing import Annotated, Literal

from pydantic import Field

from lightburst.foundation.units import TIME, Quantity
from lightburst.scenario.fields import Flag, Named, Whole
from lightburst.scenario.section import Section
from lightburst.scenario.tables.topology import MOST_WAVELENGTHS

# Delays are tried one after the other; the limit keeps the longest one within the clock.
MOST_DELAYS = 1000
_MOST_HOPS = 255


class DelayLines(Section):
    """Fibre delay lines behind each output, with the delays D, 2D, ..., kD.

    A burst takes the shortest delay after which a channel is free, as in F. Callegati, "Optical
    buffers for variable length packets", IEEE Communications Letters 4(9), 2000.

    Attributes
    ----------
    granularity : int
        Picoseconds.
    lines : int or None
        Lines per delay and output; None for unlimited.
    """

    kind: Literal["delay-line"] = "delay-line"
    granularity: Annotated[int, Quantity(TIME, positive=True, largest="1 s")] = Field(
        description="The shortest delay, D. About the time that a burst takes is a good choice."
    )
    delays: Annotated[int, Whole(1, MOST_DELAYS)] = Field(
        description="How many delays there are: the multiples of D up to the longest, k D."
    )
    lines: Annotated[int | None, Whole(1, MOST_WAVELENGTHS, word="unlimited")] = Field(
        None,
        description=(
            "How many lines of each delay an output has, each for one wavelength: a fibre on which "
            'W wavelengths are delayed counts as W. With `"unlimited"` there is always one, as in '
            "Callegati 2000; of lines for bursts that follow each other no more are ever used than "
            "the output has wavelengths."
        ),
    )
    occupied: Literal["entering", "inside"] = Field(
        "entering",
        description=(
            'Until when a burst keeps others out of its line. `"entering"`: until its tail is in; '
            'bursts follow each other through a fibre (Callegati 2000). `"inside"`: until its tail '
            "has come out; a line holds one burst (Yoo, Qiao and Dixit 2000)."
        ),
    )


class Deflection(Section):
    """Reroute to the output with a free channel and the shortest remaining path.

    From this node on the burst follows shortest paths, regardless of its original path.
    """

    kind: Literal["deflection"] = "deflection"
    hop_limit: Annotated[int, Whole(1, _MOST_HOPS)] = Field(
        16,
        description=(
            "A burst is not deflected onto a way with which it would go over more fibres in all, "
            "those behind it included."
        ),
    )
    loops: Flag = Field(
        True,
        description=(
            "Whether it may also take a way that leads back through the node that deflects it: the "
            "fibres there and back are as good as a delay line, but are taken from others. Mostly "
            "the neighbours of a node go through it, so that without loops there is often no other "
            "way."
        ),
    )


class Segmentation(Section):
    """Of colliding bursts, only the overlapping packets are lost.

    Either the later burst loses its head, or the earlier one its tail.

    V. M. Vokkarane, J. P. Jue and S. Sitaraman, "Burst segmentation: an approach for reducing
    packet loss in optical burst switched networks", IEEE ICC 2002; V. M. Vokkarane and J. P. Jue,
    "Prioritized burst segmentation and composite burst-assembly techniques for QoS support in
    optical burst-switched networks", IEEE Journal on Selected Areas in Communications 21(7), 2003;
    A. Detti, V. Eramo and M. Listanti, "Performance evaluation of a new technique for IP support in
    a WDM optical network: optical composite burst switching (OCBS)", Journal of Lightwave
    Technology 20(2), 2002.
    """

    kind: Literal["segmentation"] = "segmentation"
    drop: Literal["head", "tail"] = Field(
        "head",
        description=(
            'What is cut off. `"head"`: the first packets of the burst that finds no channel, as '
            'many as it takes until there is one for the rest. `"tail"`: the last packets of a '
            "burst that has the channel, from when the other one needs it: of those on which it "
            "could go the burst that would end first, if it ends before the other one (modified "
            "tail dropping), and if its first packet has left by then. It is the same at all "
            "switches."
        ),
    )


Resolver = Annotated[DelayLines | Deflection | Segmentation, Field(discriminator="kind"), Named()]
