"""Limits that stop a run: the number of events, the memory, and the simulator's clock."""

from collections.abc import Callable, Iterator
from typing import Final

from lightburst._core import Stopped
from lightburst.compile import Plan
from lightburst.foundation.counts import PS
from lightburst.foundation.errors import InputError, LimitError
from lightburst.foundation.memory import available_memory, held_memory
from lightburst.foundation.units import format_size
from lightburst.scenario.tables.measurement import MEASUREMENTS

#: Called with the number of events and the simulated time in picoseconds.
Progress = Callable[[int, int], None]

# Fraction of the memory available soon after the start of a run that is left to other programs.
_LEFT: Final = 0.05


class Watch:
    """Watch of a run, called some times a second: stops the run when memory is short.

    Parameters
    ----------
    memory_limit : int or None
        Most bytes that this program may hold, with all its concurrent runs. None: as many as are
        available.
    progress : callable, optional
        Callback for each of the calls.
    """

    def __init__(self, memory_limit: int | None, progress: Progress | None = None) -> None:
        self.limit = memory_limit
        self.progress = progress
        # Determined at the first call: most runs end before it, and need no psutil.
        self._reserve: float | None = None

    def __call__(self, events: int, now_ps: int) -> bool:
        """Return whether the run must stop, given its events and simulated time so far."""
        if self.progress is not None:
            self.progress(events, now_ps)
        if self.limit is None:
            free = available_memory()
            if self._reserve is None:
                self._reserve = _LEFT * free
            return free < self._reserve
        return held_memory() > self.limit


def refusal(stopped: Stopped, plan: Plan, watch: Watch, event_limit: int | None) -> InputError:
    """Return the error of a run that reached a limit, with the causes of its size.

    Parameters
    ----------
    stopped : Stopped
        The exception of the simulator.
    plan : Plan
        The plan of the run.
    watch : Watch
        The watch of the run.
    event_limit : int or None
        Largest number of events; several threads stop at the end of a window, somewhat later.
    """
    why, load = stopped.args
    when = f"after {load['events']:,} events and {load['now_ps'] * PS:,.6g} s of simulated time"
    most = "; ".join(_most(load, plan))
    if why == "clock":
        given = f"a link whose queue outlasts the clock, {when}: {most}"
        return InputError("topology", given, "queues that are sent within 213 days")
    if why == "events":
        given = f"{event_limit}, and a run that has not ended {when}: {most}"
        return LimitError("measurement.event_limit", given, "more, or a run that ends earlier")
    memory = "'free'" if watch.limit is None else format_size(watch.limit)
    given = f"{memory}, and a run that needs more {when}: {most}"
    return LimitError("measurement.memory_limit", given, "more, or a smaller run")


def _most(load: dict[str, int], plan: Plan) -> Iterator[str]:
    """Yield in words the largest numbers of the run: units, queues, retransmissions."""
    yield f"{load['units']:,} packets and bursts are in the network"
    if load["waiting_bytes"]:
        ends = (plan.name(int(plan.links[end][load["link"]])) for end in ("from", "to"))
        yield f"{_size(load['waiting_bytes'])} wait for the link {' - '.join(ends)}"
    if load["held_bytes"]:
        switch = plan.name(plan.settings["hosts"] + load["switch"])
        yield f"{_size(load['held_bytes'])} wait in the switch {switch}"
    if load["retransmissions"]:
        yield f"flow {load['flow']} has {load['retransmissions']:,} retransmissions"
    held = dict(one.held for one in MEASUREMENTS if one.held is not None)
    for counted, number in load.items():
        if counted in held and number:
            yield held[counted].format(number)


def _size(size: int) -> str:
    """Format a size for messages, with few digits."""
    return f"{size:,} B" if size < 10**6 else f"{size / 1e6:,.1f} MB"
