"""``[hosts]``: the network interface of each host."""

from typing import Annotated, Literal

from pydantic import Field

from lightburst.scenario.fields import Named, Whole
from lightburst.scenario.section import Section


class Fifo(Section):
    """Segments leave in the order in which they were handed over, regardless of their flow."""

    kind: Literal["fifo"] = "fifo"


class Fair(Section):
    """Flows with segments to send take turns, and segments without data go first.

    Deficit round robin: M. Shreedhar, G. Varghese, "Efficient fair queuing using deficit round
    robin", IEEE/ACM Transactions on Networking 4(3), 1996.

    Attributes
    ----------
    small_queue : int or None
        Segments; None is unlimited.
    """

    kind: Literal["fair"] = "fair"
    small_queue: Annotated[int | None, Whole(1, word="unlimited")] = Field(
        2,
        description=(
            "Most data segments of one flow that wait in the interface, in addition to the one in "
            "transmission; the sender hands over the next one when one has departed. TCP small "
            "queues of Linux keep at least two (`tcp_small_queue_check`). Datagrams have no such "
            "limit."
        ),
    )


Queueing = Annotated[Fifo | Fair, Field(discriminator="kind"), Named()]


class Hosts(Section):
    """Settings shared by all hosts."""

    queueing: Queueing | None = Field(
        None,
        description=(
            "The next segment that the interface transmits. `fifo`: the one handed over first, as "
            "in ns-2. `fair`: the flows take turns, as with `fq` and TCP small queues of Linux. By "
            "default `fair` if a group of flows has the preset `linux`, `datacentre` or "
            "`wide-area`, else `fifo`."
        ),
    )
