//! Checks of a plan when it is received.
//!
//! The Python side reports the errors of users with a proper message; an error found here is a bug
//! of the Python side. The construction of the network relies on these checks.

mod words;

use crate::plan::{self, Plan, PlanError, Routing};
use lightburst_des::LONGEST_PS;
use lightburst_net::{Bytes, Rate, LARGEST_UNIT};
use lightburst_tcp::transport;

/// Greatest number of flows, which have 32-bit numbers.
const MOST_FLOWS: usize = 1 << 31;
/// Limit to the total number of data segments in scripts.
const MOST_SEGMENTS: u64 = 1 << 28;

/// Returns an error unless a condition holds.
macro_rules! require {
    ($holds:expr, $($words:tt)*) => {
        if !$holds {
            return Err(PlanError(format!($($words)*)));
        }
    };
}

mod joins;
mod paths;
mod queues;
mod receives;
mod subflows;

fn ascending<T: PartialOrd>(values: &[T]) -> bool {
    values.windows(2).all(|pair| pair[0] <= pair[1])
}

/// Rejects a plan that cannot be run.
pub fn check(plan: &Plan) -> Result<(), PlanError> {
    words::check(&plan.settings)?;
    switches(plan)?;
    links(plan)?;
    routing(plan)?;
    bursts(plan)?;
    transports(plan)?;
    queues::check(plan)?;
    flows(plan)?;
    subflows::check(plan)?;
    paths::entries(plan)?;
    departures(plan)?;
    losses(plan)?;
    crate::links::changes::check(plan)?;
    crate::links::outages::check(plan)?;
    crate::circuits::check(plan)?;
    measured(plan)?;
    paths::check(plan)?;
    crate::links::protection::check(plan)?;
    paths::balance(plan)
}

fn switches(plan: &Plan) -> Result<(), PlanError> {
    let (settings, nodes) = (&plan.settings, &plan.nodes);
    let (hosts, all) = (u64::from(settings.hosts), u64::from(settings.nodes));
    require!(hosts >= 2, "{hosts} hosts");
    require!(
        hosts + nodes.switch.len() as u64 == all,
        "{hosts} hosts and {} switches are not {all} nodes",
        nodes.switch.len()
    );
    let most = nodes
        .switch
        .iter()
        .max()
        .map_or(0, |&most| usize::from(most) + 1);
    require!(most <= settings.switches.len(), "a switch without settings");
    Ok(())
}

fn links(plan: &Plan) -> Result<(), PlanError> {
    let (links, nodes) = (&plan.links, plan.settings.nodes);
    let count = links.from.len();
    let lengths = [links.to.len(), links.rate_bps.len(), links.delay_ps.len()];
    require!(
        count < u32::MAX as usize && lengths == [count; 3],
        "columns of links of different lengths: {count}, {lengths:?}"
    );
    require!(
        links.lossy.len() == count || (links.lossy.is_empty() && plan.settings.loss.is_none()),
        "the column of lossy links has {} rows",
        links.lossy.len()
    );
    let ends = || links.from.iter().zip(&links.to);
    require!(
        ends().all(|(&from, &to)| from < nodes && to < nodes && from != to),
        "a link without two ends"
    );
    require!(ascending(&links.from), "links that are not sorted");
    require!(
        links.rate_bps.iter().all(|&rate| rate > 0),
        "a link without a rate"
    );
    let delays = || links.delay_ps.iter().copied();
    require!(
        delays().all(|delay| (1..=LONGEST_PS).contains(&delay)),
        "a delay that is not from 1 to {LONGEST_PS} ps"
    );
    let sum = delays().fold(0u64, u64::saturating_add);
    let summed = matches!(
        plan.settings.routing,
        Routing::ShortestPath {
            metric: plan::Metric::Delay
        }
    );
    require!(
        !summed || sum < u64::MAX,
        "delays whose sum is not on the clock"
    );
    let mut ports = vec![0u32; nodes as usize];
    links
        .from
        .iter()
        .for_each(|&from| ports[from as usize] += 1);
    let hosts = &ports[..plan.settings.hosts as usize];
    require!(
        hosts.iter().all(|&ports| ports == 1),
        "a host without one link"
    );
    // Hosts are the first nodes and have one outgoing link each: link `i` belongs to host `i`.
    let known =
        |(&from, &to): (&u32, &u32)| hosts.len() <= to as usize || links.to[to as usize] == from;
    require!(
        ends().all(known),
        "a host to which another node leads than its own"
    );
    let most = ports.iter().copied().max().unwrap_or(0);
    require!(most <= u32::from(u16::MAX), "{most} ports at a node");
    Ok(())
}

