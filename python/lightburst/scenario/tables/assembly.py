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
            "No burst is larger: a packet that would not fit begins the next one. At least a "
            "segment. yu2004 has no limit."
        ),
    )
    min_size: _Least = Field(
        None,
        description=(
            "A smaller burst is padded to this size before it is sent. yu2004 does not pad."
        ),
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

    size: _Bytes = Field(description="A burst is closed as soon as it holds this much.")

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
            "From the first packet of a burst to its end: the assembly time T_b of yu2004. With "
            "zero, only what comes at the same instant is put together."
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
        description=(
            "A burst is closed at the latest when this much time has passed since its first packet."
        )
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
        description="The assembly time of slow flows: those with a window below `medium_window`.",
    )
    medium_time: _Time = Field(
        5 * 10**9,
        description="That of medium flows: with a window from there, and below `fast_window`.",
    )
    fast_time: _Time = Field(10**10, description="That of fast flows: with a window from there.")
    medium_window: _Window = Field(
        16, description="B of vlachos2008: segments in the least window of a medium flow."
    )
    fast_window: _Window = Field(
        64,
        description=(
            "C of vlachos2008: segments in the least congestion window of a fast flow. At least "
            "`medium_window`."
        ),
    )
    acknowledgements: Literal["slow", "medium", "fast"] = Field(
        "slow",
        description=(
            "The pace of packets without data (acknowledgements, SYN, FIN), which have no window, "
            "where they are assembled at all. vlachos2008 does not say."
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
    queues: _Queues = Field(2, description="Queues for an egress, and flows in a block.")


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
    queues: _Queues = Field(2, description="Queues for an egress.")
    notice_delay: _NoticeDelay = Field(
        None,
        description=(
            "How long after the loss of a burst, or of a part of it, its ingress knows which flows "
            'lost data in it. `"way-back"`: as long as the burst was on its way, from its assembly '
            "to the loss. vlachos2008 does not say."
        ),
    )
    forget_after: _Time = Field(
        10 * 10**12,
        description=(
            "A flow of which no packet comes for longer is taken for one that has lost nothing: "
            "what an edge keeps must not grow with all flows that ever were."
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
    queues: _Queues = Field(2, description="Queues for an egress.")


class PerFlow(Section):
    """Each flow has its own queue."""

    kind: Literal["per-flow"] = "per-flow"


Allocation = Annotated[
    APriori | APosteriori | Printed | PerFlow,
    Field(
        discriminator="kind",
        description=(
            'Which flow waits in which queue. `"a-priori"`: in each assembly cycle the flows, in '
            "the order in which they come, take the queues of a random permutation, and those of "
            'another one when it is used up. `"a-posteriori"`: all share one queue until they lose '
            'data in one burst; those that do are dealt to different ones. `"printed"`: each draws '
            'a queue, whatever the others have. `"per-flow"`: each has a queue of its own.'
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
            "The assembly cycle of an egress: from the first packet for it to the end, at which "
            'all its queues are closed. `"per-flow"`: from the first packet in each queue.'
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
            "From the arrival of a packet to the end of its burst, in the mean over the packets of "
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
            "When waiting packets become a burst. There is no default, because this is what such a "
            "network is studied for; only where no host sends packets (`transport.kind` is "
            '`"bursts"`) it can be left out.'
        ),
    ),
]
