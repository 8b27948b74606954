//! Circuit switches of a plan: their check, and their racks.

use crate::plan::loss::LossSettings;
use crate::plan::{Plan, PlanError};
use lightburst_des::{Duration, Time};
use lightburst_net::link::outages::known_down;
use lightburst_net::{LinkId, NodeId, Outage};
use lightburst_optical::circuit::layout::{Layout, Link};
use lightburst_optical::circuit::Closures;

/// Finds the racks and the circuit switches of a plan; `None` if it has no circuits.
pub fn layout(plan: &Plan) -> Option<Layout> {
    let layout = find(plan)?;
    Some(layout.expect("a network of racks and circuit switches"))
}

/// Finds the circuits that lead nowhere for a time; `None` if links cannot be down, or if nobody
/// learns of it.
pub fn closures(plan: &Plan, layout: &Layout) -> Option<Closures> {
    let outages = plan.settings.outages.as_ref()?;
    let delay = Duration(outages.restoration_ps?);
    Some(Closures::new(layout, |link: LinkId| {
        let of_link = outages.links.iter().filter(|row| row.0 == link.0);
        let outage = |&(_, down, up): &(u32, u64, u64)| Outage {
            down: Time(down),
            up: Time(up),
        };
        known_down(&of_link.map(outage).collect::<Vec<_>>(), delay)
    }))
}

fn find(plan: &Plan) -> Option<Result<Layout, String>> {
    let (settings, links) = (&plan.settings, &plan.links);
    let mut switches = settings.switches.iter();
    switches.find_map(|switch| switch.circuits())?;
    let link = |i: usize| -> Link {
        let (from, to) = (NodeId(links.from[i]), NodeId(links.to[i]));
        (from, to, Duration(links.delay_ps[i]))
    };
    let links: Vec<Link> = (0..links.from.len()).map(link).collect();
    Some(Layout::new(settings.hosts, settings.nodes, &links))
}

/// Rejects a plan whose circuits cannot be built. The links are checked already.
pub fn check(plan: &Plan) -> Result<(), PlanError> {
    let refuse = |what: String| Err(PlanError(what));
    let Some(found) = find(plan) else {
        return Ok(());
    };
    let switches = &plan.settings.switches;
    let circuits = match &switches[..] {
        [one] => one.circuits(),
        _ => None,
    };
    let Some(circuits) = circuits else {
        return refuse("circuit switches beside others, or with several schedules".to_string());
    };
    let layout = match found {
        Ok(layout) => layout,
        Err(fault) => return refuse(fault),
    };
    let loss = plan.settings.loss.as_ref();
    if loss.is_some_and(LossSettings::delays) {
        return refuse("holds or stalls beside circuits, which do not wait".to_string());
    }
    match circuits.fault(&layout) {
        Some(fault) => refuse(fault),
        None => Ok(()),
    }
}
