"""``[measurement]``: how long to simulate and what to keep beside the counters."""

from itertools import pairwise
from typing import Annotated, ClassVar, Final, Self

from pydantic import Field, model_validator

from lightburst.scenario.fields import Flag, Name, Section, Whole, refuse_at
from lightburst.units import (
    SIZE,
    TIME,
    Duration,
    EnergyPerBit,
    PositiveDuration,
    PositiveSize,
    Quantity,
    format_duration,
    format_size,
    parse_duration,
    parse_size,
)

_MOST_BINS: Final = 10**9


class Energy(Section):
    """Energy of each conversion between light and electronics, in joules a bit."""

    host_transmit: EnergyPerBit = Field(0.0, description="A host sends.")
    host_receive: EnergyPerBit = Field(0.0, description="A host receives.")
    switch_oe: EnergyPerBit = Field(0.0, description="A switch converts light to electronics.")
    switch_eo: EnergyPerBit = Field(0.0, description="A switch converts electronics to light.")


class NetworkTrace(Section):
    """Which bursts are followed over which links.

    Attributes
    ----------
    begin, end : int
        Picoseconds; no `end` is None.
    """

    links: tuple[Annotated[str, Name()], ...] = Field(
        (),
        description=(
            "Links between switches, in one direction each, as `SOURCE:TARGET`, or by the name "
            'that the topology gives them: `links = ["Seattle:Chicago"]`. All of them without '
            "this key."
        ),
    )
    begin: Duration = Field(0, description="What has left a link by then is not recorded there.")
    end: Annotated[int | None, Quantity(TIME, positive=True, word="unlimited")] = Field(
        None, description="Nor is what begins to leave then, or later."
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.end is not None and self.end <= self.begin:
            allowed = f"a time after begin ({format_duration(self.begin)}), or 'unlimited'"
            raise refuse_at("end", format_duration(self.end), allowed)
        return self


class Reordering(Section):
    """How far out of order the data of flows comes (RFC 4737, RFC 5236)."""

    displacement_threshold: Annotated[int, Whole(1, 100_000)] = Field(
        100,
        description=(
            "Packets by which one may be early or late; one that comes later is taken for lost, "
            "as in RFC 5236. Memory and time grow with it."
        ),
    )


class Synchronisation(Section):
    """Whether connections move together, in bins of time.

    Attributes
    ----------
    bin : int
        Picoseconds.
    begin : int or None
        Likewise; None: the warm-up.
    """

    bin: PositiveDuration = Field(
        parse_duration("13 ms"),
        description=(
            "Length of a bin. The default is the time unit of vlachos2008. Losses that are seen "
            "in one bin are together."
        ),
    )
    begin: Annotated[int | None, Quantity(TIME, word="warm-up")] = Field(
        None,
        description=(
            "Bins that begin earlier do not count; nor do those that end after `until`, and the "
            "last one, if the run ends within it. Connections that are in progress in a bin count "
            "there, whenever they started."
        ),
    )
    series: Flag = Field(
        False,
        description=(
            "Keep what each bin has, too: `result.synchronisation`. Memory grows with the length "
            "of the run then, by 110 B for each bin."
        ),
    )

    def end_of_first(self, warm_up: int | None) -> int:
        """When the first bin that counts ends, in picoseconds, with such a warm-up."""
        begin = self.begin if self.begin is not None else warm_up or 0
        return (-(-begin // self.bin) + 1) * self.bin


class BurstContents(Section):
    """When it is looked into the bursts that edges make, and what becomes of them.

    Attributes
    ----------
    begin, end : int or None
        Picoseconds; None: when flows begin to count, and cease to.
    """

    begin: Annotated[int | None, Quantity(TIME, word="warm-up")] = Field(
        None,
        description=(
            "What happens to bursts earlier is not in the distributions. Without it `warm_up`, "
            'which must be a time then: what `"mser-5"` finds is known after a run only.'
        ),
    )
    end: Annotated[int | None, Quantity(TIME, positive=True, word="until")] = Field(
        None, description="Nor is what happens to them then, or later. Without it `until`."
    )

    def counted_between(self, warm_up: int | None, until: int | None) -> tuple[int, int]:
        """When bursts are made, lost or taken apart that count: from the first to the second."""
        begin = warm_up or 0 if self.begin is None else self.begin
        end = 2**64 - 1 if until is None else until
        return begin, end if self.end is None else self.end


class Measurement(Section):
    """When to stop, and what to reckon beside the counters, which are always kept.

    Attributes
    ----------
    time_limit, until : int
        Picoseconds of simulated time.
    warm_up : int or None
        Likewise; None: by MSER-5.
    size_classes : tuple of int
        Bytes.
    sample : int or None
        Picoseconds from one sample to the next; None: no samples.
    event_limit : int or None
        None is unlimited.
    memory_limit : int or None
        Bytes; None is what is free.
    """

    came_later: ClassVar[frozenset[str]] = frozenset(
        {
            *("warm_up", "until", "size_classes", "flow_throughput", "bursts"),
            "synchronisation",
        }
    )

    time_limit: PositiveDuration = Field(
        parse_duration("1000 s"),
        description=(
            "Simulated time at which a run stops; flows that did not finish by then count as "
            "infinitely long. The default is far beyond any run that makes progress: a flow has "
            "met the longest timeout, 60 s, many times by then."
        ),
    )
    warm_up: Annotated[int | None, Quantity(TIME, word="mser-5")] = Field(
        0,
        description=(
            "Flows that start earlier run, but do not count: not in completion times, "
            "slowdowns, retransmissions and timeouts, nor in the throughput, which is that of "
            "the flows that count, from the first start of one to the last acknowledgement. "
            "Links, switches and bursts count what happens from then on, whichever flow it is of. "
            '`"mser-5"`: the run itself tells from when on its active flows are settled, by the '
            "rule of White (1997), figure `warm_up_s`; it is then done once more, to count from "
            "there, and takes twice the time."
        ),
    )
    until: PositiveDuration | None = Field(
        None,
        description=(
            "Flows that start at this time or later do not count either. They keep the load up "
            "for the flows that count, which run to their end. Links, switches and bursts count "
            "what happens before."
        ),
    )
    size_classes: tuple[PositiveSize, ...] = Field(
        (parse_size("100 kB"), parse_size("10 MB")),
        description=(
            "Sizes of flows, increasing, between which completion times and slowdowns are given "
            "apart. A flow of exactly such a size belongs above it. The two defaults are usual "
            "in the data-centre literature for short and long flows; `[]` for no classes."
        ),
    )
    flow_throughput: Flag = Field(
        False,
        description=(
            "Add to the figures how the throughput of a flow (its bytes over the time from its "
            "start to the last acknowledgement) is spread over the flows: in all, by groups and "
            "by classes of size."
        ),
    )
    bursts: BurstContents | None = Field(
        None,
        description=(
            "Count what bursts carry, `bursts = {}`: segments and flows a burst, made and lost, "
            "and bursts and lost bursts a flow. Only where edges make bursts."
        ),
    )
    trace: tuple[Annotated[int, Whole(0)], ...] = Field(
        (),
        description=(
            "Numbers of the flows, from 0, of which every packet, every window and every burst "
            "is recorded: `trace = [0, 3]`."
        ),
    )
    network: NetworkTrace | None = Field(
        None,
        description=(
            "Follow bursts over links: which channel each used when, and which was lost to "
            "which. Only where edges make bursts."
        ),
    )
    reordering: Reordering | None = Field(
        None,
        description=(
            "Count for each flow, datagrams too, how far out of order its data comes: "
            "`reordering = {}`."
        ),
    )
    synchronisation: Synchronisation | None = Field(
        None,
        description=(
            "See whether connections move together, over bins of time: mean and standard deviation "
            "of their windows and of their throughput together, against those of independent ones, "
            "and the correlation of what they lose: `synchronisation = {}`."
        ),
    )
    sample: Annotated[int | None, Quantity(TIME, positive=True, word="off")] = Field(
        None,
        description=(
            'From one look at queues, buffers and links to the next: `sample = "100 us"`. Off, '
            "because most questions are answered by the sums."
        ),
    )
    event_limit: Annotated[int | None, Whole(1, 2**63 - 1, word="unlimited")] = Field(
        None, description="A run that has not ended after this many events is an error."
    )
    memory_limit: Annotated[int | None, Quantity(SIZE, positive=True, word="free")] = Field(
        None,
        description=(
            "A run that goes on while the program holds more than this (all that it does at the "
            'same time) is an error. `"free"`: while less than a twentieth is free of what was '
            "free when it began, in the machine or its control group."
        ),
    )
    energy: Energy | None = Field(
        None, description="Energy of conversions; without it none is calculated."
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        warm_up = self.warm_up or 0
        if self.until is not None and self.until <= warm_up:
            allowed = f"a time after warm_up ({format_duration(warm_up)})"
            raise refuse_at("until", format_duration(self.until), allowed)
        if any(low >= high for low, high in pairwise(self.size_classes)):
            given = ", ".join(map(format_size, self.size_classes))
            raise refuse_at("size_classes", given, "sizes, each larger than the one before")
        if self.sample is not None and self.sample > self.time_limit:
            allowed = f"at most time_limit ({format_duration(self.time_limit)}), or 'off'"
            raise refuse_at("sample", format_duration(self.sample), allowed)
        return self

    @model_validator(mode="after")
    def _begins_are_known(self) -> Self:
        for name in ("bursts", "synchronisation"):
            own = getattr(self, name)
            if own is not None and own.begin is None and self.warm_up is None:
                allowed = "a duration: a run that finds its own warm-up (warm_up = 'mser-5') has "
                raise refuse_at(f"{name}.begin", "nothing", f"{allowed}ended")
        return self

    @model_validator(mode="after")
    def _bursts_are_made(self) -> Self:
        if self.bursts is not None:
            begin, end = self.bursts.counted_between(self.warm_up, self.until)
            if begin >= end:
                allowed = f"a time after begin ({format_duration(begin)})"
                raise refuse_at("bursts.end", format_duration(end), allowed)
        return self

    @model_validator(mode="after")
    def _bins_fit(self) -> Self:
        own = self.synchronisation
        if own is None:
            return self
        end = min(self.time_limit, self.until or self.time_limit)
        first = own.end_of_first(self.warm_up)
        if first > end:
            begin, over = format_duration(first - own.bin), format_duration(end)
            allowed = f"so short that one lies between its first begin ({begin}) and {over}"
            raise refuse_at("synchronisation.bin", format_duration(own.bin), allowed)
        if end // own.bin > _MOST_BINS:
            allowed = f"at least {format_duration(-(-end // _MOST_BINS))}, for {_MOST_BINS:,} bins"
            raise refuse_at("synchronisation.bin", format_duration(own.bin), allowed)
        return self

    @property
    def size_class_names(self) -> tuple[str, ...]:
        """What the classes of size are called, from the smallest on; empty without boundaries."""
        edges = [format_size(size) for size in self.size_classes]
        if not edges:
            return ()
        between = (f"{low} to {high}" for low, high in pairwise(edges))
        return (f"below {edges[0]}", *between, f"above {edges[-1]}")
