"""Bufferless switch."""

from typing import Literal

from lightburst.scenario.switching.base import OpticalSwitch


class AllOptical(OpticalSwitch):
    """Cut-through without a buffer: a unit whose output is busy is dropped."""

    kind: Literal["all-optical"] = "all-optical"
