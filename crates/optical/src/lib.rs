//! Everything that light does. Knows no TCP.

pub mod switch;
