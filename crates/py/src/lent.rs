//! Columns of NumPy that are read where they are.
//!
//! A plan may have very many flows, and a copy of their columns would be there as long as the run.
#![allow(unsafe_code)]

use lightburst_net::Shared;
use numpy::{Element, PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::slice;

/// An array that nobody writes to, and that stays as long as this is there.
struct Lent<T> {
    first: *const T,
    number: usize,
    _array: Py<PyArray1<T>>,
}

// SAFETY: the numbers are read alone, by whichever thread; `lent` takes no array that can be
// written to. Python counts who holds the array, and does so on any thread.
unsafe impl<T: Sync> Send for Lent<T> {}
unsafe impl<T: Sync> Sync for Lent<T> {}

impl<T> AsRef<[T]> for Lent<T> {
    fn as_ref(&self) -> &[T] {
        // SAFETY: so many numbers are there, one behind the other, as long as the array is held.
        unsafe { slice::from_raw_parts(self.first, self.number) }
    }
}

/// The numbers of an array, if that is read-only, in one piece and no view of another one.
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
