//! Losses on links and scripts, as given by the plan.

use serde::Deserialize;

/// Losses on lossy links, and scripts for the units there.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossSettings {
    /// Loss probability of a unit with data.
    pub probability: f64,
    /// Loss probability of a unit without data.
    pub acknowledgement_probability: f64,
    /// Scripts of units that are lost.
    #[serde(default)]
    pub drops: Vec<Script>,
    /// Scripts of units that are marked.
    #[serde(default)]
    pub marks: Vec<Script>,
    /// Scripts of units that later ones overtake; they have `later`.
    #[serde(default)]
    pub holds: Vec<Script>,
    /// Scripts of units before which the link stays idle; they have `duration_ps`.
    #[serde(default)]
    pub stalls: Vec<Script>,
}

impl LossSettings {
    /// Returns whether a script delays units.
    pub fn delays(&self) -> bool {
        !self.holds.is_empty() || !self.stalls.is_empty()
    }

    /// Iterates over all scripts, in the order of the lists.
    pub fn scripts(&self) -> impl Iterator<Item = &Script> {
        let lists = [&self.drops, &self.marks, &self.holds, &self.stalls];
        lists.into_iter().flatten()
    }
}

/// Script: exactly one of `burst`, `segments`, `window` and `acknowledgements` is given.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Number of the flow.
    #[serde(default)]
    pub flow: u32,
    /// The k-th unit with data of the flow is selected.
    #[serde(default)]
    pub burst: Option<u64>,
    /// First and last data segment that are selected.
    #[serde(default)]
    pub segments: Option<(u64, u64)>,
    /// Number of the transmission of these segments that is selected, from 1.
    #[serde(default)]
    pub transmission: Option<u32>,
    /// The first unit with data sent with this window, in segments, is selected.
    #[serde(default)]
    pub window: Option<u16>,
    /// First and last unit with acknowledgements that are selected.
    #[serde(default)]
    pub acknowledgements: Option<(u64, u64)>,
    /// Number of later units with data of the flow that a held unit follows.
    #[serde(default)]
    pub later: Option<u64>,
    /// Duration of a stall.
    #[serde(default)]
    pub duration_ps: Option<u64>,
}
