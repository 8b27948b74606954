"""Loss in a network: the fixed point of reduced loads, and the streamline effect.

Each route offers a Poisson stream of bursts. A link receives the part of it that earlier links have
not lost, and loses a share of its total load by a formula for one link. The losses of the links
depend on each other, so the solution is a fixed point: Kelly's for telephone networks [1]_, [2]_,
where a call that is blocked anywhere loads no link; Rosberg's for burst networks [3]_, [4]_, where
a lost burst has loaded the links before the one that loses it, and only the later links are
relieved.

The streams that reach a link are assumed to be Poisson, and independent of each other and of other
links. This is exact where no link receives bursts from another link. Elsewhere it is an
approximation: good where streams from many links meet, and wrong where they do not. *Bursts from
one link follow each other on each wavelength. They have contended already, and with equal offsets
cannot contend a second time* (the streamline effect [5]_). A tandem, a chain of links that all
bursts pass from end to end, loses bursts at its first link only; the fixed point counts a further
loss at each link. `fed_by_one_link` names the links for which the effect is certain, and with
``streamline=True`` they lose nothing. A link fed by a few links also loses less than the formula
says; this error remains.

References
----------
.. [1] F. P. Kelly, "Blocking probabilities in large circuit-switched networks", Advances in Applied
   Probability 18(2), 1986, pp. 473-505.
.. [2] W. Whitt, "Blocking when service is required from several facilities simultaneously", AT&T
   Technical Journal 64(8), 1985, pp. 1807-1856.
.. [3] Z. Rosberg, H. L. Vu, M. Zukerman, J. White, "Blocking probabilities of optical burst
   switching networks based on reduced load fixed point approximations", IEEE INFOCOM 2003,
   pp. 2008-2018.
.. [4] Z. Rosberg, H. L. Vu, M. Zukerman, J. White, "Performance analyses of optical burst-switching
   networks", IEEE Journal on Selected Areas in Communications 21(7), 2003, pp. 1187-1197.
.. [5] M. H. Phung, K. C. Chua, G. Mohan, M. Motani, T. C. Wong, "The streamline effect in OBS
   networks and its application in load balancing", IEEE BROADNETS 2005, pp. 304-311.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lightburst.foundation.errors import InputError, show
from lightburst.models.checks import FloatArray, IntArray, loads, wholes
from lightburst.models.erlang import erlang_b

Link = tuple[Any, Any]

_TOLERANCE: Final = 1e-11
_MOST_STEPS: Final = 10_000


@dataclass(frozen=True)
class NetworkLoss:
    """Losses and loads of a network.

    Parameters
    ----------
    links : tuple of (node, node)
        Every link of a route, in the order in which the routes name them.
    offered : ndarray of float, shape (..., links)
        Load that reaches each link, in erlangs.
    link_loss : ndarray of float, shape (..., links)
        Share of this load that is lost on the link.
    route_loss : ndarray of float, shape (..., routes)
        Share of the load of each route that is lost on its path.
    network_loss : ndarray of float, shape (...)
        Share of the whole load that is lost; 0 without a load.
    """

    links: tuple[Link, ...]
    offered: FloatArray
    link_loss: FloatArray
    route_loss: FloatArray
    network_loss: FloatArray


def reduced_load(
    routes: Sequence[Sequence[Hashable]],
    load: ArrayLike,
    wavelengths: int | Mapping[Link, int],
    *,
    link_loss: Callable[[FloatArray, IntArray], FloatArray] = erlang_b,
    streamline: bool = False,
) -> NetworkLoss:
    """Loss on each link and route of a network with full conversion.

    Parameters
    ----------
    routes : sequence of sequence of node
        Nodes on the path of each stream, at least two, of any hashable type.
    load : array_like of float, shape (..., routes)
        Offered load of each route in erlangs, not negative.
    wavelengths : int or mapping of (node, node) to int
        Channels of all links, or of each, at least 1. Without conversion each wavelength is a
        separate network with one channel and its share of the load.
    link_loss : callable
        Loss at one link, as a function of its load in erlangs and its number of channels: Erlang B,
        or `segment_loss` for segmentation.
    streamline : bool
        Whether the links of `fed_by_one_link` lose nothing; otherwise the fixed point applies to
        them.

    Returns
    -------
    NetworkLoss
        Losses of links, routes and the network.

    Raises
    ------
    InputError
        If a route has fewer than two nodes or passes a link twice, a load is negative or not
        finite, there is not one for each route, or a link has no channel.
    RuntimeError
        If the iteration does not converge; possible if `link_loss` does not grow with the load.

    Notes
    -----
    ``A_j = sum_r a_r prod_i (1 - B_i)`` over the links i before j on route r, ``B_j = B(A_j,
    W_j)``, and the loss of route r is ``1 - prod_i (1 - B_i)`` over all its links [3]_. A fixed
    point exists, because the map is continuous on losses from 0 to 1 [1]_. Repeated substitution
    finds it, with a step that is halved whenever the change grows: on rings with long routes the
    whole step would oscillate.
    """
    network = _Network.of(routes, wavelengths)
    erlangs = loads(load)
    if erlangs.ndim == 0 or erlangs.shape[-1] != len(network.hops[0]):
        given = f"an array of shape {erlangs.shape} for {len(network.hops[0])} routes"
        raise InputError("load", given, "a load for each route")
    quiet = network.fed_by_one_link() if streamline else np.zeros(len(network.links), np.bool_)

    def lost(on_links: FloatArray) -> FloatArray:
        found = link_loss(network.reduced(erlangs, on_links), network.channels)
        return np.where(quiet, 0.0, found)

    loss = fixed_point(lost, np.zeros((*erlangs.shape[:-1], len(network.links))))
    route_loss = network.on_routes(loss)
    total = erlangs.sum(axis=-1)
    whole = (erlangs * route_loss).sum(axis=-1) / np.where(total > 0, total, 1.0)
    return NetworkLoss(network.links, network.reduced(erlangs, loss), loss, route_loss, whole)


def fed_by_one_link(
    routes: Sequence[Sequence[Hashable]], wavelengths: int | Mapping[Link, int]
) -> dict[Link, bool]:
    """Find the links that receive all bursts over one other link, and therefore lose none.

    Parameters
    ----------
    routes, wavelengths
        As for `reduced_load`.

    Returns
    -------
    dict of (node, node) to bool
        For each link of a route, whether no route begins with it, all routes come to it over the
        same link, and that link has at most as many channels.

    Raises
    ------
    InputError
        As `reduced_load`.
    """
    network = _Network.of(routes, wavelengths)
    return dict(zip(network.links, network.fed_by_one_link().tolist(), strict=True))


@dataclass(frozen=True)
class _Network:
    """Links by number, and the routes as columns of one table."""

    links: tuple[Link, ...]
    channels: IntArray
    hops: IntArray  # shape (longest route, routes): link numbers, padded with len(links)

    @classmethod
    def of(
        cls, routes: Sequence[Sequence[Hashable]], wavelengths: int | Mapping[Link, int]
    ) -> "_Network":
        if not routes:
            raise InputError("routes", "none", "at least one route")
        numbers: dict[Link, int] = {}
        ways = []
        for route in routes:
            way = [numbers.setdefault(link, len(numbers)) for link in pairwise(route)]
            if not way:
                raise InputError("routes", show(route), "routes of at least two nodes")
            if len(set(way)) < len(way):
                raise InputError("routes", show(route), "routes that pass each link once")
            ways.append(way)
        hops = np.full((max(map(len, ways)), len(ways)), len(numbers))
        for column, way in enumerate(ways):
            hops[: len(way), column] = way
        if isinstance(wavelengths, Mapping):
            for link in numbers:
                if link not in wavelengths:
                    raise InputError("wavelengths", f"none for {show(link)}", "one for each link")
            channels = wholes([wavelengths[link] for link in numbers], "wavelengths", 1)
        else:
            channels = wholes(np.full(len(numbers), wavelengths), "wavelengths", 1)
        return cls(tuple(numbers), channels, hops)

    def reduced(self, load: FloatArray, loss: FloatArray) -> FloatArray:
        """Load that reaches each link, given the loss of each link."""
        kept = np.append(1 - loss, np.ones((*loss.shape[:-1], 1)), axis=-1)
        reaching = np.zeros(kept.shape)
        left = load
        for hop in self.hops:
            np.add.at(reaching.T, hop, left.T)
            left = left * kept[..., hop]
        return reaching[..., :-1]

    def on_routes(self, loss: FloatArray) -> FloatArray:
        """Loss of each route, with full relative precision for small losses."""
        kept = np.append(np.log1p(-loss), np.zeros((*loss.shape[:-1], 1)), axis=-1)
        return np.asarray(-np.expm1(kept[..., self.hops].sum(axis=-2)))

    def fed_by_one_link(self) -> NDArray[np.bool_]:
        before: dict[int, set[int | None]] = {}
        for way in self.hops.T.tolist():
            for last, link in zip([None, *way], way, strict=False):
                before.setdefault(link, set()).add(last)
        fed = np.zeros(len(self.links), np.bool_)
        for link in range(len(self.links)):
            (first, *more) = before[link]
            if first is not None and not more:
                fed[link] = self.channels[first] <= self.channels[link]
        return fed


def fixed_point(of: Callable[[FloatArray], FloatArray], start: FloatArray) -> FloatArray:
    """Find the fixed point of a decreasing function by damped substitution.

    Parameters
    ----------
    of : callable
        The function; input and output have the same shape.
    start : ndarray of float
        Initial value.

    Returns
    -------
    ndarray of float
        A value that the function changes by at most 1e-11 of itself.

    Raises
    ------
    RuntimeError
        If the iteration does not converge.
    """
    value, step, change = start, 1.0, np.inf
    for _ in range(_MOST_STEPS):
        following = of(value)
        off = np.abs(following - value)
        if np.all(off <= _TOLERANCE * following):
            return following
        if off.max() >= change:
            step /= 2
        change = off.max()
        value = value + step * (following - value)
    raise RuntimeError(f"no fixed point after {_MOST_STEPS:,} steps")
