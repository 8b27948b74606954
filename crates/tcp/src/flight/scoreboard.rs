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

    /// Returns whether nothing is SACKed.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const BYTES: u64 = 40;

    #[derive(Clone, Debug)]
    enum Step {
        Report(Vec<Block>),
        Acknowledge(u64),
        Clear,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let block = (0..BYTES, 1..10u64).prop_map(|(start, length)| Block {
            start,
            end: start + length,
        });
        let report = vec(block, 1..4).prop_map(Step::Report);
        let acknowledge = (0..BYTES + 10).prop_map(Step::Acknowledge);
        vec(
            prop_oneof![9 => report, 3 => acknowledge, 1 => Just(Step::Clear)],
            0..20,
        )
    }

    /// Returns the runs of successive bytes.
    fn runs(bytes: &BTreeSet<u64>) -> Vec<Block> {
        let mut runs: Vec<Block> = Vec::new();
        for &start in bytes {
            let end = start + 1;
            match runs.last_mut().filter(|run| run.end == start) {
                Some(run) => run.end = end,
                None => runs.push(Block { start, end }),
            }
        }
        runs
    }

    /// Compares all answers of a scoreboard with those of a set of SACKed bytes.
    fn compare(scoreboard: &Scoreboard, sacked: &BTreeSet<u64>) -> Result<(), TestCaseError> {
        prop_assert_eq!(scoreboard.blocks(), runs(sacked));
        prop_assert_eq!(scoreboard.end(), sacked.last().map_or(0, |last| last + 1));
        for start in 0..BYTES + 12 {
            let hole = (start..).find(|byte| !sacked.contains(byte));
            prop_assert_eq!(Some(scoreboard.next_hole(start)), hole);
            let above = sacked.range(start..).count() as u64;
            prop_assert_eq!(scoreboard.sacked(start), above);
            for end in start..BYTES + 12 {
                let between = sacked.range(start..end).count() as u64;
                prop_assert_eq!(scoreboard.unsacked(start, end), end - start - between);
            }
        }
        for end in scoreboard.end()..BYTES + 12 {
            let is_hole = |end: &u64| {
                end.checked_sub(1)
                    .map_or(true, |last| !sacked.contains(&last))
            };
            let hole = (0..=end).rev().find(is_hole);
            prop_assert_eq!(Some(scoreboard.end_of_last_hole(end)), hole);
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn a_scoreboard_is_a_set_of_bytes(steps in steps()) {
            let (mut scoreboard, mut sacked) = (Scoreboard::default(), BTreeSet::new());
            let mut acknowledged = 0;
            for step in steps {
                match step {
                    Step::Report(blocks) => {
                        let before = sacked.len();
                        for block in blocks.iter().filter(|block| block.start >= acknowledged) {
                            sacked.extend(block.start..block.end);
                        }
                        let news = scoreboard.update(&blocks, acknowledged);
                        prop_assert_eq!(news, sacked.len() > before);
                    }
                    Step::Acknowledge(to) => {
                        acknowledged = acknowledged.max(to);
                        scoreboard.acknowledge(acknowledged);
                        // A block that is covered in part stays whole.
                        for run in runs(&sacked).iter().filter(|run| run.end <= acknowledged) {
                            sacked.retain(|byte| *byte >= run.end);
                        }
                    }
                    Step::Clear => {
                        scoreboard.clear();
                        sacked.clear();
                    }
                }
                compare(&scoreboard, &sacked)?;
            }
        }
    }
}
