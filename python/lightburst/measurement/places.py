"""Names of nodes and links in tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightburst.measurement.cells import NOWHERE, whole

if TYPE_CHECKING:
    from lightburst.measurement.protocols import Plan


class Places(NamedTuple):
    """Names of nodes and links in tables, by the numbers of the simulator.

    Attributes
    ----------
    link_from, link_to : ndarray of uint32, shape (links,)
        Numbers of the nodes at both ends of each link.
    names : tuple of str or None
        Names of the nodes; None if nodes have numbers only.
    link_names : tuple of str or None
        Names of the links, if links have names.
    wavelength : ndarray of uint16, shape (links,), optional
        Number of each link among the links of its fibre; by default 0 for all.
    """

    link_from: NDArray[np.uint32]
    link_to: NDArray[np.uint32]
    names: tuple[str, ...] | None = None
    link_names: tuple[str, ...] | None = None
    wavelength: NDArray[np.uint16] | None = None

    @classmethod
    def of(cls, plan: Plan) -> Places:
        """Return the names in the network of a plan."""
        ends, network = (plan.links["from"], plan.links["to"]), plan.network
        if network is None:
            return cls(*ends)
        return cls(*ends, network.names, network.link_names, network.wavelength)

    def all_links(self) -> dict[str, NDArray[Any]]:
        """Return the columns that identify links, one row per link.

        ``source``, ``target``, ``name`` (where links have names) and ``wavelength``.
        """
        own = np.zeros_like(self.link_from) if self.wavelength is None else self.wavelength
        names = {} if self.link_names is None else {"name": np.array(self.link_names, object)}
        ends = {"source": self.named(self.link_from), "target": self.named(self.link_to)}
        return {**ends, **names, "wavelength": own}

    def channels(self, link: NDArray[np.uint32], channel: NDArray[np.uint16]) -> NDArray[np.uint16]:
        """Return channels of links as channels of fibres, where each wavelength may be a link."""
        return channel if self.wavelength is None else channel + self.wavelength[link]

    def named(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return the names of existing nodes."""
        return numbers if self.names is None else np.array(self.names, dtype=object)[numbers]

    def nodes(self, numbers: NDArray[Any]) -> Any:
        """Return the names of nodes; missing for `NOWHERE`."""
        known = numbers != NOWHERE
        if self.names is None:
            return whole(numbers, known)
        found = self.named(np.where(known, numbers, 0))
        found[~known] = None
        return found

    def links(self, numbers: NDArray[np.uint32], prefix: str = "") -> dict[str, Any]:
        """Return the columns ``link``, ``link_source``, ``link_target``; missing without a link."""
        known = numbers != NOWHERE
        safe = np.where(known, numbers, 0)
        ends = {"link_source": self.link_from[safe], "link_target": self.link_to[safe]}
        return {
            f"{prefix}link": whole(numbers, known),
            **{
                f"{prefix}{name}": self.nodes(np.where(known, nodes, np.uint32(NOWHERE)))
                for name, nodes in ends.items()
            },
        }
