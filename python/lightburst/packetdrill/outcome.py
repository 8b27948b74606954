"""Outcome of a script."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """Where a script and the sender part.

    Attributes
    ----------
    line : int
        Line of the script.
    what : str
        What differs.
    expected : str
        What the script says.
    found : str
        What the sender did.
    """

    line: int
    what: str
    expected: str
    found: str


@dataclass(frozen=True)
class Outcome:
    """Outcome of a script.

    Attributes
    ----------
    path : str
        File of the script.
    events : int
        Events that were carried out.
    difference : Difference or None
        The first difference; None if the script passes.
    """

    path: str
    events: int
    difference: Difference | None = None

    @property
    def passed(self) -> bool:
        """Whether the script passes."""
        return self.difference is None

    def __str__(self) -> str:
        if self.difference is None:
            return f"pass  {self.path}"
        one = self.difference
        return f"fail  {self.path}:{one.line}: {one.what}\n    - {one.expected}\n    + {one.found}"
