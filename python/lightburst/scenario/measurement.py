"""``[measurement]``: how long to simulate and what to keep beside the counters."""

from typing import Annotated

from pydantic import Field

from lightburst.scenario.fields import Section, Whole
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
    trace: tuple[Annotated[int, Whole(0)], ...] = Field(
        (), description="Numbers of the flows, from 0, of which every packet is written down."
    )
    energy: Energy | None = Field(
        None, description="Energy per bit of conversions; without it none is reckoned."
    )
