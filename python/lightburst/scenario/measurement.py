"""``[measurement]``: how long to simulate and what else to reckon."""

from pydantic import Field

from lightburst.scenario.fields import Section
from lightburst.units import EnergyPerBit, PositiveDuration, parse_duration


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
    time_limit : int
        Picoseconds of simulated time.
    """

    time_limit: PositiveDuration = Field(
        parse_duration("1000 s"), description="Simulated time at which unfinished flows are left."
    )
    energy: Energy | None = Field(
        None, description="Energy per bit of conversions; without it none is reckoned."
    )
