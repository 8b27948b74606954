//! The SACK of ns-2, `Agent/TCP/Sack1` (Fall and Floyd 1996, section 5): the pipe
//! is a counter that never learns of losses, so that it stalls into a timeout
//! when about half a window is lost.

use super::{in_window, Candidate, Context, Kind, LossRecovery, Phase, Reaction};
use crate::cc::{Ack, CongestionControl, Loss};
use crate::flight::Flight;
use crate::scoreboard::Scoreboard;
use crate::Parameters;
use lightburst_net::Block;

pub struct Sack1 {
    threshold: u64,
    limited_transmit: bool,
    bug_fix: bool,
    duplicates: u64,
    /// The byte after the last one sent when the last loss was seen.
    recover: u64,
    recovering: bool,
    /// Nothing is sent on the acknowledgement that begins a recovery but its first segment.
    entering: bool,
    after_timeout: bool,
    /// Segments thought to be in the network.
    pipe: i64,
    /// Holes before this byte were sent again.
    looked: u64,
    scoreboard: Scoreboard,
}

impl Sack1 {
    pub fn new(parameters: &Parameters) -> Sack1 {
        Sack1 {
            threshold: parameters.get("duplicate_threshold") as u64,
            limited_transmit: parameters.is("limited_transmit"),
            bug_fix: parameters.is("bug_fix"),
            duplicates: 0,
            recover: 0,
            recovering: false,
            entering: false,
            after_timeout: false,
            pipe: 0,
            looked: 0,
            scoreboard: Scoreboard::default(),
        }
    }

    fn enter(&mut self, cx: &mut Context<'_>) -> Reaction {
        let flight = &*cx.flight;
        self.recover = flight.highest;
        self.recovering = true;
        self.entering = true;
        let full = u64::from(flight.full);
        self.pipe = flight.outstanding().div_ceil(full) as i64 - self.threshold as i64;
        self.looked = flight.unacknowledged + flight.payload(flight.unacknowledged);
        cx.congestion.on_loss(&Loss {
            at: cx.now,
            in_flight: flight.outstanding(),
        });
        Reaction::RETRANSMIT
    }

    /// The first segment not sent again that lies below a SACKed one.
    fn hole(&self, flight: &Flight) -> Option<u64> {
        let hole = self.scoreboard.hole(self.looked.max(flight.unacknowledged));
        (hole < self.scoreboard.end()).then_some(hole)
    }
}

impl LossRecovery for Sack1 {
    fn on_blocks(&mut self, blocks: &[Block], flight: &mut Flight) -> bool {
        if self.after_timeout {
            return false;
        }
        self.scoreboard.mark(blocks, flight.unacknowledged)
    }

    fn on_ack(&mut self, ack: &Ack, _news: bool, cx: &mut Context<'_>) -> Reaction {
        self.entering = false;
        if self.recovering && cx.flight.unacknowledged < self.recover {
            // One left the network with this acknowledgement, one was lost.
            self.pipe -= 2;
            return Reaction::default();
        }
        self.scoreboard.clear();
        self.duplicates = 0;
        self.after_timeout = false;
        if self.recovering {
            self.recovering = false;
            self.recover = 0;
        } else {
            cx.congestion.on_ack(ack);
        }
        Reaction::default()
    }

    fn on_duplicate(&mut self, news: bool, cx: &mut Context<'_>) -> Reaction {
        self.entering = false;
        if self.recovering {
            self.pipe -= 1;
            return Reaction::KEEP;
        }
        if !news {
            return Reaction::KEEP;
        }
        self.duplicates += 1;
        let may_enter =
            !self.bug_fix || self.recover == 0 || cx.flight.unacknowledged > self.recover;
        if self.duplicates == self.threshold && may_enter {
            return self.enter(cx);
        }
        Reaction::KEEP
    }

    fn on_timeout(&mut self, flight: &mut Flight) {
        self.duplicates = 0;
        self.recovering = false;
        self.entering = false;
        self.after_timeout = true;
        self.recover = flight.highest;
        self.scoreboard.clear();
    }

    fn candidate(&self, flight: &Flight, congestion: &dyn CongestionControl) -> Option<Candidate> {
        let window = congestion.window();
        let full = u64::from(flight.full);
        if !self.recovering {
            let limited = self.duplicates > 0 && self.duplicates < self.threshold;
            let beyond = match limited && self.limited_transmit {
                true => self.duplicates * full,
                false => 0,
            };
            return in_window(flight, flight.outstanding(), window + beyond);
        }
        if self.entering || self.pipe >= (window / full) as i64 {
            return None;
        }
        let candidate = match self.hole(flight) {
            Some(sequence) => Candidate::hole(sequence),
            None => Candidate::next(flight.next),
        };
        let sequence = candidate.sequence;
        let sendable =
            sequence < flight.size && flight.is_advertised(sequence + flight.payload(sequence));
        sendable.then_some(candidate)
    }

    fn on_sent(&mut self, candidate: Candidate, flight: &mut Flight) {
        if !self.recovering || self.entering {
            return;
        }
        self.pipe += 1;
        if candidate.kind == Kind::Hole {
            self.looked = candidate.sequence + flight.payload(candidate.sequence);
        }
    }

    fn phase(&self, flight: &Flight) -> Phase {
        match () {
            () if self.recovering => Phase::Recovery,
            () if flight.unacknowledged < self.recover => Phase::Loss,
            () => Phase::Open,
        }
    }
}
