"""``[switching.assembly]``: when the packets that wait for one egress become a burst.

Packets with data are assembled, and, unless the switch says otherwise, acknowledgements. X. Yu, C.
Qiao, Y. Liu, D. Towsley, "Performance evaluation of TCP implementations in OBS networks", 2004, use
``timer``.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from lightburst.scenario.fields import Section, refuse_at
from lightburst.units import SIZE, TIME, Quantity, format_size

# Beyond this an assembly time is a typing error; it leaves room on the clock of the simulator.
_Time = Annotated[int, Quantity(TIME, largest="1000 s")]
# The simulator counts the bytes of a unit in 32 bits.
_Bytes = Annotated[int, Quantity(SIZE, positive=True, largest="1 GB")]
_Most = Annotated[int | None, Quantity(SIZE, positive=True, largest="1 GB", word="unlimited")]
_Least = Annotated[int | None, Quantity(SIZE, positive=True, largest="1 GB", word="off")]


class _Assembly(Section):
    """What every rule has.

    Attributes
    ----------
    max_size, min_size : int or None
        Bytes; None is none.
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


class _BySize(_Assembly):
    """What the rules that count bytes have.

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


class Timer(_Assembly):
    """A burst is closed a fixed time after its first packet came: the rule of yu2004.

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


class BySize(_BySize):
    """A burst is closed when it holds enough; one that never does is never sent."""

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


Assembly = Annotated[
    Timer | BySize | Mixed,
    Field(
        discriminator="kind",
        description=(
            "When waiting packets become a burst. There is no default, because this is what "
            "such a network is studied for."
        ),
    ),
]
