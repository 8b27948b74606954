"""Open parameters of komatireddy2009: the settings of the search, and their points."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from lightburst.papers.komatireddy2009.points import Point

LONGEST: Final = 50e-3
LOSS: Final = 1e-3
#: Links per path, all of which lose bursts in the paper's scenario.
LINKS: Final = 4

INFERRED: Final = "S1"
OTHER: Final = "S2"
#: Changes of each setting relative to the paper's scenario: fields of `Point`, ``lossy`` (number of
#: links per path that lose bursts), ``access`` (rate of a sender's link), and paths of a scenario.
SETTINGS: Final[dict[str, dict[str, Any]]] = {
    INFERRED: {},
    OTHER: {"link": 10e-3, "lossy": 2},
    "load of 1: 2 Gb/s": {"capacity": 2e9},
    "load of 1: 5 Gb/s": {"capacity": 5e9},
    "load of 1: 10 Gb/s": {"capacity": 10e9},
    "load of 1: 40 Gb/s": {"capacity": 40e9},
    "links of 2.5 ms": {"link": 2.5e-3},
    "links of 10 ms": {"link": 10e-3},
    "two links lose": {"lossy": 2},
    "one link loses": {"lossy": 1},
    "5 Gb/s, links of 10 ms, two lose": {"capacity": 5e9, "link": 10e-3, "lossy": 2},
    "window of 100": {"window": 100},
    "window of 500": {"window": 500},
    "access of 50 Mb/s": {"access": "50 Mb/s"},
    "access of 1 Gb/s": {"access": "1 Gb/s"},
    "two wavelengths": {"channels": 2},
    "threshold on the whole path": {"routing.label.threshold_on": "path"},
    "ACKs assembled": {"switching.assemble_acknowledgements": True},
    "b = 2": {"transport.acknowledge_every": 2},
    "minimum timeout of 1 s": {"transport.min_timeout": "1 s"},
}
#: Runs of each setting: law, remedy and loss.
RUN: Final = (
    ("HighSpeed", "none", 0.0),
    ("HighSpeed", "source", 0.0),
    ("HighSpeed", "none", LOSS),
    ("HighSpeed", "source", LOSS),
    ("FAST", "none", 0.0),
    ("FAST", "source", 0.0),
)


class Tried(NamedTuple):
    """Point of the search, at the longest differential.

    Parameters
    ----------
    setting : str
        One of `SETTINGS`.
    law, remedy, loss
        Fields of `Point`.
    """

    setting: str
    law: str
    remedy: str
    loss: float

    def settings(self) -> dict[str, object]:
        """Return the point as settings of a scenario, by path."""
        changed = dict(SETTINGS[self.setting])
        access, lossy = changed.pop("access", None), changed.pop("lossy", LINKS)
        fields = {name: changed.pop(name) for name in Point._fields if name in changed}
        # Spreads the losses of the `lossy` links over all links of a path.
        fields = {"delta": LONGEST, "loss": self.loss * lossy / LINKS, **fields}
        found = Point(self.law, self.remedy, **fields).settings()
        if access is not None:
            links: Any = found["topology.links"]
            found["topology.links"] = [
                {**link, "rate": access} if "rate" in link else link for link in links
            ]
        return {**found, **changed}


def points(quick: bool = False) -> list[Tried]:
    """List all points; in a preview those of the two inferred settings."""
    names = (INFERRED, OTHER) if quick else tuple(SETTINGS)
    return [Tried(name, *run) for name in names for run in RUN]
