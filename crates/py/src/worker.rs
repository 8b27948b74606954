//! The thread of a run. If there is no memory for it, it is the thread that ends, not the process.
//!
//! An allocation of Rust that fails aborts the process, on a stable compiler without a way out,
//! and in a notebook that is everything its user has. So each run has a thread; where the
//! allocator finds nothing for it, the thread waits for good, and whoever waits for the run gets
//! an error. The price: what such a run holds is not given back before the process ends.

use crate::memory;
use pyo3::exceptions::PyMemoryError;
use pyo3::PyErr;
use std::cell::OnceCell;
use std::fmt;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{mpsc, Arc};
use std::thread::{self, Thread};

type Job = Box<dyn FnOnce() + Send>;

/// A thread that does one thing after the other for the thread that made it.
pub struct Worker {
    jobs: mpsc::Sender<Job>,
    end: Arc<End>,
}

/// How a worker says that there was no memory for it, which must not need any.
struct End {
    /// Bytes that could not be had; 0 as long as all could.
    wanted: AtomicUsize,
    caller: Thread,
}

/// So many bytes in one piece could not be had.
pub struct MemoryEnded(pub usize);

impl fmt::Display for MemoryEnded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "there is no room for {} MiB of a run",
            self.0.div_ceil(1 << 20)
        )
    }
}

impl From<MemoryEnded> for PyErr {
    fn from(ended: MemoryEnded) -> PyErr {
        PyMemoryError::new_err(ended.to_string())
    }
}

thread_local! {
    /// Of a worker.
    static END: OnceCell<Arc<End>> = const { OnceCell::new() };
}

/// Ends the run of this thread, for which so many bytes are not there; returns where there is
/// no run.
pub fn end(bytes: usize) {
    let told = END.try_with(|end| {
        end.get().map(|end| {
            end.wanted.store(bytes, Ordering::Release);
            end.caller.unpark();
        })
    });
    while let Ok(Some(())) = told {
        thread::park();
    }
}

impl Worker {
    /// A worker for this thread.
    pub fn new() -> Result<Worker, MemoryEnded> {
        let (jobs, todo) = mpsc::channel::<Job>();
        let end = Arc::new(End {
            wanted: AtomicUsize::new(0),
            caller: thread::current(),
        });
        let mine = Arc::clone(&end);
        let work = move || {
            END.with(|end| {
                end.get_or_init(|| mine);
            });
            todo.into_iter().for_each(|job| job());
        };
        let name = "lightburst run".to_string();
        let begun = memory::keep_reserve() && thread::Builder::new().name(name).spawn(work).is_ok();
        begun
            .then_some(Worker { jobs, end })
            .ok_or(MemoryEnded(memory::RESERVE.size()))
    }

    /// Does something on the worker and waits for it. Without memory for it the worker is lost.
    pub fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, MemoryEnded> {
        let (give, take) = mpsc::sync_channel(1);
        let caller = self.end.caller.clone();
        let job = move || {
            // Whoever waits is there, or has seen that memory had ended.
            let _ = give.send(catch_unwind(AssertUnwindSafe(work)));
            caller.unpark();
        };
        let _ = self.jobs.send(Box::new(job));
        loop {
            if let Ok(done) = take.try_recv() {
                return done.map_err(|panic| resume_unwind(panic));
            }
            match self.end.wanted.load(Ordering::Acquire) {
                0 => thread::park(),
                wanted => return Err(MemoryEnded(wanted)),
            }
        }
    }
}
