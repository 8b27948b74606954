"""Receives that take one of several messages, by the rule of LogGOPSim: two lists for each host."""

from typing import Any

from twin.endpoint import Flow

#: Stands for any source, any tag, and for no join.
ANY = 2**32 - 1


class Receives:
    """Receives that were posted and messages that arrived, each in this order."""

    def __init__(self, column: dict[str, list[Any]], joins: int) -> None:
        self.joins: list[int] = column.get("receive_join", [])
        self.exist = bool(self.joins)
        self.source: list[int] = column.get("receive_source", [])
        self.tag: list[int] = column.get("receive_tag", [])
        self.tag_of_flow: list[int] = column.get("tag_of_flow", [])
        self.busy: list[int] = column.get("receive_busy_ps", [])
        self.sent: list[int] = column.get("sent_join", [])
        self.first = joins - len(self.joins)
        self.host: list[int] = [column["cpu_host"][column["join_cpu"][join]] for join in self.joins]
        self.posted: list[int] = []
        self.unexpected: list[Flow] = []
        #: The receive's join of each message that was taken.
        self.taken: dict[int, int] = {}
        #: The message that each receive's join took.
        self.message: dict[int, Flow] = {}

    def fits(self, receive: int, flow: Flow) -> bool:
        """Whether a receive may take a message."""
        return (
            self.host[receive] == flow.destination
            and self.source[receive] in (ANY, flow.source)
            and self.tag[receive] in (ANY, self.tag_of_flow[flow.index])
        )

    def arrive(self, flow: Flow) -> tuple[int, Flow] | None:
        """Let a message arrive: the first fitting receive that was posted takes it, or it waits."""
        if not self.exist or self.tag_of_flow[flow.index] == ANY:
            return None
        for receive in self.posted:
            if self.fits(receive, flow):
                self.posted.remove(receive)
                return self.take(receive, flow)
        self.unexpected.append(flow)
        return None

    def post(self, join: int) -> tuple[int, Flow] | None:
        """Post the receive of a join, if it has one: it takes the first message, or waits."""
        if not self.exist or join < self.first:
            return None
        receive = join - self.first
        for flow in self.unexpected:
            if self.fits(receive, flow):
                self.unexpected.remove(flow)
                return self.take(receive, flow)
        self.posted.append(receive)
        return None

    def take(self, receive: int, flow: Flow) -> tuple[int, Flow]:
        """Give a message to a receive."""
        join = self.joins[receive]
        self.taken[flow.index] = join
        self.message[join] = flow
        return join, flow

    def work(self, join: int) -> int | None:
        """The work of a receive that took a message; None of other joins."""
        flow = self.message.get(join)
        return None if flow is None else self.busy[flow.index]
