//! Checks of the queues of switches, and of the pauses that they ask for.

use crate::plan::{Plan, PlanError};

/// Rejects queues with settings for some of the groups of flows only.
pub fn check(plan: &Plan) -> Result<(), PlanError> {
    let groups = plan.settings.groups.len();
    for switch in &plan.settings.switches {
        if let Some(given) = switch.lines_of_groups().map(|lines| lines.len()) {
            require!(given == groups, "queues for {given} of {groups} groups");
        }
    }
    check_telemetry(plan)?;
    crate::links::pauses::check(plan)
}

/// Rejects packets with telemetry among switches whose outputs cannot tell of their queues.
fn check_telemetry(plan: &Plan) -> Result<(), PlanError> {
    let queues = |node| plan.switch(node).is_some_and(|it| it.queues_at_outputs());
    let mut nodes = plan.settings.hosts..plan.settings.nodes;
    let mut groups = plan.settings.groups.iter();
    if groups.any(|it| it.transport.asks_for_telemetry()) {
        require!(
            nodes.all(queues),
            "telemetry among outputs without explicit queues"
        );
    }
    Ok(())
}
