"""Emulator of a number over the open parameters: a Gaussian process.

References
----------
.. [1] C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes for Machine Learning", MIT Press,
   2006; the covariance function of Matern, equation (4.17), and leave-one-out predictions,
   equations (5.10) to (5.12).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lightburst.study.search.search import needed

if TYPE_CHECKING:
    from lightburst.study.calibration.implausibility import FloatArray

#: Smallest and largest length scale, in ranges of a parameter.
_LENGTHS: Final = (0.05, 50.0)
#: Smallest and largest variance of the noise, as a fraction of that of the numbers.
_NOISE: Final = (1e-6, 1.0)
_AMPLITUDES: Final = (1e-2, 1e2)
#: Fewest numbers from which an emulator is made.
FEWEST: Final = 5


@dataclass(frozen=True)
class Emulator:
    """A fitted Gaussian process with a length scale for each coordinate, and noise.

    Attributes
    ----------
    process : object or None
        The process of scikit-learn; None for numbers that are all equal.
    constant : float
        That number.
    """

    process: Any
    constant: float = 0.0

    @classmethod
    def fit(cls, coordinates: FloatArray, values: FloatArray, seed: int) -> Emulator:
        """Fit a process to numbers.

        Parameters
        ----------
        coordinates : ndarray of float, shape (n, coordinates)
            Settings: fractions of ranges, and a 0 or 1 for each choice.
        values : ndarray of float, shape (n,)
            Number of each, finite.
        seed : int
            Seed of the second start of the fit.

        Raises
        ------
        InputError
            If scikit-learn is not installed.
        """
        processes = needed("sklearn.gaussian_process")
        if np.ptp(values) == 0:
            return cls(None, float(values[0]))
        kernels = needed("sklearn.gaussian_process.kernels")
        shape = kernels.Matern(np.ones(coordinates.shape[1]), _LENGTHS, nu=2.5)
        kernel = kernels.ConstantKernel(1.0, _AMPLITUDES) * shape
        kernel += kernels.WhiteKernel(1e-2, _NOISE)
        process = processes.GaussianProcessRegressor(
            kernel, normalize_y=True, n_restarts_optimizer=1, random_state=seed
        )
        with warnings.catch_warnings():
            # A length scale at its end tells of a parameter without effect, which is no fault.
            warnings.simplefilter("ignore")
            process.fit(coordinates, values)
        return cls(process)

    def predict(self, coordinates: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the number at settings, each of shape (settings,).

        The variance has that of the noise in it: what the process does not explain is uncertain.
        """
        if self.process is None:
            return np.full(len(coordinates), self.constant), np.zeros(len(coordinates))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mean, deviation = self.process.predict(coordinates, return_std=True)
        return np.asarray(mean), np.asarray(deviation) ** 2

    @property
    def missed(self) -> float:
        """Share of the numbers more than three deviations from what all others predict."""
        if self.process is None:
            return 0.0
        inverse = np.linalg.inv(self.process.kernel_(self.process.X_train_))
        # Rasmussen and Williams, equation (5.12): residual over its deviation.
        off = np.ravel(self.process.alpha_) / np.sqrt(np.diag(inverse))
        return float(np.mean(np.abs(off) > 3))