/// Checks that every host can be reached from all nodes, and that hosts forward nothing.
fn routing(plan: &Plan) -> Result<(), PlanError> {
    let (hosts, nodes) = (plan.settings.hosts, plan.settings.nodes);
    let ends = || {
        plan.links
            .from
            .iter()
            .copied()
            .zip(plan.links.to.iter().copied())
    };
    if let Routing::FatTree { k, wavelengths } = plan.settings.routing {
        require!(
            (2..=128).contains(&k) && k % 2 == 0 && (1..=256).contains(&wavelengths),
            "no fat-tree has k = {k} and {wavelengths} wavelengths"
        );
        let half = u32::from(k) / 2;
        require!(
            (hosts, nodes) == (2 * half.pow(3), 2 * half.pow(3) + 5 * half.pow(2))
                && fat_tree(half, u32::from(wavelengths)).eq(ends()),
            "links that are not those of a fat-tree with k = {k}"
        );
        return Ok(());
    }
    if hosts == nodes {
        require!(
            ends().eq([(0, 1), (1, 0)]),
            "several hosts without a switch"
        );
        return Ok(());
    }
    require!(
        ends().all(|(from, to)| from >= hosts || to >= hosts),
        "hosts that are linked with each other, and switches"
    );
    let backwards = || ends().map(|(from, to)| (to, from));
    require!(
        reaches_all(hosts, nodes, ends()) && reaches_all(hosts, nodes, backwards()),
        "nodes that cannot reach each other"
    );
    Ok(())
}

/// Returns the links of a fat-tree, by source; for their order see
/// [`lightburst_net::routing::FatTree`].
fn fat_tree(half: u32, wavelengths: u32) -> impl Iterator<Item = (u32, u32)> {
    let (pod, k) = (half * half, 2 * half);
    let hosts = k * pod;
    let (edges, aggregations) = (hosts, hosts + k * half);
    let cores = aggregations + k * half;
    let wide = move |from, to| std::iter::repeat((from, to)).take(wavelengths as usize);
    let of_hosts = (0..hosts).map(move |host| (host, edges + host / half));
    let of_edges = (0..k * half).flat_map(move |edge| {
        let (from, first) = (edges + edge, aggregations + edge / half * half);
        let down = (0..half).map(move |i| (from, edge * half + i));
        down.chain((0..half).flat_map(move |i| wide(from, first + i)))
    });
    let of_aggregations = (0..k * half).flat_map(move |at| {
        let (from, first, up) = (
            aggregations + at,
            edges + at / half * half,
            at % half * half,
        );
        let down = (0..half).flat_map(move |i| wide(from, first + i));
        down.chain((0..half).flat_map(move |i| wide(from, cores + up + i)))
    });
    let of_cores = (0..pod).flat_map(move |core| {
        let up = core / half;
        (0..k).flat_map(move |pod| wide(cores + core, aggregations + pod * half + up))
    });
    of_hosts
        .chain(of_edges)
        .chain(of_aggregations)
        .chain(of_cores)
}

/// Whether the first switch reaches all nodes over these links.
fn reaches_all(hosts: u32, nodes: u32, links: impl Iterator<Item = (u32, u32)>) -> bool {
    let mut out = vec![Vec::new(); nodes as usize];
    links.for_each(|(from, to)| out[from as usize].push(to));
    let mut reached = vec![false; nodes as usize];
    reached[hosts as usize] = true;
    let mut frontier = vec![hosts];
    while let Some(node) = frontier.pop() {
        for &to in &out[node as usize] {
            if !std::mem::replace(&mut reached[to as usize], true) && to >= hosts {
                frontier.push(to);
            }
        }
    }
    reached.into_iter().all(|reached| reached)
}

