"""Parameters of one TCP flow over a burst-switched path, shared by all equations of yu2004."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from lightburst.scenario import Scenario

FloatArray = NDArray[np.float64]
Variant = Literal["derived", "printed"]
Flavour = Literal["sack", "new-reno", "reno"]

VARIANTS: tuple[Variant, ...] = get_args(Variant)
FLAVOURS: tuple[Flavour, ...] = get_args(Flavour)

# Name, description of the valid values, and test.
_ALLOWED: tuple[tuple[str, str, Callable[[FloatArray], NDArray[np.bool_]]], ...] = (
    ("loss", "probabilities above 0 and below 1", lambda v: (v > 0) & (v < 1)),
    ("assembly_time_s", "seconds from 0", lambda v: (v >= 0) & np.isfinite(v)),
    ("access_rate", "segments a second above 0", lambda v: (v > 0) & np.isfinite(v)),
    ("round_trip_s", "seconds above 0", lambda v: (v > 0) & np.isfinite(v)),
    ("timeout_s", "seconds above 0", lambda v: (v > 0) & np.isfinite(v)),
    ("window_limit", "segments from 1", lambda v: (v >= 1) & np.isfinite(v)),
    ("rounds_per_increase", "numbers from 1", lambda v: (v >= 1) & np.isfinite(v)),
)


class Flow:
    """TCP flow with its path and losses (section II.A of the paper).

    Parameters
    ----------
    loss : array_like of float
        Burst loss probability ``p``, above 0 and below 1.
    assembly_time_s : array_like of float
        Burst assembly time ``T_b`` at both edges, in seconds.
    access_rate : array_like of float
        Access bandwidth ``lambda`` in segments a second.
    round_trip_s : array_like of float
        Round trip time without assembly ``RTT_0``, in seconds.
    timeout_s : array_like of float
        First retransmission timeout ``RTO``, in seconds.
    window_limit : array_like of float
        Largest window ``W_m`` in segments; a large number for no limit.
    rounds_per_increase : array_like of float
        ``b``: rounds acknowledged before the window grows by one segment; 2 with delayed ACKs.

    Raises
    ------
    ValueError
        If a value is outside its range, or the shapes do not broadcast.

    Notes
    -----
    All parameters are stored as arrays under their names; equations broadcast them.
    """

    def __init__(
        self,
        *,
        loss: ArrayLike,
        assembly_time_s: ArrayLike,
        access_rate: ArrayLike,
        round_trip_s: ArrayLike,
        timeout_s: ArrayLike,
        window_limit: ArrayLike,
        rounds_per_increase: ArrayLike = 1,
    ) -> None:
        self.loss = np.asarray(loss, dtype=np.float64)
        self.assembly_time_s = np.asarray(assembly_time_s, dtype=np.float64)
        self.access_rate = np.asarray(access_rate, dtype=np.float64)
        self.round_trip_s = np.asarray(round_trip_s, dtype=np.float64)
        self.timeout_s = np.asarray(timeout_s, dtype=np.float64)
        self.window_limit = np.asarray(window_limit, dtype=np.float64)
        self.rounds_per_increase = np.asarray(rounds_per_increase, dtype=np.float64)
        for name, allowed, good in _ALLOWED:
            if not np.all(good(vars(self)[name])):
                raise ValueError(f"{name}: allowed are {allowed}")
        self.shape = np.broadcast_shapes(*(vars(self)[name].shape for name, _, _ in _ALLOWED))

    @classmethod
    def from_scenario(cls, scenario: "Scenario") -> "Flow":
        """Read a flow from a scenario: one TCP flow over a path with random burst loss.

        Parameters
        ----------
        scenario : Scenario
            With a topology ``obs-path`` of one pair of hosts, or ``path``; ``burst`` switching with
            assembly by a ``timer``; a probability of loss; ``tcp`` with the window of ``reno``.

        Returns
        -------
        Flow
            Flow of shape (). The round trip is the propagation time; `changed` can replace it.

        Raises
        ------
        InputError
            With each field outside the assumptions of the model.
        """
        from lightburst.models.yu2004.scenarios import read

        return read(scenario)[0]

    def changed(self, **changes: ArrayLike) -> "Flow":
        """Return a copy with some parameters replaced, given by name."""
        return Flow(**self.values() | changes)

    def values(self) -> dict[str, ArrayLike]:
        """Return the parameters by name, as the constructor takes them."""
        return {name: vars(self)[name] for name, _, _ in _ALLOWED}

    @property
    def burst_segments(self) -> FloatArray:
        """Segments in a burst: ``S = min(lambda T_b + 1, W_m)`` (section II.A)."""
        return np.minimum(self.access_rate * self.assembly_time_s + 1, self.window_limit)

    @property
    def full_round_trip_s(self) -> FloatArray:
        """Round trip time with the assembly of data and ACKs: ``RTT_0 + 2 T_b`` (below (27))."""
        return np.asarray(self.round_trip_s + 2 * self.assembly_time_s)


def is_printed(variant: str) -> bool:
    """Whether the variant is the paper's own form; `ValueError` if it is unknown."""
    if variant not in VARIANTS:
        raise ValueError(f"variant: given {variant!r}; allowed are {', '.join(VARIANTS)}")
    return variant == "printed"
