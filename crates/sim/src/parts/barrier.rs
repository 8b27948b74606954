//! A barrier for threads that meet very often: it spins for a bounded time and then sleeps.

// The same names of `loom` stand here in `tests/races`, which tries all orders of their operations.
use super::sync::{spin_loop, AtomicBool, AtomicUsize, Condvar, Mutex, PoisonError, SeqCst};

/// Looks at the barrier before a thread sleeps: some tens of microseconds. A window of a dense
/// network takes less, and on a machine with other work a sleeping thread leaves its core to that.
pub const SPINS: u32 = 1 << 11;

/// Meeting point of a fixed number of threads.
pub struct Barrier {
    threads: usize,
    /// Looks before a thread sleeps.
    spins: u32,
    /// Number of threads that have come to the present meeting.
    come: AtomicUsize,
    /// Number of meetings so far.
    meetings: AtomicUsize,
    /// Number of threads that sleep, or are about to.
    sleepers: Mutex<usize>,
    wake: Condvar,
    /// Whether a thread will not come again.
    broken: AtomicBool,
}

/// Error: a thread has panicked and will not come.
#[derive(Debug)]
pub struct Broken;

impl Barrier {
    /// Creates a barrier for this number of threads, which look so often before they sleep.
    pub fn new(threads: usize, spins: u32) -> Barrier {
        Barrier {
            threads,
            spins,
            come: AtomicUsize::new(0),
            meetings: AtomicUsize::new(0),
            sleepers: Mutex::new(0),
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
            while waits() && spins < self.spins {
                spins += 1;
                spin_loop();
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
        let mut sleepers = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        *sleepers += 1;
        while waits() {
            let woken = self.wake.wait(sleepers);
            sleepers = woken.unwrap_or_else(PoisonError::into_inner);
        }
        *sleepers -= 1;
    }

    /// Wakes all threads that sleep. The lock makes sure that a thread which is about to sleep is
    /// counted here, or sees before it sleeps what has changed.
    fn wake_all(&self) {
        let sleepers = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        if *sleepers > 0 {
            self.wake.notify_all();
        }
    }

    /// Releases all threads for good, because one of them will not come again.
    pub fn break_up(&self) {
        self.broken.store(true, SeqCst);
        self.wake_all();
    }
}
