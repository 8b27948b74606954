"""A plan in, the columns of the result out."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from twin.audit import audit_columns
from twin.balance import make_balance
from twin.circuits import circuit_switch
from twin.contents import contents
from twin.copies import Copies
from twin.datagram import BurstSender, DatagramReceiver, DatagramSender
from twin.densities import densities
from twin.edge import Edge, burst_switch
from twin.endpoint import Endpoint, Flow, Sender
from twin.events import EventQueue, Moment
from twin.ideal import Ideal
from twin.interface import FairInterface
from twin.joins import Joins
from twin.labels import Labels
from twin.link import Link
from twin.loss import Losses, make_script, packet_number
from twin.network import START, TIMER, Network
from twin.obs import obs_switch
from twin.outages import Outages
from twin.pauses import Pauses
from twin.queued import electronic_switch
from twin.rack_tlp import RackSender
from twin.rates import RateSender
from twin.rdma import RdmaReceiver, RdmaSender
from twin.receiver import TcpReceiver
from twin.recovery_times import recovery
from twin.repaths import Repaths
from twin.rng import stream
from twin.samples import Samples
from twin.stop_and_wait import SawReceiver, SawSender
from twin.subflows import add_subflows, most_subflows
from twin.switches import SWITCHES, Electronic, Hybrid, Switch
from twin.synchronisation import Synchronisation
from twin.tcp import TcpSender
from twin.traces import trace_tables
from twin.units import Header, Packet, Trace, Unit
from twin.window import Counts, Window

UNFINISHED = 2**64 - 1
OPEN_LOOP = ("datagram", "bursts")
STATUSES = ["finished", "time-limit", "not-started", "lost", "gave-up"]
MAKERS: dict[str, Callable[[Network, int, dict[str, Any], dict[str, Any]], Switch]] = {
    **SWITCHES,
    "electronic": electronic_switch,
    "burst": burst_switch,
    "obs": obs_switch,
    "circuit": circuit_switch,
}
ENDS: dict[str, tuple[type[Endpoint], type[Endpoint]]] = {
    "datagram": (DatagramSender, DatagramReceiver),
    "bursts": (BurstSender, DatagramReceiver),
    "saw": (SawSender, SawReceiver),
    "sawl": (SawSender, SawReceiver),
    "tcp": (TcpSender, TcpReceiver),
    "rdma": (RdmaSender, RdmaReceiver),
}

Columns = dict[str, dict[str, Any]]
Arrays = dict[str, npt.NDArray[Any]]


class Simulation:
    """One run of one plan."""

    def __init__(
        self, settings: dict[str, Any], nodes: Arrays, links: Arrays, flows: Arrays
    ) -> None:
        self.settings = settings
        self.transports: list[dict[str, Any]] = [g["transport"] for g in settings["groups"]]
        self.hosts: int = settings["hosts"]
        self.events = EventQueue(settings["time_limit_ps"], settings["seed"])
        self.trace: Trace = []
        self.flows = make_flows(flows)
        self.joins = Joins(flows, self.flows, self.begin, self.events)
        for flow in self.flows:
            flow.arrived = partial(self.joins.arrive, flow)
        self.connections = [f for f in self.flows if self.transport(f)["kind"] not in OPEN_LOOP]
        # The class of each switch, by its index among the switches.
        self.kinds = [settings["switches"][i] for i in nodes["switch"].tolist()]
        self.racks = set(links["to"][: self.hosts].tolist())
        every_link = self.make_links(links)
        self.network = Network(
            self.hosts,
            every_link,
            self.events,
            settings["routing"].get("metric", "hops"),
            Labels(settings, nodes, every_link),
            make_balance(settings),
            self.losses(),
            self.trace,
            self.receive,
            self.switching_time,
        )
        self.network.copies = Copies(self.network)
        self.network.repaths = Repaths(settings["choice"])
        self.network.outages = Outages(
            settings.get("outages"),
            self.network,
            self.queues,
            self.flush,
            self.strand,
            self.change,
        )
        self.network.pauses = Pauses(self.network, settings, self.kinds)
        if settings.get("fair") is not None or self.network.pauses.active:
            for link in (self.network.ports[host][0] for host in range(self.hosts)):
                link.interface = FairInterface(self.network, link, settings)
        most = most_subflows(self.transports)
        self.network.labels.flows = len(self.flows)
        self.network.sizes = [flow.size for flow in self.flows] * most
        self.network.groups = [flow.group for flow in self.flows] * most
        self.sources = [flow.source for flow in self.flows] * most
        self.network.classes = any("extra_offset_ps" in own for own in settings["switches"])
        self.network.packet_switch = self.packet_switch()
        self.switches: list[Switch] = [
            MAKERS[own["kind"]](self.network, node, settings, own)
            for node, own in enumerate(self.kinds, self.hosts)
        ]
        self.network.switches = self.switches
        for flow in self.flows:
            flow.writes = settings["groups"][flow.group].get("writes")
        self.senders: list[Endpoint] = []
        self.receivers: list[Endpoint] = []
        self.make_ends()

    def make_ends(self) -> None:
        """Make the sender and the receiver of each flow."""
        for flow in self.flows:
            transport, here, there = self.transport(flow), self.origin(flow), flow.destination
            sender, receiver = ENDS[transport["kind"]]
            if transport.get("recovery", {}).get("kind") == "rack-tlp":
                of_rates = transport["congestion_control"]["kind"] in ("bbr1", "bbr3")
                sender = RateSender if of_rates else RackSender
            self.senders.append(sender(self.network, flow, transport, here, there))
            if isinstance(self.senders[-1], RateSender):
                draw = stream(self.settings["seed"], f"law/{flow.index}")
                self.senders[-1].machine.bbr.draw = draw
            self.receivers.append(receiver(self.network, flow, transport, there, here))
            if isinstance(self.senders[-1], BurstSender):
                edge = self.switches[here - self.hosts]
                assert isinstance(edge, Edge)
                self.senders[-1].enter = edge.enter
        self.multipath = add_subflows(
            self.network, self.flows, self.transports, self.senders, self.receivers
        )

    def parts(self, flow: Flow) -> list[Flow]:
        """The subflows of a flow that have begun, or the flow."""
        whole = self.multipath.get(flow.index)
        return [flow] if whole is None else whole.parts

    def packet_switch(self) -> int | None:
        """The switch beside circuits that has none."""
        kinds = [own["kind"] for own in self.kinds]
        others = [node for node, kind in enumerate(kinds, self.hosts) if kind != "circuit"]
        return others[0] if others and "circuit" in kinds else None

    def transport(self, flow: Flow) -> dict[str, Any]:
        """The settings of a flow's group."""
        return self.transports[flow.group]

    def origin(self, flow: Flow) -> int:
        """The node at which a flow enters the network: its host, or that one's edge."""
        if self.transport(flow)["kind"] != "bursts":
            return flow.source
        return self.network.ports[flow.source][0].target

    def heads(self, source: int, target: int) -> bool:
        """Whether heads arrive; edges of bursts, as hosts, receive whole packets from hosts."""
        if target < self.hosts:
            return False
        kind = self.kinds[target - self.hosts]["kind"]
        if kind == "circuit" and target in self.racks:
            return False
        return kind != "electronic" and not (kind in ("burst", "obs") and source < self.hosts)

    def queues(self, link: Link) -> bool:
        """Whether units that wait for a link in a switch were handed to it."""
        here = link.source - self.hosts
        if here < 0 or self.kinds[here]["kind"] != "electronic":
            return False
        return self.kinds[here].get("queue") is None

    def flush(self, link: Link) -> list[Unit]:
        """Take out the units that wait for a link in an explicit queue."""
        here = link.source - self.hosts
        switch = self.switches[here] if here >= 0 else None
        return switch.flush(link) if isinstance(switch, Electronic) else []

    def strand(self, link: Link, unit: Unit, reroute: bool) -> None:
        """Hand a unit, that waits for a link that is known to be down, to its switch."""
        switch = self.switches[link.source - self.hosts]
        assert isinstance(switch, Electronic)
        switch.strand(link, unit, reroute)

    def change(self, reroute: bool, known: set[int]) -> None:
        """Let buffers find the next hops of their units anew."""
        for switch in self.switches:
            if isinstance(switch, Hybrid):
                switch.new_routes(reroute, known)

    def switching_time(self, node: int) -> int:
        """The time that a switch adds to a unit in transit."""
        own = self.kinds[node - self.hosts]
        time: int = 0 if own["kind"] == "obs" else own.get("switching_time_ps", 0)
        return time

    def make_links(self, table: Arrays) -> list[Link]:
        """The links of the plan."""
        lossy = table["lossy"].tolist() if "lossy" in table else [0] * len(table["from"])
        changes = self.settings.get("changes", {})
        also_lossy = {row[0] for row in changes.get("losses", ())}
        channels = table["channels"].tolist() if "channels" in table else [1] * len(table["from"])
        return [
            Link(
                i,
                source,
                target,
                rate,
                delay,
                heads=self.heads(source, target),
                lossy=bool(lossy[i]) or i in also_lossy,
                scripted=bool(lossy[i]),
                channels=channels[i],
                rates=[(at, bps) for link, at, bps in changes.get("rates", ()) if link == i],
            )
            for i, (source, target, rate, delay) in enumerate(
                rows(table, "from", "to", "rate_bps", "delay_ps")
            )
        ]

    def losses(self) -> Losses:
        """The losses of the lossy links."""
        loss = self.settings.get("loss")
        scripts = []
        for key in ("drops", "marks", "holds", "stalls"):
            for row in (loss or {}).get(key, ()):
                flow = self.flows[row["flow"]]
                scripts.append((key, row, make_script(row, flow.source, self.transport(flow))))
        self.scripts = [script for *_, script in scripts]
        changes = self.settings.get("changes", {}).get("losses", [])
        return Losses(loss, self.settings["seed"], scripts, changes)

    def run(self) -> None:
        """Run from the first event to the last."""
        for flow in self.connections:
            if not self.joins.waits(flow):
                self.begin(flow, flow.start)
        self.joins.start()
        for sender in self.senders[: len(self.flows)]:
            if isinstance(sender, DatagramSender):
                sender.wait()
        self.samples = Samples(self.settings.get("sample_ps"), self.network.links, self.switches)
        connected = [self.senders[flow.index] for flow in self.connections]
        senders = [sender for sender in connected if isinstance(sender, Sender)]
        self.together = Synchronisation(self.settings.get("synchronisation"), senders)
        self.window = Window(self.settings.get("window"), self.count)
        self.events.run(self.look_before, self.network.outages)
        self.samples.end(self.events.now)
        self.together.before(self.events.now + 1)
        self.window.before(self.events.now)

    def look_before(self, time: int) -> None:
        """Take the samples and counts that are due before an event at `time`."""
        self.samples.before(time)
        self.together.before(time)
        self.window.before(time)

    def count(self, until: int | None = None) -> Counts:
        """The counts up to a time, before any event then; or up to the end."""
        delivered = sum(flow.delivered for flow in self.flows)
        return Counts(self.network, self.switches, len(self.transports), delivered, until)

    def begin(self, flow: Flow, time: int) -> None:
        """Let a connection start at a time."""
        moment = Moment(TIMER, flow.source, flow.index, START)
        self.events.add(time, moment, partial(self.start_flow, flow))

    def start_flow(self, flow: Flow) -> None:
        """Start a connection."""
        flow.started = True
        flow.began = self.events.now
        sender = self.senders[flow.index]
        assert isinstance(sender, Sender)
        sender.start()

    def receive(self, node: int, unit: Unit | Header, link: Link) -> None:
        """Hand an arriving unit to the switch or to the endpoint of its connection."""
        if node >= self.hosts:
            self.switches[node - self.hosts].arrive(unit, link)
            return
        assert isinstance(unit, Packet)
        answer = node == self.sources[unit.flow]
        self.network.repaths.came(unit, answer=answer)
        ends = self.senders if answer else self.receivers
        ends[unit.flow].receive(unit)

    def status(self, flow: Flow) -> int:
        """Index into `STATUSES`."""
        if flow.received is not None:
            return STATUSES.index("finished")
        if not flow.started:
            return STATUSES.index("not-started")
        if flow.gave_up:
            return STATUSES.index("gave-up")
        datagrams = self.transport(flow)["kind"] in OPEN_LOOP
        lost = datagrams and self.network.dropped_by_flow[flow.index]
        return STATUSES.index("lost" if lost else "time-limit")

    def path(self, flow: Flow) -> list[Link]:
        """Links of the first path of `flow`."""
        node: int = self.origin(flow)
        unit = Packet(0, flow.index, "", 0, 0, 0, node, flow.destination)
        links: list[Link] = []
        while node != flow.destination:
            port = self.network.next_hops(node, unit)[0]
            links.append(self.network.ports[node][port])
            node = links[-1].target
        # From edge to edge: without the link to the host.
        return links if unit.source < self.hosts else links[:-1]

    def flow_columns(self) -> Arrays:
        """One row for each flow, with paths and times of a network at its best.

        Its links are all up, each with the highest of its rates.
        """
        self.network.down.clear()
        for link in self.network.links:
            link.rate = max([link.rate, *(rate for _, rate in link.rates)])
            link.rates = []
        self.network.new_routes()
        paths = [self.path(flow) for flow in self.flows]
        ideal = Ideal(self.network, self.settings, self.kinds)
        received = [UNFINISHED if f.received is None else f.received for f in self.flows]
        ends = [UNFINISHED if f.acknowledged is None else f.acknowledged for f in self.flows]
        return {
            "received_ps": np.array(received, np.uint64),
            "acknowledged_ps": np.array(ends, np.uint64),
            "delivered_bytes": np.array([flow.delivered for flow in self.flows], np.uint64),
            "transmissions": np.array([flow.transmissions for flow in self.flows], np.uint64),
            "retransmissions": np.array([flow.retransmissions for flow in self.flows], np.uint64),
            "timeouts": np.array([flow.timeouts for flow in self.flows], np.uint64),
            "duplicates": np.array([flow.duplicates for flow in self.flows], np.uint64),
            **self.reinjections(),
            **audit_columns(
                [
                    [(part.audit, self.network.lost[part.index]) for part in self.parts(flow)]
                    for flow in self.flows
                ]
            ),
            "drops": np.array(
                [
                    sum(self.network.dropped_by_flow[part.index] for part in self.parts(flow))
                    for flow in self.flows
                ],
                np.uint64,
            ),
            "status": np.array([self.status(flow) for flow in self.flows], np.uint8),
            "path_links": np.array([len(path) for path in paths], np.uint16),
            "ideal_ps": np.array(
                [
                    ideal.of_flow(flow, self.origin(flow), self.transport(flow))
                    for flow in self.flows
                ],
                np.uint64,
            ),
            **self.joins.columns(),
        }

    def reinjections(self) -> Arrays:
        """Segments that a further subflow sent, if some may."""
        if not any(transport.get("reinjection") for transport in self.transports):
            return {}
        return {"reinjections": np.array([flow.reinjections for flow in self.flows], np.uint64)}

    def reordering(self) -> Columns:
        """A row for each flow, metric and value that occurs."""
        threshold = self.settings.get("displacement_threshold")
        if threshold is None:
            return {}
        rows = []
        for flow in self.flows:
            own = self.transport(flow)
            data = [packet for packet in self.network.came[flow.index] if packet.payload]
            first = [
                one.number for one in data if one.transmission is None or one.transmission.nth == 1
            ]
            order = [packet_number(own, number) for number in first]
            for metric, counts in enumerate(densities(order, threshold)):
                rows += [(flow.index, metric, *row) for row in sorted(counts.items())]
        names = [("flow", "u4"), ("metric", "u1"), ("value", "i8"), ("packets", "u8")]
        columns = zip(*rows, strict=True) if rows else [[], [], [], []]
        return {
            "reordering": {
                name: np.array(column, kind)
                for (name, kind), column in zip(names, columns, strict=True)
            }
        }

    def columns(self) -> Columns:
        """The columns and totals that the core returns."""
        for connection in self.multipath.values():
            connection.settle()
        whole = self.count()
        found = whole.columns() | self.window.tables(whole)
        if not any("extra_offset_ps" in own for own in self.settings["switches"]):
            found = {name: table for name, table in found.items() if "classes" not in name}
        links, end = self.network.links, self.events.now
        found["totals"] |= {
            "events": self.events.handled,
            "packet_hops": sum(len(link.transmissions) for link in links),
            "end_ps": end,
            "transmitted_until_ps": min(end, max(link.transmitted_until for link in links)),
        }
        firsts = [UNFINISHED if s.first is None else s.first for s in self.scripts]
        traced = any(self.settings.get(key) is not None for key in ("trace", "bookings"))
        sources = [flow.source for flow in self.flows]
        tables: Columns = trace_tables(self.network, self.settings, sources) if traced else {}
        pauses = self.network.pauses
        return {
            **tables,
            **pauses.tables(traced=traced),
            **self.samples.tables(),
            **self.together.tables(),
            **self.reordering(),
            **contents(self.network, self.settings.get("bursts"), len(self.flows)),
            **recovery(self.network, self.settings.get("recovery_bin_ps"), len(self.flows)),
            **found,
            **self.joins.table(),
            "flows": self.flow_columns(),
            "drops": {
                "time_ps": np.array(firsts, np.uint64),
                "units": np.array([script.units for script in self.scripts], np.uint64),
            },
        }


