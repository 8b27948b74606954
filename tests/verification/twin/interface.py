"""The fair interface of a host: docs/model.md, "Fair interfaces of hosts"."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from twin.events import Moment

if TYPE_CHECKING:
    from twin.link import Link
    from twin.network import Network
    from twin.units import Packet

#: The callback of a segment's sender when it leaves.
Departure = Callable[[], None]
Waiting = tuple["Packet", Departure]

#: The class of timers, and the kind of this one.
TIMER, DEPARTURE = 1, 5


@dataclass
class Queue:
    """The waiting segments of one flow, and the unused bytes of its turn."""

    flow: int
    waiting: list[Waiting] = field(default_factory=list)
    deficit: int = 0
    served: bool = False
    # The callback of its sender when there is room, if it waits for that.
    wanted: Departure | None = None


class FairInterface:
    """Segments without data first, then the flows in turn."""

    def __init__(self, network: "Network", link: "Link", settings: dict[str, Any]) -> None:
        transports = [group["transport"] for group in settings["groups"]]
        self.network = network
        self.link = link
        fair = settings.get("fair")
        #: Without turns, where it is there to pause.
        self.fifo = fair is None
        self.most: int | None = None if fair is None else fair["small_queue"]
        self.quantum = max(max(t["segment_bytes"], t["control_bytes"]) for t in transports)
        self.control: list[Waiting] = []
        self.turns: list[Queue] = []
        self.armed = False

    @property
    def waiting(self) -> list["Packet"]:
        """All packets that wait."""
        queues = [self.control, *(queue.waiting for queue in self.turns)]
        return [packet for queue in queues for packet, _ in queue]

    def has_room(self, flow: int, wanted: Departure) -> bool:
        """Whether another segment of a flow may wait; if not, `wanted` is called when it may."""
        queue = self.of(flow)
        if queue is None or self.most is None or len(queue.waiting) < self.most:
            return True
        queue.wanted = wanted
        return False

    def of(self, flow: int) -> Queue | None:
        """The waiting segments of a flow."""
        return next((queue for queue in self.turns if queue.flow == flow), None)

    def hand_over(self, packet: "Packet", departs: Departure) -> int | None:
        """Send a packet now, returning its start, or let it wait: `departs` is called when it
        leaves.
        """
        now = self.network.events.now
        is_open = self.is_open(packet)
        if is_open and self.link.free_at <= now and not any(map(self.is_open, self.waiting)):
            return self.network.transmit(self.link, packet, now)
        if self.fifo or not packet.payload:
            self.control.append((packet, departs))
        else:
            queue = self.of(packet.flow)
            if queue is None:
                queue = Queue(packet.flow)
                self.turns.append(queue)
            queue.waiting.append((packet, departs))
        if is_open:
            self.arm()
        return None

    def is_open(self, packet: "Packet") -> bool:
        """Whether the class of a packet does not pause."""
        return self.network.pauses.is_open(self.link, packet)

    def after_frame(self, *, begins: bool) -> None:
        """A pause has begun or ended."""
        if begins or not self.waiting or self.armed:
            return
        if self.link.free_at > self.network.events.now:
            self.arm()
        else:
            self.depart()

    def arm(self) -> None:
        """Let the next one leave when the link is free."""
        if self.waiting and not self.armed:
            self.armed = True
            moment = Moment(TIMER, self.link.source, 0, DEPARTURE)
            self.network.events.add(self.link.free_at, moment, self.depart)

    def depart(self) -> None:
        """Send the next one."""
        self.armed = False
        if not any(map(self.is_open, self.waiting)):
            return
        queue, wanted = None, None
        control = [one for one in self.control if self.is_open(one[0])]
        if control:
            packet, departs = control[0]
            self.control.remove(control[0])
        else:
            queue = self.next_turn()
            packet, departs = queue.waiting.pop(0)
            wanted, queue.wanted = queue.wanted, None
        more = bool(self.waiting)
        self.network.transmit(self.link, packet, self.network.events.now)
        departs()
        if wanted is not None:
            wanted()
        if queue is not None and not queue.waiting:
            self.turns.remove(queue)
        if more:
            self.arm()

    def next_turn(self) -> Queue:
        """Find the flow whose turn it is: deficit round robin."""
        while True:
            queue = self.turns[0]
            if not self.is_open(queue.waiting[0][0]):
                if queue.served:
                    queue.deficit = max(0, queue.deficit - self.quantum)
                queue.served = False
                self.turns.append(self.turns.pop(0))
                continue
            if not queue.served:
                queue.served = True
                queue.deficit += self.quantum
            size = queue.waiting[0][0].size
            if size <= queue.deficit:
                queue.deficit -= size
                return queue
            queue.served = False
            self.turns.append(self.turns.pop(0))
