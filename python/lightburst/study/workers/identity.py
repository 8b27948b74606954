"""Which lightburst a process has, so that only workers with the same one compute runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


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
    return Identity(**question()())


def question() -> Callable[[], dict[str, Any]]:
    """Give a function that finds the fields of an `Identity` out, in any process.

    It is defined here and not in the module, so that it travels as code: a worker may have another
    lightburst, or none.
    """

    def found() -> dict[str, Any]:
        import hashlib
        import platform
        from importlib.metadata import version
        from importlib.util import find_spec
        from pathlib import Path

        package = find_spec("lightburst")
        if package is None or package.origin is None:
            return {}
        from lightburst.provenance import MODEL_VERSION

        digest = hashlib.sha256()
        core, folder = find_spec("lightburst._core"), Path(package.origin).parent
        files = [*folder.rglob("*.py"), *([Path(core.origin)] if core and core.origin else [])]
        for file in sorted(files, key=lambda file: file.relative_to(folder).as_posix()):
            digest.update(file.read_bytes())
        return {
            "version": version("lightburst"),
            "model": MODEL_VERSION,
            "build": digest.hexdigest()[:12],
            "numpy": version("numpy"),
            "machine": f"{platform.system()} {platform.machine()}",
        }

    return found
