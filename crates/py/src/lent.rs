//! NumPy columns that are read in place.
//!
//! A plan may have very many flows, and a copy of their columns would occupy memory during the
//! whole run.
#![allow(unsafe_code)]

use lightburst_net::Shared;
use numpy::{Element, PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::slice;

/// A read-only array. The object holds a reference to the array, so that its data stay valid.
struct Lent<T> {
    first: *const T,
    number: usize,
    _array: Py<PyArray1<T>>,
}

// SAFETY: the numbers are only read, from any thread, and `lent` accepts no writeable array.
// Python's reference count of the array may be changed on any thread.
unsafe impl<T: Sync> Send for Lent<T> {}
unsafe impl<T: Sync> Sync for Lent<T> {}

impl<T> AsRef<[T]> for Lent<T> {
    fn as_ref(&self) -> &[T] {
        // SAFETY: the array holds `number` contiguous elements and stays alive as long as `self`.
        unsafe { slice::from_raw_parts(self.first, self.number) }
    }
}

/// Shares the elements of an array, if it is read-only, contiguous and owns its data; otherwise
/// returns `None`.
pub fn lent<T>(array: &Bound<'_, PyArray1<T>>) -> PyResult<Option<Shared<T>>>
where
    T: Element + Sync + 'static,
{
    let flags = array.getattr("flags")?;
    let is = |name| flags.getattr(name)?.extract::<bool>();
    if array.is_empty() || is("writeable")? || !is("owndata")? || !array.is_contiguous() {
        return Ok(None);
    }
    Ok(Some(Shared::new(Lent {
        first: array.data(),
        number: array.len(),
        _array: array.clone().unbind(),
    })))
}
