//! Networks that run as a whole only, and why.

use crate::plan::{Plan, PlanError, PlanSettings, Transport};
use lightburst_optical::switch::SwitchSettings;
use lightburst_tcp::transport;

/// Returns why a network with these settings cannot run in parts; `None` if it can. `joins`: whether
/// flows wait for others.
pub fn refusal(settings: &PlanSettings, joins: bool) -> Option<&'static str> {
    // All fields, so that a new one is decided on here.
    let PlanSettings {
        hosts: _,
        nodes: _,
        routing: _,
        choice,
        label,
        balance,
        seed: _,
        shuffle: _,
        queue: _,
        time_limit_ps: _,
        switches,
        groups,
        fair: _,
        loss,
        outages,
        changes,
        protection,
        measurements,
    } = settings;
    let mut transports = groups.iter().map(|group| of_transport(&group.transport));
    let mut switches = switches.iter().map(|switch| of_switch(&**switch));
    let reasons = [
        (joins, "some of its flows wait for others"),
        (
            choice.repaths().is_some(),
            "its senders change the paths of flows",
        ),
        (
            label.is_some() || balance.is_some(),
            "its units choose among given paths",
        ),
        (loss.is_some(), "some of its links lose packets"),
        (
            outages.is_some() || protection.is_some(),
            "some of its links fail",
        ),
        (changes.is_some(), "some of its links change"),
        (
            !measurements.iter().all(|it| it.runs_in_parts()),
            "it is traced, or sampled, or records events",
        ),
    ];
    let mut others = reasons
        .into_iter()
        .filter_map(|(holds, why)| holds.then_some(why));
    let of_switches = switches.find_map(|reason| reason);
    of_switches
        .or_else(|| transports.find_map(|reason| reason))
        .or_else(|| others.next())
}

fn of_switch(switch: &dyn SwitchSettings) -> Option<&'static str> {
    if !switch.runs_in_parts() {
        return Some("its switches handle bursts or circuits");
    }
    let pauses = switch.pauses().is_some();
    pauses.then_some("its switches pause links (priority flow control)")
}

fn of_transport(transport: &Transport) -> Option<&'static str> {
    let kind = transport::find(&transport.kind);
    let pulls = kind.is_some_and(|kind| (kind.reception)(&transport.parameters()).pulls);
    let reasons = [
        (transport.is_datagram(), "some of its flows are datagrams"),
        (pulls, "its receivers pull packets"),
        (
            transport.subflows > 1,
            "its connections have several subflows",
        ),
        (
            transport.asks_for_telemetry(),
            "its packets carry telemetry",
        ),
    ];
    let found = reasons.into_iter().find(|(holds, _)| *holds);
    found.map(|(_, reason)| reason)
}

/// Checks that a plan can run in the parts that `of_node` gives; returns their number.
pub fn check(plan: &Plan, of_node: &[u16]) -> Result<usize, PlanError> {
    let settings = &plan.settings;
    if let Some(reason) = refusal(settings, !plan.flows.joins.towards.is_empty()) {
        return Err(PlanError(format!("a network in parts: {reason}")));
    }
    if of_node.len() != settings.nodes as usize {
        let words = format!(
            "{} nodes, and the parts of {}",
            settings.nodes,
            of_node.len()
        );
        return Err(PlanError(words));
    }
    let parts = 1 + usize::from(of_node.iter().copied().max().unwrap_or(0));
    let mut any = vec![false; parts];
    of_node
        .iter()
        .for_each(|&part| any[usize::from(part)] = true);
    match any.contains(&false) {
        true => Err(PlanError(format!("one of {parts} parts without nodes"))),
        false => Ok(parts),
    }
}
