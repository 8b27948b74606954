//! Checks of names in a plan, which the construction of the network relies on.

use crate::plan::{self, PlanError, PlanSettings};
use crate::registry::registry;
use std::collections::BTreeMap;

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
    check("choices", &settings.choice)?;
    if let Some(label) = &settings.label {
        check("labels", label)?;
    }
    for plan::Group { transport, .. } in &settings.groups {
        check("transports", &transport.kind)?;
        check_settings(&transport.parameters, "", &check)?;
    }
    Ok(())
}

/// Checks the names in a table of settings and in its nested tables; `kinds` is the topic of its
/// kind.
fn check_settings(
    table: &BTreeMap<String, plan::TransportSetting>,
    kinds: &str,
    check: &impl Fn(&str, &str) -> Result<(), PlanError>,
) -> Result<(), PlanError> {
    for (name, setting) in table {
        match setting {
            plan::TransportSetting::Word(word) if name == "kind" => check(kinds, word)?,
            plan::TransportSetting::Word(word) => check(name, word)?,
            plan::TransportSetting::Table(inner) if name == "congestion_control" => {
                check_settings(inner, "congestion_controls", check)?;
            }
            plan::TransportSetting::Table(inner) => check_settings(inner, "recoveries", check)?,
            _ => {}
        }
    }
    Ok(())
}
