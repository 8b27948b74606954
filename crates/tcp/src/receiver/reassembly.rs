//! Data that a receiver holds out of order, beyond the next byte expected.

use lightburst_net::Block;

/// Blocks of bytes; the block that received a segment most recently comes first.
#[derive(Clone, Debug, Default)]
pub struct Reassembly {
    blocks: Vec<Block>,
}

impl Reassembly {
    /// Returns whether no data is held.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Returns the blocks, most recent first (RFC 2018, section 4).
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Returns the end of the highest block; 0 if no data is held.
    pub fn end(&self) -> u64 {
        let ends = self.blocks.iter().map(|held| held.end);
        ends.max().unwrap_or(0)
    }

    /// Returns the number of bytes held.
    pub fn bytes(&self) -> u64 {
        let each = self.blocks.iter().map(|held| held.end - held.start);
        each.sum()
    }

    /// Returns whether the whole block is held already.
    pub fn holds(&self, block: Block) -> bool {
        let around = |held: &Block| held.start <= block.start && block.end <= held.end;
        self.blocks.iter().any(around)
    }

    /// Adds a block, merges it with adjacent and overlapping ones, and puts the result first.
    pub fn insert(&mut self, block: Block) {
        let mut grown = block;
        self.blocks.retain(|held| {
            let apart = held.end < block.start || block.end < held.start;
            if !apart {
                grown.start = grown.start.min(held.start);
                grown.end = grown.end.max(held.end);
            }
            apart
        });
        self.blocks.insert(0, grown);
    }

    /// Removes the block that starts at `expected`, if there is one, and returns its end; otherwise
    /// returns `expected`.
    #[inline]
    pub fn advance(&mut self, expected: u64) -> u64 {
        let place = self.blocks.iter().position(|held| held.start == expected);
        match place {
            Some(place) => self.blocks.remove(place).end,
            None => expected,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Segments that arrived out of order, in order of arrival.
    #[derive(Default)]
    struct Arrived(Vec<Block>);

    impl Arrived {
        /// Returns the bytes that arrived, each with the number of its last arrival, and `None`
        /// where a byte is missing.
        fn bytes(&self) -> Vec<Option<usize>> {
            let mut bytes = vec![None; 64];
            for (number, segment) in self.0.iter().enumerate() {
                bytes[segment.start as usize..segment.end as usize].fill(Some(number));
            }
            bytes
        }

        /// Returns the runs of bytes, that of the last arrival first (RFC 2018, section 4).
        fn blocks(&self) -> Vec<Block> {
            let bytes = self.bytes();
            let mut start = 0;
            let mut blocks = Vec::new();
            for run in bytes.split(Option::is_none) {
                let end = start + run.len() as u64;
                blocks.extend(run.iter().max().map(|last| (*last, block(start, end))));
                start = end + 1;
            }
            blocks.sort_by_key(|(last, _)| std::cmp::Reverse(*last));
            blocks.into_iter().map(|(_, block)| block).collect()
        }
    }

    proptest! {
        /// Each step is the arrival of a segment out of order, or that of all data before a byte.
        #[test]
        fn held_data_is_the_set_of_bytes_that_arrived(
            steps in vec((1..40u64, 1..9u64, prop::bool::weighted(0.8)), 0..20),
        ) {
            let (mut held, mut arrived) = (Reassembly::default(), Arrived::default());
            for (start, length, out_of_order) in steps {
                if out_of_order {
                    held.insert(block(start, start + length));
                    arrived.0.push(block(start, start + length));
                } else {
                    let taken = arrived.blocks().into_iter().find(|held| held.start == start);
                    let end = taken.map_or(start, |taken| taken.end);
                    prop_assert_eq!(held.advance(start), end);
                    arrived.0.retain(|segment| segment.start < start || segment.start >= end);
                }
                let bytes = arrived.bytes();
                let is_there = |byte: u64| bytes[byte as usize].is_some();
                let there: BTreeSet<u64> = (0..64).filter(|&byte| is_there(byte)).collect();
                prop_assert_eq!(held.blocks(), arrived.blocks());
                prop_assert_eq!(held.is_empty(), there.is_empty());
                prop_assert_eq!(held.bytes(), there.len() as u64);
                prop_assert_eq!(held.end(), there.last().map_or(0, |last| last + 1));
                for (start, end) in (0..50).flat_map(|start| (start + 1..52).map(move |end| (start, end))) {
                    prop_assert_eq!(held.holds(block(start, end)), (start..end).all(is_there));
                }
            }
        }
    }

    fn block(start: u64, end: u64) -> Block {
        Block { start, end }
    }

    #[test]
    fn blocks_join_and_come_first_when_they_grow() {
        let mut held = Reassembly::default();
        for start in [10, 30, 50] {
            held.insert(block(start, start + 10));
        }
        assert_eq!(held.blocks(), [block(50, 60), block(30, 40), block(10, 20)]);
        held.insert(block(20, 30));
        assert_eq!(held.blocks(), [block(10, 40), block(50, 60)]);
        held.insert(block(50, 60));
        assert_eq!(held.blocks(), [block(50, 60), block(10, 40)]);
        assert!(held.holds(block(20, 30)) && !held.holds(block(40, 50)));
        assert_eq!(held.advance(5), 5);
        assert_eq!(held.advance(10), 40);
        assert_eq!(held.blocks(), [block(50, 60)]);
    }
}