/// Checks networks of bursts: every switch with hosts assembles bursts, and all fibres have the
/// same rate.
fn bursts(plan: &Plan) -> Result<(), PlanError> {
    let (hosts, links) = (plan.settings.hosts, &plan.links);
    let assembles = |node| plan.switch(node).is_some_and(|switch| switch.assembles());
    if !(hosts..plan.settings.nodes).any(assembles) {
        return Ok(());
    }
    let mut between =
        (0..links.from.len()).filter(|&i| links.from[i] >= hosts && links.to[i] >= hosts);
    let first = between.next().map(|i| links.rate_bps[i]);
    require!(
        between.all(|i| Some(links.rate_bps[i]) == first),
        "bursts over fibres of different rates"
    );
    require!(
        links.to[..hosts as usize]
            .iter()
            .all(|&edge| assembles(edge)),
        "a host at a switch that makes no bursts, beside some that do"
    );
    let takes = |edge: &u32| {
        plan.switch(*edge)
            .is_some_and(|switch| switch.assembly().is_some())
    };
    let mut groups = plan.settings.groups.iter();
    require!(
        groups.all(|group| group.transport.at_edge())
            || links.to[..hosts as usize].iter().all(takes),
        "hosts that send packets to an edge without a rule of assembly"
    );
    let sends = |node| {
        plan.switch(node)
            .is_some_and(|switch| switch.sends_headers())
    };
    let all = hosts..plan.settings.nodes;
    if !all.clone().any(sends) {
        return Ok(());
    }
    require!(
        all.clone().all(sends),
        "a switch that knows no headers, beside some that send them"
    );
    require!(
        links.channels.len() == links.from.len() && !links.channels.contains(&0),
        "a fibre without channels, where headers reserve them"
    );
    let (classes, groups) = (plan.classes(), plan.settings.groups.len());
    let mut switches = plan.settings.switches.iter();
    require!(
        classes == 0 || (classes == groups && switches.all(|s| s.classes() == classes)),
        "extra offsets that are not one for each group, or not at all switches"
    );
    let mut cuts = plan.settings.switches.iter().filter_map(|s| s.cuts());
    require!(
        cuts.all(|what| Some(what) == plan.cuts()),
        "switches of which some cut heads off bursts, and some tails"
    );
    let queues = classes as u64 * u64::from(plan.settings.nodes);
    require!(u32::try_from(queues).is_ok(), "{queues} queues for bursts");
    Ok(())
}

fn transports(plan: &Plan) -> Result<(), PlanError> {
    let groups = &plan.settings.groups;
    require!(
        (1..=usize::from(u16::MAX)).contains(&groups.len()),
        "{} groups",
        groups.len()
    );
    let later = plan.settings.changes.iter().flat_map(|it| &it.rates);
    let rates = plan.links.rate_bps.iter().copied();
    let slowest = rates.chain(later.map(|row| row.2)).min().unwrap_or(1);
    for plan::Group {
        transport, writes, ..
    } in groups
    {
        if let Some(writes) = writes {
            let (bytes, interval) = (writes.bytes, writes.interval_ps);
            require!(
                transport.kind == "tcp" && bytes > 0 && (1..=LONGEST_PS).contains(&interval),
                "writes of {bytes} bytes every {interval} ps by {}",
                transport.kind
            );
        }
        let (segment, header, control) = (
            transport.segment_bytes,
            transport.header_bytes,
            transport.control_bytes,
        );
        require!(
            header < segment && segment <= LARGEST_UNIT && (1..=LARGEST_UNIT).contains(&control),
            "segments of {segment} bytes with a header of {header}, controls of {control}"
        );
        let packet = transport.packet_bytes;
        require!(
            packet.map_or(true, |bytes| {
                transport.at_edge() && header < bytes && bytes <= segment
            }),
            "bursts of packets of {packet:?} bytes with a header of {header}"
        );
        let largest = Bytes(u64::from(segment.max(control)));
        let time = Rate::from_bps(slowest).transmission_time(largest).0;
        require!(
            time <= LONGEST_PS,
            "a unit that takes {time} ps at {slowest} b/s"
        );
        if let Some(entry) = transport::find(&transport.kind) {
            let (parameters, sizes) = (transport.parameters(), transport.sizes());
            transport::check(entry, &parameters, &sizes).map_err(PlanError)?;
        }
    }
    Ok(())
}

fn flows(plan: &Plan) -> Result<(), PlanError> {
    let (flows, hosts) = (&plan.flows, plan.settings.hosts);
    let count = flows.source.len();
    require!((1..=MOST_FLOWS).contains(&count), "{count} flows");
    let lengths = [
        flows.destination.len(),
        flows.start_ps.len(),
        flows.bytes.len(),
    ];
    require!(
        lengths == [count; 3],
        "columns of flows of different lengths: {count}, {lengths:?}"
    );
    let ends = || flows.source.iter().zip(flows.destination.iter());
    require!(
        ends().all(|(&from, &to)| from < hosts && to < hosts && from != to),
        "a flow without two hosts"
    );
    require!(ascending(&flows.start_ps), "flows that are not sorted");
    let last = flows.start_ps[count - 1];
    require!(last <= LONGEST_PS, "a flow that starts at {last} ps");
    require!(
        flows
            .bytes
            .iter()
            .all(|&bytes| (1..=1 << 62).contains(&bytes)),
        "a flow of no bytes, or of more than 2^62"
    );
    let known = plan.settings.groups.len();
    require!(
        (flows.group.is_empty() && known == 1) || flows.group.len() == count,
        "the column of groups has {} rows",
        flows.group.len()
    );
    require!(
        flows.group.iter().all(|&group| usize::from(group) < known),
        "a flow of a group that there is not"
    );
    joins::check(plan)
}

