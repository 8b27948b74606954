//! Protection of paths, as given by the plan.

use crate::plan::PlanSettings;
use serde::Deserialize;

/// Which of the two paths of each pair of edges is selected, and when.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProtectionSettings {
    /// Switch at the ingress, switch at the egress, time in picoseconds, and label of the path that
    /// is selected from then on: 0 the working path, as at the begin, 1 the backup path. By pair and
    /// time.
    pub turns: Vec<(u32, u32, u64, u8)>,
    /// Whether packets travel on both paths, and the egress selects (1+1); otherwise the ingress
    /// selects (1:1).
    #[serde(default)]
    pub duplicates: bool,
}

impl PlanSettings {
    /// Returns whether packets travel in two copies.
    pub fn copies(&self) -> bool {
        let given = self.protection.as_ref();
        given.is_some_and(|given| given.duplicates)
    }
}
