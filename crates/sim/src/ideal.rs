//! How soon each flow could have arrived, had it had the network to itself: all its
//! segments back to back, no set-up, no loss, and room in every queue.
//!
//! See `docs/model.md`, "The ideal completion time".

use crate::plan::{Flows, Plan};
use lightburst_des::Duration;
use lightburst_net::{Bytes, Fabric, LinkId, NodeId, PortId};
use lightburst_tcp::Sizes;
use std::collections::BTreeMap;

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
        let most = u64::from(sizes.payload());
        let rest = (bytes % most) as u32;
        match bytes / most {
            0 => Train {
                number: 1,
                full: sizes.wire(rest),
                rest: None,
            },
            number => Train {
                number,
                full: sizes.wire(sizes.payload()),
                rest: (rest > 0).then(|| sizes.wire(rest)),
            },
        }
    }
}

/// What a link does to the segments of a train, in picoseconds.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// How long a full one lets those behind it wait.
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

/// Adds a front unless another is no later in anything; forgets those that it beats.
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

/// The network as a flow that is alone finds it.
struct Alone<'a> {
    fabric: &'a Fabric,
    hosts: u32,
    bursts: bool,
    switching_time: &'a dyn Fn(NodeId) -> Duration,
    /// All ways between two hosts are alike.
    symmetric: bool,
    /// The links of the ways that are looked at now.
    hops: Vec<Hop>,
    // By node, and as new after each flow.
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
    // A burst goes where its first packet goes, which may be another flow's.
    let one_way = settings.choice == "flow-hash" && !bursts;
    let mut alone = Alone::new(plan, fabric, bursts, switching_time);
    let Flows {
        source,
        destination,
        bytes,
        ..
    } = &plan.flows;
    let time = |i: usize| {
        let (source, destination) = (NodeId(source[i]), NodeId(destination[i]));
        alone.find_ways(source, destination);
        let train = Train::new(bytes[i], &sizes[plan.group_index(i)]);
        alone.time(destination, train, one_way)
    };
    (0..source.len()).map(time).collect()
}

