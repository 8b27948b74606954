//! The border: a plan comes in, columns go out, the GIL is released in between.

mod bench;
mod convert;
#[cfg(target_os = "linux")]
mod memory;

use lightburst_sim::plan::{Plan, Settings};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

create_exception!(_core, Cancelled, PyException, "The run was cancelled.");

/// Events between two looks at signals and the cancel flag: some 10 ms.
const SLICE: u64 = 200_000;

/// A flag that ends the runs to which it is given.
#[pyclass(frozen)]
struct Cancel(Arc<AtomicBool>);

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Cancel {
        Cancel(Arc::new(AtomicBool::new(false)))
    }

    /// Ends the runs.
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the runs are to end.
    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs a plan and returns its columns.
#[pyfunction]
#[pyo3(signature = (settings, nodes, links, flows, cancel = None))]
fn simulate<'py>(
    py: Python<'py>,
    settings: &str,
    nodes: &Bound<'py, PyDict>,
    links: &Bound<'py, PyDict>,
    flows: &Bound<'py, PyDict>,
    cancel: Option<&Cancel>,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = Settings::from_json(settings).map_err(value_error)?;
    let plan = Plan {
        settings,
        nodes: convert::nodes(nodes)?,
        links: convert::links(links)?,
        flows: convert::flows(flows)?,
    };
    let cancelled = cancel.map(|cancel| Arc::clone(&cancel.0));
    let mut run = py
        .detach(move || lightburst_sim::prepare(&plan))
        .map_err(value_error)?;
    loop {
        let (ended, back) = py.detach(move || {
            let ended = run.advance(SLICE);
            (ended, run)
        });
        run = back;
        if ended {
            return convert::columns(py, run.columns());
        }
        py.check_signals()?;
        if cancelled
            .as_ref()
            .is_some_and(|flag| flag.load(Ordering::Relaxed))
        {
            return Err(Cancelled::new_err("the run was cancelled"));
        }
    }
}

/// The names that a plan may use.
#[pyfunction]
fn registry(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let names = PyDict::new(py);
    for (what, known) in lightburst_sim::registry() {
        names.set_item(what, known)?;
    }
    Ok(names)
}

/// The version of the core.
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
    module.add_function(wrap_pyfunction!(simulate, module)?)?;
    module.add_function(wrap_pyfunction!(registry, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(bench::bench_agenda, module)?)?;
    module.add_function(wrap_pyfunction!(bench::bench_calibration, module)?)?;
    Ok(())
}
