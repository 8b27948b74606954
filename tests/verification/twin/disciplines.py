"""The queue disciplines: docs/model.md, "Explicit queues"."""

from typing import TYPE_CHECKING, Any

from twin.dualpi2 import DualPi2
from twin.lines import Drr, Prio
from twin.link import Waiting
from twin.real import root
from twin.rng import mix
from twin.trim import Trim
from twin.units import Unit

if TYPE_CHECKING:
    from twin.queued import Output


class Discipline:
    """One queue, first in, first out, with room for `capacity` bytes: drop-tail."""

    def __init__(self, output: "Output", settings: dict[str, Any]) -> None:
        self.output = output
        self.settings = settings
        self.queue: list[Waiting] = []

    def enqueue(self, unit: Unit) -> None:
        """Let a unit wait, or drop it."""
        output = self.output
        if not output.admit(unit):
            return
        if output.marked_on_arrival(output.backlog()):
            unit = output.mark(unit)
        output.push(self.queue, unit)

    def dequeue(self) -> Waiting | None:
        """The unit to be sent now; None if all were dropped."""
        first = self.output.pop(self.queue)
        return self.output.departing(first, self.output.waiting_bytes)

    def flush(self) -> list[Unit]:
        """All units, taken out in their order."""
        found = []
        while (waiting := self.output.pop(self.queue)) is not None:
            found.append(waiting.unit)
        return found


class CoDel(Discipline):
    """Controlled delay: RFC 8289, sections 5.5 and 5.6."""

    def __init__(self, output: "Output", settings: dict[str, Any]) -> None:
        super().__init__(output, settings)
        self.target: int = settings["target_ps"]
        self.interval: int = settings["interval_ps"]
        self.largest = 0
        self.first_above: int | None = None
        self.drop_next = self.count = self.last_count = 0
        self.dropping = False

    def enqueue(self, unit: Unit) -> None:
        if self.output.admit(unit):
            self.output.push(self.queue, unit)

    def law(self, time: int) -> int:
        """The time of the next drop."""
        return time + int(float(self.interval) / root(float(self.count), 2))

    def take(self) -> tuple[Waiting | None, bool]:
        """The first unit, and whether it may be dropped."""
        now, first = self.output.now, self.output.pop(self.queue)
        if first is None:
            self.first_above = None
            return None, False
        self.largest = max(self.largest, first.unit.size)
        rest = sum(waiting.unit.size for waiting in self.queue)
        if now - first.since < self.target or rest <= self.largest:
            self.first_above = None
            return first, False
        if self.first_above is None:
            self.first_above = now + self.interval
            return first, False
        return first, now >= self.first_above

    def marked(self, waiting: Waiting) -> Waiting | None:
        """The unit with a mark, if it may be marked."""
        if not self.settings["ecn"] or not self.output.is_capable(waiting.unit):
            return None
        return Waiting(self.output.mark(waiting.unit), waiting.since)

    def dequeue(self) -> Waiting | None:
        now = self.output.now
        first, may = self.take()
        if self.dropping:
            self.dropping = may
            while self.dropping and now >= self.drop_next:
                assert first is not None
                self.count += 1
                marked = self.marked(first)
                if marked is not None:
                    self.drop_next = self.law(self.drop_next)
                    return marked
                self.output.drop(first.unit, "target_exceeded")
                first, self.dropping = self.take()
                if self.dropping:
                    self.drop_next = self.law(self.drop_next)
        elif may:
            assert first is not None
            marked = self.marked(first)
            if marked is not None:
                first = marked
            else:
                self.output.drop(first.unit, "target_exceeded")
                first, _ = self.take()
            self.dropping = True
            since = self.count - self.last_count
            recent = now - self.drop_next < 16 * self.interval
            self.count = since if since > 1 and recent else 1
            self.drop_next = self.law(now)
            self.last_count = self.count
        return first


def power(x: float, n: int) -> float:
    """The `n`-th power of `x`, by squaring."""
    result = 1.0
    while n:
        if n % 2:
            result *= x
        x *= x
        n //= 2
    return result


