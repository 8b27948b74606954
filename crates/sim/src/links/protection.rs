//! Protection of paths of a plan, and its check.

use crate::plan::loss::LossSettings;
use crate::plan::protection::ProtectionSettings;
use crate::plan::{Plan, PlanError};
use lightburst_des::Time;
use lightburst_net::{NodeId, Protection};
use std::collections::BTreeMap;

/// Rejects protection that cannot be simulated.
pub fn check(plan: &Plan) -> Result<(), PlanError> {
    let Some(given) = &plan.settings.protection else {
        return Ok(());
    };
    let refuse = |words: &str| Err(PlanError(words.to_string()));
    if plan.settings.label.is_some() {
        return refuse("protection beside labels");
    }
    let loss = plan.settings.loss.as_ref();
    if loss.is_some_and(LossSettings::delays) {
        return refuse("protection beside holds or stalls");
    }
    let outages = plan.settings.outages.as_ref();
    if outages.is_some_and(|outages| outages.restoration_ps.is_some()) {
        return refuse("protection beside routes that change");
    }
    let mut switches = plan.settings.switches.iter();
    if given.duplicates && switches.any(|switch| switch.assembles()) {
        return refuse("copies of packets in a network of bursts");
    }
    let mut paths: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let nodes = &plan.nodes;
    for pair in nodes.path_source.iter().zip(&nodes.path_destination) {
        *paths.entry((*pair.0, *pair.1)).or_default() += 1;
    }
    if paths.values().any(|&number| number != 2) {
        return refuse("protection of pairs without two paths");
    }
    if given.turns.iter().any(|&(source, destination, _, label)| {
        label > 1 || !paths.contains_key(&(source, destination))
    }) {
        return refuse("a turn to a path that there is not");
    }
    let key = |&(source, destination, time, _): &(u32, u32, u64, u8)| (source, destination, time);
    if !given
        .turns
        .windows(2)
        .all(|two| key(&two[0]) < key(&two[1]))
    {
        return refuse("turns that are not sorted");
    }
    Ok(())
}

/// Builds the protection of a plan. `edges` is the switch of each host.
pub fn protection(given: &ProtectionSettings, edges: Vec<NodeId>) -> Protection {
    let turn = |&(source, destination, time, label): &(u32, u32, u64, u8)| {
        ((NodeId(source), NodeId(destination)), Time(time), label)
    };
    Protection::new(edges, given.turns.iter().map(turn))
}
