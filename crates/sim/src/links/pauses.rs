//! Priority flow control of a plan, and its check.

use crate::plan::{Plan, PlanError};
use lightburst_des::Time;
use lightburst_net::link::pause::{Classes, End, MOST_CLASSES};
use lightburst_net::{LinkId, Outage, Pauses};
use lightburst_optical::switch::SwitchSettings;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Returns whether any switch asks for pauses.
pub fn are_asked_for(plan: &Plan) -> bool {
    used(plan).any(|switch| switch.pauses().is_some())
}

/// Iterates over the settings of each switch.
fn used(plan: &Plan) -> impl Iterator<Item = &dyn SwitchSettings> {
    let nodes = plan.settings.hosts..plan.settings.nodes;
    nodes.filter_map(|node| plan.switch(node))
}

/// Rejects flow control that cannot be simulated.
pub fn check(plan: &Plan) -> Result<(), PlanError> {
    if !are_asked_for(plan) {
        return Ok(());
    }
    let refuse = |words: &str| Err(PlanError(words.to_string()));
    if !used(plan).all(|switch| switch.queues_at_outputs()) {
        return refuse("flow control beside outputs without explicit queues");
    }
    if plan.settings.protection.is_some() {
        return refuse("flow control beside protection");
    }
    if used(plan).any(|switch| switch.pauses().is_some_and(|of| of.xon > of.xoff)) {
        return refuse("flow control whose pauses end above the bytes at which they begin");
    }
    let mut lines = used(plan).map(|switch| switch.lines_of_groups());
    let first = lines.next().flatten();
    if lines.any(|other| other != first) {
        return refuse("flow control among switches with other classes");
    }
    let last = first.iter().flat_map(|lines| lines.iter()).max();
    if last.is_some_and(|&last| last >= MOST_CLASSES) {
        return refuse("flow control of more than 8 classes");
    }
    if reverses(plan).contains(&None) {
        return refuse("flow control over links without one the other way");
    }
    Ok(())
}

/// Returns the link the other way of each link: of several between two nodes, the one of the same
/// rank.
fn reverses(plan: &Plan) -> Vec<Option<LinkId>> {
    let links = &plan.links;
    let mut between: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    let ends = |link: usize| (links.from[link], links.to[link]);
    let all = 0..links.from.len();
    for link in all.clone() {
        between.entry(ends(link)).or_default().push(link as u32);
    }
    let other = |link: usize| {
        let (from, to) = ends(link);
        let rank = between[&(from, to)]
            .iter()
            .position(|&one| one as usize == link);
        let back = between.get(&(to, from))?.get(rank?);
        back.copied().map(LinkId)
    };
    all.map(other).collect()
}

/// Returns the class of each flow: the line of its group, the same at all switches.
fn classes(plan: &Plan) -> Classes {
    let lines = used(plan).find_map(|switch| switch.lines_of_groups());
    let Some(lines) = lines else {
        return Classes {
            number: 1,
            of: Arc::default(),
        };
    };
    let flows = 0..plan.numbers();
    Classes {
        number: 1 + lines.iter().max().copied().unwrap_or(0),
        of: flows.map(|flow| lines[plan.group_index(flow)]).collect(),
    }
}

/// Builds the flow control of all links; `None` if no switch asks for pauses.
pub fn pauses(plan: &Plan) -> Option<Pauses> {
    if !are_asked_for(plan) {
        return None;
    }
    let end = |(link, reverse): (usize, Option<LinkId>)| End {
        reverse: reverse.expect("a link the other way"),
        bounds: plan
            .switch(plan.links.to[link])
            .and_then(|switch| switch.pauses()),
    };
    let ends = reverses(plan).into_iter().enumerate().map(end).collect();
    let mut pauses = Pauses::new(classes(plan), ends);
    if let Some(given) = &plan.settings.outages {
        let outages = given.by_link();
        let times = |outage: &Outage| [outage.down, outage.up];
        let changes = |link| match outages.get(&LinkId(link)) {
            Some(outages) => outages.iter().flat_map(times).collect(),
            None => Vec::new(),
        };
        let all: Vec<Vec<Time>> = (0..plan.links.to.len() as u32).map(changes).collect();
        pauses.have_breaks(&all);
    }
    Some(pauses)
}
