"""Which lightburst a process has, so that only workers with the same one compute runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lightburst.study.workers.arrival import fields


@dataclass(frozen=True, slots=True)
class Identity:
    """Which lightburst a process has.

    Attributes
    ----------
    version : str
        Of the package; empty without one.
    model : int
        Version of the model.
    build : str
        The first digits of the SHA-256 of the package: its Python and its compiled core.
    numpy : str
        Version of NumPy, which draws the flows.
    machine : str
        System and processor, for which the core was built.
    """

    version: str = ""
    model: int = 0
    build: str = ""
    numpy: str = ""
    machine: str = ""

    def fits(self, other: Identity) -> bool:
        """Tell whether both give the same results to the bit.

        A core that was built for another machine is another file: there the versions must do.
        """
        if self.machine == other.machine and self.build != other.build:
            return False
        mine, theirs = ((one.version, one.model, one.numpy) for one in (self, other))
        return mine == theirs

    def __str__(self) -> str:
        if not self.version:
            return "no lightburst"
        return (
            f"lightburst {self.version} (model {self.model}, build {self.build}, "
            f"NumPy {self.numpy}, {self.machine})"
        )


@cache
def mine() -> Identity:
    """Give that of this process."""
    return Identity(**fields())
