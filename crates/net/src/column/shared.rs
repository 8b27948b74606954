//! Columns with several readers and no writer.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Read-only values with any owner; a clone shares them without a copy.
pub struct Shared<T>(Arc<dyn AsRef<[T]> + Send + Sync>);

impl<T> Shared<T> {
    /// Shares the values of `holder`, which is dropped with the last clone.
    pub fn new(holder: impl AsRef<[T]> + Send + Sync + 'static) -> Shared<T> {
        Shared(Arc::new(holder))
    }
}

impl<T: Send + Sync + 'static> From<Vec<T>> for Shared<T> {
    fn from(values: Vec<T>) -> Shared<T> {
        Shared::new(values)
    }
}

impl<T: Send + Sync + 'static> Default for Shared<T> {
    fn default() -> Shared<T> {
        Shared::from(Vec::new())
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        Shared(Arc::clone(&self.0))
    }
}

impl<T> Deref for Shared<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        (*self.0).as_ref()
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(f)
    }
}
