//! Conversion of NumPy columns from and to columns of the core.

use crate::lent::lent;
use crate::worker::MemoryEnded;
use lightburst_net::Shared;
use lightburst_sim::columns::{Column, Output, Outputs};
use lightburst_sim::plan::{Flows, Joins, Links, Nodes, Receives};
use numpy::{Element, IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::mem::size_of;

fn array<'py, T: Element>(
    table: &Bound<'py, PyDict>,
    name: &str,
) -> PyResult<Bound<'py, PyArray1<T>>> {
    let Some(value) = table.get_item(name)? else {
        return Err(PyKeyError::new_err(format!(
            "the plan lacks the column {name:?}"
        )));
    };
    value.cast_into().map_err(|_| {
        PyTypeError::new_err(format!(
            "the column {name:?} must be a one-dimensional array of {}",
            std::any::type_name::<T>()
        ))
    })
}

fn column<T: Element + Copy>(table: &Bound<'_, PyDict>, name: &str) -> PyResult<Vec<T>> {
    let array = array::<T>(table, name)?.readonly();
    let mut values = Vec::new();
    let size = array.len()?;
    let room = values.try_reserve_exact(size);
    room.map_err(|_| MemoryEnded(size * size_of::<T>()))?;
    values.extend(array.as_array().iter().copied());
    Ok(values)
}

fn optional<T: Element + Copy>(table: &Bound<'_, PyDict>, name: &str) -> PyResult<Vec<T>> {
    if table.contains(name)? {
        column(table, name)
    } else {
        Ok(Vec::new())
    }
}

/// Reads a column, without a copy if the array is read-only.
fn shared<T>(table: &Bound<'_, PyDict>, name: &str) -> PyResult<Shared<T>>
where
    T: Element + Copy + Send + Sync + 'static,
{
    Ok(match lent(&array(table, name)?)? {
        Some(values) => values,
        None => column(table, name)?.into(),
    })
}

/// Reads a column like [`shared`]; an absent column is empty.
fn some<T>(table: &Bound<'_, PyDict>, name: &str) -> PyResult<Shared<T>>
where
    T: Element + Copy + Send + Sync + 'static,
{
    match table.contains(name)? {
        true => shared(table, name),
        false => Ok(Shared::default()),
    }
}

pub fn nodes(table: &Bound<'_, PyDict>) -> PyResult<Nodes> {
    Ok(Nodes {
        switch: column(table, "switch")?,
        path_source: optional(table, "path_source")?,
        path_destination: optional(table, "path_destination")?,
        path_offsets: optional(table, "path_offsets")?,
        path_links: optional(table, "path_links")?,
    })
}

pub fn links(table: &Bound<'_, PyDict>) -> PyResult<Links> {
    Ok(Links {
        from: column(table, "from")?,
        to: column(table, "to")?,
        rate_bps: column(table, "rate_bps")?,
        delay_ps: column(table, "delay_ps")?,
        lossy: optional(table, "lossy")?,
        channels: optional(table, "channels")?,
    })
}

pub fn flows(table: &Bound<'_, PyDict>) -> PyResult<Flows> {
    Ok(Flows {
        source: shared(table, "source")?,
        destination: shared(table, "destination")?,
        start_ps: shared(table, "start_ps")?,
        bytes: shared(table, "bytes")?,
        group: some(table, "group")?,
        departures_ps: some(table, "departures_ps")?,
        departure_offsets: some(table, "departure_offsets")?,
        joins: Joins {
            after: some(table, "after_join")?,
            towards: some(table, "towards_join")?,
            delay_ps: some(table, "join_delay_ps")?,
            leads: some(table, "join_leads")?,
            lead_offsets: some(table, "join_lead_offsets")?,
            cpu: some(table, "join_cpu")?,
            busy_ps: some(table, "join_busy_ps")?,
            cpu_host: some(table, "cpu_host")?,
            nic: some(table, "join_nic")?,
            nic_gap_ps: some(table, "nic_gap_ps")?,
            receives: Receives {
                join: some(table, "receive_join")?,
                source: some(table, "receive_source")?,
                tag: some(table, "receive_tag")?,
                tag_of_flow: some(table, "tag_of_flow")?,
                busy_ps: some(table, "receive_busy_ps")?,
                sent: some(table, "sent_join")?,
            },
        },
    })
}

fn table(py: Python<'_>, table: Vec<(String, Column)>) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    for (name, column) in table {
        match column {
            Column::U8(values) => columns.set_item(name, values.into_pyarray(py))?,
            Column::U16(values) => columns.set_item(name, values.into_pyarray(py))?,
            Column::U32(values) => columns.set_item(name, values.into_pyarray(py))?,
            Column::U64(values) => columns.set_item(name, values.into_pyarray(py))?,
            Column::I64(values) => columns.set_item(name, values.into_pyarray(py))?,
            Column::U128(values) => {
                let rounded = values.into_iter().map(|value| value as f64);
                columns.set_item(name, rounded.collect::<Vec<_>>().into_pyarray(py))?
            }
            Column::F64(values) => columns.set_item(name, values.into_pyarray(py))?,
        }
    }
    Ok(columns)
}

fn numbers<'py>(py: Python<'py>, given: Vec<(&'static str, u128)>) -> PyResult<Bound<'py, PyDict>> {
    let numbers = PyDict::new(py);
    for (name, value) in given {
        numbers.set_item(name, value)?;
    }
    Ok(numbers)
}

pub fn outputs(py: Python<'_>, outputs: Outputs) -> PyResult<Bound<'_, PyDict>> {
    let result = PyDict::new(py);
    for (name, output) in outputs {
        let table = match output {
            Output::Columns(columns) => table(py, columns)?,
            Output::Numbers(given) => numbers(py, given)?,
        };
        result.set_item(name, table)?;
    }
    Ok(result)
}
