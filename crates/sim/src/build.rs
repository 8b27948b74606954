//! From a plan to a network.

use crate::plan::{self, Plan, PlanError, ReEmission};
use lightburst_des::{Agenda, Duration, Stream, Time};
use lightburst_net::{Bytes, Choice, Event, Fabric, NodeId, PortId, Rate, Routing, Trace, Wire};
use lightburst_optical::assembly::{self, Assembly};
use lightburst_optical::switch::{self, Build};
use lightburst_tcp::{transport, DatagramHosts, Flow, Parameters, Sizes, TcpHosts, Value};
use std::sync::Arc;

/// Switches, ready to be put on a fabric.
pub struct Switches<A: Agenda<Event>> {
    entry: switch::Entry<A>,
    settings: switch::Settings,
    choice: Choice,
}

/// Refuses a word that is in no registry; what is built after that finds them all.
pub fn check_words(settings: &plan::Settings) -> Result<(), PlanError> {
    let (switch, transport) = (&settings.switch, &settings.transport);
    let setting = |name: &str| match transport.parameters.get(name) {
        Some(plan::Setting::Word(word)) => Some(word),
        _ => None,
    };
    for (topic, known) in crate::registry() {
        let given = match topic {
            "switches" => Some(&switch.kind),
            "transports" => Some(&transport.kind),
            "congestion_controls" => setting("congestion_control"),
            "recoveries" => setting("recovery"),
            "assemblies" => switch.assembly.as_ref().map(|assembly| &assembly.kind),
            "choices" => Some(&settings.choice),
            "agendas" => settings.agenda.as_ref(),
            name => setting(name),
        };
        if let Some(word) = given.filter(|word| !known.contains(&word.as_str())) {
            let known = known.join(", ");
            return Err(PlanError(format!("no {word:?} in {topic}; known: {known}")));
        }
    }
    Ok(())
}

/// The kind of switch that the plan names.
pub fn switches<A: Agenda<Event>>(plan: &Plan) -> Switches<A> {
    let settings = &plan.settings;
    let given = &settings.switch;
    let mut registry = switch::registry::<A>().into_iter();
    let entry = registry.find(|entry| entry.name == given.kind);
    let choice = Choice::from_name(&settings.choice, settings.seed);
    Switches {
        entry: entry.expect("a known switch"),
        settings: switch::Settings {
            switching_time: Duration(given.switching_time_ps),
            buffer_ports: given.buffer_ports,
            buffer_bytes: given.buffer_bytes,
            re_emit_early: given.re_emission == ReEmission::CutThrough,
            queue_bytes: given.queue_bytes,
            ecn_threshold_bytes: given.ecn_threshold_bytes,
            assembly: given.assembly.as_ref().map(|a| make_assembly(a, given)),
        },
        choice: choice.expect("a known choice"),
    }
}

fn make_assembly(given: &plan::Assembly, switch: &plan::Switch) -> Assembly {
    Assembly {
        rule: assembly::find(&given.kind).expect("a known assembly"),
        settings: assembly::Settings {
            time: Duration(given.time_ps.unwrap_or(0)),
            size: given.size_bytes.unwrap_or(u32::MAX),
        },
        max_bytes: given.max_bytes.unwrap_or(u32::MAX),
        min_bytes: given.min_bytes.unwrap_or(0),
        acknowledgements: switch.assemble_acknowledgements,
    }
}

