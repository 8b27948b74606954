//! SACK blocks of an acknowledgement (RFC 2018), duplicate reports included (RFC 2883).

use super::{Arrival, RackTlp, SenderState, State};
use lightburst_net::Block;

impl RackTlp {
    /// Reads the SACK blocks (`tcp_sacktag_write_queue`).
    pub(super) fn tag_sacked(&mut self, arrival: &Arrival<'_>, sender: &SenderState<'_>) {
        let blocks = arrival.blocks;
        self.evidence.lowest_reordered = self.board.end();
        let first = blocks[0];
        // RFC 2883, section 4: a duplicate lies below the acknowledgement or within the next block.
        let within = blocks
            .get(1)
            .is_some_and(|next| first.start >= next.start && first.end <= next.end);
        let mut duplicate = first.start < arrival.acknowledgement || within;
        if duplicate {
            duplicate = self.see_duplicate(first.start, first.end);
            if duplicate {
                self.undo.on_duplicate(arrival, first, self.mss);
            }
        }
        if !self.board.is_empty() {
            let mut order = [0, 1, 2, 3];
            let used = &mut order[..blocks.len()];
            used.sort_by_key(|&index| blocks[index].start);
            for &index in used.iter() {
                if blocks[index].end > arrival.before {
                    let is_duplicate = duplicate && index == 0;
                    self.tag_block(blocks[index], is_duplicate, sender);
                }
            }
            // After a timeout an old block is no sign of reordering.
            if self.state != State::Loss || self.undo.marker.is_some() {
                self.check_reordering(self.evidence.lowest_reordered, sender);
            }
        }
        self.delivered += self.evidence.sack_delivered;
    }

    /// Notes a duplicate report; returns whether a retransmission explains it.
    fn see_duplicate(&mut self, start: u64, end: u64) -> bool {
        let count = (end - start).div_ceil(self.mss);
        if count == 1 && self.probe.end == Some(end) {
            self.flags.duplicate_probe = true;
        }
        self.evidence.duplicates += count;
        if self.evidence.duplicates > self.evidence.retransmissions {
            return false;
        }
        if self.evidence.reordering_seen > 0 && !self.flags.duplicate_probe {
            self.evidence.duplicate_seen = true;
        }
        self.flags.duplicate = true;
        self.evidence.sack_delivered += count;
        true
    }

    /// Reads one block, of which only the part that was not SACKed before is new.
    fn tag_block(&mut self, block: Block, is_duplicate: bool, sender: &SenderState<'_>) {
        let acknowledged = sender.flight.snd_una;
        let start = block.start.max(self.board.first() * self.mss);
        let limit = block.end.min(sender.flight.snd_max);
        if is_duplicate {
            for sequence in (start..limit).step_by(self.mss as usize) {
                self.tag_duplicate(sequence / self.mss);
            }
        }
        let mut sequence = self.scoreboard.next_hole(start.max(acknowledged));
        while sequence < limit {
            let number = sequence / self.mss;
            if !self.board.get(number).sacked() {
                self.sack(number, sender);
            }
            sequence = self.scoreboard.next_hole(sequence + self.mss);
        }
        self.scoreboard.update(&[block], acknowledged);
        if is_duplicate {
            let from = start.max(acknowledged);
            for sequence in (from..limit).step_by(self.mss as usize) {
                self.board.retransmission_over(sequence / self.mss);
            }
        }
    }

    /// Notes that an outstanding segment was reported as a duplicate.
    fn tag_duplicate(&mut self, number: u64) {
        let segment = self.board.get(number);
        if !segment.retransmitted() && !segment.ever() {
            return;
        }
        self.undo.on_duplicate_segment((number + 1) * self.mss);
        if segment.sacked() {
            let evidence = &mut self.evidence;
            evidence.lowest_reordered = evidence.lowest_reordered.min(number);
        }
    }

    /// Notes that a segment arrived beyond a hole (`tcp_sacktag_one`).
    fn sack(&mut self, number: u64, sender: &SenderState<'_>) {
        let now = Self::microseconds(sender.now);
        let segment = self.board.get(number);
        self.evidence.advance(number, &segment, now);
        if !segment.ever() {
            let una = sender.flight.snd_una / self.mss;
            if number < self.highest_sacked(una) {
                self.evidence.lowest_reordered = self.evidence.lowest_reordered.min(number);
            }
            if number * self.mss < self.high_seq {
                self.flags.original = true;
            }
            self.evidence.first_sacked.get_or_insert(segment.sent);
            self.evidence.last_sacked = Some(segment.sent);
        }
        self.board.sack(number);
        self.flags.sacked = true;
        self.evidence.sack_delivered += 1;
        self.evidence.newly_sacked += 1;
        self.rate_sacked(number, &segment);
        self.board.count(number);
    }
}
