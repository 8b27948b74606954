//! RR-TCP (Zhang, Karp, Floyd and Peterson 2003): the recovery of RFC 6675 with a duplicate
//! threshold that adapts to the observed reordering. Window reductions are undone if no segment was
//! lost.

use super::sack::Sack;
use super::{Candidate, LossRecovery, Phase, Reaction, SenderState, THRESHOLD};
use crate::cc::{Ack, Window};
use crate::flight::scoreboard::Scoreboard;
use crate::flight::Flight;
use crate::transport::parameters::{Parameters, FRACTION};
use lightburst_des::Time;
use lightburst_net::Block;
use std::collections::VecDeque;

/// A reordering event. It lasts until all data sent before its start (`until`) is acknowledged, and
/// has the longest reordering length observed meanwhile.
#[derive(Clone, Copy, Debug)]
struct Event {
    until: u64,
    longest: u64,
}

/// The last fast recovery.
#[derive(Clone, Debug)]
struct Episode {
    /// Window before the recovery.
    window: Window,
    /// Segments retransmitted in the recovery and not yet reported as duplicates.
    open: Vec<u64>,
    /// Longest reordering length of these segments.
    longest: u64,
}

#[derive(Clone)]
pub struct RrTcp {
    sack: Sack,
    /// Minimum of the threshold, used before the first event.
    least: u64,
    /// Fraction of the events whose length the threshold must exceed (FA ratio).
    avoidance: f64,
    undo: bool,
    /// Number of reductions undone.
    undone: u32,
    /// Number of events remembered.
    memory: usize,
    /// Lengths of the remembered events, newest last.
    lengths: VecDeque<u64>,
    /// The same lengths in ascending order.
    sorted: Vec<u64>,
    event: Option<Event>,
    episode: Option<Episode>,
    /// Unacknowledged segments that were sent more than once, in ascending order.
    repeated: Vec<u64>,
    /// Cumulative acknowledgement up to which lengths were measured.
    measured: u64,
}

impl RrTcp {
    pub fn new(parameters: &Parameters) -> RrTcp {
        let memory = parameters.get("remembered_events", 1.0..=1e6) as usize;
        RrTcp {
            sack: Sack::new(parameters),
            least: parameters.get("duplicate_threshold", THRESHOLD) as u64,
            avoidance: parameters.get("avoidance_ratio", FRACTION),
            undo: parameters.is("undo"),
            undone: 0,
            memory,
            lengths: VecDeque::new(),
            sorted: Vec::new(),
            event: None,
            episode: None,
            repeated: Vec::new(),
            measured: 0,
        }
    }

    /// Measures the reordering length of a segment that is newly known to have arrived: the number
    /// of SACKed segments beyond it, which have overtaken it.
    fn measure(&mut self, sequence: u64, flight: &Flight) {
        let end = sequence + flight.payload(sequence);
        // All segments of a flow but the last are full.
        let beyond = self.sack.scoreboard.sacked(end);
        let length = beyond.div_ceil(u64::from(flight.mss));
        if length == 0 {
            return;
        }
        if self.repeated.binary_search(&sequence).is_err() {
            let event = self.event.get_or_insert(Event {
                until: flight.snd_max,
                longest: 0,
            });
            event.longest = event.longest.max(length);
        } else if let Some(episode) = &mut self.episode {
            // The arrived copy may be the retransmission. Only a later report of a duplicate shows
            // that the original arrived too, so the length is kept until then.
            if episode.open.contains(&sequence) {
                episode.longest = episode.longest.max(length);
            }
        }
    }

    /// Measures the segments from `start` to before `end` that were not SACKed yet.
    fn measure_range(&mut self, start: u64, end: u64, flight: &Flight) {
        let end = end.min(self.sack.scoreboard.end());
        let mut at = self.sack.scoreboard.next_hole(start);
        while at < end {
            self.measure(at, flight);
            at = self.sack.scoreboard.next_hole(at + flight.payload(at));
        }
    }

    /// Measures the segments that the cumulative acknowledgement newly covers.
    fn measure_acknowledged(&mut self, flight: &Flight) {
        let from = std::mem::replace(&mut self.measured, flight.snd_una);
        if !self.sack.scoreboard.blocks().is_empty() {
            self.measure_range(from, flight.snd_una, flight);
        }
        let before = self.repeated.partition_point(|&at| at < flight.snd_una);
        self.repeated.drain(..before);
    }

    /// Ends the current event if all its data is acknowledged.
    fn end_event(&mut self, flight: &Flight) {
        match self.event {
            Some(Event { until, longest }) if flight.snd_una >= until => {
                self.event = None;
                self.remember(longest);
            }
            _ => {}
        }
    }

    /// Remembers the length of an event. Sets the threshold to exceed the lengths of a fraction
    /// `avoidance` of the remembered events.
    fn remember(&mut self, length: u64) {
        if self.lengths.len() == self.memory {
            let oldest = self.lengths.pop_front().expect("a length");
            let place = self.sorted.partition_point(|&other| other < oldest);
            self.sorted.remove(place);
        }
        self.lengths.push_back(length);
        let place = self.sorted.partition_point(|&other| other < length);
        self.sorted.insert(place, length);
        let rank = (self.avoidance * self.sorted.len() as f64).ceil() as usize;
        self.sack.threshold = self.least.max(self.sorted[rank.max(1) - 1] + 1);
    }

