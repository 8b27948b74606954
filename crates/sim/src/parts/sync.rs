//! Operations of which the barrier is made.

pub use std::hint::spin_loop;
pub use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
pub use std::sync::{Condvar, Mutex, PoisonError};
