"""Loss where bursts can wait in delay lines: bounds, and an exact answer for one channel.

Poisson arrivals with exponential lengths, full conversion, `W` channels. A burst that finds all
channels busy enters a fibre that delays it until a channel is free again; it is lost if no delay is
long enough. Delays are the multiples of a granularity `D`, up to ``K D``.

The loss without delay lines, Erlang B, is an upper bound. Two ideal systems give lower bounds:

- any delay up to the longest one (D tends to 0): an M/M/W queue without those arrivals that would
  have to wait too long. It has a closed form (Barrer, Gnedenko and Kovalenko: [1]_, [2]_);
- as many waiting bursts as there are lines, without a limit of the delay: the M/M/W/(W+F) queue,
  with which [3]_ bounds the loss. It is a bound where a line holds one burst at a time.

Neither includes the idle time of a channel between its release and the arrival of the delayed
burst, ``D/2`` in the mean [4]_. Therefore the loss is near the lower bound for fine delay lines and
rises with their granularity, to Erlang B where it is many lengths of a burst. For one channel both
bounds can be compared with the exact loss, `delay_line_loss_one_channel`. Constant lengths lose
less than exponential ones, possibly less than the lower bound.

References
----------
.. [1] D. Y. Barrer, "Queuing with impatient customers and ordered service", Operations Research
   5(5), 1957, pp. 650-656.
.. [2] B. V. Gnedenko, I. N. Kovalenko, "Introduction to Queueing Theory", Israel Program for
   Scientific Translations, 1968, section 1.4.
.. [3] M. Yoo, C. Qiao, S. Dixit, "QoS performance of optical burst switching in IP-over-WDM
   networks", IEEE Journal on Selected Areas in Communications 18(10), 2000, pp. 2062-2071.
.. [4] F. Callegati, "Optical buffers for variable length packets", IEEE Communications Letters
   4(9), 2000, pp. 292-294.
.. [5] K. Laevens, H. Bruneel, "Analysis of a single-wavelength optical buffer", IEEE INFOCOM
   2003, pp. 1038-1045.
.. [6] W. K. Grassmann, M. I. Taksar, D. P. Heyman, "Regenerative analysis and steady state
   distributions for Markov chains", Operations Research 33(5), 1985, pp. 1107-1116.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from lightburst.models.checks import FloatArray, loads, refuse, wholes
from lightburst.models.erlang import erlang_b, last_state

_LENGTHS = "numbers of mean lengths"
# Upper limit of an exponent: exp(-500) is negligible, but a smaller factor would make a state
# absorbing, with a delay that never changes.
_MOST_FADE = 500.0


def limited_delay_loss(
    load: ArrayLike, wavelengths: ArrayLike, longest_delay: ArrayLike
) -> FloatArray:
    """Loss if a burst can be delayed by any time up to a longest one.

    Parameters
    ----------
    load : array_like of float
        Offered load ``A`` in erlangs, not negative.
    wavelengths : array_like of int
        Number of channels ``W``, at least 1.
    longest_delay : array_like of float
        Longest delay ``d``, in mean lengths of a burst, not negative. All three are broadcast.

    Returns
    -------
    ndarray of float
        Loss probability; Erlang B without a delay.

    Raises
    ------
    InputError
        If a load or a delay is negative or not finite, or a number of channels not a whole number
        above 0.

    Notes
    -----
    The time until a channel is free has the density ``A p(W-1) exp(-(W-A) v)`` up to d and falls as
    ``exp(-W v)`` beyond [1]_. So, with ``x = (W - A) d`` and Erlang B ``B``, the loss is ``1 /
    (1 + (1/B - 1) exp(x) + W d (exp(x) - 1) / x)``.
    """
    erlangs = loads(load)
    channels = wholes(wavelengths, "wavelengths", 1)
    longest = loads(longest_delay, "longest_delay", _LENGTHS)
    slack = (channels - erlangs) * longest
    with np.errstate(divide="ignore", over="ignore"):
        kept = 1 / erlang_b(erlangs, channels) - 1
        return np.asarray(
            1 / (1 + kept * np.exp(slack) + channels * longest * special.exprel(slack))
        )


def limited_room_loss(load: ArrayLike, wavelengths: ArrayLike, lines: ArrayLike) -> FloatArray:
    """Loss if a limited number of bursts can wait, each without a limit of its delay.

    Parameters
    ----------
    load : array_like of float
        Offered load ``A`` in erlangs, not negative.
    wavelengths : array_like of int
        Number of channels ``W``, at least 1.
    lines : array_like of int
        Number of bursts ``F`` that can wait, at least 0. All three are broadcast.

    Returns
    -------
    ndarray of float
        Loss probability of the M/M/W/(W+F) queue, by `erlang.last_state` with ``A / min(n, W)``;
        Erlang B without a line.

    Raises
    ------
    InputError
        If a load is negative or not finite, a number of channels not a whole number above 0, or a
        number of lines not a whole number from 0.
    """
    erlangs, channels, places = np.broadcast_arrays(
        loads(load), wholes(wavelengths, "wavelengths", 1), wholes(lines, "lines")
    )
    return last_state(lambda n: erlangs / np.minimum(n, channels), channels + places)


def delay_line_loss_bounds(
    load: ArrayLike,
    wavelengths: ArrayLike,
    longest_delay: ArrayLike,
    lines: ArrayLike | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Bounds of the loss with delay lines.

    Parameters
    ----------
    load : array_like of float
        Offered load in erlangs, not negative.
    wavelengths : array_like of int
        Number of channels, at least 1.
    longest_delay : array_like of float
        Longest delay, in mean lengths of a burst, not negative.
    lines : array_like of int, optional
        Number of bursts that can wait at a time; without it, unlimited.

    Returns
    -------
    tuple of ndarray of float
        The lower bound, the larger of `limited_delay_loss` and `limited_room_loss`, and the upper
        bound, Erlang B.

    Raises
    ------
    InputError
        As for these functions.
    """
    low = limited_delay_loss(load, wavelengths, longest_delay)
    if lines is not None:
        low = np.maximum(low, limited_room_loss(load, wavelengths, lines))
    return low, np.broadcast_to(erlang_b(load, wavelengths), low.shape)