impl<'a> Alone<'a> {
    fn new(
        plan: &Plan,
        fabric: &'a Fabric,
        bursts: bool,
        switching_time: &'a dyn Fn(NodeId) -> Duration,
    ) -> Alone<'a> {
        let nodes = plan.settings.nodes as usize;
        let mut alone = Alone {
            fabric,
            hosts: plan.settings.hosts,
            bursts,
            switching_time,
            symmetric: false,
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
                links.whole(link),
                (self.switching_time)(to),
            );
            let layers = layer(NodeId(from)).zip(layer(to));
            layers.is_some_and(|layers| *known.entry(layers).or_insert(kind) == kind)
        };
        (0..).zip(from).all(alike)
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

    /// The ports that lead on; none at the destination.
    fn ports(&self, node: NodeId, destination: NodeId) -> &'a [PortId] {
        let routing = &self.fabric.routing;
        match node == destination {
            true => &[],
            false => routing.ports(routing.route(node, destination)),
        }
    }

    /// The links of all ways, each after those that lead to it.
    fn find_ways(&mut self, source: NodeId, destination: NodeId) {
        self.hops.clear();
        if self.symmetric {
            return self.find_one_way(source, destination);
        }
        // Links out of the nodes that were looked at to others: all ways cross one of
        // them, so that they share one that is alone.
        let mut open = 0;
        for node in self.in_order(source, destination) {
            open -= std::mem::take(&mut self.incoming[node.index()]);
            let ports = self.ports(node, destination);
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
    fn find_one_way(&mut self, source: NodeId, destination: NodeId) {
        let (mut node, mut together) = (source, true);
        while node != destination {
            let ports = self.ports(node, destination);
            together &= ports.len() == 1;
            let mut hop = self.hop(node, ports[0], together);
            hop.shared |= hop.to == destination;
            node = hop.to;
            self.hops.push(hop);
        }
    }

    /// The nodes on all ways, each after those that lead to it.
    fn in_order(&mut self, source: NodeId, destination: NodeId) -> Vec<NodeId> {
        let mut order = Vec::new();
        let mut stack = vec![(source, 0)];
        self.seen[source.index()] = true;
        while let Some((node, next)) = stack.last_mut() {
            let (node, next) = (*node, std::mem::replace(next, *next + 1));
            let Some(&port) = self.ports(node, destination).get(next) else {
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

    fn stage(&self, hop: &Hop, destination: NodeId, train: &Train) -> Stage {
        let links = &self.fabric.links;
        let (from, link, to) = (hop.from, hop.link, hop.to);
        let rate = links.rate(link);
        let bytes = |bytes: u32| Bytes(u64::from(bytes));
        let transmission = |wire: u32| rate.transmission_time(bytes(wire)).0;
        // Packets in one burst take a whole number of picoseconds together, not each.
        let fibre = from.0 >= self.hosts && to.0 >= self.hosts;
        let queue = match self.bursts && fibre {
            true => rate.transmission_time_rounded_down(bytes(train.full)).0,
            false => transmission(train.full),
        };
        let taken_apart = self.bursts && to == self.hop(destination, PortId(0), false).to;
        let passes = |transmission: u64| {
            let there = match links.whole(link) || taken_apart {
                true => transmission,
                false => (self.switching_time)(to).0,
            };
            links.delay(link).0 + there
        };
        Stage {
            queue,
            full_passes: passes(transmission(train.full)),
            rest_passes: passes(train.rest.map_or(0, transmission)),
        }
    }

    fn time(&mut self, destination: NodeId, train: Train, one_way: bool) -> u64 {
        let hops = std::mem::take(&mut self.hops);
        let stage = |hop: &Hop| (*hop, self.stage(hop, destination, &train));
        let stages: Vec<_> = hops.iter().map(stage).collect();
        self.hops = hops;
        match one_way || stages.iter().all(|(hop, _)| hop.shared) {
            true => self.behind_each_other(&stages, destination, train.number),
            false => self.side_by_side(&stages, destination, train.number),
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
        let soonest = fronts.iter().map(|front| front.rest).min();
        for (hop, _) in stages {
            self.fronts[hop.from.index()].clear();
            self.fronts[hop.to.index()].clear();
        }
        soonest.expect("a way")
    }

    /// Each segment goes a way of its own, and none waits but on the links that all
    /// ways share.
    fn side_by_side(&mut self, stages: &[(Hop, Stage)], destination: NodeId, number: u64) -> u64 {
        // When a full segment and a rest could begin on the next link, each alone.
        let soonest = &mut self.soonest;
        soonest[stages[0].0.from.index()] = (0, 0);
        for (hop, stage) in stages {
            let (full, rest) = soonest[hop.from.index()];
            let there = &mut soonest[hop.to.index()];
            there.0 = there.0.min(full.saturating_add(stage.full_passes));
            there.1 = there.1.min(rest.saturating_add(stage.rest_passes));
        }
        let (full_way, rest_way) = soonest[destination.index()];
        let before_rest = stages[0].1.queue.saturating_mul(number);
        let on = |(hop, stage): &(Hop, Stage)| {
            let (full, rest) = soonest[hop.from.index()];
            // The link is busy with all of them from the first that comes; behind the
            // last is the rest of the way.
            let busy = stage.queue.saturating_mul(number);
            let first = full.min(rest.saturating_add(before_rest));
            let with_rest = first.saturating_add(busy).saturating_add(rest_way - rest);
            let behind = stage.queue.saturating_mul(number - 1);
            with_rest.max(full_way.saturating_add(behind))
        };
        let time = stages.iter().filter(|(hop, _)| hop.shared).map(on).max();
        for (hop, _) in stages {
            soonest[hop.from.index()] = (u64::MAX, u64::MAX);
            soonest[hop.to.index()] = (u64::MAX, u64::MAX);
        }
        time.expect("the link of the source")
    }
}
