"""``[switching.assembly]``: rules that assemble the packets waiting for an egress into bursts.

Packets with data are assembled, and, unless the switch says otherwise, acknowledgements. X. Yu, C.
Qiao, Y. Liu, D. Towsley, "Performance evaluation of TCP implementations in OBS networks", 2004, use
``timer``. K. Vlachos, "Burstification effect on the TCP synchronization and congestion window
mechanism", 2008, proposes ``window-based`` and ``multi-queue``. K. Christodoulopoulos, E.
Varvarigos, K. Vlachos, "A new burst assembly scheme based on the average packet delay and its
performance for TCP traffic", Optical Switching and Networking 4, 2007, propose ``average-delay``.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from lightburst.foundation.units import SIZE, TIME, Quantity, format_size
from lightburst.scenario.fields import Named, Whole, refuse_at
from lightburst.scenario.section import Section

# Longer assembly times are typing errors; the limit leaves room on the clock of the simulator.
_Time = Annotated[int, Quantity(TIME, largest="1000 s")]
# The simulator counts the bytes of a unit in 32 bits.
_Bytes = Annotated[int, Quantity(SIZE, positive=True, largest="1 GB")]
_Most = Annotated[int | None, Quantity(SIZE, positive=True, largest="1 GB", word="unlimited")]
_Least = Annotated[int | None, Quantity(SIZE, positive=True, largest="1 GB", word="off")]
_NoticeDelay = Annotated[int | None, Quantity(TIME, largest="1000 s", word="way-back")]
# In segments; a packet carries the window of its sender in 16 bits.
_Window = Annotated[int, Whole(1, 65_535)]

# Above this limit a queue per flow serves as well.
_Queues = Annotated[int, Whole(1, 1_000)]


class _Assembly(Section):
    """Fields of every rule.

    Attributes
    ----------
    max_size, min_size : int or None
        Bytes; None for no limit.
    """

    max_size: _Most = Field(
        None,
        description=(
            "Largest size of a burst: a packet that would not fit begins the next burst. At least "
            "a segment. yu2004 has no limit."
        ),
    )
    min_size: _Least = Field(
        None,
        description="Size to which smaller bursts are padded. yu2004 does not pad.",
    )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.max_size is not None and (self.min_size or 0) > self.max_size:
            raise refuse_at(
                "min_size",
                format_size(self.min_size or 0),
                f"at most max_size ({format_size(self.max_size)}), or 'off'",
            )
        return self

    @property
    def closing_size(self) -> int | None:
        """Size in bytes at which a burst is closed; None if the rule has no such size."""
        return None

    @property
    def closing_time(self) -> int | None:
        """Picoseconds after the first packet at which a burst is closed; None without a timer."""
        return None


class _BySize(_Assembly):
    """Fields of the rules that count bytes.

    Attributes
    ----------
    size : int
        Bytes.
    """

    size: _Bytes = Field(description="Size at which a burst is closed.")

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        if self.max_size is not None and self.size > self.max_size:
            raise refuse_at(
                "size", format_size(self.size), f"at most max_size ({format_size(self.max_size)})"
            )
        return self

    @property
    def closing_size(self) -> int:
        """Size in bytes at which a burst is closed."""
        return self.size


class Timer(_Assembly):
    """A burst is closed a fixed time after its first packet: the rule of yu2004.

    Attributes
    ----------
    time : int
        Picoseconds.
    """

    kind: Literal["timer"] = "timer"
    time: _Time = Field(
        description=(
            "Time from the first packet of a burst until it is closed: the assembly time T_b of "
            "yu2004. With zero, only packets that arrive at the same instant share a burst."
        )
    )

    @property
    def closing_time(self) -> int:
        """Picoseconds after the first packet at which a burst is closed."""
        return self.time


class BySize(_BySize):
    """A burst is closed when it reaches a size; a burst that never does is never sent."""

    kind: Literal["size"] = "size"


class Mixed(_BySize):
    """Timer or size, whichever comes first.

    Attributes
    ----------
    time : int
        Picoseconds.
    """

    kind: Literal["mixed"] = "mixed"
    time: _Time = Field(
        description="Longest time from the first packet of a burst until it is closed."
    )


class WindowBased(_Assembly):
    """Timer that grows with the congestion window, in three classes of flows.

    Each class has its own queue for each egress.

    Attributes
    ----------
    slow_time, medium_time, fast_time : int
        Picoseconds.
    medium_window, fast_window : int
        Segments: B and C of vlachos2008.
    acknowledgements : str
        Class of packets without data.
    """

    kind: Literal["window-based"] = "window-based"
    slow_time: _Time = Field(
        10**9,
        description="Assembly time of slow flows: those with a window below `medium_window`.",
    )
    medium_time: _Time = Field(
        5 * 10**9,
        description=(
            "Assembly time of medium flows: those with a window from `medium_window` to below "
            "`fast_window`."
        ),
    )
    fast_time: _Time = Field(
        10**10,
        description=("Assembly time of fast flows: those with a window of at least `fast_window`."),
    )
    medium_window: _Window = Field(
        16, description="B of vlachos2008: least congestion window of a medium flow, in segments."
    )
    fast_window: _Window = Field(
        64,
        description=(
            "C of vlachos2008: least congestion window of a fast flow, in segments. At least "
            "`medium_window`."
        ),
    )
    acknowledgements: Literal["slow", "medium", "fast"] = Field(
        "slow",
        description=(
            "Class of packets without data (acknowledgements, SYN, FIN), which have no window, if "
            "they are assembled. vlachos2008 does not state it."
        ),
    )

    @model_validator(mode="after")
    def _paces_in_order(self) -> Self:
        if self.fast_window < self.medium_window:
            allowed = f"at least medium_window ({self.medium_window})"
            raise refuse_at("fast_window", self.fast_window, allowed)
        return self

    @property
    def closing_time(self) -> int:
        """Largest of the three times."""
        return max(self.slow_time, self.medium_time, self.fast_time)


class APriori(Section):
    """In each assembly cycle, a random permutation assigns the flows of a block to the queues.

    Attributes
    ----------
    queues : int
        Number of queues per egress, and of flows in a block.
    """

    kind: Literal["a-priori"] = "a-priori"
    queues: _Queues = Field(
        2, description=("Number of queues for each egress, and of flows in a block.")
    )


class APosteriori(Section):
    """Flows that lost data in the same burst are assigned to different queues afterwards.

    Attributes
    ----------
    queues : int
        Number of queues per egress.
    notice_delay : int or None
        Picoseconds; None for the time from the assembly of the burst to its loss.
    forget_after : int
        Picoseconds.
    """

    kind: Literal["a-posteriori"] = "a-posteriori"
    queues: _Queues = Field(2, description="Number of queues for each egress.")
    notice_delay: _NoticeDelay = Field(
        None,
        description=(
            "Time from the loss of a burst, or of a part of it, until its ingress knows the flows "
            'that lost data in it. `"way-back"`: the time from the burst\'s assembly to its loss. '
            "vlachos2008 does not state it."
        ),
    )
    forget_after: _Time = Field(
        10 * 10**12,
        description=(
            "Time without packets after which the losses of a flow are forgotten, so that the "
            "memory of an edge does not grow with the number of all flows."
        ),
    )


class Printed(Section):
    """In each assembly cycle each flow draws its queue at random.

    This is the effect of the formula printed in vlachos2008.

    Attributes
    ----------
    queues : int
        Number of queues per egress.
    """

    kind: Literal["printed"] = "printed"
    queues: _Queues = Field(2, description="Number of queues for each egress.")


class PerFlow(Section):
    """Each flow has its own queue."""

    kind: Literal["per-flow"] = "per-flow"


Allocation = Annotated[
    APriori | APosteriori | Printed | PerFlow,
    Field(
        discriminator="kind",
        description=(
            'Assignment of flows to queues. `"a-priori"`: in each assembly cycle the flows, in '
            "order of arrival, take the queues of a random permutation, and then those of further "
            'permutations. `"a-posteriori"`: all flows share one queue until some lose data in one '
            'burst; these are distributed to different queues. `"printed"`: each flow draws a '
            'queue, independently of the others. `"per-flow"`: each flow has its own queue.'
        ),
    ),
    Named(),
]


class MultiQueue(_Assembly):
    """Several queues per egress, so that a lost burst does not affect all flows at once.

    Attributes
    ----------
    time : int
        Picoseconds.
    allocation : APriori or APosteriori or Printed or PerFlow
        Assignment of flows to queues.
    """

    kind: Literal["multi-queue"] = "multi-queue"
    time: _Time = Field(
        description=(
            "Length of the assembly cycle of an egress: from the first packet for it until all its "
            'queues are closed. `"per-flow"`: from the first packet in each queue.'
        )
    )
    allocation: Allocation = APriori()

    @property
    def closing_time(self) -> int:
        """Picoseconds after the first packet at which a burst is closed."""
        return self.time


class AverageDelay(_Assembly):
    """A burst is closed when the mean waiting time of its packets reaches a limit.

    Attributes
    ----------
    time : int
        Picoseconds.
    """

    kind: Literal["average-delay"] = "average-delay"
    time: _Time = Field(
        description=(
            "Mean time from the arrival of a packet until its burst is closed, over the packets of "
            "each burst: T_AVE."
        )
    )


Assembly = Annotated[
    Timer | BySize | Mixed | WindowBased | MultiQueue | AverageDelay, Field(discriminator="kind")
]
OptionalAssembly = Annotated[
    Assembly | None,
    Field(
        description=(
            "The rule by which waiting packets become a burst. There is no default, because such "
            "networks are studied for this rule; it can be left out only if no host sends packets "
            '(`transport.kind` is `"bursts"`).'
        ),
    ),
]
