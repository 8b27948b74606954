"""The ends of all subflows: docs/model.md, "Subflows"."""

from typing import Any

from twin.data_level import DataLevel, LevelConnection, LevelPart, LevelReceiver, LevelSender
from twin.endpoint import Endpoint, Flow
from twin.multipath import Connection, Part, SubflowSender
from twin.network import Network
from twin.receiver import TcpReceiver


def most_subflows(transports: list[dict[str, Any]]) -> int:
    """The largest number of subflows of a connection."""
    numbers: list[int] = [transport.get("subflows", 1) for transport in transports]
    return max(numbers)


def has_level(transport: dict[str, Any]) -> bool:
    """Whether the data of a connection has numbers of its own."""
    return bool(transport.get("reinjection") or transport.get("shared_window"))


def plain_ends(
    network: Network,
    flow: Flow,
    transport: dict[str, Any],
    own: int,
    connections: dict[int, Connection],
) -> tuple[Endpoint, Endpoint]:
    """The ends of a subflow without a data level, with the flow number `own`."""
    whole = connections.setdefault(flow.index, Connection(flow, flow.size))
    here, there = flow.source, flow.destination
    part = Part(own, here, there, flow.start, 0, flow.group, [], whole=flow)
    sender = SubflowSender(network, part, transport, here, there)
    sender.join(whole)
    return sender, TcpReceiver(network, part, transport, there, here)


def level_ends(
    network: Network,
    flow: Flow,
    transport: dict[str, Any],
    number: int,
    own: int,
    connections: dict[int, Connection],
) -> tuple[Endpoint, Endpoint]:
    """The ends of subflow `number` with a data level, with the flow number `own`."""
    if number == 0:
        level = DataLevel(flow, transport)
        connections[flow.index] = LevelConnection(flow, flow.size, level=level)
    whole = connections[flow.index]
    assert isinstance(whole, LevelConnection)
    assert whole.level is not None
    here, there = flow.source, flow.destination
    part = LevelPart(own, here, there, flow.start, 0, flow.group, [], whole=flow)
    part.level, part.number = whole.level, number
    sender = LevelSender(network, part, transport, here, there)
    sender.join(whole)
    receiver = LevelReceiver(network, part, transport, there, here)
    receiver.join(whole.level, number)
    return sender, receiver


def add_subflows(
    network: Network,
    flows: list[Flow],
    transports: list[dict[str, Any]],
    senders: list[Endpoint],
    receivers: list[Endpoint],
) -> dict[int, Connection]:
    """Put the ends of subflows in the place of those of their flows, and behind all others.

    A flow with fewer subflows than another has its own ends there, which are never used.
    """
    connections: dict[int, Connection] = {}
    most = most_subflows(transports)
    for number in range(most if most > 1 else 0):
        for flow in flows:
            transport = transports[flow.group]
            ends = senders[flow.index], receivers[flow.index]
            if number < transport.get("subflows", 1) > 1:
                own = flow.index + number * len(flows)
                if has_level(transport):
                    ends = level_ends(network, flow, transport, number, own, connections)
                else:
                    ends = plain_ends(network, flow, transport, own, connections)
            if number:
                senders.append(ends[0])
                receivers.append(ends[1])
            else:
                senders[flow.index], receivers[flow.index] = ends
    return connections
