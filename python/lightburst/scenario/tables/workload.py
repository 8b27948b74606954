"""``[workload]``: the flows of a run."""

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, ModelWrapValidatorHandler, model_validator

from lightburst.foundation.units import (
    PICOSECONDS_PER_SECOND,
    Duration,
    Frequency,
    PositiveDuration,
    format_duration,
    parse_duration,
)
from lightburst.scenario.fields import DataFile, Name, Real, Tables, Whole, refuse_at
from lightburst.scenario.section import Section
from lightburst.scenario.tables.any_workload import AnyWorkload
from lightburst.scenario.tables.collective import Collective
from lightburst.scenario.tables.goal import Goal
from lightburst.scenario.tables.sizes import DEFAULT_SIZE, FlowSize

# Latest start of a flow, in picoseconds. It leaves room for sums on the clock of the simulator,
# which ends at 2**64.
LATEST_START = parse_duration("4000000 s")
# Size in bytes of an endless flow: the largest size that can be written.
WITHOUT_END = 10**15


USUAL_FLOWS = 1024


Between = Literal["hosts", "edges"]
LoadOf = Literal["senders", "hottest-link"]
_Weights = Annotated[dict[str, Annotated[float, Real(0)]], AfterValidator(Tables)]


class Demand(Section):
    """Row of a traffic matrix: a share of the flows goes from one place to another."""

    source: Annotated[str, Name()] = Field(
        description="Name of a host, or of a switch with hosts: any of these hosts."
    )
    destination: Annotated[str, Name()] = Field(
        description="Name of another host, or of another switch with hosts."
    )
    weight: Annotated[float, Real(0)] = Field(
        1.0, description="Number of flows, relative to those of the other demands."
    )


