"""Optical burst switching."""

from typing import ClassVar, Literal

from pydantic import Field

from lightburst.scenario.fields import Flag
from lightburst.scenario.switching.base import OpticalSwitch
from lightburst.scenario.tables.assembly import OptionalAssembly
from lightburst.scenario.tables.ordering import NoOrdering, Ordering


class Burst(OpticalSwitch):
    """Optical burst switching: edges assemble packets into bursts, cores have no buffer.

    The switches with hosts are the edges.
    """

    assembles: ClassVar[bool] = True
    came_later: ClassVar[frozenset[str]] = frozenset({"ordering"})
    kind: Literal["burst"] = "burst"
    assembly: OptionalAssembly = None
    assemble_acknowledgements: Flag = Field(
        True,
        description=(
            "Whether packets without data are assembled, too. If not, each is sent at once as its "
            "own burst. The round trip of yu2004 is RTT0 + 2 T_b, so packets without data wait "
            "there; its tables do not decide the question."
        ),
    )
    ordering: Ordering = NoOrdering()

    def largest_unit(self) -> tuple[str, int | None]:
        """Return the limit of the size of a burst."""
        return "assembly.max_size", None if self.assembly is None else self.assembly.max_size
