//! Cloning of boxed policies. A group builds its policies once and every connection starts with a
//! clone, so settings are read once per group.

/// Defines a trait `$copied` with a blanket implementation for every `Clone` implementer of
/// `$policy`, and implements `Clone` for `Box<dyn $policy>`.
macro_rules! copied_in_box {
    ($policy:ident, $copied:ident) => {
        /// Clones the implementer into a box; implemented for every type that is `Clone`.
        pub trait $copied {
            /// Returns a boxed clone.
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
