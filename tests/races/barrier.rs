//! All orders in which threads can meet at the barrier of a run in parts.

#![allow(dead_code)]

#[path = "../../crates/sim/src/parts/barrier.rs"]
mod barrier;

/// Operations whose orders loom tries.
mod sync {
    pub use loom::hint::spin_loop;
    pub use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
    pub use loom::sync::{Condvar, Mutex};
    pub use std::sync::PoisonError;
}

use barrier::Barrier;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// Two threads meet some times; before each meeting one of them writes, and the other reads after
/// it. loom fails at a read that does not follow the write, and at a thread that waits for ever.
fn meet(spins: u32) {
    loom::model(move || {
        let shared = Arc::new((Barrier::new(2, spins), [UnsafeCell::new(0), UnsafeCell::new(0)]));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let (barrier, cells) = &*other;
            for (number, cell) in (1..).zip(cells) {
                cell.with_mut(|cell| unsafe { *cell = number });
                barrier.wait().expect("all come");
            }
        });
        let (barrier, cells) = &*shared;
        for (number, cell) in (1..).zip(cells) {
            barrier.wait().expect("all come");
            cell.with(|cell| assert_eq!(unsafe { *cell }, number));
        }
        thread.join().expect("no panic");
    });
}

#[test]
fn threads_that_sleep_at_once_meet() {
    meet(0);
}

#[test]
fn threads_that_look_first_meet() {
    meet(1);
}

#[test]
fn nobody_sleeps_for_ever_when_the_barrier_is_broken() {
    loom::model(|| {
        let barrier = Arc::new(Barrier::new(2, 0));
        let other = Arc::clone(&barrier);
        let thread = thread::spawn(move || other.wait().is_err());
        barrier.break_up();
        assert!(thread.join().expect("no panic"));
    });
}
