//! Everything that light does. Knows no TCP.

pub mod assembly;
pub mod edge;
pub mod switch;
#[cfg(test)]
mod tests;
