//! Ideal completion time of each flow: the flow has the network to itself and sends all segments
//! back to back, without connection set-up or loss and with room in every queue.
//!
//! See `docs/model.md`, "The ideal completion time".

use crate::plan::{Flows, Plan};
use lightburst_des::Duration;
use lightburst_net::{Bytes, Envelope, Fabric, FlowId, LinkId, NodeId, PortId, Rate};
use lightburst_tcp::Sizes;
use std::collections::BTreeMap;

/// Properties of each flow that are known before its start.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// Number of links on one shortest path.
    pub links: Vec<u16>,
    /// Ideal completion time in picoseconds.
    pub ideal_ps: Vec<u64>,
}

/// Computes the path lengths and the ideal completion times of all flows.
pub fn paths(plan: &Plan, fabric: &Fabric) -> Paths {
    let flows = &plan.flows;
    let links = |i: usize| {
        let (origin, destination) = (plan.origin(i), NodeId(flows.destination[i]));
        let links = fabric.path(origin, destination).count();
        // A flow from edge to edge does not use the link to the host.
        (links - usize::from(plan.group(i).transport.at_edge())) as u16
    };
    let switching_time = |node: NodeId| match plan.switch(node.0) {
        None => Duration::ZERO,
        Some(switch) => switch.switching_time(),
    };
    let bursts = plan.settings.switches.iter().any(|s| s.assembles());
    let groups = plan.settings.groups.iter();
    let of_groups: Vec<Sizes> = groups.map(|group| group.transport.sizes()).collect();
    Paths {
        links: (0..flows.source.len()).map(links).collect(),
        ideal_ps: times(plan, fabric, &of_groups, bursts, &switching_time),
    }
}

/// Segments of a flow: `number` segments of equal size and then a shorter rest.
#[derive(Clone, Copy, Debug)]
struct Train {
    number: u64,
    /// Size of an equal segment on the wire, in bytes.
    full: u32,
    /// Size of the rest on the wire, in bytes; `None` if there is no rest.
    rest: Option<u32>,
}

impl Train {
    fn new(bytes: u64, sizes: &Sizes) -> Train {
        let most = u64::from(sizes.mss());
        let rest = (bytes % most) as u32;
        match bytes / most {
            0 => Train {
                number: 1,
                full: sizes.wire(rest),
                rest: None,
            },
            number => Train {
                number,
                full: sizes.wire(sizes.mss()),
                rest: (rest > 0).then(|| sizes.wire(rest)),
            },
        }
    }
}

/// Transmission times of the segments of a train on a link of a given rate, in picoseconds.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    rate: Rate,
    full: u64,
    rest: u64,
}

impl Transmission {
    fn new(rate: Rate, train: &Train) -> Transmission {
        let time = |wire: u32| rate.transmission_time(Bytes(u64::from(wire))).0;
        Transmission {
            rate,
            full: time(train.full),
            rest: train.rest.map_or(0, time),
        }
    }
}

/// Delays of the segments of a train on one link, in picoseconds.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// Time for which a full segment delays those behind it; 0 if bursts pass side by side.
    queue: u64,
    /// Time from the start of a transmission to the earliest start on the next link.
    full_passes: u64,
    rest_passes: u64,
}

/// Earliest start times on the next link: of the first and the last of the equal segments, and of
/// the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Front {
    first: u64,
    last: u64,
    rest: u64,
}

impl Front {
    /// Moves the train over one link with first-in, first-out service.
    fn cross(self, number: u64, stage: &Stage) -> Front {
        let behind = stage.queue.saturating_mul(number - 1);
        let last = self.last.max(self.first.saturating_add(behind));
        let rest = self.rest.max(last.saturating_add(stage.queue));
        Front {
            first: self.first.saturating_add(stage.full_passes),
            last: last.saturating_add(stage.full_passes),
            rest: rest.saturating_add(stage.rest_passes),
        }
    }

    fn no_later(&self, other: &Front) -> bool {
        self.first <= other.first && self.last <= other.last && self.rest <= other.rest
    }
}

/// Adds a front unless an existing one dominates it, that is, is no later in all three times.
/// Removes the fronts that the new one dominates.
fn keep(fronts: &mut Vec<Front>, new: Front) {
    if !fronts.iter().any(|old| old.no_later(&new)) {
        fronts.retain(|old| !new.no_later(old));
        fronts.push(new);
    }
}