class Red(Discipline):
    """Random early detection: Floyd and Jacobson 1993, figure 2."""

    def __init__(self, output: "Output", settings: dict[str, Any]) -> None:
        super().__init__(output, settings)
        self.draw = output.draw
        self.average = 0.0
        self.count = -1

    def enqueue(self, unit: Unit) -> None:
        output = self.output
        self.update(output.backlog())
        fate = self.fate()
        if fate == "early" and self.settings["ecn"] and output.is_capable(unit):
            if output.admit(unit):
                output.push(self.queue, output.mark(unit))
        elif fate is not None:
            output.drop(unit, f"red_{fate}")
        elif output.admit(unit):
            output.push(self.queue, unit)
        else:
            self.count = 0

    def update(self, backlog: int) -> None:
        """The average with a further queue, or after idle time."""
        output, w = self.output, self.settings["weight"]
        if backlog:
            self.average = (1.0 - w) * self.average + w * float(backlog)
            return
        last = max((begin for begin, *_ in output.link.all), default=0)
        each = output.link.tx(self.settings["mean_packet_bytes"], last)
        self.average *= power(1.0 - w, (output.now - output.link.free_at) // each)

    def fate(self) -> str | None:
        """Why an arriving unit is dropped; None if it is not."""
        own = self.settings
        low, high = float(own["min_threshold_bytes"]), float(own["max_threshold_bytes"])
        most: float = own["max_probability"]
        if self.average < low:
            self.count = -1
            return None
        if self.average < high:
            p = most * (self.average - low) / (high - low)
        elif own["gentle"] and self.average < 2.0 * high:
            p = most + (1.0 - most) * (self.average - high) / high
        else:
            self.count = 0
            return "forced"
        self.count += 1
        if self.draw.uniform() * (1.0 - float(self.count) * p) < p:
            self.count = 0
            return "early"
        return None


class Pie(Discipline):
    """Proportional integral controller enhanced: RFC 8033, sections 4 and 5.1."""

    def __init__(self, output: "Output", settings: dict[str, Any]) -> None:
        super().__init__(output, settings)
        self.draw = output.draw
        self.p = 0.0
        self.old = self.updates = 0
        self.allowance: int = settings["burst_ps"]

    def update(self) -> None:
        """All updates since the last arrival or departure, one by one."""
        own = self.settings
        while (self.updates + 1) * own["update_ps"] <= self.output.now:
            self.updates += 1
            delay = self.output.delay_at(self.updates * own["update_ps"])
            above = (float(delay) - float(own["target_ps"])) / 1e12
            growth = (float(delay) - float(self.old)) / 1e12
            change = own["alpha"] * above + own["beta"] * growth
            for below, part in zip(
                (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1), (2048, 512, 128, 32, 8, 2), strict=True
            ):
                if self.p < below:
                    change /= float(part)
                    break
            p = self.p + change
            if delay == self.old == 0:
                p *= 0.98
            self.p = min(1.0, max(0.0, p))
            self.allowance = max(0, self.allowance - own["update_ps"])
            if self.p == 0.0 and 2 * max(delay, self.old) < own["target_ps"]:
                self.allowance = own["burst_ps"]
            self.old = delay

    def enqueue(self, unit: Unit) -> None:
        self.update()
        output, own = self.output, self.settings
        backlog = output.backlog()
        if not output.admit(unit):
            return
        calm = 2 * self.old < own["target_ps"] and self.p < 0.2
        may = self.allowance == 0 and not calm and backlog > 2 * own["mean_packet_bytes"]
        if may and self.draw.uniform() < self.p:
            if not (own["ecn"] and self.p < own["mark_below"] and output.is_capable(unit)):
                output.drop(unit, "pie_early")
                return
            unit = output.mark(unit)
        output.push(self.queue, unit)

    def dequeue(self) -> Waiting | None:
        self.update()
        return super().dequeue()

    def flush(self) -> list[Unit]:
        self.update()
        return super().flush()


class FqCoDel(Discipline):
    """Flows hashed into queues with CoDel, by deficit round robin: RFC 8290, section 4."""

    def __init__(self, output: "Output", settings: dict[str, Any]) -> None:
        super().__init__(output, settings)
        self.salt = output.draw.next()
        self.buckets = [CoDel(output, settings) for _ in range(settings["flows"])]
        self.credits: dict[int, int] = {}
        self.new: list[int] = []
        self.old: list[int] = []

    def enqueue(self, unit: Unit) -> None:
        output = self.output
        bucket = mix(self.salt ^ unit.hashed) * len(self.buckets) >> 64
        while not output.fits(unit):
            sizes = [sum(held.unit.size for held in queue.queue) for queue in self.buckets]
            sizes[bucket] += unit.size
            first = output.pop(self.buckets[sizes.index(max(sizes))].queue)
            if first is None:
                output.drop(unit, "queue_full")
                return
            output.drop_for_room(first.unit)
        output.push(self.buckets[bucket].queue, unit)
        if bucket not in self.new + self.old:
            self.new.append(bucket)
            self.credits[bucket] = self.settings["quantum_bytes"]

    def dequeue(self) -> Waiting | None:
        while self.new or self.old:
            turn = self.new or self.old
            bucket = turn[0]
            if self.credits[bucket] <= 0:
                self.credits[bucket] += self.settings["quantum_bytes"]
                self.old.append(turn.pop(0))
                continue
            chosen = self.buckets[bucket].dequeue()
            if chosen is not None:
                self.credits[bucket] -= chosen.unit.size
                return chosen
            if turn is self.new:
                self.old.append(bucket)
            turn.pop(0)
        return None

    def flush(self) -> list[Unit]:
        """The units of each queue, in the order of their numbers."""
        return [unit for bucket in self.buckets for unit in bucket.flush()]


class Marking(Discipline):
    """Zhu et al. 2015, figure 5: marks with a probability that rises with the queue."""

    def __init__(self, output: "Output", settings: dict[str, Any]) -> None:
        super().__init__(output, settings)
        self.draw = output.draw

    def enqueue(self, unit: Unit) -> None:
        if not self.output.admit(unit):
            return
        if self.output.is_capable(unit) and self.marks(self.output.backlog()):
            unit = self.output.mark(unit)
        self.output.push(self.queue, unit)

    def marks(self, backlog: int) -> bool:
        """Whether a packet that finds this queue is marked."""
        low, high = (self.settings[f"{end}_threshold_bytes"] for end in ("min", "max"))
        if not low < backlog <= high:
            return bool(backlog > high)
        most: float = self.settings["max_probability"]
        return self.draw.uniform() < most * (float(backlog - low) / float(high - low))


DISCIPLINES: dict[str, type[Discipline | Prio | DualPi2 | Trim]] = {
    "drop-tail": Discipline,
    "codel": CoDel,
    "red": Red,
    "pie": Pie,
    "fq-codel": FqCoDel,
    "prio": Prio,
    "drr": Drr,
    "dualpi2": DualPi2,
    "marking": Marking,
    "trim": Trim,
}
