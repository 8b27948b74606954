"""``[workload]`` of kind ``goal``: a schedule of operations of ranks, from a GOAL file."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from lightburst.foundation.units import Duration, Size
from lightburst.scenario.fields import DataFile, Whole, refuse_at
from lightburst.scenario.tables.any_workload import AnyWorkload
from lightburst.scenario.tables.collective import Placement


class Goal(AnyWorkload):
    """Operations of ranks, which wait for each other, from a GOAL file.

    Attributes
    ----------
    hosts : list of int or None
        Host of each rank; None if `placement` decides.
    overhead, overhead_per_byte, gap : int
        Picoseconds.
    rendezvous_above : int or None
        Bytes.
    """

    kind: Literal["goal"] = "goal"
    file: DataFile = Field(
        description=(
            "The schedule in GOAL, the group operation assembly language, as LogGOPSim and ATLAHS "
            "have it: text, or the binary file that `txt2bin` makes of it."
        )
    )
    placement: Placement = Field(
        "consecutive",
        description=(
            'Hosts of the ranks. `"consecutive"`: rank r is host r. `"strided"`: of h hosts and n '
            "ranks, rank r is host r times h / n, rounded down. "
            '`"random"`: drawn with the seed of the run.'
        ),
    )
    hosts: list[Annotated[int, Whole(0)]] | None = Field(
        None,
        description=(
            "The host of each rank, by number and in the order of the ranks, in place of "
            "`placement`; each host has at most one rank."
        ),
    )
    overhead: Duration = Field(
        0,
        description=(
            "o of LogGOPS: time of the processor to send a message, before it leaves, and to "
            "receive one, after it has arrived."
        ),
    )
    overhead_per_byte: Duration = Field(
        0,
        description=(
            "O of LogGOPS: further time of the processor for each byte of a message but the first, "
            "to send and to receive it. A message leaves after `overhead` alone."
        ),
    )
    gap: Duration = Field(
        0,
        description="g of LogGOPS: least time between two messages of an interface (`nic`).",
    )
    rendezvous_above: Size | None = Field(
        None,
        description=(
            "S of LogGOPS: the send of a message of more bytes ends only when a receive has taken "
            "it, that of others when its work ends. Without it all are such others; in LogGOPSim "
            "it is 65535 bytes by default."
        ),
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.hosts is None:
            return self
        if "placement" in self.model_fields_set:
            raise refuse_at("hosts", "a list beside 'placement'", "one of both")
        if len(set(self.hosts)) < len(self.hosts):
            twice = next(one for one in self.hosts if self.hosts.count(one) > 1)
            raise refuse_at("hosts", f"host {twice} twice", "each host at most once")
        return self

    def count(self, hosts: int) -> int | None:
        """Return None: the number of messages depends on the file."""
        return None
