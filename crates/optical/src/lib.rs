//! Switches, edges of burst-switched networks and burst assembly. Independent of TCP.

pub mod assembly;
pub mod circuit;
pub mod edge;
mod lines;
pub mod obs;
pub mod output;
pub mod queue;
pub mod settings;
pub mod switch;
#[cfg(test)]
mod tests;
mod updates;
