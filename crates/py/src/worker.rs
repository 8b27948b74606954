//! The thread of a run. A failed allocation ends this thread instead of the process.
//!
//! In Rust a failed allocation aborts the process; stable Rust offers no alternative. In a notebook
//! this would destroy all of the user's work. Therefore every run has its own thread. If an
//! allocation fails there, the allocator stops the thread forever, and the caller that waits for
//! the run gets an error. The disadvantage: the memory of such a run is not freed before the
//! process ends.

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

/// A thread that executes jobs, one after the other, for the thread that created it.
pub struct Worker {
    jobs: mpsc::Sender<Job>,
    end: Arc<End>,
}

/// Shared state by which a worker reports a failed allocation. Reporting must not allocate.
struct End {
    /// Size of the failed allocation in bytes; 0 if none has failed.
    wanted: AtomicUsize,
    caller: Thread,
}

/// Error: an allocation of this many bytes failed.
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
    /// State of the worker that runs on this thread; unset on other threads.
    static END: OnceCell<Arc<End>> = const { OnceCell::new() };
}

/// Ends the run of this thread after a failed allocation of `bytes` bytes. Returns only on a thread
/// without a run.
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
    /// Starts a worker for the calling thread.
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

    /// Returns a function that lets another thread take part in the run: a failed allocation there
    /// ends the run as one on the worker does.
    pub fn enter(&self) -> Arc<dyn Fn() + Send + Sync> {
        let end = Arc::clone(&self.end);
        Arc::new(move || {
            END.with(|mine| {
                mine.get_or_init(|| Arc::clone(&end));
            });
        })
    }

    /// Executes `work` on the worker and waits for its result. After a failed allocation the worker
    /// is lost.
    pub fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, MemoryEnded> {
        let (give, take) = mpsc::sync_channel(1);
        let caller = self.end.caller.clone();
        let job = move || {
            // The receiver is still waiting, or has given up after a failed allocation.
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
