//! SACK of ns-2, `Agent/TCP/Sack1` (Fall and Floyd 1996, section 5). Its pipe is a counter that
//! does not notice losses, so a recovery stalls until a timeout when about half a window is lost.

use super::{in_window, Candidate, Duplicates, LossRecovery, Phase, Reaction, Reason, SenderState};
use crate::cc::Ack;
use crate::flight::scoreboard::Scoreboard;
use crate::flight::Flight;
use crate::Parameters;
use lightburst_des::Time;
use lightburst_net::Block;

#[derive(Clone)]
pub struct Sack1 {
    duplicates: Duplicates,
    recovering: bool,
    /// Whether the acknowledgement that started the recovery is being handled; it causes no
    /// transmission but that of the first segment.
    entering: bool,
    /// Whether SACK blocks are ignored: from a timeout until new data is acknowledged.
    ignoring: bool,
    /// Estimated number of segments in the network.
    pipe: i64,
    /// Holes before this byte were retransmitted.
    looked: u64,
    scoreboard: Scoreboard,
}

impl Sack1 {
    pub fn new(parameters: &Parameters) -> Sack1 {
        Sack1 {
            duplicates: Duplicates::new(parameters),
            recovering: false,
            entering: false,
            ignoring: false,
            pipe: 0,
            looked: 0,
            scoreboard: Scoreboard::default(),
        }
    }

    fn enter(&mut self, sender: &mut SenderState<'_>) -> Reaction {
        let flight = &*sender.flight;
        self.recovering = true;
        self.entering = true;
        let segments = flight.flight_size().div_ceil(u64::from(flight.mss));
        self.pipe = segments as i64 - self.duplicates.threshold as i64;
        self.looked = flight.snd_una + flight.payload(flight.snd_una);
        self.duplicates.enter(sender);
        Reaction::RETRANSMIT
    }

    /// Returns the first hole below SACKed data that was not retransmitted.
    fn hole(&self, flight: &Flight) -> Option<u64> {
        let hole = self.scoreboard.next_hole(self.looked.max(flight.snd_una));
        (hole < self.scoreboard.end()).then_some(hole)
    }
}

impl LossRecovery for Sack1 {
    fn on_blocks(&mut self, blocks: &[Block], flight: &Flight) -> bool {
        if self.ignoring {
            return false;
        }
        self.scoreboard.update(blocks, flight.snd_una)
    }

    fn on_ack(&mut self, ack: &Ack, _news: bool, sender: &mut SenderState<'_>) -> Reaction {
        self.entering = false;
        if self.recovering && sender.flight.snd_una < self.duplicates.recover {
            // A partial acknowledgement: one segment has left the network, and another was lost.
            self.pipe -= 2;
            return Reaction::default();
        }
        self.scoreboard.clear();
        self.duplicates.clear(sender);
        self.ignoring = false;
        if self.recovering {
            self.recovering = false;
            self.duplicates.recover = 0;
        } else {
            sender.congestion.on_ack(ack);
        }
        Reaction::default()
    }

    fn on_duplicate(&mut self, news: bool, sender: &mut SenderState<'_>) -> Reaction {
        self.entering = false;
        if self.recovering {
            self.pipe -= 1;
            return Reaction::KEEP;
        }
        if news && self.duplicates.count(sender.flight) {
            return self.enter(sender);
        }
        Reaction::KEEP
    }

    fn on_timeout(&mut self, flight: &Flight) {
        self.duplicates.timeout(flight);
        self.recovering = false;
        self.ignoring = true;
    }

    fn candidate(&mut self, flight: &Flight, window: u64) -> Option<Candidate> {
        if !self.recovering {
            let wider = window + self.duplicates.limited(flight);
            return in_window(flight, flight.flight_size(), wider);
        }
        if self.entering || self.pipe >= (window / u64::from(flight.mss)) as i64 {
            return None;
        }
        let candidate = match self.hole(flight) {
            Some(sequence) => Candidate::hole(sequence),
            None => Candidate::next(flight.snd_nxt),
        };
        let sequence = candidate.sequence;
        let sendable =
            sequence < flight.size && flight.is_advertised(sequence + flight.payload(sequence));
        sendable.then_some(candidate)
    }

    fn on_sent(&mut self, candidate: Candidate, _now: Time, flight: &mut Flight) {
        // The segment that started the recovery is not in the pipe, even if it was held back and
        // leaves after further acknowledgements.
        if !self.recovering || candidate.sequence < self.looked {
            return;
        }
        self.pipe += 1;
        if candidate.reason == Reason::Hole {
            self.duplicates.lost += flight.payload(candidate.sequence);
            self.looked = candidate.sequence + flight.payload(candidate.sequence);
        }
    }

    fn scoreboard(&self) -> Option<&Scoreboard> {
        Some(&self.scoreboard)
    }

    fn newly_lost(&mut self, _flight: &Flight) -> u64 {
        std::mem::take(&mut self.duplicates.lost)
    }

    fn phase(&self, _flight: &Flight) -> Phase {
        self.duplicates.phase(self.recovering)
    }
}
