"""``[measurement]``: the length of a run, and its measurements in addition to the counters.

Each optional measurement has a file in `lightburst.measurement`. The fields of `Measurement` with
types from there are the list of measurements, from which all else follows.
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
from lightburst.measurement.recovery import RecoveryOption
from lightburst.measurement.reordering import ReorderingOption
from lightburst.measurement.samples import SamplesOption
from lightburst.measurement.synchronisation import SynchronisationOption
from lightburst.measurement.window import UntilOption, WarmUpOption
from lightburst.scenario.fields import Whole, refuse_at
from lightburst.scenario.section import Section


class Energy(Section):
    """Energy of each conversion between light and electronics, in joules per bit."""

    host_transmit: EnergyPerBit = Field(0.0, description="Transmission by a host.")
    host_receive: EnergyPerBit = Field(0.0, description="Reception by a host.")
    switch_oe: EnergyPerBit = Field(
        0.0, description=("Conversion from light to electronics in a switch.")
    )
    switch_eo: EnergyPerBit = Field(
        0.0, description=("Conversion from electronics to light in a switch.")
    )


class Measurement(Section):
    """End of the run, measurement window, and measurements in addition to the counters.

    Attributes
    ----------
    time_limit, until : int
        Picoseconds of simulated time.
    warm_up : int or None
        Picoseconds of simulated time; None: determined by MSER-5.
    size_classes : tuple of int
        Boundaries in bytes.
    sample : int or None
        Interval between samples in picoseconds; None: no samples.
    event_limit : int or None
        Number of events; None is unlimited.
    memory_limit : int or None
        Bytes; None is the available memory.
    """

    came_later: ClassVar[frozenset[str]] = frozenset({"size_classes"})

    time_limit: PositiveDuration = Field(
        parse_duration("1000 s"),
        description=(
            "Simulated time at which a run stops; unfinished flows then count with an infinite "
            "completion time. The default is far beyond any run that makes progress: by then a "
            "flow has waited for the longest timeout, 60 s, many times."
        ),
    )
    warm_up: WarmUpOption = 0
    until: UntilOption = None
    size_classes: tuple[PositiveSize, ...] = Field(
        (parse_size("100 kB"), parse_size("10 MB")),
        description=(
            "Sizes of flows, increasing, that separate the size classes for completion times and "
            "slowdowns. A flow of exactly such a size belongs to the class above it. The two "
            "defaults are usual in the data-centre literature for short and long flows; `[]` for "
            "no classes."
        ),
    )
    flow_throughput: FlowThroughputOption = False
    bursts: BurstContentsOption = None
    trace: FlowTraceOption = ()
    network: LinkTraceOption = None
    reordering: ReorderingOption = None
    recovery: RecoveryOption = None
    synchronisation: SynchronisationOption = None
    sample: SamplesOption = None
    event_limit: Annotated[int | None, Whole(1, 2**63 - 1, word="unlimited")] = Field(
        None, description="Number of events after which an unfinished run stops with an error."
    )
    memory_limit: Annotated[int | None, Quantity(SIZE, positive=True, word="free")] = Field(
        None,
        description=(
            "Memory of the program, with all its concurrent runs, beyond which a run stops with an "
            'error. `"free"`: a run stops when less than a twentieth of the memory available at '
            "its start is left, in the machine or its control group."
        ),
    )
    energy: Energy | None = Field(
        None, description="Energy per bit of conversions; without it no energy is calculated."
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
        """Refuse an option that begins with the warm-up, if its end is known only after the run."""
        if self.warm_up is None:
            allowed = "a duration: with warm_up = 'mser-5' the warm-up is known only after the run"
            raise refuse_at(path, "nothing", allowed)

    @property
    def asked(self) -> tuple[OptionalMeasurement, ...]:
        """The optional measurements that the scenario requests."""
        return tuple(one for one in MEASUREMENTS if one.is_asked(self))

    @property
    def size_class_names(self) -> tuple[str, ...]:
        """Names of the size classes in ascending order; empty without boundaries."""
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


#: The optional measurements: the markers of the fields of `Measurement`.
MEASUREMENTS: Final = _listed()
