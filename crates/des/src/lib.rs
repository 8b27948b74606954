//! The discrete-event engine. It knows no network: a [`Model`] handles events,
//! an [`Agenda`] orders them, a [`Stream`] draws for one named component.

pub mod agenda;
pub mod rng;
pub mod simulator;
pub mod time;

pub use agenda::{Agenda, Class, Order, Selected};
pub use rng::{mix, Stream};
pub use simulator::{Calendar, Model, Simulator, Stop};
pub use time::{Duration, Time};