/// Link on a way of a flow.
#[derive(Clone, Copy, Debug)]
struct Hop {
    from: NodeId,
    link: LinkId,
    to: NodeId,
    /// Whether all ways of the flow use this link.
    shared: bool,
}

/// Links of all ways of a label, each after the links that lead to it.
type Ways = Vec<(Hop, Stage)>;

/// Network without traffic, as a single flow finds it.
struct Alone<'a> {
    fabric: &'a Fabric,
    hosts: u32,
    bursts: bool,
    /// Number of data channels of each link; empty if links have none.
    channels: &'a [u16],
    switching_time: &'a dyn Fn(NodeId) -> Duration,
    /// Whether all ways between two hosts have the same delays.
    symmetric: bool,
    /// Current unit with the current label, and the end of its ways.
    unit: Envelope,
    end: NodeId,
    /// Links of the ways of the current unit.
    hops: Vec<Hop>,
    // One entry per node, reset after each flow.
    seen: Vec<bool>,
    incoming: Vec<u32>,
    fronts: Vec<Vec<Front>>,
    soonest: Vec<(u64, u64)>,
}

/// Returns the ideal completion time of each flow in picoseconds; `sizes` is indexed by group.
pub fn times(
    plan: &Plan,
    fabric: &Fabric,
    sizes: &[Sizes],
    bursts: bool,
    switching_time: &dyn Fn(NodeId) -> Duration,
) -> Vec<u64> {
    let settings = &plan.settings;
    let one_way = settings.choice.name() == "flow-hash";
    let mut alone = Alone::new(plan, fabric, bursts, switching_time);
    let Flows {
        destination, bytes, ..
    } = &plan.flows;
    let mut time_of = |i: usize, bytes: u64| {
        let host = NodeId(destination[i]);
        let end = match plan.group(i).transport.at_edge() {
            true => alone.hop(host, PortId(0), false).to,
            false => host,
        };
        let train = Train::new(bytes, &sizes[plan.group_index(i)]);
        let mut unit = Envelope::new(FlowId(i as u32), plan.origin(i), host, 0);
        let labels = match settings.label.as_deref() {
            Some("first") => 1,
            _ => fabric.routing.labels(&unit).max(1),
        };
        let ways_of = |label| {
            unit.label = label as u8;
            alone.find_ways(unit, end, &train)
        };
        let ways: Vec<Ways> = (0..labels).map(ways_of).collect();
        if labels > 1 && settings.label.as_deref() == Some("random") {
            return alone.side_by_side(&ways, end, train.number);
        }
        let time = |ways| alone.time(ways, end, train.number, one_way);
        ways.into_iter().map(time).min().expect("a way")
    };
    let time = |i: usize| {
        let at_once = time_of(i, bytes[i]);
        let Some(writes) = plan.group(i).writes else {
            return at_once;
        };
        let (at, rest) = writes.last(bytes[i], sizes[plan.group_index(i)].mss());
        at_once.max(at.saturating_add(time_of(i, rest)))
    };
    (0..bytes.len()).map(time).collect()
}

