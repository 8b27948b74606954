//! Checks of names in a plan, which the construction of the network relies on.

use crate::plan::{self, PlanError, PlanSettings};
use crate::registry::registry;
use std::collections::BTreeMap;

/// Tables of a transport that select a policy by its kind, and the topics of these kinds.
const POLICIES: [(&str, &str); 2] = [
    ("congestion_control", "congestion_controls"),
    ("recovery", "recoveries"),
];
/// The same for the transport `rdma`.
const POLICIES_OF_RDMA: [(&str, &str); 2] = [
    ("congestion_control", "rate_laws"),
    ("recovery", "rdma_recoveries"),
];

/// Rejects a name that is in no registry.
pub fn check(settings: &PlanSettings) -> Result<(), PlanError> {
    let registry: BTreeMap<_, _> = registry().into_iter().collect();
    let check = |topic: &str, given: &str| match registry.get(topic) {
        Some(known) if !known.contains(&given) => {
            let known = known.join(", ");
            Err(PlanError(format!(
                "no {given:?} in {topic}; known: {known}"
            )))
        }
        _ => Ok(()),
    };
    check("choices", settings.choice.name())?;
    settings.choice.check().map_err(PlanError)?;
    if let Some(label) = &settings.label {
        check("labels", label)?;
    }
    for plan::Group { transport, .. } in &settings.groups {
        check("transports", &transport.kind)?;
        let policies = match transport.kind.as_str() {
            "rdma" => POLICIES_OF_RDMA,
            _ => POLICIES,
        };
        for (name, topic) in policies {
            if let Some(kind) = transport.policy(name) {
                check(topic, kind)?;
            }
        }
        if settings.choice.name() == "entropy-spray" && !transport.sizes().trimmable {
            return Err(PlanError(
                "a choice by entropy needs queue pairs that repeat single packets".into(),
            ));
        }
    }
    Ok(())
}
