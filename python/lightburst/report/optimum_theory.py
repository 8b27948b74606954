"""What yu2004 says of the best assembly time, beside the one that a search has found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lightburst.errors import InputError
from lightburst.models.yu2004 import numerical_optimum, optimum, predict
from lightburst.models.yu2004.scenarios import read
from lightburst.shown import readable
from lightburst.units import PICOSECONDS_PER_SECOND, format_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightburst.models.checks import FloatArray
    from lightburst.scenario import Scenario

#: The field of which the equations speak, and the figure that they make largest.
TIME: Final = "switching.assembly.time"
THROUGHPUT: Final = "throughput_bps"
#: The name of the time at which the equations that apply are largest.
NUMERICALLY: Final = "numerically"

# Of the equation that `predict` takes: those of a window at its limit.
_AT_LIMIT: Final = (28, 29)
_DIGITS: Final = 6


@dataclass(frozen=True)
class Said:
    """What one equation says.

    Attributes
    ----------
    name : str
        Of the equation: ``"equation (30)"``.
    assumes : str
        What it assumes of the window.
    holds : bool
        Whether that is so there, by the mean window (10), and a burst is less than the window.
    time_s : float
        The best assembly time.
    throughput_bps : float
        Useful bits a second there, by (31), by (33), or by the equation that applies there.
    """

    name: str
    assumes: str
    holds: bool
    time_s: float
    throughput_bps: float

    @property
    def written(self) -> str:
        """The time as a scenario has it, to six digits."""
        held = float(f"{self.time_s * PICOSECONDS_PER_SECOND:.{_DIGITS}g}")
        return format_duration(round(held))

    def __str__(self) -> str:
        there = "" if self.holds else f" (assumes {self.assumes}: not so there)"
        time, rate = (
            readable("assembly_time_s", self.time_s),
            readable(THROUGHPUT, self.throughput_bps),
        )
        return f"{self.name} {time}, {rate}{there}"


def said_of(scenario: Scenario, paths: Sequence[str]) -> tuple[Said, ...]:
    """Ask equations (30) and (32), and all of them numerically.

    Parameters
    ----------
    scenario : Scenario
        With the best of what was looked for; all but its assembly time counts.
    paths : sequence of str
        What was looked for.

    Returns
    -------
    tuple of Said
        Nothing if the assembly time was not looked for, or the scenario is not what the paper is
        about.
    """
    if TIME not in paths:
        return ()
    try:
        flow, one = read(scenario)
    except InputError:
        return ()
    found = []
    limited = optimum.best_time_at_limit(flow), optimum.best_throughput_at_limit(flow)
    below = optimum.best_time_below_limit(flow), optimum.best_throughput_below_limit(flow)
    for name, words, (time, rate), at_limit in (
        ("equation (30)", "a window below its limit, and smaller bursts", below, False),
        ("equation (32)", "a window at its limit, and smaller bursts", limited, True),
    ):
        there = predict(flow.changed(assembly_time_s=time), one.flavour)
        # Both take S for lambda T_b, and are optima only where S < W_m.
        small = float(flow.access_rate * time) < float(flow.window_limit)
        holds = small and (int(there.equation) in _AT_LIMIT) == at_limit
        found.append(Said(name, words, holds, float(time), float(rate) * one.useful_bits))
    best = numerical_optimum(flow, one.flavour)
    time_s, rate_ = float(best.assembly_time_s), float(best.throughput)
    words = "what holds at each time"
    found.append(Said(NUMERICALLY, words, True, time_s, rate_ * one.useful_bits))
    return tuple(found)


def curve_of(scenario: Scenario, times_s: FloatArray) -> FloatArray:
    """Give the throughput by yu2004 at some assembly times, in useful bits a second."""
    flow, one = read(scenario)
    timeouts = [one.timeout_s(float(flow.round_trip_s) + 2 * time) for time in times_s]
    along = flow.changed(assembly_time_s=times_s, timeout_s=timeouts)
    return np.asarray(predict(along, one.flavour).throughput * one.useful_bits)