impl<'a> Alone<'a> {
    fn new(
        plan: &'a Plan,
        fabric: &'a Fabric,
        bursts: bool,
        switching_time: &'a dyn Fn(NodeId) -> Duration,
    ) -> Alone<'a> {
        let nodes = plan.settings.nodes as usize;
        let mut alone = Alone {
            fabric,
            hosts: plan.settings.hosts,
            bursts,
            channels: &plan.links.channels,
            switching_time,
            symmetric: false,
            unit: Envelope::new(FlowId(0), NodeId(0), NodeId(0), 0),
            end: NodeId(0),
            hops: Vec::new(),
            seen: vec![false; nodes],
            incoming: vec![0; nodes],
            fronts: vec![Vec::new(); nodes],
            soonest: vec![(u64::MAX, u64::MAX); nodes],
        };
        alone.symmetric = alone.layers_are_alike(&plan.links.from);
        alone
    }

    /// Whether this is a fat-tree whose links between two layers all have the same properties. One
    /// way then represents all ways.
    fn layers_are_alike(&self, from: &[u32]) -> bool {
        let mut known = BTreeMap::new();
        let alike = |(link, &from): (u32, &u32)| {
            let (link, layer) = (LinkId(link), |node| self.fabric.routing.layer(node));
            let links = &self.fabric.links;
            let to = links.to(link);
            let kind = (
                links.highest_rate(link),
                links.delay(link),
                links.store_and_forward(link),
                self.side_by_side_on(link),
                (self.switching_time)(to),
            );
            let layers = layer(NodeId(from)).zip(layer(to));
            layers.is_some_and(|layers| *known.entry(layers).or_insert(kind) == kind)
        };
        (0..).zip(from).all(alike)
    }

    /// Whether a link has several channels, so that bursts can pass side by side.
    fn side_by_side_on(&self, link: LinkId) -> bool {
        let channels = self.channels.get(link.index());
        channels.is_some_and(|&number| number > 1)
    }

    fn hop(&self, from: NodeId, port: PortId, shared: bool) -> Hop {
        let link = self.fabric.link_id(from, port);
        Hop {
            from,
            link,
            to: self.fabric.links.to(link),
            shared,
        }
    }

    /// Returns the ports on the ways to the end of the current unit; empty at the end itself.
    fn ports(&self, node: NodeId) -> &'a [PortId] {
        let routing = &self.fabric.routing;
        match node == self.end {
            true => &[],
            false => routing.ports(routing.route_of(node, &self.unit)),
        }
    }

    /// Finds all ways of a unit, with the delays of a train on their links.
    fn find_ways(&mut self, unit: Envelope, end: NodeId, train: &Train) -> Ways {
        self.unit = unit;
        self.end = end;
        self.hops.clear();
        match self.symmetric {
            true => self.find_one_way(),
            false => self.find_all_ways(),
        }
        // Most links have the same rate as the previous one.
        let mut known: Option<Transmission> = None;
        let stage = |hop: &Hop| {
            let rate = self.fabric.links.highest_rate(hop.link);
            let same = known.filter(|known| known.rate == rate);
            let transmission =
                *known.insert(same.unwrap_or_else(|| Transmission::new(rate, train)));
            (*hop, self.stage(hop, train, &transmission))
        };
        self.hops.iter().map(stage).collect()
    }

    fn find_all_ways(&mut self) {
        // Number of links from the visited nodes to nodes not visited yet: every way uses exactly
        // one of them. If there is only one, all ways share it.
        let mut open = 0;
        for node in self.in_order() {
            open -= std::mem::take(&mut self.incoming[node.index()]);
            let ports = self.ports(node);
            open += ports.len() as u32;
            for &port in ports {
                let hop = self.hop(node, port, open == 1);
                self.incoming[hop.to.index()] += 1;
                self.hops.push(hop);
            }
        }
    }

    /// Finds one of many equivalent ways. They part at the first node with several ports and meet
    /// again at the last switch.
    fn find_one_way(&mut self) {
        let Envelope {
            source,
            destination,
            ..
        } = self.unit;
        let (mut node, mut together) = (source, true);
        while node != self.end {
            let ports = self.ports(node);
            together &= ports.len() == 1;
            let mut hop = self.hop(node, ports[0], together);
            hop.shared |= hop.to == destination;
            node = hop.to;
            self.hops.push(hop);
        }
    }

    /// Returns the nodes on all ways, each after the nodes that lead to it.
    fn in_order(&mut self) -> Vec<NodeId> {
        let source = self.unit.source;
        let mut order = Vec::new();
        let mut stack = vec![(source, 0)];
        self.seen[source.index()] = true;
        while let Some((node, next)) = stack.last_mut() {
            let (node, next) = (*node, std::mem::replace(next, *next + 1));
            let Some(&port) = self.ports(node).get(next) else {
                stack.pop();
                order.push(node);
                continue;
            };
            let to = self.hop(node, port, false).to;
            if !std::mem::replace(&mut self.seen[to.index()], true) {
                stack.push((to, 0));
            }
        }
        for node in &order {
            self.seen[node.index()] = false;
        }
        order.reverse();
        order
    }

    fn stage(&self, hop: &Hop, train: &Train, transmission: &Transmission) -> Stage {
        let destination = self.unit.destination;
        let links = &self.fabric.links;
        let (from, link, to) = (hop.from, hop.link, hop.to);
        let &Transmission { rate, full, rest } = transmission;
        // Packets in a burst take a whole number of picoseconds together, but not individually.
        let fibre = from.0 >= self.hosts && to.0 >= self.hosts;
        let queue = match self.bursts && fibre {
            true if self.side_by_side_on(link) => 0,
            true => {
                let burst = Bytes(u64::from(train.full));
                rate.transmission_time_rounded_down(burst).0
            }
            false => full,
        };
        let taken_apart = self.bursts && to == self.hop(destination, PortId(0), false).to;
        let passes = |transmission: u64| {
            let there = match links.store_and_forward(link) || taken_apart {
                true => transmission,
                false => (self.switching_time)(to).0,
            };
            links.delay(link).0 + there
        };
        Stage {
            queue,
            full_passes: passes(full),
            rest_passes: passes(rest),
        }
    }

    fn time(&mut self, ways: Ways, destination: NodeId, number: u64, one_way: bool) -> u64 {
        match one_way || ways.iter().all(|(hop, _)| hop.shared) {
            true => self.behind_each_other(&ways, destination, number),
            false => self.side_by_side(&[ways], destination, number),
        }
    }

    /// Returns the completion time if all segments take the same way, the fastest one.
    fn behind_each_other(
        &mut self,
        stages: &[(Hop, Stage)],
        destination: NodeId,
        number: u64,
    ) -> u64 {
        keep(&mut self.fronts[stages[0].0.from.index()], Front::default());
        for (hop, stage) in stages {
            let (from, to) = (hop.from.index(), hop.to.index());
            for i in 0..self.fronts[from].len() {
                let front = self.fronts[from][i].cross(number, stage);
                keep(&mut self.fronts[to], front);
            }
        }
        let fronts = &self.fronts[destination.index()];
        // With several channels on the last fibre, the rest does not wait for longer segments and
        // may arrive before them.
        let soonest = fronts.iter().map(|front| front.last.max(front.rest)).min();
        for (hop, _) in stages {
            self.fronts[hop.from.index()].clear();
            self.fronts[hop.to.index()].clear();
        }
        soonest.expect("a way")
    }

    /// Returns the completion time if each segment takes a way of its own, with any label, and
    /// waits only on links that all ways share.
    fn side_by_side(&mut self, labels: &[Ways], destination: NodeId, number: u64) -> u64 {
        let (first, others) = labels.split_first().expect("a label");
        let in_all = |(hop, _): &&(Hop, Stage)| {
            let shared = |ways: &Ways| ways.iter().any(|(h, _)| h.link == hop.link && h.shared);
            hop.shared && others.iter().all(shared)
        };
        let shared: Vec<_> = first.iter().filter(in_all).collect();
        // Earliest times at which a full segment and a rest, each alone, could start on the shared
        // links, and their earliest arrivals.
        let mut before = vec![(u64::MAX, u64::MAX); shared.len()];
        let (mut full_way, mut rest_way) = (u64::MAX, u64::MAX);
        for ways in labels {
            let soonest = &mut self.soonest;
            soonest[ways[0].0.from.index()] = (0, 0);
            for (hop, stage) in ways {
                let (full, rest) = soonest[hop.from.index()];
                let there = &mut soonest[hop.to.index()];
                there.0 = there.0.min(full.saturating_add(stage.full_passes));
                there.1 = there.1.min(rest.saturating_add(stage.rest_passes));
            }
            for (before, (hop, _)) in before.iter_mut().zip(&shared) {
                let (full, rest) = soonest[hop.from.index()];
                *before = (before.0.min(full), before.1.min(rest));
            }
            let (full, rest) = soonest[destination.index()];
            (full_way, rest_way) = (full_way.min(full), rest_way.min(rest));
            for (hop, _) in ways {
                soonest[hop.from.index()] = (u64::MAX, u64::MAX);
                soonest[hop.to.index()] = (u64::MAX, u64::MAX);
            }
        }
        // Between two edges the ways may share no link at all, or none before they part.
        let at_source = shared
            .first()
            .filter(|(hop, _)| hop.from == self.unit.source);
        let before_rest = at_source.map_or(0, |(_, stage)| stage.queue.saturating_mul(number));
        let on = |(&(full, rest), (_, stage)): (&(u64, u64), &&(Hop, Stage))| {
            // The link transmits all segments from the first arrival on. The last segment then
            // travels the remaining way.
            let busy = stage.queue.saturating_mul(number);
            let earliest = full.min(rest.saturating_add(before_rest));
            let with_rest = earliest
                .saturating_add(busy)
                .saturating_add(rest_way - rest);
            let behind = stage.queue.saturating_mul(number - 1);
            with_rest.max(full_way.saturating_add(behind))
        };
        let times = before.iter().zip(&shared).map(on);
        times.max().unwrap_or(full_way)
    }
}
