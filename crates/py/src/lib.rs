//! Interface to Python: takes a plan, returns columns, and releases the GIL during the run.

mod bench;
mod convert;
mod lent;
mod memory;
mod replay;
mod worker;

use lightburst_sim::plan::{Plan, PlanSettings};
use lightburst_sim::Run;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};
use worker::Worker;

create_exception!(_core, Cancelled, PyException, "The run was cancelled.");

create_exception!(_core, Stopped, PyException, "The run came to a limit.");

/// Events between two checks of signals and of the cancel flag, about 10 ms.
const SLICE: u64 = 200_000;

/// Number of flows from which freed memory is returned to the system before a run. The plan of this
/// many flows has freed tens of megabytes. Smaller amounts are kept, because the system would have
/// to clear their pages again.
const MANY_FLOWS: usize = 1 << 18;

/// Minimum time between two calls of a watch.
const LOOK: Duration = Duration::from_millis(100);

/// A flag that cancels the runs to which it was passed.
#[pyclass(frozen)]
struct Cancel(Arc<AtomicBool>);

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Cancel {
        Cancel(Arc::new(AtomicBool::new(false)))
    }

    /// Cancels the runs.
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether the runs are cancelled.
    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs a plan and returns its columns. `watch` is called from time to time with the number of
/// events and the simulated time in picoseconds; the run stops if it returns a true value. `parts`
/// gives the part of each node in a network that runs in parts, on this number of threads.
#[pyfunction]
#[pyo3(signature = (settings, nodes, links, flows, cancel = None, event_limit = None, watch = None, parts = None, threads = 1))]
#[allow(clippy::too_many_arguments)]
fn simulate<'py>(
    py: Python<'py>,
    settings: &str,
    nodes: &Bound<'py, PyDict>,
    links: &Bound<'py, PyDict>,
    flows: &Bound<'py, PyDict>,
    cancel: Option<&Cancel>,
    event_limit: Option<u64>,
    watch: Option<&Bound<'py, PyAny>>,
    parts: Option<Vec<u16>>,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = PlanSettings::from_json(settings).map_err(value_error)?;
    let plan = Plan {
        settings,
        nodes: convert::nodes(nodes)?,
        links: convert::links(links)?,
        flows: convert::flows(flows)?,
    };
    if plan.flows.source.len() >= MANY_FLOWS {
        // Memory freed after making the flows must not add to the memory of the run.
        memory::trim();
    }
    let cancelled = cancel.map(|cancel| Arc::clone(&cancel.0));
    let worker = Worker::new()?;
    // Threads begin anew in each slice.
    let all = match threads {
        1 => SLICE,
        _ => 4 * SLICE * threads as u64,
    };
    let enter = worker.enter();
    let prepare = move || match parts {
        None => lightburst_sim::prepare(&plan),
        Some(parts) => lightburst_sim::parts::prepare(&plan, parts, threads, enter),
    };
    let mut run = py.detach(|| worker.call(prepare))?.map_err(value_error)?;
    let limit = event_limit.unwrap_or(u64::MAX);
    let mut looked = Instant::now();
    // Large results are collected and freed with the GIL released, because the thread that handles
    // Ctrl-C may be another one.
    let failed = loop {
        let slice = all.min(limit.saturating_sub(run.events()));
        let advance = move || {
            let ended = run.advance(slice);
            (ended, run)
        };
        let (ended, back) = py.detach(|| worker.call(advance))?;
        run = back;
        if ended && run.beyond_the_clock().is_some() {
            break stopped(py, "clock", &*run)?;
        }
        if ended {
            let columns = py.detach(|| worker.call(move || run.columns()))?;
            return convert::outputs(py, columns);
        }
        if let Err(interrupted) = py.check_signals() {
            break interrupted;
        }
        let is_set = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
        if cancelled.as_ref().is_some_and(is_set) {
            break Cancelled::new_err("the run was cancelled");
        }
        if run.events() >= limit {
            break stopped(py, "events", &*run)?;
        }
        let Some(watch) = watch.filter(|_| looked.elapsed() >= LOOK) else {
            continue;
        };
        looked = Instant::now();
        if watch.call1((run.events(), run.now().0))?.is_truthy()? {
            break stopped(py, "watch", &*run)?;
        }
    };
    py.detach(move || drop(run));
    Err(failed)
}

/// Returns the error of a stopped run: the reason, and the present load of the network.
fn stopped(py: Python<'_>, why: &str, run: &dyn Run) -> PyResult<PyErr> {
    let load = PyDict::new(py);
    for (name, value) in run.load() {
        load.set_item(name, value)?;
    }
    Ok(Stopped::new_err((why.to_string(), load.unbind())))
}

/// Returns why a network with these settings cannot run in parts; `None` if it can. `joins`: whether
/// flows wait for others.
#[pyfunction]
fn why_whole(settings: &str, joins: bool) -> PyResult<Option<&'static str>> {
    let settings = PlanSettings::from_json(settings).map_err(value_error)?;
    Ok(lightburst_sim::parts::refusal(&settings, joins))
}

/// Returns the names that a plan may use, by kind.
#[pyfunction]
fn registry(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let names = PyDict::new(py);
    for (what, known) in lightburst_sim::registry() {
        names.set_item(what, known)?;
    }
    Ok(names)
}

/// Returns the version of the core.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

fn value_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Cancel>()?;
    module.add("Cancelled", module.py().get_type::<Cancelled>())?;
    module.add("Stopped", module.py().get_type::<Stopped>())?;
    module.add_function(wrap_pyfunction!(simulate, module)?)?;
    module.add_function(wrap_pyfunction!(replay::replay, module)?)?;
    module.add_function(wrap_pyfunction!(why_whole, module)?)?;
    module.add_function(wrap_pyfunction!(registry, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(bench::bench_queue, module)?)?;
    module.add_function(wrap_pyfunction!(bench::bench_calibration, module)?)?;
    Ok(())
}
