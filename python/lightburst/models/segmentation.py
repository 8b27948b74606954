"""Loss under burst segmentation: colliding bursts lose only the overlapping segments.

A burst consists of segments. If it finds no free channel, only the overlapping segments are lost:
the head of the later burst, until a channel is free [1]_, or the tail of an earlier one [3]_.

Poisson arrivals, full conversion, equal offsets, segments that are short compared with a burst, no
switching time. Without losses, the number `N` of bursts in transmission would be Poisson with mean
`A`, the load (an M/G/inf system). With segmentation ``min(N, W)`` channels are busy at every
instant, so the loss is the share of the load above `W`, for any distribution of the lengths. This
holds

- for the head: the later burst waits for the first free channel, and loses the segments sent
  before;
- for the tail, if of two bursts the one that would end first is cut: the earlier burst loses its
  tail, or the later one all of itself. With bursts of equal length the earlier one is always cut.

No way of cutting bursts loses less, because no channel is idle while any burst could use it. If the
later burst is always admitted, some time is lost: a burst cut for a shorter one leaves a channel
idle that it could have used. If the cut burst is chosen without regard to its end, and lengths are
exponential, the loss is that of Erlang B: segmentation then gains nothing.

References
----------
.. [1] A. Detti, V. Eramo, M. Listanti, "Performance evaluation of a new technique for IP support in
   a WDM optical network: optical composite burst switching (OCBS)", Journal of Lightwave
   Technology 20(2), 2002, pp. 154-165.
.. [2] M. Neuts, Z. Rosberg, H. L. Vu, J. White, M. Zukerman, "Performance analysis of optical
   composite burst switching", IEEE Communications Letters 6(8), 2002, pp. 346-348.
.. [3] V. M. Vokkarane, J. P. Jue, "Prioritized burst segmentation and composite burst-assembly
   techniques for QoS support in optical burst-switched networks", IEEE Journal on Selected Areas
   in Communications 21(7), 2003, pp. 1198-1209.
.. [4] Z. Rosberg, H. L. Vu, M. Zukerman, "Burst segmentation benefit in optical switching", IEEE
   Communications Letters 7(3), 2003, pp. 127-129.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from lightburst.models.checks import FloatArray, loads, wholes


def contention_probability(load: ArrayLike, wavelengths: ArrayLike) -> FloatArray:
    """Probability that a burst finds no free channel, so that one of two bursts is cut.

    Parameters
    ----------
    load : array_like of float
        Offered load ``A`` in erlangs, not negative.
    wavelengths : array_like of int
        Number of channels ``W``, at least 1. Broadcast against `load`.

    Returns
    -------
    ndarray of float
        ``P(N >= W)`` with N Poisson of mean A. It exceeds Erlang B, because the rest of a cut burst
        is sent too and meets others.

    Raises
    ------
    InputError
        If a load is negative or not finite, or a number of channels not a whole number above 0.
    """
    return np.asarray(special.gammainc(wholes(wavelengths, "wavelengths", 1), loads(load)))


def segment_loss(load: ArrayLike, wavelengths: ArrayLike) -> FloatArray:
    """Share of the segments (or bytes) that are lost.

    Parameters
    ----------
    load : array_like of float
        Offered load ``A`` in erlangs, not negative.
    wavelengths : array_like of int
        Number of channels ``W``, at least 1. Broadcast against `load`.

    Returns
    -------
    ndarray of float
        ``E[(N - W)^+] / A`` with N Poisson of mean A [1]_, [2]_; 0 without a load.

    Raises
    ------
    InputError
        As `contention_probability`.

    Notes
    -----
    ``P(N = W) + (1 - W/A) P(N > W)``. For many channels, relative to Erlang B at a load of c per
    channel, it is ``c / ((1 - c)^2 W)`` for c below 1, a half for c = 1, and 1 above [4]_. For c
    below 1 the two terms cancel in part: with 4096 channels nine digits remain.
    """
    erlangs = loads(load)
    channels = wholes(wavelengths, "wavelengths", 1)
    busy = np.where(erlangs > 0, erlangs, 1.0)  # any number: without a load nothing is lost
    exactly = np.exp(special.xlogy(channels, busy) - busy - special.gammaln(channels + 1))
    lost = exactly + (1 - channels / busy) * special.gammainc(channels + 1, busy)
    return np.where(erlangs > 0, np.maximum(lost, 0.0), 0.0)
