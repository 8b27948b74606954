//! Changes of the rates and losses of links, as given by the plan.

use serde::Deserialize;

/// Links whose rate or loss changes during the run. All rows are by link and time.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeSettings {
    /// Link, time, and the rate in bits per second from then on.
    #[serde(default)]
    pub rates: Vec<(u32, u64, u64)>,
    /// Link, time, and the loss probabilities from then on, of units with data and of others.
    #[serde(default)]
    pub losses: Vec<(u32, u64, f64, f64)>,
}
