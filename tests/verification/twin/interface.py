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
        if not self.waiting and self.link.free_at <= now and not self.paused:
            return self.network.transmit(self.link, packet, now)
        if self.fifo or not packet.payload:
            self.control.append((packet, departs))
        else:
            queue = self.of(packet.flow)
            if queue is None:
                queue = Queue(packet.flow)
                self.turns.append(queue)
            queue.waiting.append((packet, departs))
        self.arm()
        return None

    @property
    def paused(self) -> bool:
        """Whether its link pauses."""
        return self.network.pauses.is_paused(self.link)

    def after_frame(self) -> None:
        """A pause has begun or ended."""
        if not self.waiting or self.armed or self.paused:
            return
        if self.link.free_at > self.network.events.now:
            self.arm()
        else:
            self.depart()

    def arm(self) -> None:
        """Let the next one leave when the link is free."""
        if self.waiting and not self.armed and not self.paused:
            self.armed = True
            moment = Moment(TIMER, self.link.source, 0, DEPARTURE)
            self.network.events.add(self.link.free_at, moment, self.depart)

    def depart(self) -> None:
        """Send the next one."""
        self.armed = False
        if self.paused:
            return
        queue, wanted = None, None
        if self.control:
            packet, departs = self.control.pop(0)
        else:
            queue = self.next_turn()
            packet, departs = queue.waiting.pop(0)
            wanted, queue.wanted = queue.wanted, None
        self.network.transmit(self.link, packet, self.network.events.now)
        departs()
        if wanted is not None:
            wanted()
        if queue is not None and not queue.waiting:
            self.turns.remove(queue)
        self.arm()

    def next_turn(self) -> Queue:
        """Find the flow whose turn it is: deficit round robin."""
        while True:
            queue = self.turns[0]
            if not queue.served:
                queue.served = True
                queue.deficit += self.quantum
            size = queue.waiting[0][0].size
            if size <= queue.deficit:
                queue.deficit -= size
                return queue
            queue.served = False
            self.turns.append(self.turns.pop(0))
