"""Checks of a scenario that need its network and its flows."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lightburst.compile.memory import segments_in_windows
from lightburst.compile.switches import Switches
from lightburst.foundation.errors import InputError, combine
from lightburst.foundation.units import (
    BITS_PER_BYTE,
    PICOSECONDS_PER_SECOND,
    format_duration,
    format_rate,
    format_size,
)
from lightburst.scenario.model import Scenario
from lightburst.scenario.switching import Burst, Obs
from lightburst.scenario.transport import Bursts, Connection, OpenLoop, Rdma, Tcp, Transport
from lightburst.topology import Network
from lightburst.workload import Flows, datagram_counts

# Limit of the waiting time in a queue and of the delay of a path. The simulator's clock ends at
# 1.8e19 ps: the sum of the time limit, the largest timeout and this limit stays below that end.
# Retransmissions are not known before the run: if they make a queue outlast the clock, the run
# ends with an error.
_LONGEST_PS = 4 * 10**18
# The simulator counts the bytes of a unit in 32 bits.
_LARGEST_BURST = 10**9


def check_loss(scenario: Scenario, network: Network) -> None:
    """Refuse losses that the links do not allow."""
    if scenario.loss is not None and not lossy_links(scenario, network).any():
        raise InputError(
            "loss",
            "a network without a link between two switches",
            "a network with such a link: only links between switches lose units",
        )


def lossy_links(scenario: Scenario, network: Network) -> NDArray[np.bool_]:
    """Return whether each link is lossy by ``loss.on``, shape (links,); without ``[loss]`` none."""
    if scenario.loss is None:
        return np.zeros(network.link_from.size, np.bool_)
    between = network.between_switches
    if scenario.loss.on == "every-link":
        return between
    has_hosts = np.zeros(network.nodes, np.bool_)
    has_hosts[network.next_to_hosts] = True
    return between & has_hosts[network.link_from]


def check_flows(
    scenario: Scenario, network: Network, switches: Switches, groups: Sequence[Flows]
) -> None:
    """Refuse unknown flows, waiting times beyond the clock, and bursts that are too large."""
    errors = list(_missing_flows(scenario, sum(map(len, groups))))
    if errors:
        raise combine(errors)
    each = zip(scenario.flow_groups, groups, strict=True)
    limit = scenario.measurement.time_limit
    segments = [_most_waiting(group.transport, flows, network, limit) for group, flows in each]
    _check_clock(scenario, network, segments)
    errors = [*_storms(scenario, network, groups), *_nowhere_to_go(scenario, network, groups)]
    if errors:
        raise combine(errors)
    for path, table in zip(switches.paths, switches.tables, strict=True):
        if isinstance(table, Burst | Obs):
            _check_bursts(scenario, path, table, network, segments)


def _missing_flows(scenario: Scenario, flows: int) -> Iterator[InputError]:
    """Yield the errors of a scenario that names flows that do not exist."""
    scripts = {} if scenario.loss is None else scenario.loss.scripts
    for path, script in scripts.items():
        if script.flow >= flows:
            allowed = f"the number of a flow, 0 to {flows - 1}"
            yield InputError(f"{path}.flow", str(script.flow), allowed)
    for one in scenario.measurement.asked:
        yield from one.missing_flows(scenario.measurement, flows)


def _storms(scenario: Scenario, network: Network, groups: Sequence[Flows]) -> Iterator[InputError]:
    """Yield the transports whose longest timeout is shorter than the transmission of a segment.

    Each segment would be retransmitted before its transmission ends, so that the load exceeds the
    capacity of the link and a queue without limit grows without end.
    """
    rates = network.host_rate_bps
    for group, flows in zip(scenario.flow_groups, groups, strict=True):
        transport = group.transport
        if not isinstance(transport, Connection) or len(flows) == 0:
            continue
        slowest = int(min(rates[flows.source].min(), rates[flows.destination].min()))
        data = min(transport.payload, int(flows.size_bytes.max())) + transport.header_size
        largest = max(data, transport.control_size)
        needed = _transmission_ps(largest, slowest)
        if transport.max_timeout < needed:
            yield InputError(
                f"{group.transport_path}.max_timeout",
                format_duration(transport.max_timeout),
                f"at least {format_duration(needed)}, the transmission time of a segment of "
                f"{format_size(largest)} at {format_rate(slowest)}: otherwise each segment is "
                "retransmitted before its transmission ends",
            )


#: Setting with which each kind of workload has flows between different switches only.
_DRAWN: Final = {"poisson": ", such as workload.between = 'edges' draws"}


def _nowhere_to_go(
    scenario: Scenario, network: Network, groups: Sequence[Flows]
) -> Iterator[InputError]:
    """Yield the groups that have bursts from an edge to itself."""
    edge = network.next_to_hosts
    for group, flows in zip(scenario.flow_groups, groups, strict=True):
        if not isinstance(group.transport, Bursts):
            continue
        there = np.flatnonzero(edge[flows.source] == edge[flows.destination])
        if there.size:
            ends = flows.source[there[0]], flows.destination[there[0]]
            names = " and ".join(network.name(int(host)) for host in ends)
            at = network.name(int(edge[ends[0]]))
            yield InputError(
                f"{group.transport_path}.kind",
                f"'bursts', where {there.size} flows are between hosts of one switch, such as "
                f"{names} at {at}",
                "flows between hosts of different switches" + _DRAWN.get(group.workload.kind, ""),
            )


def _transmission_ps(size: int, rate: int) -> int:
    """Return the transmission time of `size` bytes at `rate` bits per second, rounded up, in ps."""
    return -(-BITS_PER_BYTE * PICOSECONDS_PER_SECOND * size // rate)


def _most_waiting(transport: Transport, flows: Flows, network: Network, time_limit: int) -> int:
    """Return the largest number of a group's segments that can wait in one queue.

    Datagrams: all until the time limit. TCP and RDMA: the segments of each flow, at most the
    advertised window, or those that may be in flight. Other transports: one segment of each flow.
    """
    if isinstance(transport, OpenLoop):
        rates = network.host_rate_bps[flows.source]
        return int(datagram_counts(flows, transport, rates, time_limit).sum())
    if isinstance(transport, Tcp):
        return segments_in_windows(flows.size_bytes, transport.payload, transport.advertised_window)
    if isinstance(transport, Rdma):
        inflight = transport.max_inflight
        most = 2**62 if inflight is None else max(1, inflight // transport.payload)
        return segments_in_windows(flows.size_bytes, transport.payload, most)
    return len(flows)


def _check_clock(scenario: Scenario, network: Network, segments: Sequence[int]) -> None:
    """Refuse waiting times beyond the simulator's clock: huge units on very slow links."""
    rates = (event.rate for event in scenario.events if event.rate is not None)
    slowest = min(int(network.link_rate_bps.min()), *rates, 2**63)
    transports = [group.transport for group in scenario.flow_groups]
    segment = max(transport.segment_size for transport in transports)
    segment_ps = _transmission_ps(segment, slowest)
    longer = max(getattr(transport, "p", 0.0) for transport in transports)
    most = max(range(len(segments)), key=lambda number: segments[number])
    group, alone_ps = scenario.flow_groups[most], max(1, longer) * segment_ps
    if (
        isinstance(group.transport, OpenLoop)
        and alone_ps <= _LONGEST_PS < sum(segments) * segment_ps
    ):
        raise InputError(
            f"{group.path}workload",
            f"up to {segments[most]:,} datagrams until the time limit",
            f"no more than a link of {format_rate(slowest)} sends in "
            f"{format_duration(_LONGEST_PS)}; a smaller size, a lower {group.transport_path}.rate "
            "or a shorter measurement.time_limit makes them fewer",
        )
    if max(sum(segments), longer) * segment_ps > _LONGEST_PS:
        raise InputError(
            "topology.link_rate",
            f"{format_rate(slowest)} for segments of {format_size(segment)}",
            f"a rate at which no segment waits longer than {format_duration(_LONGEST_PS)}",
        )
    # The simulator adds the delays along a path as integers, which must not overflow.
    if scenario.routing.metric == "delay" and network.link_delay_ps.sum(dtype=float) > _LONGEST_PS:
        given = f"'delay', for links of {network.link_delay_ps.sum(dtype=float) * 1e-12:,.4g} s"
        allowed = f"links of no more than {format_duration(_LONGEST_PS)} together, or 'hops'"
        raise InputError("routing.metric", given, allowed)


