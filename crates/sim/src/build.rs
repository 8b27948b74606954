//! From a plan to a network.

use crate::plan::{self, Plan, PlanError, ReEmission};
use lightburst_des::{Agenda, Duration, Stream, Time};
use lightburst_net::{Bytes, Choice, Event, Fabric, NodeId, PortId, Rate, Routing, Wire};
use lightburst_optical::switch::{self, Build};
use lightburst_tcp::{DatagramHosts, Flow, Parameters, Sizes, TcpHosts};

/// Switches, ready to be put on a fabric.
pub struct Switches<A: Agenda<Event>> {
    entry: switch::Entry<A>,
    settings: switch::Settings,
    choice: Choice,
}

fn unknown(what: &str, name: &str, known: &[&str]) -> PlanError {
    PlanError(format!(
        "no {what} is called {name:?}; known: {}",
        known.join(", ")
    ))
}

/// The kind of switch that the plan names.
pub fn switches<A: Agenda<Event>>(plan: &Plan) -> Result<Switches<A>, PlanError> {
    let settings = &plan.settings;
    let given = &settings.switch;
    let registry = switch::registry::<A>();
    let names: Vec<_> = registry.iter().map(|entry| entry.name).collect();
    let entry = registry.into_iter().find(|entry| entry.name == given.kind);
    let choice = Choice::from_name(&settings.choice, settings.seed);
    Ok(Switches {
        entry: entry.ok_or_else(|| unknown("switch", &given.kind, &names))?,
        settings: switch::Settings {
            switching_time: Duration(given.switching_time_ps),
            buffer_ports: given.buffer_ports,
            buffer_bytes: given.buffer_bytes,
            re_emit_early: given.re_emission == ReEmission::CutThrough,
            queue_bytes: given.queue_bytes,
            ecn_threshold_bytes: given.ecn_threshold_bytes,
        },
        choice: choice.ok_or_else(|| unknown("choice", &settings.choice, &Choice::NAMES))?,
    })
}

impl<A: Agenda<Event>> Switches<A> {
    /// Links and routes; units act on switches of this kind as it wants them.
    pub fn fabric(&self, plan: &Plan) -> Fabric {
        let settings = &plan.settings;
        let links = &plan.links;
        let wire = |i: usize| Wire {
            from: NodeId(links.from[i]),
            to: NodeId(links.to[i]),
            rate: Rate::from_bps(links.rate_bps[i]),
            delay: Duration(links.delay_ps[i]),
            whole: links.to[i] < settings.hosts || self.entry.whole_units,
        };
        let wires: Vec<Wire> = (0..links.from.len()).map(wire).collect();
        let routing = match settings.routing {
            plan::Routing::FatTree { k } => Routing::fat_tree(k),
            plan::Routing::ShortestPath => {
                let ends: Vec<_> = wires.iter().map(|wire| (wire.from, wire.to)).collect();
                Routing::shortest_path(settings.hosts, settings.nodes, &ends)
            }
        };
        Fabric::new(settings.nodes, &wires, routing, plan.flows.source.len())
    }

    /// One switch for each node that is not a host.
    pub fn build(&self, plan: &Plan, fabric: &Fabric) -> Vec<Box<dyn lightburst_net::Node<A>>> {
        let settings = &plan.settings;
        let one = |node: u32| {
            let name = format!("switch/{}", node - settings.hosts);
            (self.entry.build)(Build {
                settings: &self.settings,
                choice: self.choice,
                draw: Stream::new(settings.seed, &name),
                sets: fabric.routing.sets(NodeId(node)),
            })
        };
        (settings.hosts..settings.nodes).map(one).collect()
    }
}

fn flows(plan: &Plan) -> Vec<Flow> {
    let flows = &plan.flows;
    let flow = |i: usize| Flow {
        source: NodeId(flows.source[i]),
        destination: NodeId(flows.destination[i]),
        start: Time(flows.start_ps[i]),
        size: flows.bytes[i],
    };
    (0..flows.source.len()).map(flow).collect()
}

fn sizes(plan: &Plan) -> Sizes {
    let transport = &plan.settings.transport;
    Sizes {
        segment: transport.segment_bytes,
        header: transport.header_bytes,
        control: transport.control_bytes,
    }
}

/// Hosts that speak the TCP that the plan names.
pub fn tcp_hosts(plan: &Plan, fabric: &Fabric) -> Result<TcpHosts, PlanError> {
    let transport = &plan.settings.transport;
    let Some(entry) = lightburst_tcp::cc::find(&transport.kind) else {
        let known: Vec<_> = lightburst_tcp::cc::REGISTRY
            .iter()
            .map(|e| e.name)
            .collect();
        return Err(unknown("transport", &transport.kind, &known));
    };
    let parameters = Parameters::new(transport.parameters.clone());
    let segment_time = |flow: &Flow| {
        let rate = fabric.rate(fabric.link_id(flow.source, PortId(0)));
        rate.transmission_time(Bytes(u64::from(transport.segment_bytes)))
    };
    Ok(TcpHosts::new(
        flows(plan),
        entry,
        &parameters,
        sizes(plan),
        transport.receiver_timers,
        segment_time,
    ))
}

/// Hosts that send datagrams.
pub fn datagram_hosts(plan: &Plan) -> DatagramHosts {
    let departures = plan
        .flows
        .departures_ps
        .iter()
        .map(|&ps| Time(ps))
        .collect();
    let offsets = plan
        .flows
        .departure_offsets
        .iter()
        .map(|&at| at as usize)
        .collect();
    DatagramHosts::new(flows(plan), departures, offsets, sizes(plan))
}

/// Number of links, propagation and smallest rate of one shortest path of each flow.
pub fn paths(plan: &Plan, fabric: &Fabric) -> crate::columns::Paths {
    let mut paths = crate::columns::Paths::default();
    for i in 0..plan.flows.source.len() {
        let (source, destination) = (plan.flows.source[i], plan.flows.destination[i]);
        let (mut links, mut delay, mut rate) = (0u16, 0u64, u64::MAX);
        for link in fabric.path(NodeId(source), NodeId(destination)) {
            links += 1;
            delay += fabric.links[link.index()].delay().0;
            rate = rate.min(fabric.rate(link).bps());
        }
        paths.links.push(links);
        paths.delay_ps.push(delay);
        paths.rate_bps.push(rate);
    }
    paths
}
