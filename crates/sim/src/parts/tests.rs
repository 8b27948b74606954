//! The barrier; `tests/verification/test_network_in_parts.py` tests runs in parts.

use super::barrier::{Barrier, SPINS};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;

/// Each thread adds its number before a meeting and reads the sum after it.
#[test]
fn all_writes_before_a_meeting_are_seen_after_it() {
    for spins in [0, 1, SPINS] {
        let (barrier, sums) = (Barrier::new(3, spins), [const { AtomicU64::new(0) }; 200]);
        thread::scope(|scope| {
            for thread in 1..=3 {
                let (barrier, sums) = (&barrier, &sums);
                scope.spawn(move || {
                    for sum in sums {
                        sum.fetch_add(thread, SeqCst);
                        barrier.wait().expect("all come");
                        assert_eq!(sum.load(SeqCst), 6);
                    }
                });
            }
        });
    }
}

#[test]
fn nobody_waits_for_a_thread_that_will_not_come() {
    for spins in [0, SPINS] {
        let barrier = Barrier::new(3, spins);
        thread::scope(|scope| {
            let wait = || scope.spawn(|| barrier.wait().is_err());
            let waiting = [wait(), wait()];
            barrier.break_up();
            assert!(waiting.map(|thread| thread.join().expect("no panic")) == [true; 2]);
        });
    }
}
