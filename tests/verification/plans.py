"""Small plans built by hand, and the two engines that can run them."""

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from twin import Columns, Trace
from twin import simulate as simulate_twin

from lightburst import Scenario, _core
from lightburst.compile import compile_plan

Arrays = dict[str, npt.NDArray[Any]]
Edge = tuple[int, int]

GIGABIT = 10**9
MICROSECOND = 10**6
MILLISECOND = 10**9
SECOND = 10**12
UNFINISHED = 2**64 - 1
START = 12_345


class Plan(NamedTuple):
    """The arguments of `_core.simulate`, with the settings still a dict."""

    settings: dict[str, Any]
    links: Arrays
    flows: Arrays
    #: The index of each switch's settings; by default the first.
    kinds: Sequence[int] | None = None
    #: The columns of the paths of labels.
    paths: Arrays | None = None

    @property
    def nodes(self) -> Arrays:
        """The table of switches, and of paths."""
        switches = self.settings["nodes"] - self.settings["hosts"]
        kinds = [0] * switches if self.kinds is None else self.kinds
        return {"switch": np.array(kinds, np.uint16), **(self.paths or {})}

    @property
    def kind_of(self) -> list[str]:
        """The kind of each switch."""
        switches = self.settings["switches"]
        return [switches[i]["kind"] for i in self.nodes["switch"].tolist()]

    def transport(self, flow: int = 0) -> dict[str, Any]:
        """Settings of a flow's group."""
        group = self.flows["group"][flow] if "group" in self.flows else 0
        found: dict[str, Any] = self.settings["groups"][group]["transport"]
        return found


def core(plan: Plan) -> Columns:
    """Run `plan` in Rust."""
    settings = json.dumps(plan.settings)
    result: Columns = _core.simulate(settings, plan.nodes, plan.links, plan.flows)
    return result


def twin(plan: Plan, trace: Trace | None = None) -> Columns:
    """Run `plan` in the twin, which adds the events of each unit to `trace`."""
    return simulate_twin(plan.settings, plan.nodes, plan.links, plan.flows, trace)


def traced(plan: Plan) -> Trace:
    """The events of each unit in the twin."""
    trace: Trace = []
    twin(plan, trace)
    return trace


class Ran(NamedTuple):
    """A plan, run by both engines."""

    plan: Plan
    #: The result of the twin, and of the core.
    twin: Columns
    core: Columns
    #: The events of each unit in the twin.
    trace: Trace


def ran(plan: Plan) -> Ran:
    """Run `plan` in the twin and in Rust; the caller keeps it for several tests."""
    trace: Trace = []
    return Ran(plan, twin(plan, trace), core(plan), trace)


def compiled(scenario: Scenario, seed: int = 1) -> Plan:
    """The plan that a scenario compiles to."""
    plan = compile_plan(scenario, seed)
    return Plan(plan.settings, plan.links, plan.flows, plan.nodes["switch"].tolist())


ENGINES: list[Callable[[Plan], Columns]] = [twin, core]


def table(
    edges: Sequence[Edge],
    hosts: int,
    *,
    rates: int | Sequence[int] = 10 * GIGABIT,
    delays: int | Sequence[int] = 50_000,
    header_processing: int = 0,
) -> Arrays:
    """Directed links of the undirected `edges`, with a rate and delay for all or for each."""
    rate = [rates] * len(edges) if isinstance(rates, int) else rates
    delay = [delays] * len(edges) if isinstance(delays, int) else delays
    both = [
        (a, b, r, d + (header_processing if b >= hosts else 0))
        for (x, y), r, d in zip(edges, rate, delay, strict=True)
        for a, b in ((x, y), (y, x))
    ]
    both.sort(key=lambda link: link[0])
    return {
        "from": np.array([link[0] for link in both], np.uint32),
        "to": np.array([link[1] for link in both], np.uint32),
        "rate_bps": np.array([link[2] for link in both], np.uint64),
        "delay_ps": np.array([link[3] for link in both], np.uint64),
    }


def path_edges(links: int) -> tuple[list[Edge], int, int]:
    """Edges, hosts and nodes of a path with a host at either end: 0 and 1."""
    nodes = [0, *range(2, links + 1), 1]
    return list(pairwise(nodes)), 2, links + 1


