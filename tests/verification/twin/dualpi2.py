"""The coupled dual queue with PI2: RFC 9332, appendix A; docs/model.md, "Explicit queues"."""

from typing import TYPE_CHECKING, Any

from twin.link import Waiting
from twin.units import Packet, Unit

if TYPE_CHECKING:
    from twin.queued import Output


class DualPi2:
    """Two queues; `scalable` is the one of scalable senders."""

    def __init__(self, output: "Output", settings: dict[str, Any]) -> None:
        self.output = output
        self.own = settings
        self.scalable: list[Waiting] = []
        self.classic: list[Waiting] = []
        self.counts = {"scalable": 0.0, "classic": 0.0}
        self.deficits = {"scalable": 0, "classic": 0}
        self.turn = "scalable"
        self.begun = False
        self.p = 0.0
        self.previous = self.updates = 0

    def queue(self, side: str) -> list[Waiting]:
        """The queue of a side."""
        return self.scalable if side == "scalable" else self.classic

    def update(self) -> None:
        """All updates since the last arrival or departure, one by one."""
        own = self.own
        while (self.updates + 1) * own["update_ps"] <= self.output.now:
            self.updates += 1
            at = self.updates * own["update_ps"]
            delay = max(
                [at - queue[0].since for queue in (self.scalable, self.classic) if queue] + [0]
            )
            above = (float(delay) - float(own["target_ps"])) / 1e12
            growth = (float(delay) - float(self.previous)) / 1e12
            p = self.p + own["alpha"] * above + own["beta"] * growth
            self.p = min(1.0, max(0.0, p))
            self.previous = delay

    def enqueue(self, unit: Unit) -> None:
        """Let a unit wait, or drop it."""
        self.update()
        if self.output.admit(unit):
            side = "scalable" if isinstance(unit, Packet) and unit.scalable else "classic"
            self.output.push(self.queue(side), unit)

    def side(self) -> str | None:
        """The queue that sends next, by deficit round robin."""
        if not self.scalable and not self.classic:
            return None
        quantum: int = self.own["quantum_bytes"]
        quanta = {"scalable": quantum * self.own["l4s_weight"], "classic": quantum}
        while True:
            queue = self.queue(self.turn)
            if not queue:
                self.deficits[self.turn] = 0
            else:
                if not self.begun:
                    self.deficits[self.turn] += quanta[self.turn]
                    self.begun = True
                if queue[0].unit.size <= self.deficits[self.turn]:
                    self.deficits[self.turn] -= queue[0].unit.size
                    return self.turn
            self.turn = "classic" if self.turn == "scalable" else "scalable"
            self.begun = False

    def recur(self, side: str, likelihood: float) -> bool:
        """True with a certain likelihood."""
        self.counts[side] += likelihood
        if self.counts[side] > 1.0:
            self.counts[side] -= 1.0
            return True
        return False

    def native(self, delay: int) -> float:
        """The likelihood of a mark by the delay of the scalable queue."""
        low, span = self.own["l4s_threshold_ps"], self.own["l4s_range_ps"]
        if delay >= low + span:
            return 1.0
        return float(delay - low) / float(span) if delay > low else 0.0

    def dequeue(self) -> Waiting | None:
        """The unit to be sent now; None if all were dropped."""
        self.update()
        k: float = self.own["coupling"]
        coupled, squared = min(k * self.p, 1.0), self.p * self.p
        while (side := self.side()) is not None:
            waiting = self.output.pop(self.queue(side))
            assert waiting is not None
            unit = waiting.unit
            if side == "classic":
                drop = self.recur(side, squared)
                mark = drop and squared < min(1.0 / (k * k), 1.0) and self.output.is_capable(unit)
                drop = drop and not mark
            elif coupled < 1.0:
                wait = self.output.now - waiting.since
                native = self.native(wait) if len(self.scalable) > 1 else 0.0
                drop, mark = False, self.recur(side, max(native, coupled))
            else:
                drop = self.recur(side, squared)
                mark = not drop and self.recur(side, coupled)
            if not drop:
                return Waiting(self.output.mark(unit), waiting.since) if mark else waiting
            self.output.drop(unit, "dualpi2_early")
        return None

    def flush(self) -> list[Unit]:
        """The units of both queues."""
        self.update()
        found = []
        for queue in (self.scalable, self.classic):
            while (waiting := self.output.pop(queue)) is not None:
                found.append(waiting.unit)
        self.deficits = {"scalable": 0, "classic": 0}
        self.begun = False
        return found
