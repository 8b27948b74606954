"""The pull queue of a receiving host."""

from typing import Protocol

from twin.events import Moment
from twin.network import PULL, TIMER, Network


class Pulling(Protocol):
    """The receiver of a message."""

    def pull(self) -> int:
        """Send a pull; returns after what time the next one of the host may follow."""


class PullQueue:
    """Pulls of all messages to one host, one message after the other."""

    def __init__(self, network: Network, host: int) -> None:
        self.network = network
        self.host = host
        #: One entry for each pull that waits, in the order in which they were added.
        self.rows: list[Pulling] = []
        #: The messages that wait, in the order of their turns.
        self.turns: list[Pulling] = []
        self.next = 0
        self.armed = False

    def add(self, receiver: Pulling) -> None:
        """Add a pull."""
        self.rows.append(receiver)
        if receiver not in self.turns:
            self.turns.append(receiver)
        if self.armed:
            return
        if self.network.events.now >= self.next:
            self.send()
        else:
            self.arm()

    def forget(self, receiver: Pulling) -> None:
        """Take the pulls of a message out."""
        self.rows = [row for row in self.rows if row is not receiver]
        self.turns = [other for other in self.turns if other is not receiver]

    def arm(self) -> None:
        """Wait for the time of the next pull."""
        self.armed = True
        self.network.events.add(self.next, Moment(TIMER, self.host, 0, PULL), self.expire)

    def expire(self) -> None:
        """Send the next pull, if one still waits."""
        self.armed = False
        if self.rows:
            self.send()

    def send(self) -> None:
        """Send the pull of the message whose turn it is."""
        receiver = self.turns.pop(0)
        self.rows.remove(receiver)
        if receiver in self.rows:
            self.turns.append(receiver)
        self.next = self.network.events.now + receiver.pull()
        if self.rows:
            self.arm()
