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
