"""Sampling of points from the axes of a sweep, instead of all their combinations."""

import math
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from lightburst.foundation.errors import InputError
from lightburst.scenario.fields import Whole
from lightburst.scenario.section import Section


class Sample(Section):
    """Sampling of points from the axes, instead of all combinations.

    ``"latin-hypercube"`` [1]_ divides every axis into as many parts as there are points, with one
    point in each part. ``"sobol"`` [2]_, scrambled, covers the joint space most evenly.

    References
    ----------
    .. [1] M. D. McKay, R. J. Beckman, W. J. Conover, "A comparison of three methods for selecting
       values of input variables in the analysis of output from a computer code", Technometrics
       21(2), 1979, pp. 239-245.
    .. [2] A. B. Owen, "Scrambling Sobol' and Niederreiter-Xing points", Journal of Complexity
       14(4), 1998, pp. 466-489.
    """

    kind: Literal["latin-hypercube", "sobol"]
    points: Annotated[int, Whole(2, 2**20)]
    seed: Annotated[int, Whole(0)] = 1

    def draw(self, axes: int) -> NDArray[np.float64]:
        """Draw the points.

        Parameters
        ----------
        axes : int
            Number of axes.

        Returns
        -------
        ndarray of float, shape (points, axes)
            Coordinates in [0, 1).

        Raises
        ------
        InputError
            If the number of points of a Sobol sample is not a power of two, so that it is
            unbalanced.
        """
        from scipy.stats import qmc

        if self.kind == "latin-hypercube":
            return np.asarray(qmc.LatinHypercube(axes, rng=self.seed).random(self.points))
        power = math.log2(self.points)
        if not power.is_integer():
            near = " or ".join(str(2**n) for n in (math.floor(power), math.ceil(power)))
            raise InputError("sample.points", str(self.points), f"a power of two, as {near}")
        return np.asarray(qmc.Sobol(axes, rng=self.seed).random_base2(int(power)))
