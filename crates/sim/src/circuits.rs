//! Circuit switches of a plan: their check, and their racks.

use crate::plan::loss::LossSettings;
use crate::plan::{Plan, PlanError};
use lightburst_des::Duration;
use lightburst_net::link::outages::known_down;
use lightburst_net::NodeId;
use lightburst_optical::circuit::layout::{Layout, Link};
use lightburst_optical::circuit::Closures;
use lightburst_optical::switch::CircuitSettings;

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
    let spans = outages.by_link();
    Some(Closures::new(layout, |link| {
        let of_link = spans.get(&link).map_or(&[][..], Vec::as_slice);
        known_down(of_link, delay)
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
    let nodes = (settings.hosts, settings.nodes);
    Some(Layout::new(nodes, packet_switch(plan), &links))
}

/// Returns the node of the packet network, whose switch has no circuits.
fn packet_switch(plan: &Plan) -> Option<NodeId> {
    let settings = &plan.settings;
    let is_other = |&node: &u32| plan.switch(node).is_some_and(|it| it.circuits().is_none());
    (settings.hosts..settings.nodes).find(is_other).map(NodeId)
}

/// Returns the circuits of a plan: of all its switches, or of all but an electronic one that is the
/// packet network.
fn circuits(plan: &Plan) -> Option<&CircuitSettings> {
    let others = plan.nodes.switch.iter().filter(|&&which| which == 1);
    match &plan.settings.switches[..] {
        [one] => one.circuits().filter(|it| !it.has_packet_network()),
        [one, other] => {
            let fits = other.stores_and_forwards(false) && other.circuits().is_none();
            let fits = fits && !other.assembles() && others.count() == 1;
            one.circuits().filter(|it| fits && it.has_packet_network())
        }
        _ => None,
    }
}

/// Rejects a plan whose circuits cannot be built. The links are checked already.
pub fn check(plan: &Plan) -> Result<(), PlanError> {
    let refuse = |what: String| Err(PlanError(what));
    let Some(found) = find(plan) else {
        return Ok(());
    };
    let Some(circuits) = circuits(plan) else {
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
