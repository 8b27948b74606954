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
from lightburst.scenario.fields import DataFile, Real, Tables, Whole, refuse_at
from lightburst.scenario.section import Section
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


class Poisson(Section):
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

    came_later: ClassVar[frozenset[str]] = frozenset({"load_of"})

    kind: Literal["poisson"] = "poisson"
    arrival_rate: Frequency | None = Field(
        None,
        description=(
            'New flows for each unit of time, in the whole network: the "arrival rate of new '
            'connections" of minakhmetov2018. This, `arrival_rate_per_edge` or `load`.'
        ),
    )
    arrival_rate_per_edge: Frequency | None = Field(
        None,
        description=(
            "New flows for each unit of time at each edge, a switch that has hosts: each edge has "
            "a Poisson process of its own, as in vlachos2008 with 100 /s. It makes `between` "
            "`edges`."
        ),
    )
    load: Annotated[float, Real(0, 10, inclusive=False)] | None = Field(
        None,
        description=(
            "Useful bits that arrive in a second, divided by the sum of the rates of the hosts' "
            "links, one way; with the transport `bursts` by that of all wavelengths of the fibres "
            "that leave the edges. Headers and acknowledgements come on top. Sizes without a "
            "finite mean are refused."
        ),
    )
    load_of: LoadOf | None = Field(
        None,
        description=(
            'Of what `load` is a part. `"senders"`: of all that the senders can send, as `load` '
            'says; so it is without this key. `"hottest-link"`: of what that link carries which '
            "the routes of the flows load most, in the mean, as papers on optical networks and on "
            "data centres mostly mean it: `load = 0.4` then offers 0.4 to this link, and less to "
            "the others."
        ),
    )
    flows: Annotated[int, Whole(1)] | None = Field(
        None,
        description=(
            "How many flows; this or `duration`. Without both 1,024, found by calibration: "
            "minakhmetov2018 leaves it open."
        ),
    )
    duration: PositiveDuration | None = Field(
        None,
        description=(
            "How long flows start, in place of their number. The first 1,024 flows are those "
            "that `flows = 1024` has; at another rate the same flows come, only more or fewer "
            "of them."
        ),
    )
    between: Between | None = Field(
        None,
        description=(
            'Which pairs there are. `"hosts"`: any two different hosts, all alike; so it is '
            'without this key and `arrival_rate_per_edge`. `"edges"`: each edge sends alike, to '
            "another edge; of both a host is drawn, all alike."
        ),
    )
    destination_weights: _Weights = Field(
        {},
        validate_default=True,
        description=(
            "Between edges: how often flows go to an edge, by its name, relative to the others, "
            "which have 1: `destination_weights = { WA = 3, GA = 0 }`."
        ),
    )
    size: FlowSize = Field(DEFAULT_SIZE, description="How much each flow carries.")

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
        return self

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


class Shuffle(Section):
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
        None, description="How many hosts take part: those with the lowest numbers."
    )
    size: FlowSize = Field(DEFAULT_SIZE, description="How much each flow carries.")
    spread: Duration = Field(
        0, description="Starts are uniform between zero and this. With zero all start at once."
    )

    def count(self, hosts: int) -> int:
        """Count the flows among ``hosts`` hosts."""
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
    size: FlowSize = Field(
        DEFAULT_SIZE,
        description=(
            'How much each flow carries. `"1000 TB"`, the largest, is a flow without end: it '
            "sends until the time limit, and is not meant to finish."
        ),
    )
    spread: Duration = Field(0, description="Starts are uniform between zero and this.")

    def count(self, hosts: int) -> int:
        """Count the flows among ``hosts`` hosts."""
        return hosts // 2


class Incast(Section):
    """In each round several hosts send to one receiver at the same time.

    Attributes
    ----------
    interval, spread : int
        Picoseconds.
    """

    kind: Literal["incast"] = "incast"
    senders: Annotated[int, Whole(1)] = Field(
        description="Hosts that send in each round; fewer than there are hosts."
    )
    rounds: Annotated[int, Whole(1)] = Field(
        1, description="How often. Receiver and senders are drawn anew each time."
    )
    interval: Duration = Field(
        parse_duration("10 ms"), description="From the beginning of one round to that of the next."
    )
    size: FlowSize = Field(DEFAULT_SIZE, description="How much each flow carries.")
    spread: Duration = Field(
        0,
        description=("Starts are uniform between the beginning of the round and this much later."),
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


class Table(Section):
    """Flows given in a file."""

    kind: Literal["table"] = "table"
    file: DataFile = Field(
        description=(
            "CSV with a heading, or Parquet (`.parquet`, `.pq`), with the columns `source`, "
            "`destination`, `start_s` or `start_ps`, and `size_bytes`."
        )
    )

    def count(self, hosts: int) -> int | None:
        """Return None: the number of flows depends on the file."""
        return None


Workload = Annotated[Poisson | Shuffle | Pairs | Incast | Table, Field(discriminator="kind")]
