"""Effect of each parameter on each number: its mean along the parameter, by the emulators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lightburst.experiment.calibrated.aims import readings_of
from lightburst.study.calibration.ranges import INTERVALS

if TYPE_CHECKING:
    from lightburst.experiment.calibrated.history import Emulated
    from lightburst.papers.open import Open
    from lightburst.study.calibration.implausibility import FloatArray

#: Settings over which a mean is taken.
_OVER: Final = 2048


@dataclass(frozen=True)
class Effects:
    """Mean signed implausibilities along parameters.

    Attributes
    ----------
    names : tuple of str
        Parameters.
    along : tuple of ndarray of float, each of shape (readings, intervals or choices)
        For each parameter the mean distance of each number from the middle of its range, or from
        its bound, in the deviations of an implausibility; positive above it. NaN without emulator.
    """

    names: tuple[str, ...]
    along: tuple[FloatArray, ...]

    def size(self, reading: int) -> list[float]:
        """Return the effect of each parameter on a reading: largest less smallest mean."""
        found = []
        for curves in self.along:
            curve = curves[reading][np.isfinite(curves[reading])]
            found.append(float(np.ptp(curve)) if len(curve) else 0.0)
        return found

    def strongest(self, reading: int) -> str:
        """Return the parameter with the largest effect on a reading; empty if there is none."""
        sizes = self.size(reading)
        return self.names[int(np.argmax(sizes))] if any(sizes) else ""


def effects_of(emulated: Emulated, opened: Open, parts: FloatArray) -> Effects:
    """Average numbers along each parameter over settings, all others as they come."""
    some = parts[:_OVER]
    means, variances = emulated.predict(some)
    signed = np.empty_like(means)
    for place, one in enumerate(readings_of(emulated.aims)):
        low, high = one.target.ends
        both = np.isfinite(low) and np.isfinite(high)
        at = (low + high) / 2 if both else low if np.isfinite(low) else high
        spread = np.sqrt(variances[:, place] + one.seed_variance + one.target.tolerance**2)
        signed[:, place] = np.divide(
            means[:, place] - at, spread, out=np.full(len(some), np.nan), where=spread > 0
        )
    along = []
    for place, parameter in enumerate(opened.parameters):
        count = parameter.number or INTERVALS
        of = np.minimum((some[:, place] * count).astype(int), count - 1)
        along.append(
            np.column_stack(
                [
                    signed[of == number].mean(axis=0)
                    if (of == number).any()
                    else np.full(signed.shape[1], np.nan)
                    for number in range(count)
                ]
            )
        )
    return Effects(opened.names, tuple(along))
