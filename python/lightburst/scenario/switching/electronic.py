"""Electronic packet switch."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from lightburst.foundation.units import SIZE, Quantity, parse_size
from lightburst.scenario.fields import refuse_at
from lightburst.scenario.switching.base import BaseSwitch, Unlimited
from lightburst.scenario.switching.lines import Drr, Prio
from lightburst.scenario.switching.queue import DropTail, Queue

_HUNDRED_PACKETS = parse_size("900 kB")


class Electronic(BaseSwitch):
    """Store-and-forward with a queue per output: the baseline.

    Attributes
    ----------
    queue_size, ecn_threshold : int or None
        Bytes; None for unlimited, and for no marking.
    """

    store_and_forward: ClassVar[bool] = True
    came_later: ClassVar[frozenset[str]] = frozenset({"queue"})
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
            '`"drop-tail"`, `"prio"` or `"drr"`, as the others mark by their own `ecn`. Senders '
            "with `ecn` or `dctcp` react to marks of packets; for all others marks are only "
            "counted."
        ),
    )
    queue: Queue = DropTail()

    @model_validator(mode="after")
    def _one_marks(self) -> Self:
        if self.ecn_threshold is not None and not isinstance(self.queue, DropTail | Prio | Drr):
            given = f"a threshold beside queue = '{self.queue.kind}'"
            raise refuse_at("ecn_threshold", given, "'off': that queue marks by its own ecn")
        return self

    def largest_unit(self) -> tuple[str, int | None]:
        """Return the size of a queue."""
        return "queue_size", self.queue_size
