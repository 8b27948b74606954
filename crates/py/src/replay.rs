//! Replay of a recorded connection.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Replays a recorded connection, given as JSON, to a sender. Returns the segments sent and the
/// states after the acknowledgements and where they were to be noted, as lists of dictionaries.
#[pyfunction]
pub fn replay<'py>(py: Python<'py>, capture: &str) -> PyResult<Bound<'py, PyDict>> {
    let log = py
        .detach(|| lightburst_sim::replay(capture))
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let transmissions = PyList::empty(py);
    for sent in log.transmissions {
        let row = PyDict::new(py);
        row.set_item("sequence", sent.sequence)?;
        row.set_item("at_ps", sent.at.0)?;
        row.set_item("event", sent.cause)?;
        row.set_item("reduced", sent.reduced)?;
        transmissions.append(row)?;
    }
    let states = PyList::empty(py);
    for after in log.states {
        let (row, state) = (PyDict::new(py), after.state);
        let counts = state.counts;
        row.set_item("event", after.event)?;
        row.set_item("cwnd", state.cwnd)?;
        row.set_item("ssthresh", state.ssthresh)?;
        row.set_item("timeout_ps", state.timeout.0)?;
        row.set_item("round_trip_ps", state.round_trip.map(|rtt| rtt.0))?;
        row.set_item(
            "least_round_trip_ps",
            counts.least_round_trip.map(|rtt| rtt.0),
        )?;
        row.set_item("retransmissions", state.retransmissions)?;
        row.set_item("marks", state.marks)?;
        row.set_item("state", counts.state)?;
        row.set_item("sacked", counts.sacked)?;
        row.set_item("lost", counts.lost)?;
        row.set_item("retransmitted", counts.retransmitted)?;
        row.set_item("outstanding", counts.outstanding)?;
        row.set_item("reordering", counts.reordering)?;
        row.set_item("reordering_seen", counts.reordering_seen)?;
        row.set_item("duplicates", counts.duplicates)?;
        row.set_item("delivered", counts.delivered)?;
        if let Some(model) = after.state.model {
            row.set_item("mode", model.mode)?;
            row.set_item("bandwidth", model.bandwidth)?;
            row.set_item("pacing_rate", model.pacing_rate)?;
            row.set_item("min_rtt_ps", model.min_rtt.map(|rtt| rtt.0))?;
            row.set_item("pacing_gain", model.pacing_gain)?;
            row.set_item("cwnd_gain", model.cwnd_gain)?;
        }
        states.append(row)?;
    }
    let found = PyDict::new(py);
    found.set_item("transmissions", transmissions)?;
    found.set_item("states", states)?;
    Ok(found)
}
