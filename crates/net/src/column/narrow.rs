//! Columns of unsigned integers with the smallest sufficient element type.

/// Unsigned integers, stored in the narrowest type that holds the largest of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Narrow {
    /// All values are below 2^8.
    U8(Vec<u8>),
    /// All values are below 2^16.
    U16(Vec<u16>),
    /// All values are below 2^32.
    U32(Vec<u32>),
    /// At least one value was 2^32 or more.
    U64(Vec<u64>),
}

/// Stores a value if the element type can hold it; returns whether it did.
fn put<T: TryFrom<u64>>(values: &mut [T], at: usize, value: u64) -> bool {
    let fits = T::try_from(value);
    fits.map(|value| values[at] = value).is_ok()
}

fn wider<T: Copy, U: From<T>>(values: &[T]) -> Vec<U> {
    values.iter().map(|&value| U::from(value)).collect()
}

impl Default for Narrow {
    fn default() -> Narrow {
        Narrow::zeros(0)
    }
}

impl Narrow {
    /// Creates a column of `number` zeros.
    pub fn zeros(number: usize) -> Narrow {
        Narrow::U8(vec![0; number])
    }

    /// Sets one element, and widens the column if necessary.
    pub fn set(&mut self, at: usize, value: u64) {
        while !self.put(at, value) {
            *self = self.wider();
        }
    }

    /// Increments one element.
    #[inline]
    pub fn count(&mut self, at: usize) {
        self.set(at, self.get(at) + 1);
    }

    /// Returns one element.
    pub fn get(&self, at: usize) -> u64 {
        match self {
            Narrow::U8(values) => values[at].into(),
            Narrow::U16(values) => values[at].into(),
            Narrow::U32(values) => values[at].into(),
            Narrow::U64(values) => values[at],
        }
    }

    /// Returns the sum of all elements.
    pub fn sum(&self) -> u64 {
        match self {
            Narrow::U8(values) => values.iter().copied().map(u64::from).sum(),
            Narrow::U16(values) => values.iter().copied().map(u64::from).sum(),
            Narrow::U32(values) => values.iter().copied().map(u64::from).sum(),
            Narrow::U64(values) => values.iter().sum(),
        }
    }

    fn put(&mut self, at: usize, value: u64) -> bool {
        match self {
            Narrow::U8(values) => put(values, at, value),
            Narrow::U16(values) => put(values, at, value),
            Narrow::U32(values) => put(values, at, value),
            Narrow::U64(values) => put(values, at, value),
        }
    }

    fn wider(&self) -> Narrow {
        match self {
            Narrow::U8(values) => Narrow::U16(wider(values)),
            Narrow::U16(values) => Narrow::U32(wider(values)),
            Narrow::U32(values) => Narrow::U64(wider(values)),
            Narrow::U64(_) => unreachable!("any number fits"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_column_holds_what_a_list_holds_in_the_narrowest_type(
            set in vec((0..8usize, prop_oneof![0..300u64, 0..1u64 << 17, 0..1u64 << 40]), 0..30),
        ) {
            let (mut column, mut list) = (Narrow::zeros(8), [0; 8]);
            let mut largest = 0;
            for (at, value) in set {
                column.set(at, value);
                list[at] = value;
                largest = largest.max(value);
                prop_assert!((0..8).all(|at| column.get(at) == list[at]));
                prop_assert_eq!(column.sum(), list.iter().sum::<u64>());
                let bits = match column {
                    Narrow::U8(_) => 8,
                    Narrow::U16(_) => 16,
                    Narrow::U32(_) => 32,
                    Narrow::U64(_) => 64,
                };
                let needed = [8, 16, 32, 64].into_iter().find(|bits| largest >> (bits - 1) < 2);
                prop_assert_eq!(Some(bits), needed);
            }
        }
    }

    #[test]
    fn a_column_is_as_wide_as_its_largest_number_and_keeps_the_others() {
        let mut column = Narrow::zeros(3);
        column.set(0, 255);
        assert_eq!(column, Narrow::U8(vec![255, 0, 0]));
        column.set(1, 256);
        assert_eq!(column, Narrow::U16(vec![255, 256, 0]));
        column.set(2, 65_536);
        assert_eq!(column, Narrow::U32(vec![255, 256, 65_536]));
        column.set(1, 7);
        column.set(0, u64::MAX);
        assert_eq!(column, Narrow::U64(vec![u64::MAX, 7, 65_536]));
        assert_eq!([0, 1, 2].map(|at| column.get(at)), [u64::MAX, 7, 65_536]);
        let mut counts = Narrow::U8(vec![255, 0]);
        [0, 1, 1].into_iter().for_each(|at| counts.count(at));
        assert_eq!((&counts, counts.sum()), (&Narrow::U16(vec![256, 2]), 258));
    }
}
