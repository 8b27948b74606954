//! Checks of connections with several subflows.

use super::MOST_FLOWS;
use crate::plan::{self, Plan, PlanError};

/// Largest number of subflows of a connection.
const MOST_SUBFLOWS: u16 = 16;
/// Window laws that couple the windows of subflows.
const COUPLED: [&str; 2] = ["lia", "olia"];

/// Checks the numbers of subflows, and what each group has beside them.
pub fn check(plan: &Plan) -> Result<(), PlanError> {
    for plan::Group {
        transport, writes, ..
    } in &plan.settings.groups
    {
        let (subflows, kind) = (transport.subflows, &transport.kind);
        require!(
            (1..=MOST_SUBFLOWS).contains(&subflows)
                && (subflows == 1 || (kind == "tcp" && writes.is_none())),
            "{subflows} subflows of {kind}"
        );
        require!(
            subflows > 1 || !(transport.reinjection || transport.shared_window),
            "one subflow with reinjection or a shared window"
        );
        let law = transport.policy("congestion_control").unwrap_or_default();
        require!(
            subflows > 1 || !COUPLED.contains(&law),
            "a connection with {law} and one subflow"
        );
        require!(
            subflows == 1 || transport.policy("recovery") != Some("rack-tlp"),
            "{subflows} subflows with a recovery by times of sending"
        );
    }
    let (flows, subflows) = (plan.flows.source.len() as u64, plan.subflows() as u64);
    require!(
        flows * subflows <= MOST_FLOWS as u64,
        "{flows} flows with {subflows} subflows"
    );
    Ok(())
}