impl<A: Agenda<Event>> Switches<A> {
    /// Links and routes; units act on switches of this kind as it wants them.
    pub fn fabric(&self, plan: &Plan) -> Fabric {
        let settings = &plan.settings;
        let links = &plan.links;
        // Only what comes from a host is electronic on its way to an optical switch.
        let bursts = self.settings.assembly.is_some();
        let wire = |i: usize| Wire {
            from: NodeId(links.from[i]),
            to: NodeId(links.to[i]),
            rate: Rate::from_bps(links.rate_bps[i]),
            delay: Duration(links.delay_ps[i]),
            whole: links.to[i] < settings.hosts
                || self.entry.whole_units
                || (bursts && links.from[i] < settings.hosts),
            lossy: settings.loss.is_some() && links.lossy[i] != 0,
        };
        let wires: Vec<Wire> = (0..links.from.len()).map(wire).collect();
        let routing = match settings.routing {
            plan::Routing::FatTree { k } => Routing::fat_tree(k),
            plan::Routing::ShortestPath => {
                let ends: Vec<_> = wires.iter().map(|wire| (wire.from, wire.to)).collect();
                Routing::shortest_path(settings.hosts, settings.nodes, &ends)
            }
        };
        let flows = plan.flows.source.len();
        let mut fabric = Fabric::new(settings.nodes, &wires, routing, flows);
        if let Some(given) = &settings.loss {
            fabric.loss = Some(Box::new(crate::loss::loss(plan, given)));
        }
        if let Some(wanted) = &settings.trace {
            fabric.trace = Some(Box::new(Trace::new(flows, wanted)));
        }
        fabric
    }

    /// One switch for each node that is not a host.
    pub fn build(&self, plan: &Plan, fabric: &Fabric) -> Vec<Box<dyn lightburst_net::Node<A>>> {
        let settings = &plan.settings;
        let edges: Arc<[NodeId]> = (0..settings.hosts)
            .map(|host| fabric.links.to(fabric.link_id(NodeId(host), PortId(0))))
            .collect();
        let links = &plan.links;
        let fibre = (0..links.from.len())
            .find(|&i| links.from[i] >= settings.hosts && links.to[i] >= settings.hosts);
        let fibre_rate = fibre.map(|i| Rate::from_bps(links.rate_bps[i]));
        let one = |node: u32| {
            let name = format!("switch/{}", node - settings.hosts);
            (self.entry.build)(Build {
                settings: &self.settings,
                choice: self.choice,
                draw: Stream::new(settings.seed, &name),
                sets: fabric.routing.sets(NodeId(node)),
                node: NodeId(node),
                edges: Arc::clone(&edges),
                fibre_rate,
                time_limit: Time(settings.time_limit_ps),
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
        access_buffer: transport.access_buffer_bytes.unwrap_or(u64::MAX),
    }
}

/// Hosts that speak the TCP that the plan names.
pub fn tcp_hosts(plan: &Plan, fabric: &Fabric) -> TcpHosts {
    let settings = &plan.settings.transport;
    let value = |(name, setting): (&String, &plan::Setting)| {
        let value = match setting {
            plan::Setting::Number(number) => Value::Number(*number),
            plan::Setting::Switch(on) => Value::Switch(*on),
            plan::Setting::Word(word) => Value::Word(word.clone()),
        };
        (name.clone(), value)
    };
    let parameters = Parameters::new(settings.parameters.iter().map(value));
    let segment_time = |flow: &Flow| {
        let rate = fabric.links.rate(fabric.link_id(flow.source, PortId(0)));
        rate.transmission_time(Bytes(u64::from(settings.segment_bytes)))
    };
    TcpHosts::new(
        flows(plan),
        transport::find(&settings.kind).expect("a known transport"),
        &parameters,
        sizes(plan),
        settings.receiver_timers,
        segment_time,
    )
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

impl<A: Agenda<Event>> Switches<A> {
    /// What is known of each flow before it starts.
    pub fn paths(&self, plan: &Plan, fabric: &Fabric) -> crate::columns::Paths {
        let flows = &plan.flows;
        let ends = flows.source.iter().zip(&flows.destination);
        let links = |(&source, &destination): (&u32, &u32)| {
            fabric.path(NodeId(source), NodeId(destination)).count() as u16
        };
        let switching_time = |_| self.settings.switching_time;
        let bursts = self.settings.assembly.is_some();
        crate::columns::Paths {
            links: ends.map(links).collect(),
            ideal_ps: crate::ideal::times(plan, fabric, &sizes(plan), bursts, &switching_time),
        }
    }
}
