//! How soon each flow could have arrived, had it had the network to itself: all its
//! segments back to back, no set-up, no loss, and room in every queue.
//!
//! See `docs/model.md`, "The ideal completion time".

use crate::plan::{Flows, Plan};
use lightburst_des::Duration;
use lightburst_net::{Bytes, Envelope, Fabric, FlowId, LinkId, NodeId, PortId, Rate};
use lightburst_tcp::Sizes;
use std::collections::BTreeMap;

/// What is known of each flow before it starts.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// Number of links of one shortest path.
    pub links: Vec<u16>,
    /// How soon it could have arrived, in picoseconds.
    pub ideal_ps: Vec<u64>,
}

/// What is known of each flow before it starts.
pub fn paths(plan: &Plan, fabric: &Fabric) -> Paths {
    let flows = &plan.flows;
    let links = |i: usize| {
        let (origin, destination) = (plan.origin(i), NodeId(flows.destination[i]));
        let links = fabric.path(origin, destination).count();
        // From an edge to an edge: without the link to the host.
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

/// A flow as it leaves its host: so many equal segments, and behind them the rest.
#[derive(Clone, Copy, Debug)]
struct Train {
    number: u64,
    /// Bytes on the wire.
    full: u32,
    /// None: a rest that takes no time.
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

/// How long a link of one rate is busy with the segments of a train, in picoseconds.
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

/// What a link does to the segments of a train, in picoseconds.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// How long a full segment keeps those behind it waiting.
    queue: u64,
    /// From the beginning of a transmission to that on the next link.
    full_passes: u64,
    rest_passes: u64,
}

/// When the first and the last of the equal segments, and the rest, can begin on the
/// next link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Front {
    first: u64,
    last: u64,
    rest: u64,
}

impl Front {
    /// The train over one link, first in, first out.
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

/// Adds a front unless another one is as early in everything; removes those that it beats so.
fn keep(fronts: &mut Vec<Front>, new: Front) {
    if !fronts.iter().any(|old| old.no_later(&new)) {
        fronts.retain(|old| !new.no_later(old));
        fronts.push(new);
    }
}

/// A link that lies on a way of a flow.
#[derive(Clone, Copy, Debug)]
struct Hop {
    from: NodeId,
    link: LinkId,
    to: NodeId,
    /// Whether all ways share it.
    shared: bool,
}

/// The links of all ways of a label, each after those that lead to it.
type Ways = Vec<(Hop, Stage)>;

/// The network as a flow that is alone finds it.
struct Alone<'a> {
    fabric: &'a Fabric,
    hosts: u32,
    bursts: bool,
    /// The data channels of each link; empty: it has none.
    channels: &'a [u16],
    switching_time: &'a dyn Fn(NodeId) -> Duration,
    /// All ways between two hosts are alike.
    symmetric: bool,
    /// The unit whose ways are looked at now, and where they end.
    unit: Envelope,
    end: NodeId,
    /// The links of the ways that are looked at now.
    hops: Vec<Hop>,
    // An entry for each node, reset after each flow.
    seen: Vec<bool>,
    incoming: Vec<u32>,
    fronts: Vec<Vec<Front>>,
    soonest: Vec<(u64, u64)>,
}

/// The ideal completion time of each flow in picoseconds; `sizes` by group.
pub fn times(
    plan: &Plan,
    fabric: &Fabric,
    sizes: &[Sizes],
    bursts: bool,
    switching_time: &dyn Fn(NodeId) -> Duration,
) -> Vec<u64> {
    let settings = &plan.settings;
    let one_way = settings.choice == "flow-hash";
    let mut alone = Alone::new(plan, fabric, bursts, switching_time);
    let Flows {
        destination, bytes, ..
    } = &plan.flows;
    let time = |i: usize| {
        let host = NodeId(destination[i]);
        let end = match plan.group(i).transport.at_edge() {
            true => alone.hop(host, PortId(0), false).to,
            false => host,
        };
        let train = Train::new(bytes[i], &sizes[plan.group_index(i)]);
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

    /// Whether this is a fat-tree in which all links between two layers are alike: then
    /// one way stands for all.
    fn layers_are_alike(&self, from: &[u32]) -> bool {
        let mut known = BTreeMap::new();
        let alike = |(link, &from): (u32, &u32)| {
            let (link, layer) = (LinkId(link), |node| self.fabric.routing.layer(node));
            let links = &self.fabric.links;
            let to = links.to(link);
            let kind = (
                links.rate(link),
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

    /// Whether bursts can go side by side over the channels of a link.
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

    /// The ports that lead on; none at the end.
    fn ports(&self, node: NodeId) -> &'a [PortId] {
        let routing = &self.fabric.routing;
        match node == self.end {
            true => &[],
            false => routing.ports(routing.route_of(node, &self.unit)),
        }
    }

    /// All ways of a unit.
    fn find_ways(&mut self, unit: Envelope, end: NodeId, train: &Train) -> Ways {
        self.unit = unit;
        self.end = end;
        self.hops.clear();
        match self.symmetric {
            true => self.find_one_way(),
            false => self.find_all_ways(),
        }
        // Most links have the rate of the one before them.
        let mut known: Option<Transmission> = None;
        let stage = |hop: &Hop| {
            let rate = self.fabric.links.rate(hop.link);
            let same = known.filter(|known| known.rate == rate);
            let transmission =
                *known.insert(same.unwrap_or_else(|| Transmission::new(rate, train)));
            (*hop, self.stage(hop, train, &transmission))
        };
        self.hops.iter().map(stage).collect()
    }

    fn find_all_ways(&mut self) {
        // Links that lead from the nodes looked at so far to others: each way takes one of them. If
        // there is only one, all ways share it.
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

    /// One of many ways that are alike: they part at the first choice and meet again at
    /// the last switch.
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

    /// The nodes on all ways, each after those that lead to it.
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
        // Packets in one burst take a whole number of picoseconds together, not each.
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

    /// All segments go the fastest of the ways.
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
        // Side by side on the last fibre the rest does not wait for what is longer.
        let soonest = fronts.iter().map(|front| front.last.max(front.rest)).min();
        for (hop, _) in stages {
            self.fronts[hop.from.index()].clear();
            self.fronts[hop.to.index()].clear();
        }
        soonest.expect("a way")
    }

    /// Each segment goes a way of its own, whatever its label, and none waits but on the
    /// links that all ways share.
    fn side_by_side(&mut self, labels: &[Ways], destination: NodeId, number: u64) -> u64 {
        let (first, others) = labels.split_first().expect("a label");
        let in_all = |(hop, _): &&(Hop, Stage)| {
            let shared = |ways: &Ways| ways.iter().any(|(h, _)| h.link == hop.link && h.shared);
            hop.shared && others.iter().all(shared)
        };
        let shared: Vec<_> = first.iter().filter(in_all).collect();
        // When a full segment and a rest could begin on these, each alone; and arrive.
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
        // Between two edges there may be no link that all ways share, or none before they part.
        let at_source = shared
            .first()
            .filter(|(hop, _)| hop.from == self.unit.source);
        let before_rest = at_source.map_or(0, |(_, stage)| stage.queue.saturating_mul(number));
        let on = |(&(full, rest), (_, stage)): (&(u64, u64), &&(Hop, Stage))| {
            // The link is busy with all of them from the first that comes; behind the
            // last is the rest of the way.
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
