//! Networks that run as a whole only, and why.

use crate::plan::{Plan, PlanError, PlanSettings, Transport};
use lightburst_tcp::transport;

/// Returns why a network with these settings cannot run in parts; `None` if it can. `joins`: whether
/// flows wait for others.
pub fn refusal(settings: &PlanSettings, joins: bool) -> Option<&'static str> {
    let transports = || settings.groups.iter().map(|group| &group.transport);
    let pulls = |it: &Transport| {
        let kind = transport::find(&it.kind);
        kind.is_some_and(|kind| (kind.reception)(&it.parameters()).pulls)
    };
    let switches = || settings.switches.iter();
    let reasons = [
        (
            !switches().all(|switch| switch.runs_in_parts()),
            "its switches handle bursts or circuits",
        ),
        (
            switches().any(|switch| switch.pauses().is_some()),
            "its switches pause links (priority flow control)",
        ),
        (
            transports().any(Transport::is_datagram),
            "some of its flows are datagrams",
        ),
        (transports().any(pulls), "its receivers pull packets"),
        (
            transports().any(|it| it.subflows > 1),
            "its connections have several subflows",
        ),
        (
            transports().any(Transport::asks_for_telemetry),
            "its packets carry telemetry",
        ),
        (joins, "some of its flows wait for others"),
        (
            settings.choice.repaths().is_some(),
            "its senders change the paths of flows",
        ),
        (
            settings.label.is_some() || settings.balance.is_some(),
            "its units choose among given paths",
        ),
        (settings.loss.is_some(), "some of its links lose packets"),
        (
            settings.outages.is_some() || settings.protection.is_some(),
            "some of its links fail",
        ),
        (settings.changes.is_some(), "some of its links change"),
        (
            !settings.measurements.iter().all(|it| it.runs_in_parts()),
            "it is traced, or sampled, or records events",
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
