"""Identification of lightburst installations, so that only identical ones compute runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lightburst.study.workers.arrival import fields


@dataclass(frozen=True, slots=True)
class Identity:
    """Identity of the lightburst installation of a process.

    Attributes
    ----------
    version : str
        Version of the package; empty without lightburst.
    model : int
        Version of the model.
    build : str
        Beginning of the SHA-256 of the package: its Python files and its compiled core.
    numpy : str
        Version of NumPy, which generates the flows.
    machine : str
        Operating system and processor for which the core was built.
    """

    version: str = ""
    model: int = 0
    build: str = ""
    numpy: str = ""
    machine: str = ""

    def fits(self, other: Identity) -> bool:
        """Return whether two installations give bit-identical results.

        Cores built for different machines differ as files; in this case only versions are compared.
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
    """Return the identity of this process."""
    return Identity(**fields())
