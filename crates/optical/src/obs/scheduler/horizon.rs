//! Horizon scheduling: Turner 1999, "Terabit burst switching", section 4. Among the channels whose
//! last reservation ends by the start of the burst, it takes the one with the latest end. LAUC is a
//! later name of the same rule.

use super::{lauc, Scheduler};

/// The LAUC rule under its earlier name.
pub const HORIZON: Scheduler = Scheduler {
    name: "horizon",
    ..lauc::LAUC
};