def star_edges(hosts: int) -> tuple[list[Edge], int, int]:
    """Edges, hosts and nodes of one switch with `hosts` hosts."""
    return [(host, hosts) for host in range(hosts)], hosts, hosts + 1


def fat_tree_edges(k: int) -> tuple[list[Edge], int, int]:
    """Edges, hosts and nodes of a k-ary fat-tree, its ports in the order of the core's routing."""
    half = k // 2
    hosts, width = k * half * half, k * half
    edges = [(host, hosts + host // half) for host in range(hosts)]
    for pod in range(k):
        for e in range(half):
            edges += [(hosts + pod * half + e, hosts + width + pod * half + a) for a in range(half)]
    for pod in range(k):
        for a in range(half):
            edges += [
                (hosts + width + pod * half + a, hosts + 2 * width + a * half + c)
                for c in range(half)
            ]
    return edges, hosts, hosts + 2 * width + half * half


def path_table(links: Arrays, *paths: tuple[int, ...]) -> Arrays:
    """Paths over switches, in the order of their labels; over all links from one to the next."""

    def on(path: tuple[int, ...]) -> list[int]:
        hops = [(links["from"] == a) & (links["to"] == b) for a, b in pairwise(path)]
        return [int(link) for hop in hops for link in np.flatnonzero(hop)]

    return path_columns([(path[0], path[-1], on(path)) for path in paths])


def path_columns(paths: Sequence[tuple[int, int, Sequence[int]]]) -> Arrays:
    """Columns of paths: source, destination and links of each."""
    return {
        "path_source": np.array([source for source, _, _ in paths], np.uint32),
        "path_destination": np.array([destination for _, destination, _ in paths], np.uint32),
        "path_offsets": np.cumsum([0, *(len(links) for _, _, links in paths)], dtype=np.uint64),
        "path_links": np.array([link for _, _, links in paths for link in links], np.uint32),
    }


def parallel(edges: Sequence[Edge], hosts: int, wavelengths: int) -> list[Edge]:
    """Replace each link between two switches by several."""
    return [edge for edge in edges for _ in range(wavelengths if min(edge) >= hosts else 1)]


def flow_table(*rows: tuple[int, ...]) -> Arrays:
    """Rows of source, destination, start in ps and bytes, by start."""
    return flow_columns(*np.array(rows, np.uint64).T)


def flow_columns(
    source: npt.ArrayLike, destination: npt.ArrayLike, start: npt.ArrayLike, size: npt.ArrayLike
) -> Arrays:
    """The same from columns."""
    return {
        "source": np.asarray(source, np.uint32),
        "destination": np.asarray(destination, np.uint32),
        "start_ps": np.ascontiguousarray(start, np.uint64),
        "bytes": np.ascontiguousarray(size, np.uint64),
    }


def one_datagram_each(flows: Arrays) -> Arrays:
    """Let each flow be one datagram, sent when the flow starts."""
    return {
        **flows,
        "departures_ps": flows["start_ps"].copy(),
        "departure_offsets": np.arange(len(flows["start_ps"]) + 1, dtype=np.uint64),
    }


def all_optical(switching_time: int = 0) -> dict[str, Any]:
    """Settings of the all-optical switch."""
    return {"kind": "all-optical", "switching_time_ps": switching_time}


def hybrid(
    buffer_ports: int,
    *,
    buffer_bytes: int | None = None,
    re_emission: str = "after-reception",
    switching_time: int = 0,
) -> dict[str, Any]:
    """Settings of the hybrid switch."""
    return {
        "kind": "hybrid",
        "buffer_ports": buffer_ports,
        "buffer_bytes": buffer_bytes,
        "re_emission": re_emission,
        "switching_time_ps": switching_time,
    }


def electronic(
    queue: int | None = None,
    threshold: int | None = None,
    discipline: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Settings of the electronic switch; with a `discipline` its outputs have explicit queues."""
    settings = {"kind": "electronic", "queue_bytes": queue, "ecn_threshold_bytes": threshold}
    return settings if discipline is None else settings | {"queue": discipline}


def datagram(segment: int = 9000, header: int = 0) -> dict[str, Any]:
    """Settings of the open-loop transport."""
    return {
        "kind": "datagram",
        "segment_bytes": segment,
        "header_bytes": header,
        "control_bytes": 64,
    }


def saw(p: float | None = None, **changes: Any) -> dict[str, Any]:
    """Settings of stop-and-wait, with `p` of its `sawl`."""
    return {
        "kind": "saw",
        "alpha": 1.1,
        "beta": 0.5,
        "initial_timeout_ps": MILLISECOND,
        "max_timeout_ps": 60 * SECOND,
        "segment_bytes": 9000,
        "header_bytes": 0,
        "control_bytes": 64,
        "receiver_timers": False,
        **({} if p is None else {"kind": "sawl", "p": p}),
        **changes,
    }


_LOSSES = {"duplicate_threshold": 3, "limited_transmit": True}
_SELECTIVE = {"sack_blocks": 4, "duplicate_sack": True}
_GROWTH = {"window_growth_on_exit": False}
#: The settings of each recovery, with the standards' values.
RECOVERIES: dict[str, dict[str, Any]] = {
    "tahoe": {**_LOSSES, "bug_fix": True},
    "reno": {**_LOSSES, **_GROWTH, "bug_fix": True},
    "new-reno": {
        **_LOSSES,
        **_GROWTH,
        "bug_fix": True,
        "partial_acknowledgement": "impatient",
        "full_acknowledgement": "flight-size",
    },
    "sack": {**_LOSSES, **_SELECTIVE, **_GROWTH, "rescue_retransmission": True},
    "rr-tcp": {
        **_LOSSES,
        **_SELECTIVE,
        **_GROWTH,
        "rescue_retransmission": True,
        "avoidance_ratio": 0.9,
        "remembered_events": 100,
        "undo": True,
    },
    "rack-tlp": {
        **_SELECTIVE,
        "sack": True,
        "duplicate_threshold": 3,
        "reordering_threshold": True,
        "static_reordering_window": False,
        "tail_loss_probe": True,
        "frto": True,
        "restart_after_idle": True,
        "reduction": "linux",
        "pacing": False,
    },
    "sack1": {**_LOSSES, **_SELECTIVE, "bug_fix": True},
}
_ALL_OF_RECOVERIES = {key for table in RECOVERIES.values() for key in table}


def tcp(recovery: str = "sack", *, halving: str = "flight-size", **changes: Any) -> dict[str, Any]:
    """Settings of TCP, with the standards' values; windows in bytes.

    Each change goes into its table; settings of other recoveries are ignored.
    """
    table = {key: changes.get(key, value) for key, value in RECOVERIES[recovery].items()}
    return {
        "kind": "tcp",
        "congestion_control": {"kind": "reno", "halving": halving},
        "recovery": {"kind": recovery, **table},
        "segment_bytes": 1500,
        "header_bytes": 0,
        "control_bytes": 64,
        "advertised_window_bytes": 1000 * 1500,
        "initial_window_bytes": 10 * 1500,
        "acknowledge_every": 2,
        "acknowledgement_delay_ps": 40 * MILLISECOND,
        "initial_timeout_ps": SECOND,
        "min_timeout_ps": SECOND,
        "max_timeout_ps": 60 * SECOND,
        "clock_granularity_ps": MILLISECOND,
        "backoff": 2.0,
        "rtt_samples": "one-at-a-time",
        "timestamps": False,
        "receiver_timers": True,
        "access_buffer_bytes": None,
        **{key: value for key, value in changes.items() if key not in _ALL_OF_RECOVERIES},
    }


def burst(
    kind: str = "timer",
    *,
    time: int | None = None,
    size: int | None = None,
    most: int | None = None,
    least: int | None = None,
    assemble_acknowledgements: bool = True,
    switching_time: int = 0,
    rule: dict[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Settings of edges and cores; sizes in bytes, `most` and `least` of a burst.

    `rule` has the settings of a rule of assembly that has others than a time and a size.
    """
    own = {"time_ps": time, "size_bytes": size, **(rule or {})}
    return {
        "kind": "burst",
        "switching_time_ps": switching_time,
        "assemble_acknowledgements": assemble_acknowledgements,
        "assembly": {
            "kind": kind,
            **{key: value for key, value in own.items() if value is not None},
            "max_bytes": most,
            "min_bytes": least,
        },
        **more,
    }


def window_based(
    times: tuple[int, int, int],
    windows: tuple[int, int] = (16, 64),
    *,
    acknowledgements: str = "slow",
    **more: Any,
) -> dict[str, Any]:
    """Those of `burst` with a time for each pace of flows, with `windows` as the limits of the
    paces.
    """
    names = ("slow_time_ps", "medium_time_ps", "fast_time_ps", "medium_window", "fast_window")
    rule = dict(zip(names, times + windows, strict=True))
    return burst("window-based", rule=rule | {"acknowledgements": acknowledgements}, **more)


def multi_queue(
    time: int, allocation: str, queues: int | None = None, **more: Any
) -> dict[str, Any]:
    """Those of `burst` with several queues for an egress, or one for each flow.

    `more` is what else the allocation has.
    """
    number = {} if queues is None else {"queues": queues}
    allocated = {"kind": allocation, **number, **more}
    return burst("multi-queue", time=time, rule={"allocation": allocated})


def obs(assembly: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Settings of a node that reserves channels; `assembly` as `burst` makes it."""
    return {
        "kind": "obs",
        "assembly": assembly,
        "assemble_acknowledgements": True,
        "switching_time_ps": 0,
        "header_processing_time_ps": 0,
        "header_bytes": 64,
        "control_rate_bps": None,
        "offset_time_ps": 0,
        "offset_per_hop_ps": None,
        "signalling": "jet",
        "scheduler": "lauc-vf",
        "conversion": {"kind": "full"},
        "ingress": "lose",
        **changes,
    }


def loss(
    *drops: dict[str, Any], p: float = 0.0, of_acknowledgements: float = 0.0
) -> dict[str, Any]:
    """Settings of lossy links; a drop without a flow is of flow 0."""
    return {
        "probability": p,
        "acknowledgement_probability": of_acknowledgements,
        "drops": [{"flow": 0, **drop} for drop in drops],
    }


def lossy(links: Arrays, hosts: int) -> Arrays:
    """Let all links between switches be lossy."""
    between = (links["from"] >= hosts) & (links["to"] >= hosts)
    return {**links, "lossy": between.astype(np.uint8)}


def settings(
    hosts: int,
    nodes: int,
    switch: dict[str, Any] | list[dict[str, Any]],
    transport: dict[str, Any] | Sequence[dict[str, Any]],
    **changes: Any,
) -> dict[str, Any]:
    """Settings of a plan: of all switches, or those among which the plan's `kinds` choose.

    With one transport, or with one for each group of flows.
    """
    transports = [transport] if isinstance(transport, dict) else transport
    return {
        "hosts": hosts,
        "nodes": nodes,
        "routing": {"kind": "shortest-path", "metric": "hops"},
        "choice": "free",
        "seed": 1,
        "time_limit_ps": 1000 * SECOND,
        "switches": switch if isinstance(switch, list) else [switch],
        "groups": [{"transport": transport} for transport in transports],
        **changes,
    }


def one_flow(
    links: int,
    switch: dict[str, Any] | list[dict[str, Any]],
    transport: dict[str, Any],
    size: int,
    *,
    metres: int = 10,
    header_processing: int = 0,
    **changes: Any,
) -> Plan:
    """A flow over a path from host to host; 5 ns of delay for each metre."""
    edges, hosts, nodes = path_edges(links)
    links_table = table(edges, hosts, delays=5000 * metres, header_processing=header_processing)
    flows = flow_table((0, 1, START, size))
    if transport["kind"] == "datagram":
        flows = one_datagram_each(flows)
    return Plan(settings(hosts, nodes, switch, transport, **changes), links_table, flows)


class Way(NamedTuple):
    """A path: its number of links, their delay, and the time that each switch adds; in ps."""

    links: int
    delay: int = 50_000
    stored: bool = False
    header: int = 0
    switching: int = 0

    def one_way(self, tx: int) -> int:
        """Time from the beginning of a transmission to its reception at the other host."""
        switches = (self.links - 1) * (self.header + self.switching)
        return self.links * self.delay + switches + (self.links if self.stored else 1) * tx
