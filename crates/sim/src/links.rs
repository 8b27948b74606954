//! Links of a plan that go down, change, or lose units.

pub mod changes;
pub mod loss;
pub mod outages;
pub mod pauses;
pub mod protection;