def delay_line_loss_one_channel(
    load: ArrayLike, granularity: ArrayLike, delays: ArrayLike
) -> FloatArray:
    """Loss at one channel with delay lines, exactly.

    Parameters
    ----------
    load : array_like of float
        Offered load ``A`` of the channel in erlangs, not negative.
    granularity : array_like of float
        Granularity ``D``, in mean lengths of a burst, above 0.
    delays : array_like of int
        Number ``K`` of delays, the multiples of D up to K D; at least 0. All three are broadcast.

    Returns
    -------
    ndarray of float
        Loss probability for exponential lengths, any number of bursts in a line, and no void
        filling: a burst takes the shortest delay after which the channel stays free.

    Raises
    ------
    InputError
        If a load is negative, a granularity not above 0, either not finite, or a number of delays
        not a whole number from 0.

    Notes
    -----
    Markov chain of the delays k of successive carried bursts ([5]_ has it for any distribution of
    lengths). After such a burst the channel is reserved for ``k D`` plus an exponential time. While
    this exceeds ``K D``, arrivals are lost: ``A exp(-(K - k) D)`` bursts in the mean. The next
    arrival, after an exponential time with rate A, then finds the channel reserved for V; its delay
    is the next multiple of D.
    """
    coarse = loads(granularity, "granularity", _LENGTHS)
    refuse(coarse == 0, coarse, "granularity", f"finite {_LENGTHS} above 0")
    cells = np.broadcast_arrays(loads(load), coarse, wholes(delays, "delays"))
    rows = zip(*(cell.ravel().tolist() for cell in cells), strict=True)
    return np.reshape(np.array([_one_channel(*row) for row in rows]), cells[0].shape)


def _one_channel(load: float, granularity: float, delays: int) -> float:
    k, j = np.ogrid[: delays + 1, : delays + 1]
    fade = min(load * granularity, _MOST_FADE)
    # The next burst finds the channel reserved for V, between (j - 1) D and j D. Either the
    # reservation was longer, within K D or beyond it, and V has fallen below j D; ...
    higher = np.maximum(j, k)
    within = np.exp(-(higher - j) * fade - (higher - k) * granularity)
    within *= -np.expm1(-(1 + load) * (delays - higher) * granularity) / (1 + load)
    beyond = np.exp(-(delays - k) * granularity - (delays - j) * fade)
    chain = (within + beyond) * np.where(j > 0, -np.expm1(-fade), 1.0)
    # ... or it was shorter than j D from the start.
    short = -np.expm1(-granularity) + np.expm1(-(1 + load) * granularity) / (1 + load)
    chain += np.where(j > k, short * np.exp(-np.maximum(j - k - 1, 0) * granularity), 0.0)
    lost = load * float(_stationary(chain) @ np.exp(-(delays - k[:, 0]) * granularity))
    return lost / (1 + lost)


def _stationary(chain: FloatArray) -> FloatArray:
    """Stationary distribution of a Markov chain, computed without subtractions [6]_."""
    left = chain.copy()
    last = len(left) - 1
    for n in range(last, 0, -1):
        left[:n, n] /= left[n, :n].sum()
        left[:n, :n] += np.outer(left[:n, n], left[n, :n])
    p = np.ones(1)
    for n in range(1, last + 1):
        p = np.append(p, p @ left[:n, n])
        p /= p.sum()
    return p
