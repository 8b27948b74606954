"""Queues, buffers and transmission at regular times."""

from typing import Any

import numpy as np
import numpy.typing as npt

from twin.link import Link
from twin.switches import Switch

Tables = dict[str, dict[str, npt.NDArray[Any]]]


class Samples:
    """The state at each multiple of `every` (ps; None: never) and at the end of the run."""

    def __init__(self, every: int | None, links: list[Link], switches: list[Switch]) -> None:
        self.every = every
        self.links = links
        self.switches = switches
        self.times: list[int] = []
        self.queues: list[int] = []
        self.busy: list[int] = []
        self.buffers: list[int] = []

    def before(self, time: int) -> None:
        """Take the samples that are due before an event at `time`."""
        if self.every is not None:
            last = self.times[-1] if self.times else 0
            for due in range(last + self.every, time, self.every):
                self.take(due)

    def end(self, time: int) -> None:
        """Take the last one, unless it was taken."""
        self.before(time)
        if self.every is not None and time > (self.times[-1] if self.times else 0):
            self.take(time)

    def take(self, time: int) -> None:
        """Note the state."""
        self.times.append(time)
        self.queues += [link.waiting(time) + link.at_interface for link in self.links]
        self.busy += [link.busy(time) for link in self.links]
        self.buffers += [switch.held(time) for switch in self.switches]

    def tables(self) -> Tables:
        """The columns."""
        if self.every is None:
            return {}
        return {
            "samples": {"time_ps": np.array(self.times, "u8")},
            "samples_links": {
                "queue_bytes": np.array(self.queues, "u8"),
                "busy_ps": np.array(self.busy, "u8"),
            },
            "samples_switches": {"buffer_bytes": np.array(self.buffers, "u8")},
        }