/// Checks that each datagram has a departure time, at least up to the first one after the time
/// limit, and that other flows have none.
fn departures(plan: &Plan) -> Result<(), PlanError> {
    let (flows, groups) = (&plan.flows, &plan.settings.groups);
    let offsets = &flows.departure_offsets;
    if !groups.iter().any(|group| group.transport.is_datagram()) {
        return Ok(());
    }
    let ends = (offsets.first().copied(), offsets.last().copied());
    require!(
        offsets.len() == flows.source.len() + 1
            && ends == (Some(0), Some(flows.departures_ps.len() as u64))
            && ascending(offsets),
        "departures that are not divided among the flows"
    );
    for flow in 0..flows.source.len() {
        let transport = &plan.group(flow).transport;
        let full = u64::from(transport.segment_bytes - transport.header_bytes);
        let number = match transport.is_datagram() {
            true => flows.bytes[flow].div_ceil(full),
            false => 0,
        };
        let (first, end) = (offsets[flow], offsets[flow + 1]);
        let times = &flows.departures_ps[first as usize..end as usize];
        let late = times.last() > Some(&plan.settings.time_limit_ps);
        require!(
            end - first == number || (end - first < number && late),
            "flow {flow} has {} departures",
            end - first
        );
        require!(ascending(times), "flow {flow} departs in another order");
    }
    Ok(())
}

fn losses(plan: &Plan) -> Result<(), PlanError> {
    let Some(loss) = &plan.settings.loss else {
        return Ok(());
    };
    for p in [loss.probability, loss.acknowledgement_probability] {
        require!((0.0..=1.0).contains(&p), "a probability of {p}");
    }
    let mut segments = 0u64;
    for script in loss.scripts() {
        let named = (script.flow as usize) < plan.flows.source.len();
        require!(
            named,
            "a script of flow {}, which there is not",
            script.flow
        );
        let kinds = [
            script.burst.is_some(),
            script.segments.is_some(),
            script.window.is_some(),
            script.acknowledgements.is_some(),
        ];
        let given = kinds.into_iter().filter(|&given| given).count();
        require!(given == 1, "a script of {given} kinds");
        let ranges = [script.segments, script.acknowledgements];
        for (first, last) in ranges.into_iter().flatten() {
            require!(
                1 <= first && first <= last,
                "a script from {first} to {last}"
            );
        }
        let (first, last) = script.segments.unwrap_or((1, 1));
        segments = segments.saturating_add(last - first);
    }
    require!(segments < MOST_SEGMENTS, "scripts of {segments} segments");
    for hold in &loss.holds {
        let later = hold.later.unwrap_or(0);
        require!(later > 0, "a hold until {later} later units");
    }
    // A host tells observers when it sends a segment, and would not know of the delay.
    let links = plan.links.from.iter().zip(&plan.links.lossy);
    let mut of_hosts = links.filter(|(&from, _)| from < plan.settings.hosts);
    require!(
        !loss.delays() || of_hosts.all(|(_, &lossy)| lossy == 0),
        "a hold or stall and a lossy link of a host"
    );
    for stall in &loss.stalls {
        let time = stall.duration_ps.unwrap_or(0);
        require!((1..=LONGEST_PS).contains(&time), "a stall of {time} ps");
    }
    let beside = loss.holds.iter().chain(&loss.stalls).chain(&loss.marks);
    let mut beside = beside.map(|script| script.acknowledgements);
    require!(
        beside.all(|given| given.is_none()),
        "a mark, hold or stall of acknowledgements"
    );
    Ok(())
}

fn measured(plan: &Plan) -> Result<(), PlanError> {
    let limit = plan.settings.time_limit_ps;
    require!(limit <= LONGEST_PS, "a time limit of {limit} ps");
    let scope = plan.scope();
    let mut measurements = plan.settings.measurements.iter();
    measurements.try_for_each(|measurement| measurement.check(&scope).map_err(PlanError))
}