    /// Reads a duplicate SACK: the first block reports a duplicate if its data is already
    /// acknowledged or lies within the second block (RFC 2883, section 4).
    fn read_duplicate(&mut self, blocks: &[Block], flight: &Flight) {
        let first = blocks[0];
        let within = |second: &Block| second.start <= first.start && first.end <= second.end;
        if first.end > flight.snd_una && !blocks.get(1).is_some_and(within) {
            return;
        }
        if let Some(episode) = &mut self.episode {
            episode.open.retain(|&at| at != first.start);
        }
    }

    /// Undoes the window reduction of the last recovery and remembers its length, if every segment
    /// that it retransmitted was reported as a duplicate: then no segment was lost.
    fn undo_if_spurious(&mut self, sender: &mut SenderState<'_>) {
        let open = |episode: &Episode| !episode.open.is_empty();
        if self.sack.recovering || self.episode.as_ref().map_or(true, open) {
            return;
        }
        let Some(episode) = self.episode.take() else {
            return;
        };
        if self.undo {
            sender.congestion.undo(episode.window);
            self.undone += 1;
        }
        if episode.longest > 0 {
            self.remember(episode.longest);
        }
    }

    /// Starts an episode if `reaction` starts a fast recovery; `window` is the window before it.
    fn note(&mut self, reaction: Reaction, window: Window) -> Reaction {
        if reaction.fast {
            self.episode = Some(Episode {
                window,
                open: Vec::new(),
                longest: 0,
            });
        }
        reaction
    }
}

impl LossRecovery for RrTcp {
    fn on_blocks(&mut self, blocks: &[Block], flight: &Flight) -> bool {
        self.read_duplicate(blocks, flight);
        self.measure_acknowledged(flight);
        for block in blocks.iter().filter(|block| block.start >= flight.snd_una) {
            self.measure_range(block.start, block.end, flight);
        }
        self.end_event(flight);
        self.sack.on_blocks(blocks, flight)
    }

    fn on_ack(&mut self, ack: &Ack, news: bool, sender: &mut SenderState<'_>) -> Reaction {
        self.measure_acknowledged(sender.flight);
        self.end_event(sender.flight);
        self.undo_if_spurious(sender);
        let window = *sender.congestion.window();
        let reaction = self.sack.on_ack(ack, news, sender);
        let reaction = self.note(reaction, window);
        if !reaction.fast {
            self.undo_if_spurious(sender);
        }
        reaction
    }

    fn on_duplicate(&mut self, news: bool, sender: &mut SenderState<'_>) -> Reaction {
        self.undo_if_spurious(sender);
        let window = *sender.congestion.window();
        let reaction = self.sack.on_duplicate(news, sender);
        self.note(reaction, window)
    }

    fn flight_size(&self, flight: &Flight) -> u64 {
        self.sack.flight_size(flight)
    }

    fn on_timeout(&mut self, flight: &Flight) {
        self.event = None;
        self.episode = None;
        self.sack.on_timeout(flight);
    }

    fn candidate(&mut self, flight: &Flight, window: u64) -> Option<Candidate> {
        self.sack.candidate(flight, window)
    }

    fn on_sent(&mut self, candidate: Candidate, now: Time, flight: &mut Flight) {
        self.sack.on_sent(candidate, now, flight);
        let sequence = candidate.sequence;
        if flight.transmissions(sequence) == 1 {
            return;
        }
        if let Err(place) = self.repeated.binary_search(&sequence) {
            self.repeated.insert(place, sequence);
        }
        if let Some(episode) = self.episode.as_mut().filter(|_| self.sack.recovering) {
            if !episode.open.contains(&sequence) {
                episode.open.push(sequence);
            }
        }
    }

    fn undone(&self) -> u32 {
        self.undone
    }

    fn scoreboard(&self) -> Option<&Scoreboard> {
        self.sack.scoreboard()
    }

    fn newly_lost(&mut self, flight: &Flight) -> u64 {
        self.sack.newly_lost(flight)
    }

    fn phase(&self, flight: &Flight) -> Phase {
        self.sack.phase(flight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::vectors::parameters;
    use crate::Value;

    fn rr_tcp(avoidance: f64, memory: f64) -> RrTcp {
        let mut given = parameters(&[
            ("avoidance_ratio", avoidance),
            ("remembered_events", memory),
        ]);
        given.values.insert("undo".to_string(), Value::Switch(true));
        RrTcp::new(&given)
    }

    #[test]
    fn the_threshold_is_beyond_so_large_a_share_of_the_last_events() {
        // One of ten events may be longer; the eleventh event displaces the first.
        let mut recovery = rr_tcp(0.9, 10.0);
        let lengths = [90, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
        let thresholds = lengths.map(|length| {
            recovery.remember(length);
            recovery.sack.threshold
        });
        assert_eq!(thresholds, [91, 91, 91, 91, 91, 91, 91, 91, 91, 10, 10]);
        // The threshold never falls below the configured minimum.
        let mut hasty = rr_tcp(0.0, 10.0);
        hasty.remember(9);
        hasty.remember(1);
        assert_eq!(hasty.sack.threshold, 3);
    }
}
