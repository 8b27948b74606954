//! What the receiver reported to hold beyond the cumulative acknowledgement
//! (RFC 6675, section 3). A change costs as much as there are holes, however
//! many segments are in flight.

use lightburst_net::Block;

/// SACKed bytes as blocks in order, each with a hole before it.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    blocks: Vec<Block>,
}

impl Scoreboard {
    /// The blocks, lowest first.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The byte after the highest one that is SACKed.
    pub fn end(&self) -> u64 {
        self.blocks.last().map_or(0, |held| held.end)
    }

    /// Marks what is reported when all before `acknowledged` is; says whether that is news.
    pub fn mark(&mut self, reported: &[Block], acknowledged: u64) -> bool {
        let mut news = false;
        for &block in reported {
            // A DSACK block or an old one lies below what is acknowledged (RFC 2883, section 4).
            if block.start >= acknowledged {
                news |= self.insert(block);
            }
        }
        news
    }

    /// Joins a block with those that it touches; says whether that is news.
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

    /// Takes out what a cumulative acknowledgement covers.
    pub fn acknowledge(&mut self, acknowledgement: u64) {
        let covered = |held: &Block| held.end <= acknowledgement;
        self.blocks.drain(..self.blocks.partition_point(covered));
    }

    /// Forgets everything (RFC 2018, section 8).
    pub fn clear(&mut self) {
        self.blocks.clear();
    }

    /// The first byte from `at` on that is not SACKed.
    pub fn hole(&self, at: u64) -> u64 {
        let next = self.blocks.partition_point(|held| held.end <= at);
        match self.blocks.get(next) {
            Some(held) if held.start <= at => held.end,
            _ => at,
        }
    }

    /// The byte after the last one before `end` that is not SACKed.
    pub fn hole_before(&self, end: u64) -> u64 {
        match self.blocks.last() {
            Some(held) if held.end == end => held.start,
            _ => end,
        }
    }

    /// How many bytes from `start` on are SACKed.
    pub fn sacked(&self, start: u64) -> u64 {
        let end = self.end().max(start);
        end - start - self.unsacked(start, end)
    }

    /// How many of the bytes from `start` to before `end` are not SACKed.
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