def rows(table: Arrays, *names: str) -> list[tuple[int, ...]]:
    """The rows of the columns `names`."""
    return list(zip(*(table[name].tolist() for name in names), strict=True))


def make_flows(table: Arrays) -> list[Flow]:
    """The flows of a plan; open-loop ones with the times of their datagrams."""
    groups = table["group"].tolist() if "group" in table else [0] * len(table["source"])
    flows = [
        Flow(i, source, destination, start, size, groups[i], departures=[])
        for i, (source, destination, start, size) in enumerate(
            rows(table, "source", "destination", "start_ps", "bytes")
        )
    ]
    if "departures_ps" in table:
        offsets = table["departure_offsets"].tolist()
        for flow in flows:
            first, last = offsets[flow.index], offsets[flow.index + 1]
            flow.departures = table["departures_ps"][first:last].tolist()
    return flows


def simulate(
    settings: dict[str, Any],
    nodes: Arrays,
    links: Arrays,
    flows: Arrays,
    trace: Trace | None = None,
) -> Columns:
    """Run a plan.

    Parameters
    ----------
    settings, nodes, links, flows
        As `lightburst._core.simulate` takes them, the settings as a dict.
    trace
        If given, the events of each unit are appended to it.

    Returns
    -------
    dict
        The columns and totals of the core.
    """
    simulation = Simulation(settings, nodes, links, flows)
    simulation.run()
    if trace is not None:
        trace.extend(simulation.trace)
    return simulation.columns()
