//! Switches of every kind, the edges of burst networks and burst assembly. Knows no TCP.

pub mod assembly;
pub mod edge;
pub mod obs;
pub mod settings;
pub mod switch;
#[cfg(test)]
mod tests;
