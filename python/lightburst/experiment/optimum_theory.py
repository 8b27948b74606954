"""Predictions of yu2004 for the best assembly time, to compare with a search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lightburst.foundation.errors import InputError
from lightburst.foundation.formatting import readable
from lightburst.foundation.units import PICOSECONDS_PER_SECOND, format_duration
from lightburst.models.yu2004 import numerical_optimum, optimum, predict
from lightburst.models.yu2004.scenarios import read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightburst.models.checks import FloatArray
    from lightburst.scenario import Scenario

#: Field predicted by the equations, and the metric that they maximise.
TIME: Final = "switching.assembly.time"
THROUGHPUT: Final = "throughput_bps"
#: Name of the assembly time that maximises the applicable equations numerically.
NUMERICALLY: Final = "numerically"

# Equations of `predict` for a window at its limit.
_AT_LIMIT: Final = (28, 29)
_DIGITS: Final = 6


@dataclass(frozen=True)
class Said:
    """Prediction of one equation.

    Attributes
    ----------
    name : str
        Name, such as ``"equation (30)"``.
    assumes : str
        Assumption about the window.
    holds : bool
        Whether the assumption holds at `time_s`, by the mean window (10), and a burst is smaller
        than the window.
    time_s : float
        Best assembly time, in seconds.
    throughput_bps : float
        Goodput at that time in bits per second, by (31), by (33), or by the applicable equation.
    """

    name: str
    assumes: str
    holds: bool
    time_s: float
    throughput_bps: float

    @property
    def written(self) -> str:
        """The time in the notation of a scenario, with six significant digits."""
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
    """Evaluate equations (30) and (32), and the numerical optimum of all equations.

    Parameters
    ----------
    scenario : Scenario
        Scenario with the best values found; its assembly time is ignored.
    paths : sequence of str
        Paths of the parameters of the search.

    Returns
    -------
    tuple of Said
        Predictions; empty if the assembly time was no parameter, or the paper's model does not
        apply to the scenario.
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
        # Both equations set S = lambda T_b, and give the optimum only where S < W_m.
        small = float(flow.access_rate * time) < float(flow.window_limit)
        holds = small and (int(there.equation) in _AT_LIMIT) == at_limit
        found.append(Said(name, words, holds, float(time), float(rate) * one.useful_bits))
    best = numerical_optimum(flow, one.flavour)
    time_s, rate_ = float(best.assembly_time_s), float(best.throughput)
    words = "what holds at each time"
    found.append(Said(NUMERICALLY, words, True, time_s, rate_ * one.useful_bits))
    return tuple(found)


def curve_of(scenario: Scenario, times_s: FloatArray) -> FloatArray:
    """Return the goodput by yu2004 at some assembly times, in bits per second."""
    flow, one = read(scenario)
    timeouts = [one.timeout_s(float(flow.round_trip_s) + 2 * time) for time in times_s]
    along = flow.changed(assembly_time_s=times_s, timeout_s=timeouts)
    return np.asarray(predict(along, one.flavour).throughput * one.useful_bits)
