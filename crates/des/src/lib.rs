//! Discrete-event engine, independent of the network: a [`Model`] handles events, an [`EventQueue`]
//! orders them, and a [`Stream`] is the random number generator of one named component. [`real`] has
//! functions of real numbers with the same result on every machine.

pub mod queue;
pub mod real;
pub mod rng;
pub mod simulator;
pub mod time;

pub use queue::{Class, Event, EventQueue, Ties};
pub use rng::{mix, Stream};
pub use simulator::{Agenda, Model, Simulator, Stop};
pub use time::{Duration, Time, LONGEST_PS};
