//! Policies behind a pointer that can be copied: each connection begins with a copy of those that
//! its group was built with, so that no setting is read twice.

/// Gives a trait `$policy` that all its implementers have who can be copied, and lets
/// `Box<dyn $policy>` be copied.
macro_rules! copied_in_box {
    ($policy:ident, $copied:ident) => {
        /// Copies itself behind a pointer; whatever is `Clone` does.
        pub trait $copied {
            /// A copy.
            fn boxed(&self) -> Box<dyn $policy>;
        }

        impl<T: $policy + Clone + 'static> $copied for T {
            fn boxed(&self) -> Box<dyn $policy> {
                Box::new(self.clone())
            }
        }

        impl Clone for Box<dyn $policy> {
            fn clone(&self) -> Self {
                (**self).boxed()
            }
        }
    };
}

pub(crate) use copied_in_box;
