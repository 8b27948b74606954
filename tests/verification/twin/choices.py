"""Choices among equal-cost next hops that keep a state at each node."""

from collections.abc import Callable
from typing import Any

from twin.rng import Xoshiro256PlusPlus
from twin.units import Burst

Members = tuple[int, ...]


class Flowlets:
    """A random port for each flowlet of a flow."""

    def __init__(self, gap_ps: int) -> None:
        self.gap = gap_ps
        self.last: dict[tuple[int, int], tuple[int, int]] = {}

    def pick(
        self,
        unit: Any,
        members: Members,
        now: int,
        draw: Xoshiro256PlusPlus,
        to_send: Callable[[int], int],
    ) -> int:
        """Return the port of a unit."""
        del to_send
        key = unit.hashed, unit.ends[0] if isinstance(unit, Burst) else unit.source
        before, port = self.last.get(key, (0, -1))
        if port not in members or now - before > self.gap:
            port = members[draw.below(len(members))]
        self.last[key] = now, port
        return port


class LeastQueue:
    """The port with the fewest bytes to send, among all or among some."""

    def __init__(self, samples: int | None, memory: int) -> None:
        self.samples = samples
        self.memory = memory
        self.remembered: dict[Members, list[int]] = {}

    def pick(
        self,
        unit: Any,
        members: Members,
        now: int,
        draw: Xoshiro256PlusPlus,
        to_send: Callable[[int], int],
    ) -> int:
        """Return the port of a unit."""
        del unit, now
        if self.samples is None:
            least = min(map(to_send, members))
            equal = [port for port in members if to_send(port) == least]
            return equal[draw.below(len(equal))] if len(equal) > 1 else equal[0]
        left = list(members)
        compared = [left.pop(draw.below(len(left))) for _ in range(min(self.samples, len(members)))]
        compared += [port for port in self.remembered.get(members, []) if port not in compared]
        compared.sort(key=to_send)
        self.remembered[members] = compared[: self.memory]
        return compared[0]


def choice_of(settings: str | dict[str, Any]) -> tuple[str, Flowlets | LeastQueue | None]:
    """Return the name of a choice and its state at a node."""
    if isinstance(settings, str):
        return settings, None
    if settings["kind"] in ("adaptive", "entropy-spray"):
        # Senders have the state, and packets the number that is hashed.
        return "adaptive", None
    own = {key: value for key, value in settings.items() if key != "kind"}
    return settings["kind"], {"flowlet": Flowlets, "least-queue": LeastQueue}[settings["kind"]](
        **own
    )
