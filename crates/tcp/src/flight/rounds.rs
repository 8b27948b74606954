//! Detection of round trips, for window laws that act once per round trip.

use crate::cc::Ack;

/// Acknowledged bytes, and the end of the current round trip.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    /// Payload bytes acknowledged (SND.UNA).
    pub acknowledged: u64,
    /// SND.NXT at the start of the current round trip.
    end: u64,
}

impl Rounds {
    /// Counts an acknowledgement. Returns whether it covers data sent in the current round trip,
    /// which ends that round trip and starts the next.
    pub fn ends(&mut self, ack: &Ack) -> bool {
        self.acknowledged += ack.bytes;
        let ends = self.acknowledged > self.end;
        if ends {
            self.end = self.acknowledged + ack.in_flight;
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_ends_with_the_first_segment_that_was_sent_in_it() {
        let mut rounds = Rounds::default();
        let mut ends = |bytes, in_flight| {
            rounds.ends(&Ack {
                bytes,
                in_flight,
                ..Ack::default()
            })
        };
        // Three segments are in flight after the first acknowledgement; the round trip ends when
        // more than these three are acknowledged.
        assert!(ends(1, 3));
        assert!(![ends(1, 3), ends(0, 4), ends(2, 3)].contains(&true));
        assert!(ends(1, 2));
        assert!(!ends(2, 1) && ends(1, 0));
    }
}
