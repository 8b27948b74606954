//! Builds the network of a plan.

use crate::circuits;
use crate::links::{changes, outages, pauses, protection};
use crate::plan::{self, Plan, ThresholdOn, Uncongested};
use lightburst_des::{Duration, Stream, Time};
use lightburst_net::{
    BalanceSettings, BurstCount, Fabric, Fairness, FlowId, Interest, Interfaces, Label, Labels,
    LinkId, NodeId, NoticeBoard, Observers, Part, Path, PortId, Rate, Repaths, Routing, Switch,
    Telemetry, Wire,
};
use lightburst_optical::circuit::Layout;
use lightburst_optical::obs::contention::DropEnd;
use lightburst_optical::switch::Build;
use lightburst_tcp::wire::ace::FIRST as FIRST_COUNT_OF_MARKS;
use lightburst_tcp::{
    transport, DataRules, DatagramHosts, Datagrams, Flow, Flows, Group, MixedHosts, Place,
    TcpHosts, Writes,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Builds links and routing. A link delivers the head or the tail of a unit, as the switch at its
/// end requires.
///
/// `part`: the part of the network whose events this run handles.
pub fn fabric(
    plan: &Plan,
    layout: Option<&Layout>,
    observers: Observers,
    part: Option<Part>,
) -> Fabric {
    let settings = &plan.settings;
    let links = &plan.links;
    let is_rack = |node| layout.is_some_and(|it| it.is_rack(NodeId(node)));
    let store_and_forward = |from: u32, to: u32| match plan.switch(to) {
        None => true,
        Some(switch) => switch.stores_and_forwards(from < settings.hosts) || is_rack(to),
    };
    let observed = observers.want(Interest::TRANSMITTED);
    let wire = |i: usize| Wire {
        from: NodeId(links.from[i]),
        to: NodeId(links.to[i]),
        rate: Rate::from_bps(links.rate_bps[i]),
        delay: Duration(links.delay_ps[i]),
        store_and_forward: store_and_forward(links.from[i], links.to[i]),
        watched: observed
            || (settings.balance.is_some() && is_fibre(plan, i))
            || (settings.loss.is_some() && links.lossy[i] != 0)
            || outages::concern(plan, i)
            || changes::concern(plan, i)
            || crosses(plan, part.as_ref(), i),
    };
    let wires: Vec<Wire> = (0..links.from.len()).map(wire).collect();
    let ways = |metric| -> Vec<_> {
        let length = |wire: &Wire| match metric {
            plan::Metric::Hops => 1,
            plan::Metric::Delay => wire.delay.0,
        };
        let link = |wire: &Wire| (wire.from, wire.to, length(wire));
        wires.iter().map(link).collect()
    };
    let routing = match settings.routing {
        plan::Routing::FatTree { k, wavelengths } => Routing::fat_tree(k, wavelengths),
        plan::Routing::ShortestPath { metric } => {
            Routing::shortest_path(settings.hosts, settings.nodes, &ways(metric))
        }
    };
    let flows = plan.numbers();
    let mut fabric = Fabric::new(settings.nodes, &wires, routing, flows);
    add_paths(plan, &mut fabric);
    fabric.bursts = vec![BurstCount::default(); plan.classes().max(subflow_classes(plan)).max(1)];
    if let Some(given) = &settings.balance {
        let channels = |link: LinkId| links.channels.get(link.index()).copied().unwrap_or(1);
        fabric.balance(balance(given), channels);
    }
    if plan.cuts() == Some(DropEnd::Tail) {
        fabric.tails = Some(Box::default());
    }
    fabric.notices = notice_board(plan);
    fabric.loss = crate::links::loss::loss(plan).map(Box::new);
    if let Some(given) = &settings.changes {
        changes::vary_rates(&mut fabric.links, given);
    }
    if let (Some(given), plan::Routing::ShortestPath { metric }) =
        (&settings.outages, &settings.routing)
    {
        let outages = outages::outages(plan, given, &wires, ways(*metric));
        fabric.outages = Some(Box::new(outages));
    }
    fabric.interfaces = interfaces(plan);
    if settings.switches.iter().any(|it| it.queues_at_outputs()) {
        fabric.have_queues();
    }
    add_pauses(plan, &mut fabric, observed);
    fabric.telemetry = telemetry(plan);
    fabric.repaths = repaths(plan);
    fabric.observers = observers;
    fabric.part = part.map(Box::new);
    fabric
}

/// Whether a link leads from a part of the network to another one.
fn crosses(plan: &Plan, part: Option<&Part>, link: usize) -> bool {
    let ends = [plan.links.from[link], plan.links.to[link]];
    part.is_some_and(|part| ends.map(|node| part.owns(NodeId(node))) == [true, false])
}

/// Builds the paths of flows; `None` if senders do not change them.
fn repaths(plan: &Plan) -> Option<Box<Repaths>> {
    let settings = plan.settings.choice.repaths()?;
    let sources = (0..plan.numbers()).map(|flow| plan.origin(flow));
    Some(Box::new(Repaths::new(
        settings,
        sources,
        FIRST_COUNT_OF_MARKS,
    )))
}

/// Builds the telemetry of packets; `None` if no flow asks for it.
fn telemetry(plan: &Plan) -> Option<Box<Telemetry>> {
    let groups = plan.settings.groups.iter();
    let groups: Vec<bool> = groups.map(|it| it.transport.asks_for_telemetry()).collect();
    let flows = 0..plan.numbers();
    let asks = || flows.map(|flow| groups[plan.group_index(flow)]).collect();
    let any = groups.contains(&true);
    any.then(|| Box::new(Telemetry::new(asks(), plan.links.from.len())))
}

/// Gives the fabric flow control, if any switch asks for pauses; `recorded`: each is kept.
fn add_pauses(plan: &Plan, fabric: &mut Fabric, recorded: bool) {
    let Some(mut pauses) = pauses::pauses(plan) else {
        return;
    };
    if let Some(interfaces) = &mut fabric.interfaces {
        interfaces.have_pauses(pauses.classes.clone());
    }
    if recorded {
        pauses.record();
    }
    fabric.pauses = Some(Box::new(pauses));
}

/// Gives the fabric the paths between edges, and the rule that chooses one; nothing if units take
/// shortest paths.
fn add_paths(plan: &Plan, fabric: &mut Fabric) {
    let settings = &plan.settings;
    if settings.label.is_none() && settings.protection.is_none() {
        return;
    }
    let (edges, paths) = (edges(plan, fabric), given_paths(plan, fabric));
    fabric.routing.add_paths(settings.nodes, &edges, &paths);
    if let Some(label) = &settings.label {
        let label = Label::from_name(label).expect("a known label");
        fabric.labels = Some(Box::new(Labels::new(
            label,
            settings.seed,
            settings.nodes,
            plan.flows.source.len() as u32,
        )));
    }
    if let Some(given) = &settings.protection {
        fabric.protection = Some(Box::new(protection::protection(given, edges)));
        fabric.copies = given.duplicates.then(Box::default);
    }
}

/// Builds the interfaces of the hosts; `None` unless they serve their flows fairly or pause.
fn interfaces(plan: &Plan) -> Option<Box<Interfaces>> {
    let settings = &plan.settings;
    if settings.fair.is_none() && !pauses::are_asked_for(plan) {
        return None;
    }
    let transports = || settings.groups.iter().map(|group| &group.transport);
    let from_transmission = |transport: &plan::Transport| {
        let kind = transport::find(&transport.kind);
        kind.is_some_and(|kind| (kind.reception)(&transport.parameters()).from_transmission)
    };
    let full = |transport: &plan::Transport| {
        let sizes = transport.sizes();
        sizes.wire(sizes.mss())
    };
    let fairness = Fairness {
        quantum: transports().map(full).max().expect("a group"),
        small_queue: settings
            .fair
            .and_then(|fair| fair.small_queue)
            .unwrap_or(u32::MAX),
        fifo: settings.fair.is_none(),
        all_departures: transports().any(from_transmission),
    };
    let flows = plan.numbers();
    Some(Box::new(Interfaces::new(fairness, settings.hosts, flows)))
}

/// Builds the notice board of losses for the edges that use it; `None` if there is no such edge.
fn notice_board(plan: &Plan) -> Option<Box<NoticeBoard>> {
    let settings = &plan.settings;
    let told = |node| Some((NodeId(node), plan.switch(node)?.notices()?));
    let told: BTreeMap<_, _> = (settings.hosts..settings.nodes).filter_map(told).collect();
    (!told.is_empty()).then(|| Box::new(NoticeBoard::new(told)))
}

/// Whether a link joins two switches.
fn is_fibre(plan: &Plan, link: usize) -> bool {
    let (hosts, links) = (plan.settings.hosts, &plan.links);
    links.from[link] >= hosts && links.to[link] >= hosts
}

fn balance(given: &plan::Balance) -> BalanceSettings {
    BalanceSettings {
        interval: Duration(given.interval_ps),
        delay: Duration(given.delay_ps),
        threshold: given.threshold,
        cumulative: given.threshold_on == ThresholdOn::Path,
        gives_way: given.uncongested == Uncongested::Primary,
        capacity: given.capacity_bps.map(Rate::from_bps),
    }
}

/// Returns the number of classes of bursts that are assembled for each subflow; 0 if they are not.
fn subflow_classes(plan: &Plan) -> usize {
    match plan.labels_subflows() && plan.subflows() > 1 {
        true => plan.subflows(),
        false => 0,
    }
}

/// Builds one switch for each node that is not a host.
pub fn switches(
    plan: &Plan,
    layout: Option<&Arc<Layout>>,
    fabric: &Fabric,
) -> Vec<Box<dyn Switch>> {
    let settings = &plan.settings;
    let edges: Arc<[NodeId]> = edges(plan, fabric).into();
    let links = &plan.links;
    let fibre = (0..links.from.len()).find(|&i| is_fibre(plan, i));
    let fibre_rate = fibre.map(|i| Rate::from_bps(links.rate_bps[i]));
    let choice = settings.choice.build(settings.seed);
    let flows = plan.numbers();
    let groups_if = |wanted: bool| -> Arc<[u16]> {
        let flows = if wanted { 0..flows } else { 0..0 };
        flows.map(|flow| plan.group_index(flow) as u16).collect()
    };
    let classes = match subflow_classes(plan) {
        0 => groups_if(plan.classes() > 0),
        // The classes of bursts are the numbers of subflows.
        _ => (0..flows)
            .map(|flow| (flow / plan.flows.source.len()) as u16)
            .collect(),
    };
    let mut kinds = settings.switches.iter();
    let groups = groups_if(kinds.any(|switch| switch.lines_of_groups().is_some()));
    let sizes: Arc<[u64]> = match settings.switches.iter().any(|it| it.wants_sizes()) {
        true => (0..flows)
            .map(|flow| plan.flows.bytes[plan.flow_of(flow)])
            .collect(),
        false => Arc::default(),
    };
    let switching_time = |node| {
        plan.switch(node)
            .map_or(Duration::ZERO, |s| s.switching_time())
    };
    let switching_times: Arc<[Duration]> = (0..settings.nodes).map(switching_time).collect();
    let closures = layout.and_then(|it| circuits::closures(plan, it));
    let closures = closures.map(Arc::new);
    let outputs = |node| {
        let links = || fabric.outputs(node).map(|link| link.0);
        links().min().unwrap_or(0)..links().max().map_or(0, |last| last + 1)
    };
    let one = |node: u32| {
        let name = format!("switch/{}", node - settings.hosts);
        plan.switch(node).expect("a switch").build(Build {
            choice: choice.clone(),
            draw: Stream::new(settings.seed, &name),
            seed: settings.seed,
            outputs: outputs(NodeId(node)),
            holds_back: fabric.holds_back(NodeId(node)),
            pauses: fabric.pauses.is_some(),
            assembly: Stream::new(settings.seed, &format!("assembly/{node}")),
            sets: fabric.routing.sets(NodeId(node)),
            node: NodeId(node),
            edges: Arc::clone(&edges),
            classes: Arc::clone(&classes),
            groups: Arc::clone(&groups),
            sizes: Arc::clone(&sizes),
            switching_times: Arc::clone(&switching_times),
            fibre_rate,
            channels: channels(plan, fabric, NodeId(node)),
            time_limit: Time(settings.time_limit_ps),
            looks: settings.looks(),
            layout: layout.cloned(),
            closures: closures.clone(),
        })
    };
    (settings.hosts..settings.nodes).map(one).collect()
}

/// Returns the number of data channels of each port of a switch; empty if no channels are reserved.
fn channels(plan: &Plan, fabric: &Fabric, node: NodeId) -> Vec<u16> {
    let given = &plan.links.channels;
    let of = |link: LinkId| match plan.links.to[link.index()] < plan.settings.hosts {
        true => 0,
        false => given[link.index()],
    };
    match given.is_empty() {
        true => Vec::new(),
        false => fabric.outputs(node).map(of).collect(),
    }
}

/// Returns the node at the other end of each host's link.
fn edges(plan: &Plan, fabric: &Fabric) -> Vec<NodeId> {
    (0..plan.settings.hosts)
        .map(|host| fabric.links.to(fabric.link_id(NodeId(host), PortId(0))))
        .collect()
}

/// Returns the paths listed in the plan.
fn given_paths(plan: &Plan, fabric: &Fabric) -> Vec<Path> {
    let nodes = &plan.nodes;
    let path = |i: usize| {
        let range = nodes.path_offsets[i] as usize..nodes.path_offsets[i + 1] as usize;
        let mut hops: Vec<(NodeId, Vec<PortId>)> = Vec::new();
        for &link in &nodes.path_links[range] {
            let from = NodeId(plan.links.from[link as usize]);
            let port = PortId((link - fabric.link_id(from, PortId(0)).0) as u16);
            match hops.last_mut() {
                Some((node, ports)) if *node == from => ports.push(port),
                _ => hops.push((from, vec![port])),
            }
        }
        Path {
            source: NodeId(nodes.path_source[i]),
            destination: NodeId(nodes.path_destination[i]),
            hops,
        }
    };
    (0..nodes.path_source.len()).map(path).collect()
}

/// Returns the index of each group within its family, given by `datagrams`: groups with datagrams
/// or groups with connections.
fn places(plan: &Plan, datagrams: bool) -> Vec<u16> {
    let groups = &plan.settings.groups;
    let wanted = |group: &&plan::Group| group.transport.is_datagram() == datagrams;
    let place = |group: usize| groups[..group].iter().filter(wanted).count() as u16;
    (0..groups.len()).map(place).collect()
}

/// Returns the flows of datagrams.
fn datagrams(plan: &Plan) -> Vec<Flow> {
    let (flows, places) = (&plan.flows, places(plan, true));
    let wanted = |&i: &usize| plan.group(i).transport.is_datagram();
    let flow = |i: usize| Flow {
        id: FlowId(i as u32),
        group: places[plan.group_index(i)],
        source: plan.origin(i),
        destination: NodeId(flows.destination[i]),
        start: Time(flows.start_ps[i]),
        size: flows.bytes[i],
    };
    (0..flows.source.len()).filter(wanted).map(flow).collect()
}

/// Returns the flows with connections.
fn connections(plan: &Plan) -> Flows {
    let flows = &plan.flows;
    let mut groups = plan.settings.groups.iter();
    let wanted = |i: &u32| !plan.group(*i as usize).transport.is_datagram();
    let some = groups.any(|group| group.transport.is_datagram());
    Flows {
        ids: some.then(|| (0..flows.source.len() as u32).filter(wanted).collect()),
        groups: places(plan, false),
        group: flows.group.clone(),
        source: flows.source.clone(),
        destination: flows.destination.clone(),
        start_ps: flows.start_ps.clone(),
        bytes: flows.bytes.clone(),
    }
}

/// Builds the hosts of the flows with connections.
pub fn tcp_hosts(plan: &Plan) -> TcpHosts {
    let group = |plan::Group {
                     transport, writes, ..
                 }: &plan::Group| Group {
        transport: *transport::find(&transport.kind).expect("a known transport"),
        parameters: transport.parameters(),
        sizes: transport.sizes(),
        seed: plan.settings.seed,
        receiver_timers: transport.receiver_timers,
        handshake: transport.handshake,
        writes: writes.map(|writes| Writes {
            bytes: writes.bytes,
            interval: Duration(writes.interval_ps),
        }),
        subflows: transport.subflows,
        data: DataRules {
            reinjection: transport.reinjection,
            shared_window: transport.shared_window,
        },
    };
    let groups = plan.settings.groups.iter();
    let groups = groups.filter(|g| !g.transport.is_datagram());
    let groups = groups.map(group).collect();
    let all = plan.flows.source.len();
    let joins = plan.flows.joins.clone();
    TcpHosts::new(connections(plan), joins, all, groups, plan.ties())
}

/// Builds the hosts of the flows of datagrams.
pub fn datagram_hosts(plan: &Plan) -> DatagramHosts {
    let (flows, table) = (datagrams(plan), &plan.flows);
    let departures = table.departures_ps.iter().map(|&ps| Time(ps)).collect();
    // Flows with connections have no departures, so the departures of consecutive datagram flows
    // are contiguous.
    let offset = |flow: &Flow| table.departure_offsets[flow.id.index()] as usize;
    let end = [table.departures_ps.len()];
    let offsets = flows.iter().map(offset).chain(end).collect();
    let groups = plan.settings.groups.iter().map(|group| &group.transport);
    let datagrams = |transport: &plan::Transport| Datagrams {
        sizes: transport.sizes(),
        at_edge: transport.at_edge(),
        packet: transport.packet_bytes,
    };
    let groups = groups.filter(|t| t.is_datagram()).map(datagrams).collect();
    DatagramHosts::new(flows, departures, offsets, groups)
}

/// Builds the hosts of a plan with both families of flows.
pub fn mixed_hosts(plan: &Plan) -> MixedHosts {
    let (mut connections, mut datagrams) = (0.., 0..);
    let place = |i: usize| match plan.group(i).transport.is_datagram() {
        true => Place::Datagrams(datagrams.next().expect("a number")),
        false => Place::Connection(connections.next().expect("a number")),
    };
    // Each round has the next subflow of all flows, in the order of the connections.
    let places = (0..plan.numbers()).map(place).collect();
    MixedHosts::new(tcp_hosts(plan), datagram_hosts(plan), places)
}