def _check_bursts(
    scenario: Scenario, path: str, burst: Burst | Obs, network: Network, segments: Sequence[int]
) -> None:
    """Refuse bursts without a largest size that could exceed the simulator's 32-bit count."""
    assembly = burst.assembly
    if assembly is None:
        return
    fibres = network.link_rate_bps[network.between_switches]
    if fibres.size and assembly.min_size is not None:
        rate = int(fibres.min())
        if _transmission_ps(assembly.min_size, rate) > _LONGEST_PS:
            given = f"{format_size(assembly.min_size)} at {format_rate(rate)}"
            allowed = f"a size with a transmission time up to {format_duration(_LONGEST_PS)}"
            raise InputError(f"{path}.assembly.min_size", given, allowed)
    if assembly.max_size is not None:
        return
    assembled = [
        (number, group.transport.segment_size)
        for group, number in zip(scenario.flow_groups, segments, strict=True)
        if not isinstance(group.transport, Bursts)
    ]
    segment = max((size for _, size in assembled), default=0)
    largest = sum(number * size for number, size in assembled)
    if assembly.closing_size is not None:
        largest = min(largest, assembly.closing_size + segment)
    elif assembly.closing_time is not None:
        # Bytes that the hosts of one edge can send in the time, and one segment of each that was
        # in transmission before.
        hosts = int(np.bincount(network.next_to_hosts).max())
        rate = int(network.host_rate_bps.max())
        bits = assembly.closing_time * rate // PICOSECONDS_PER_SECOND
        largest = min(largest, hosts * (bits // BITS_PER_BYTE + segment))
    if largest > _LARGEST_BURST:
        raise InputError(
            f"{path}.assembly.max_size",
            f"'unlimited', and bursts of up to {format_size(largest)} could be assembled",
            f"a size up to {format_size(_LARGEST_BURST)}",
        )
