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
    crate::links::pauses::check(plan)
}
