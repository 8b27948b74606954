//! A barrier for threads that meet very often: it spins for a bounded time and then sleeps.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, PoisonError};

/// Looks at the barrier before a thread sleeps: some tens of microseconds. A window of a dense
/// network takes less, and on a machine with other work a sleeping thread leaves its core to that.
const SPINS: u32 = 1 << 11;

/// Meeting point of a fixed number of threads.
pub struct Barrier {
    threads: usize,
    /// Number of threads that have come to the present meeting.
    come: AtomicUsize,
    /// Number of meetings so far.
    meetings: AtomicUsize,
    /// Number of threads that sleep, or are about to.
    sleepers: AtomicUsize,
    lock: Mutex<()>,
    wake: Condvar,
    /// Whether a thread will not come again.
    broken: AtomicBool,
}

/// Error: a thread has panicked and will not come.
#[derive(Debug)]
pub struct Broken;

impl Barrier {
    /// Creates a barrier for this number of threads.
    pub fn new(threads: usize) -> Barrier {
        Barrier {
            threads,
            come: AtomicUsize::new(0),
            meetings: AtomicUsize::new(0),
            sleepers: AtomicUsize::new(0),
            lock: Mutex::new(()),
            wake: Condvar::new(),
            broken: AtomicBool::new(false),
        }
    }

    /// Waits until all threads have come. The writes of each thread before it are visible to all
    /// afterwards.
    pub fn wait(&self) -> Result<(), Broken> {
        let meeting = self.meetings.load(SeqCst);
        if self.come.fetch_add(1, SeqCst) + 1 == self.threads {
            self.come.store(0, SeqCst);
            self.meetings.store(meeting + 1, SeqCst);
            self.wake_all();
        } else {
            let waits = || self.meetings.load(SeqCst) == meeting && !self.broken.load(SeqCst);
            let mut spins = 0;
            while waits() && spins < SPINS {
                spins += 1;
                std::hint::spin_loop();
            }
            if waits() {
                self.sleep(waits);
            }
        }
        match self.broken.load(SeqCst) {
            true => Err(Broken),
            false => Ok(()),
        }
    }

    #[cold]
    fn sleep(&self, waits: impl Fn() -> bool) {
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        // Counted under the lock and before the last look: the last thread to come sees the sleeper,
        // or the sleeper sees that all have come.
        self.sleepers.fetch_add(1, SeqCst);
        while waits() {
            let woken = self.wake.wait(guard);
            guard = woken.unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, SeqCst);
    }

    fn wake_all(&self) {
        if self.sleepers.load(SeqCst) > 0 {
            let _guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.wake.notify_all();
        }
    }

    /// Releases all threads for good, because one of them will not come again.
    pub fn break_up(&self) {
        self.broken.store(true, SeqCst);
        self.wake_all();
    }
}
