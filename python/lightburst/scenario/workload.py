"""``[workload]``: which flows there are."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from lightburst.scenario.fields import DataFile, Section, Whole, refuse_at
from lightburst.scenario.sizes import DEFAULT_SIZE, FlowSize
from lightburst.units import Duration, Frequency, format_duration, parse_duration

# Of any flow, in picoseconds: room for sums on the clock of the simulator, which ends at 2**64.
LATEST_START = parse_duration("4000000 s")


class Poisson(Section):
    """Flows between random pairs of different hosts, started by a Poisson process.

    Attributes
    ----------
    arrival_rate : float
        Flows a second, in the whole network.
    """

    kind: Literal["poisson"] = "poisson"
    arrival_rate: Frequency = Field(description="New flows for each unit of time, in all.")
    flows: Annotated[int, Whole(1)] = Field(1024, description="How many flows.")
    size: FlowSize = Field(DEFAULT_SIZE, description="How much each flow carries.")

    def count(self, hosts: int) -> int:
        """How many flows there will be among ``hosts`` hosts."""
        return self.flows


class Shuffle(Section):
    """Each host sends one flow to each other host, as between map and reduce.

    Attributes
    ----------
    hosts : int or None
        The first so many; None is all.
    spread : int
        Picoseconds.
    """

    kind: Literal["shuffle"] = "shuffle"
    hosts: Annotated[int | None, Whole(2, word="all")] = Field(
        None, description="Hosts that take part: the first so many."
    )
    size: FlowSize = Field(DEFAULT_SIZE, description="How much each flow carries.")
    spread: Duration = Field(0, description="Starts are uniform between zero and this.")

    def count(self, hosts: int) -> int:
        """How many flows there will be among ``hosts`` hosts."""
        taking_part = hosts if self.hosts is None else self.hosts
        return taking_part * (taking_part - 1)


class Pairs(Section):
    """Each host of the first half sends one flow to its partner in the second half.

    Attributes
    ----------
    spread : int
        Picoseconds.
    """

    kind: Literal["pairs"] = "pairs"
    size: FlowSize = Field(DEFAULT_SIZE, description="How much each flow carries.")
    spread: Duration = Field(0, description="Starts are uniform between zero and this.")

    def count(self, hosts: int) -> int:
        """How many flows there will be among ``hosts`` hosts."""
        return hosts // 2


class Incast(Section):
    """In each round some hosts send to one at the same time.

    Attributes
    ----------
    interval, spread : int
        Picoseconds.
    """

    kind: Literal["incast"] = "incast"
    senders: Annotated[int, Whole(1)] = Field(description="Hosts that send, in each round.")
    rounds: Annotated[int, Whole(1)] = Field(
        1, description="How often; receiver and senders are drawn anew each time."
    )
    interval: Duration = Field(
        parse_duration("10 ms"), description="From the beginning of one round to that of the next."
    )
    size: FlowSize = Field(DEFAULT_SIZE, description="How much each flow carries.")
    spread: Duration = Field(
        0, description="Starts are uniform between the beginning of the round and this later."
    )

    @model_validator(mode="after")
    def _ends_in_time(self) -> Self:
        last = (self.rounds - 1) * self.interval + self.spread
        if last > LATEST_START:
            given = f"{format_duration(self.interval)} and {self.rounds} rounds"
            raise refuse_at("interval", given, f"a last round by {format_duration(LATEST_START)}")
        return self

    def count(self, hosts: int) -> int:
        """How many flows there will be among ``hosts`` hosts."""
        return self.senders * self.rounds


class Table(Section):
    """Your own flows."""

    kind: Literal["table"] = "table"
    file: DataFile = Field(
        description="CSV or Parquet: source, destination, start_s or start_ps, size_bytes."
    )


Workload = Annotated[Poisson | Shuffle | Pairs | Incast | Table, Field(discriminator="kind")]
