//! Checks of the paths of labels and of the load balancing among them.

use super::ascending;
use crate::plan::{Plan, PlanError, Routing};
use lightburst_des::LONGEST_PS;

/// Greatest number of load reports in transit at the same time.
const MOST_REPORTS: u64 = 1000;

/// Checks that each path leads from switch to switch to its destination and visits no switch twice.
pub fn check(plan: &Plan) -> Result<(), PlanError> {
    let (nodes, settings) = (&plan.nodes, &plan.settings);
    let count = nodes.path_source.len();
    let labelled = settings.label.is_some() || settings.protection.is_some();
    if !labelled || matches!(settings.routing, Routing::FatTree { .. }) {
        require!(!labelled, "labels in a fat-tree");
        return Ok(());
    }
    let offsets = &nodes.path_offsets;
    let ends = (offsets.first().copied(), offsets.last().copied());
    require!(
        nodes.path_destination.len() == count
            && offsets.len() == count + 1
            && ends == (Some(0), Some(nodes.path_links.len() as u64))
            && ascending(offsets),
        "columns of paths that do not go together"
    );
    let edges = &plan.links.to[..settings.hosts as usize];
    let mut edges: Vec<u32> = edges.to_vec();
    edges.sort_unstable();
    let is_edge = |node: &u32| *node >= settings.hosts && edges.binary_search(node).is_ok();
    let mut labels = std::collections::BTreeMap::new();
    for path in 0..count {
        let (source, destination) = (nodes.path_source[path], nodes.path_destination[path]);
        require!(
            is_edge(&source) && is_edge(&destination),
            "a path from {source} to {destination}, which are not switches with hosts"
        );
        let range = offsets[path] as usize..offsets[path + 1] as usize;
        require!(
            leads(plan, source, destination, &nodes.path_links[range]),
            "path {path} does not lead from {source} to {destination}"
        );
        let label: &mut u16 = labels.entry((source, destination)).or_default();
        *label += 1;
        require!(
            *label < 256,
            "more than 255 paths from {source} to {destination}"
        );
    }
    Ok(())
}

/// Checks that load balancing has settings if and only if labels need them, and that units are
/// bursts.
pub fn balance(plan: &Plan) -> Result<(), PlanError> {
    let settings = &plan.settings;
    let by_load = settings.label.as_deref() == Some("load");
    require!(
        by_load == settings.balance.is_some(),
        "labels by load without its settings, or these without such labels"
    );
    let Some(given) = &settings.balance else {
        return Ok(());
    };
    let edges = &plan.links.to[..settings.hosts as usize];
    require!(
        edges
            .iter()
            .all(|&edge| plan.switch(edge).is_some_and(|switch| switch.assembles())),
        "labels by load where units are packets"
    );
    let (interval, delay) = (given.interval_ps, given.delay_ps);
    require!(
        (1..=LONGEST_PS).contains(&interval) && delay / interval <= MOST_REPORTS,
        "reports each {interval} ps that come {delay} ps late"
    );
    require!(
        given.threshold >= 0.0 && given.threshold.is_finite() && given.capacity_bps != Some(0),
        "a threshold of {} at a capacity of {:?}",
        given.threshold,
        given.capacity_bps
    );
    Ok(())
}

/// Whether the links of a path lead from one switch to another; links from the same node are
/// alternatives.
fn leads(plan: &Plan, source: u32, destination: u32, path: &[u32]) -> bool {
    let (links, hosts) = (&plan.links, plan.settings.hosts);
    let ends = |&link: &u32| Some((*links.from.get(link as usize)?, links.to[link as usize]));
    let Some(mut hops) = path.iter().map(ends).collect::<Option<Vec<_>>>() else {
        return false;
    };
    hops.dedup();
    let mut passed: Vec<u32> = hops.iter().map(|&(_, to)| to).chain([source]).collect();
    passed.sort_unstable();
    let (first, last) = (hops.first().map(|hop| hop.0), hops.last().map(|hop| hop.1));
    (first, last) == (Some(source), Some(destination))
        && hops.windows(2).all(|pair| pair[0].1 == pair[1].0)
        && passed.windows(2).all(|pair| pair[0] != pair[1])
        && passed.iter().all(|&node| node >= hosts)
}

/// Checks that each flow that enters at an edge leads to another edge, and that both assemble
/// bursts.
pub fn entries(plan: &Plan) -> Result<(), PlanError> {
    let (flows, edges) = (&plan.flows, &plan.links.to);
    let between_edges = |flow: usize| {
        let ends = [flows.source[flow], flows.destination[flow]].map(|host| edges[host as usize]);
        let assembles = |edge| plan.switch(edge).is_some_and(|switch| switch.assembles());
        ends[0] != ends[1] && ends.into_iter().all(assembles)
    };
    let enters = |flow: &usize| plan.group(*flow).transport.at_edge();
    require!(
        (0..flows.source.len()).filter(enters).all(between_edges),
        "a flow that enters at an edge without two edges of bursts"
    );
    Ok(())
}