class Poisson(AnyWorkload):
    """Flows between random pairs of hosts, started by a Poisson process.

    Attributes
    ----------
    arrival_rate : float or None
        Flows a second in the whole network; None if another key determines it.
    arrival_rate_per_edge : float or None
        Flows a second at each edge.
    load : float or None
        Useful bits that arrive a second, over the sum of the rates of the hosts' links, one way.
    duration : int or None
        Picoseconds; None if `flows` is given.
    """

    alternatives: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("arrival_rate", "arrival_rate_per_edge", "load"),
        ("flows", "duration"),
    )

    came_later: ClassVar[frozenset[str]] = AnyWorkload.came_later | {
        "load_of",
        "demands",
        "demands_file",
    }

    kind: Literal["poisson"] = "poisson"
    arrival_rate: Frequency | None = Field(
        None,
        description=(
            'New flows per unit of time, in the whole network: the "arrival rate of new '
            'connections" of minakhmetov2018. Exactly one of `arrival_rate`, '
            "`arrival_rate_per_edge` and `load` is required."
        ),
    )
    arrival_rate_per_edge: Frequency | None = Field(
        None,
        description=(
            "New flows per unit of time at each edge, a switch with hosts: each edge has its own "
            "Poisson process, as in vlachos2008 with 100 /s. With it `between` is `edges`."
        ),
    )
    load: Annotated[float, Real(0, 10, inclusive=False)] | None = Field(
        None,
        description=(
            "Useful bits of the flows that start per second, over the sum of the rates of the "
            "hosts' links, one way; with the transport `bursts`, over the total rate of all "
            "wavelengths of the fibres that leave the edges. Headers and acknowledgements are not "
            "included. Sizes without a finite mean are refused."
        ),
    )
    load_of: LoadOf | None = Field(
        None,
        description=(
            'The capacity to which `load` refers. `"senders"` (the default): the total capacity of '
            'the senders, as defined for `load`. `"hottest-link"`: the capacity of the link that '
            "the routes of the flows load most, in the mean, as most papers on optical networks "
            "and data centres mean it: `load = 0.4` then offers 0.4 to this link, and less to the "
            "others."
        ),
    )
    flows: Annotated[int, Whole(1)] | None = Field(
        None,
        description=(
            "Number of flows; this or `duration`. The default of 1,024, if both are missing, was "
            "found by calibration: minakhmetov2018 states none."
        ),
    )
    duration: PositiveDuration | None = Field(
        None,
        description=(
            "Time in which flows start, instead of their number. The first 1,024 flows are those "
            "of `flows = 1024`; at another rate the same flows start, only more or fewer of them."
        ),
    )
    between: Between | None = Field(
        None,
        description=(
            'The pairs of endpoints. `"hosts"`: any two different hosts with equal probability; '
            'the default without `arrival_rate_per_edge`. `"edges"`: each edge sends equally '
            "often, to another edge; at both a host is drawn with equal probability."
        ),
    )
    destination_weights: _Weights = Field(
        {},
        validate_default=True,
        description=(
            "With `between` `edges`: relative frequency of flows to an edge, by its name; other "
            "edges have 1: `destination_weights = { WA = 3, GA = 0 }`."
        ),
    )
    demands: tuple[Demand, ...] | None = Field(
        None,
        description=(
            "The traffic matrix, in place of `between`: each flow is of one demand, drawn by their "
            'weights: `demands = [{ source = "a", destination = "c", weight = 3 }, ...]`.'
        ),
    )
    demands_file: DataFile | None = Field(
        None,
        description=(
            "The same as a CSV file with a heading and the columns `source`, `destination` and "
            "optionally `weight`."
        ),
    )
    size: FlowSize = Field(DEFAULT_SIZE, description="Size of each flow.")

    @model_validator(mode="wrap")
    @classmethod
    def _usual_number(cls, values: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Apply the default number of flows if neither key is given; it does not count as given."""
        if not isinstance(values, Mapping) or {"flows", "duration"} & set(values):
            return handler(values)
        workload = handler({**values, "flows": USUAL_FLOWS})
        workload.model_fields_set.discard("flows")
        return workload

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if self.load_of == "hottest-link" and self.load is None:
            raise refuse_at("load_of", "'hottest-link' without a load", "a load beside it")
        if self.between == "hosts" and self.arrival_rate_per_edge is not None:
            raise refuse_at("between", "hosts", "'edges' with arrival_rate_per_edge")
        if self.destination_weights and not self.between_edges:
            allowed = "none, or between = 'edges'"
            raise refuse_at("destination_weights", "weights of edges between hosts", allowed)
        if self.demands == ():
            raise refuse_at("demands", "no demand", "at least one")
        if self.demands is not None and self.demands_file is not None:
            raise refuse_at("demands_file", "demands as well", "one of demands and demands_file")
        if self.between_demands and (self.between is not None or self.between_edges):
            key = "arrival_rate_per_edge" if self.between is None else "between"
            allowed = "none beside demands, which say where flows go"
            raise refuse_at(key, str(self.between or "a rate for each edge"), allowed)
        return self

    @property
    def between_demands(self) -> bool:
        """Whether flows go from place to place by a traffic matrix."""
        return self.demands is not None or self.demands_file is not None

    @property
    def between_edges(self) -> bool:
        """Whether flows go from edge to edge instead of from any host to any other."""
        return self.between == "edges" or self.arrival_rate_per_edge is not None

    def count(self, hosts: int) -> int | None:
        """Bound the number of flows among ``hosts`` hosts; None if it depends on the links."""
        if self.flows is not None:
            return self.flows
        assert self.duration is not None
        if self.arrival_rate is None:
            return None
        # Six standard deviations above the mean, practically never exceeded.
        mean = self.arrival_rate * self.duration / PICOSECONDS_PER_SECOND
        return int(mean + 6 * math.sqrt(mean)) + 1


class Shuffle(AnyWorkload):
    """Each host sends one flow to each other host, as between map and reduce.

    Attributes
    ----------
    hosts : int or None
        Number of hosts that take part, from the first; None for all.
    spread : int
        Picoseconds.
    """

    kind: Literal["shuffle"] = "shuffle"
    hosts: Annotated[int | None, Whole(2, word="all")] = Field(
        None, description="Number of hosts that take part: those with the lowest numbers."
    )
    size: FlowSize = Field(DEFAULT_SIZE, description="Size of each flow.")
    spread: Duration = Field(
        0,
        description=(
            "Flows start uniformly between zero and this time. With zero all start at once."
        ),
    )

    def count(self, hosts: int) -> int:
        """Count the flows among ``hosts`` hosts."""
        taking_part = hosts if self.hosts is None else self.hosts
        return taking_part * (taking_part - 1)


class Pairs(AnyWorkload):
    """Each host of the first half sends one flow to its partner in the second half.

    Attributes
    ----------
    spread : int
        Picoseconds.
    """

    kind: Literal["pairs"] = "pairs"
    size: FlowSize = Field(
        DEFAULT_SIZE,
        description=(
            'Size of each flow. `"1000 TB"`, the largest size, is a flow without end: it sends '
            "until the time limit, and is not meant to finish."
        ),
    )
    spread: Duration = Field(0, description="Flows start uniformly between zero and this time.")

    def count(self, hosts: int) -> int:
        """Count the flows among ``hosts`` hosts."""
        return hosts // 2


class Incast(AnyWorkload):
    """In each round several hosts send to one receiver at the same time.

    Attributes
    ----------
    interval, spread : int
        Picoseconds.
    """

    kind: Literal["incast"] = "incast"
    senders: Annotated[int, Whole(1)] = Field(
        description="Number of hosts that send in each round; fewer than there are hosts."
    )
    rounds: Annotated[int, Whole(1)] = Field(
        1, description="Number of rounds. Receiver and senders are drawn anew in each."
    )
    interval: Duration = Field(
        parse_duration("10 ms"),
        description=("Time from the begin of one round to that of the next."),
    )
    size: FlowSize = Field(DEFAULT_SIZE, description="Size of each flow.")
    spread: Duration = Field(
        0,
        description="Flows start uniformly between the begin of the round and this much later.",
    )

    @model_validator(mode="after")
    def _ends_in_time(self) -> Self:
        last = (self.rounds - 1) * self.interval + self.spread
        if last > LATEST_START:
            given = f"{format_duration(self.interval)} and {self.rounds} rounds"
            raise refuse_at("interval", given, f"a last round by {format_duration(LATEST_START)}")
        return self

    def count(self, hosts: int) -> int:
        """Count the flows among ``hosts`` hosts."""
        return self.senders * self.rounds


class Table(AnyWorkload):
    """Flows given in a file."""

    kind: Literal["table"] = "table"
    file: DataFile = Field(
        description=(
            "CSV file with a heading, or Parquet (`.parquet`, `.pq`), with the columns `source`, "
            "`destination`, `start_s` or `start_ps`, and `size_bytes`."
        )
    )

    def count(self, hosts: int) -> int | None:
        """Return None: the number of flows depends on the file."""
        return None


Workload = Annotated[
    Poisson | Shuffle | Pairs | Incast | Collective | Goal | Table, Field(discriminator="kind")
]
