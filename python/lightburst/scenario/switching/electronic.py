"""Electronic packet switch."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from lightburst.foundation.units import SIZE, Quantity, format_size, parse_size
from lightburst.scenario.fields import Real, refuse_at
from lightburst.scenario.section import Section
from lightburst.scenario.switching.base import BaseSwitch, Unlimited
from lightburst.scenario.switching.lines import Drr, Prio
from lightburst.scenario.switching.queue import DropTail, DualPi2, Marking, Queue, Trim

_HUNDRED_PACKETS = parse_size("900 kB")


class SharedBuffer(Section):
    """Buffer that the queues of a switch share, with dynamic thresholds.

    Attributes
    ----------
    size : int
        Bytes.
    """

    size: Annotated[int, Quantity(SIZE, positive=True)] = Field(
        description="Size of the buffer of each switch, for the queues of all its outputs.",
    )
    alpha: Annotated[float, Real(0.001, 1000)] = Field(
        1.0,
        description=(
            "Limit of each queue, as a multiple of the free part of the buffer (Choudhury and "
            "Hahne 1998). Where n queues are full, each has alpha / (1 + n alpha) of the buffer."
        ),
    )


class Pfc(Section):
    """Priority flow control (IEEE 802.1Qbb): links pause before a buffer overflows.

    Attributes
    ----------
    xoff : int
        Bytes.
    xon, headroom : int or None
        Bytes; None for half of `xoff`, and for unlimited.
    """

    xoff: Annotated[int, Quantity(SIZE)] = Field(
        description=(
            "Bytes in the switch that came over one link, above which it asks the other end of the "
            "link to pause."
        ),
    )
    xon: Annotated[int | None, Quantity(SIZE, word="half")] = Field(
        None,
        description='Bytes at which the link may go on; `"half"`: half of `xoff`.',
    )
    headroom: Annotated[int | None, Quantity(SIZE, word="unlimited")] = Field(
        None,
        description=(
            "Bytes above `xoff` for which the switch has room, for what comes before the link "
            "pauses; a packet that finds no room is dropped (`headroom-full`)."
        ),
    )

    @model_validator(mode="after")
    def _resumes(self) -> Self:
        if self.xon is not None and self.xon > self.xoff:
            allowed = f"at most xoff ({format_size(self.xoff)})"
            raise refuse_at("xon", format_size(self.xon), allowed)
        return self

    @property
    def resume(self) -> int:
        """Bytes at which a link goes on."""
        return self.xoff // 2 if self.xon is None else self.xon


class Electronic(BaseSwitch):
    """Store-and-forward with a queue per output: the baseline.

    Attributes
    ----------
    queue_size, ecn_threshold : int or None
        Bytes; None for unlimited, and for no marking.
    """

    store_and_forward: ClassVar[bool] = True
    came_later: ClassVar[frozenset[str]] = frozenset(
        {"queue", "shared_buffer", "ecn_marking", "pfc"}
    )
    kind: Literal["electronic"] = "electronic"
    queue_size: Unlimited = Field(
        _HUNDRED_PACKETS,
        description=(
            "Size of the queue of each output; at least a segment. The default is a hundred full "
            "segments, about the share of a port in a shallow switch."
        ),
    )
    ecn_threshold: Annotated[int | None, Quantity(SIZE, word="off")] = Field(
        None,
        description=(
            "Queue length from which arriving units are marked (ECN); only with the `queue` "
            '`"drop-tail"`, `"prio"` or `"drr"`, as the others mark by their own settings or '
            "not at all. Senders with `ecn`, `dctcp` or `dcqcn` react to marks of packets; for all "
            "others marks are only counted."
        ),
    )
    ecn_marking: Literal["arrival", "departure"] = Field(
        "arrival",
        description=(
            "What `ecn_threshold` is compared with: the queue that a unit finds on arrival, or the "
            "one that it leaves behind at its departure, so that senders learn of a queue earlier."
        ),
    )
    queue: Queue = DropTail()
    shared_buffer: SharedBuffer | None = Field(
        None,
        description=(
            "Buffer that the queues of a switch share. Each is limited by a threshold that falls "
            "as the buffer fills, and by `queue_size`."
        ),
    )

    pfc: Pfc | None = Field(
        None,
        description=(
            "Priority flow control: the switch asks the other ends of its links to pause while too "
            "many of the bytes that came over them are in it."
        ),
    )

    @model_validator(mode="after")
    def _has_headroom(self) -> Self:
        if self.pfc is None:
            return self
        if isinstance(self.queue, Trim):
            allowed = (
                "another discipline beside pfc: a link that pauses keeps what trimming cuts off"
            )
            raise refuse_at("queue", "'trim'", allowed)
        room, buffers = self.pfc.xoff + (self.pfc.headroom or 0), {"queue_size": self.queue_size}
        if self.shared_buffer is not None:
            buffers["shared_buffer.size"] = self.shared_buffer.size
        for key, size in buffers.items():
            if size is not None and room > size:
                given = f"{format_size(room)} with the headroom"
                allowed = f"with the headroom at most {key} ({format_size(size)})"
                raise refuse_at("pfc.xoff", given, allowed)
        return self

    @model_validator(mode="after")
    def _one_marks(self) -> Self:
        if self.ecn_threshold is not None and not isinstance(self.queue, DropTail | Prio | Drr):
            given = f"a threshold beside queue = '{self.queue.kind}'"
            allowed = "'off', or one of the queues 'drop-tail', 'prio' and 'drr'"
            raise refuse_at("ecn_threshold", given, allowed)
        if self.ecn_threshold is None and self.ecn_marking != "arrival":
            given = f"'{self.ecn_marking}' without an ecn_threshold"
            raise refuse_at("ecn_marking", given, "'arrival': nothing is marked")
        return self

    @property
    def marks(self) -> bool:
        """Whether it can mark packets (ECN)."""
        of_queue = getattr(self.queue, "ecn", isinstance(self.queue, DualPi2 | Marking))
        return of_queue or self.ecn_threshold is not None

    @property
    def has_queues(self) -> bool:
        """Whether units leave the queues one by one, by a decision at each departure."""
        plain = isinstance(self.queue, DropTail) and self.ecn_marking == "arrival"
        return not plain or self.shared_buffer is not None or self.pfc is not None

    def largest_unit(self) -> tuple[str, int | None]:
        """Return the size of a queue."""
        if self.shared_buffer is not None:
            size, alpha = self.shared_buffer.size, self.shared_buffer.alpha
            most = min(size, int(alpha * size))
            if self.queue_size is None or most < self.queue_size:
                return "shared_buffer" if most < size else "shared_buffer.size", most
        return "queue_size", self.queue_size
