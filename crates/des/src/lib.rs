//! The discrete-event engine. It knows no network: a [`Model`] handles events,
//! an [`EventQueue`] orders them, a [`Stream`] draws for one named component.

pub mod queue;
pub mod rng;
pub mod simulator;
pub mod time;

pub use queue::{Class, Event, EventQueue, Ties};
pub use rng::{mix, Stream};
pub use simulator::{Model, Scheduler, Simulator, Stop};
pub use time::{Duration, Time, LONGEST_PS};
