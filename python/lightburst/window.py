"""Which time the figures of a run are of, and what was counted in it."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Self

from lightburst.compile import Plan

Columns = Mapping[str, Mapping[str, Any]]

_PREFIX: Final = "window_"
_SECOND: Final = 10**12


class Window(NamedTuple):
    """A part of a run: from `measurement.warm_up` on to before `until`, or to the end.

    Attributes
    ----------
    begin_ps, end_ps : int
        From the first of these times to the second; in an empty one they are the same.
    """

    begin_ps: int
    end_ps: int

    @classmethod
    def of(cls, plan: Plan, columns: Columns) -> Self:
        """Find the window of a run: none of it is later than the end of the run."""
        begin, end = plan.window_ps
        last = int(columns["totals"]["end_ps"])
        return cls(min(begin, last), min(end, last))

    @property
    def length_ps(self) -> int:
        """How long it is."""
        return self.end_ps - self.begin_ps

    def as_dict(self) -> dict[str, float]:
        """Give it in seconds, as JSON has it."""
        return {"begin_s": self.begin_ps / _SECOND, "end_s": self.end_ps / _SECOND}


def counted(columns: Columns) -> Columns:
    """Put what was counted in the window of a run in the place of what was counted in all of it.

    Parameters
    ----------
    columns : mapping of str to mapping
        The tables as the simulator gave them: ``links``, ``switches``, ``classes`` and ``totals``
        of the whole run, and with a warm-up or an end ``window_links`` and so on.

    Returns
    -------
    mapping of str to mapping
        All tables by their plain names. Totals that tell of the run itself, such as ``end_ps`` and
        ``events``, stay those of the run.
    """
    found = {
        name.removeprefix(_PREFIX): table
        for name, table in columns.items()
        if name.startswith(_PREFIX)
    }
    if not found:
        return columns
    return {**columns, **found, "totals": {**columns["totals"], **found["totals"]}}
