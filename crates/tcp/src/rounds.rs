//! Round trips, for a law that acts once in each.

use crate::cc::Ack;

/// What is acknowledged, and what was sent when the round trip began.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    /// Useful bytes acknowledged (SND.UNA).
    pub acknowledged: u64,
    /// SND.NXT when it began.
    end: u64,
}

impl Rounds {
    /// Counts an acknowledgement; says whether it covers something that was sent in this round
    /// trip, and so begins the next one.
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
        // Three in flight after the first: the fourth and the fifth acknowledgement.
        assert!(ends(1, 3));
        assert!(![ends(1, 3), ends(0, 4), ends(2, 3)].contains(&true));
        assert!(ends(1, 2));
        assert!(!ends(2, 1) && ends(1, 0));
    }
}
