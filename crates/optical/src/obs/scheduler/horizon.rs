//! Horizon scheduling: Turner 1999, "Terabit burst switching", section 4. Of the channels on which
//! nothing is booked any more, the one with the latest end. It is what LAUC chooses, under the name that
//! came first.

use super::{lauc, Scheduler};

/// See above.
pub const HORIZON: Scheduler = Scheduler {
    name: "horizon",
    ..lauc::LAUC
};
