//! Data that the receiver reported beyond the cumulative acknowledgement (RFC 6675, section 3). The
//! cost of an update grows with the number of holes, not with the segments in flight.

use lightburst_net::Block;

/// SACKed data as blocks in ascending order, each preceded by a hole.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    blocks: Vec<Block>,
}

impl Scoreboard {
    /// Returns the blocks in ascending order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Returns the end of the highest SACKed block; 0 if there is none.
    pub fn end(&self) -> u64 {
        self.blocks.last().map_or(0, |held| held.end)
    }

    /// Adds the reported blocks, given that all data before `acknowledged` is acknowledged; returns
    /// whether they contain new information.
    pub fn update(&mut self, reported: &[Block], acknowledged: u64) -> bool {
        let mut news = false;
        for &block in reported {
            // Blocks below the cumulative acknowledgement are duplicate SACKs or outdated (RFC
            // 2883, section 4).
            if block.start >= acknowledged {
                news |= self.insert(block);
            }
        }
        news
    }

    /// Adds a block and merges it with adjacent and overlapping ones; returns whether it contains
    /// new information.
    fn insert(&mut self, block: Block) -> bool {
        let first = self.blocks.partition_point(|held| held.end < block.start);
        let after = self.blocks.partition_point(|held| held.start <= block.end);
        let touched = &self.blocks[first..after];
        let (lowest, highest) = (touched.first(), touched.last());
        let grown = Block {
            start: lowest.map_or(block.start, |held| held.start.min(block.start)),
            end: highest.map_or(block.end, |held| held.end.max(block.end)),
        };
        let news = *touched != [grown];
        self.blocks.splice(first..after, [grown]);
        news
    }

    /// Removes the blocks that a cumulative acknowledgement covers.
    pub fn acknowledge(&mut self, acknowledgement: u64) {
        let covered = |held: &Block| held.end <= acknowledgement;
        self.blocks.drain(..self.blocks.partition_point(covered));
    }

    /// Removes all blocks (RFC 2018, section 8).
    pub fn clear(&mut self) {
        self.blocks.clear();
    }

    /// Returns the first byte from `at` on that is not SACKed.
    pub fn next_hole(&self, at: u64) -> u64 {
        let next = self.blocks.partition_point(|held| held.end <= at);
        match self.blocks.get(next) {
            Some(held) if held.start <= at => held.end,
            _ => at,
        }
    }

    /// Returns the start of the last block if that block ends at `end`, otherwise `end`: the data
    /// directly before the result is not SACKed.
    pub fn end_of_last_hole(&self, end: u64) -> u64 {
        match self.blocks.last() {
            Some(held) if held.end == end => held.start,
            _ => end,
        }
    }

    /// Returns the number of SACKed bytes from `start` on.
    pub fn sacked(&self, start: u64) -> u64 {
        let end = self.end().max(start);
        end - start - self.unsacked(start, end)
    }

    /// Returns the number of bytes in `start..end` that are not SACKed.
    pub fn unsacked(&self, start: u64, end: u64) -> u64 {
        let first = self.blocks.partition_point(|held| held.end <= start);
        let within = self.blocks[first..].iter();
        let sacked: u64 = within
            .take_while(|held| held.start < end)
            .map(|held| held.end.min(end) - held.start.max(start))
            .sum();
        end - start - sacked
    }
}
