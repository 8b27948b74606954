"""``[measurement]``: how long to simulate and what to measure beside the counters.

Each optional measurement has a file in `lightburst.measurement`; the fields of `Measurement` whose
types come from there are the list of them, from which all else follows.
"""

from itertools import pairwise
from typing import Annotated, ClassVar, Final, Self

from pydantic import Field, model_validator

from lightburst.foundation.units import (
    SIZE,
    EnergyPerBit,
    PositiveDuration,
    PositiveSize,
    Quantity,
    format_size,
    parse_duration,
    parse_size,
)
from lightburst.measurement.base import OptionalMeasurement
from lightburst.measurement.burst_contents import BurstContentsOption
from lightburst.measurement.flow_throughput import FlowThroughputOption
from lightburst.measurement.flow_trace import FlowTraceOption
from lightburst.measurement.link_trace import LinkTraceOption
from lightburst.measurement.reordering import ReorderingOption
from lightburst.measurement.samples import SamplesOption
from lightburst.measurement.synchronisation import SynchronisationOption
from lightburst.measurement.window import UntilOption, WarmUpOption
from lightburst.scenario.fields import Whole, refuse_at
from lightburst.scenario.section import Section


class Energy(Section):
    """Energy of each conversion between light and electronics, in joules a bit."""

    host_transmit: EnergyPerBit = Field(0.0, description="A host sends.")
    host_receive: EnergyPerBit = Field(0.0, description="A host receives.")
    switch_oe: EnergyPerBit = Field(0.0, description="A switch converts light to electronics.")
    switch_eo: EnergyPerBit = Field(0.0, description="A switch converts electronics to light.")


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

    came_later: ClassVar[frozenset[str]] = frozenset({"size_classes"})

    time_limit: PositiveDuration = Field(
        parse_duration("1000 s"),
        description=(
            "Simulated time at which a run stops; flows that did not finish by then count as "
            "infinitely long. The default is far beyond any run that makes progress: a flow has "
            "met the longest timeout, 60 s, many times by then."
        ),
    )
    warm_up: WarmUpOption = 0
    until: UntilOption = None
    size_classes: tuple[PositiveSize, ...] = Field(
        (parse_size("100 kB"), parse_size("10 MB")),
        description=(
            "Sizes of flows, increasing, between which completion times and slowdowns are given "
            "apart. A flow of exactly such a size belongs above it. The two defaults are usual "
            "in the data-centre literature for short and long flows; `[]` for no classes."
        ),
    )
    flow_throughput: FlowThroughputOption = False
    bursts: BurstContentsOption = None
    trace: FlowTraceOption = ()
    network: LinkTraceOption = None
    reordering: ReorderingOption = None
    synchronisation: SynchronisationOption = None
    sample: SamplesOption = None
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
    def _fit_together(self) -> Self:
        for one in MEASUREMENTS:
            one.check(self)
        if any(low >= high for low, high in pairwise(self.size_classes)):
            given = ", ".join(map(format_size, self.size_classes))
            raise refuse_at("size_classes", given, "sizes, each larger than the one before")
        return self

    def check_warm_up_is_known(self, path: str) -> None:
        """Refuse what begins with the warm-up where only the run itself finds when that is over."""
        if self.warm_up is None:
            allowed = "a duration: a run that finds its own warm-up (warm_up = 'mser-5') has ended"
            raise refuse_at(path, "nothing", allowed)

    @property
    def asked(self) -> tuple[OptionalMeasurement, ...]:
        """The optional measurements that the scenario asks for."""
        return tuple(one for one in MEASUREMENTS if one.is_asked(self))

    @property
    def size_class_names(self) -> tuple[str, ...]:
        """What the classes of size are called, from the smallest on; empty without boundaries."""
        edges = [format_size(size) for size in self.size_classes]
        if not edges:
            return ()
        between = (f"{low} to {high}" for low, high in pairwise(edges))
        return (f"below {edges[0]}", *between, f"above {edges[-1]}")


# The order of their metrics, tables and settings, which is not that of their keys: it is how they
# came, and files and messages keep it. One that is not named here comes after these.
_IN_RESULTS: Final = (
    *("warm_up", "reordering", "bursts", "flow_throughput", "synchronisation", "sample", "trace"),
    "network",
)


def _listed() -> tuple[OptionalMeasurement, ...]:
    markers = [one for field in Measurement.model_fields.values() for one in field.metadata]
    found = dict.fromkeys(one for one in markers if isinstance(one, OptionalMeasurement))
    places = {key: place for place, key in enumerate(_IN_RESULTS)}
    return tuple(sorted(found, key=lambda one: places.get(one.key, len(places))))


#: The optional measurements: what marks the fields of `Measurement`.
MEASUREMENTS: Final = _listed()
