//! Reno (RFC 5681, section 3.2): fast retransmit and fast recovery; the first acknowledgement of
//! new data ends the recovery.

use super::{Candidate, Duplicates, LossRecovery, Phase, Reaction, SenderState};
use crate::cc::Ack;
use crate::flight::Flight;
use crate::Parameters;
use lightburst_des::Time;

#[derive(Clone)]
pub struct Reno {
    duplicates: Duplicates,
    /// Inflation of the window in bytes during a recovery; `None` otherwise.
    recovering: Option<i64>,
    growth_on_exit: bool,
}

impl Reno {
    pub fn new(parameters: &Parameters) -> Reno {
        Reno {
            duplicates: Duplicates::new(parameters),
            recovering: None,
            growth_on_exit: parameters.is("window_growth_on_exit"),
        }
    }
}

impl LossRecovery for Reno {
    fn on_ack(&mut self, ack: &Ack, _news: bool, sender: &mut SenderState<'_>) -> Reaction {
        // RFC 5681, section 3.2, step 6: without the inflation the window is ssthresh again.
        let recovered = self.recovering.take().is_some();
        self.duplicates.clear(sender);
        if !recovered || self.growth_on_exit {
            sender.congestion.on_ack(ack);
        }
        Reaction::default()
    }

    fn on_duplicate(&mut self, _news: bool, sender: &mut SenderState<'_>) -> Reaction {
        if let Some(inflation) = &mut self.recovering {
            // RFC 5681, section 3.2, step 4: a duplicate shows that a segment has left the network.
            *inflation += i64::from(sender.flight.mss);
            return Reaction::KEEP;
        }
        if !self.duplicates.count(sender.flight) {
            return Reaction::KEEP;
        }
        self.recovering = Some(self.duplicates.enter(sender));
        Reaction::RETRANSMIT
    }

    fn flight_size(&self, flight: &Flight) -> u64 {
        self.duplicates.flight_size(flight)
    }

    fn on_timeout(&mut self, flight: &Flight) {
        self.recovering = None;
        self.duplicates.timeout(flight);
    }

    fn candidate(&mut self, flight: &Flight, window: u64) -> Option<Candidate> {
        self.duplicates.candidate(self.recovering, flight, window)
    }

    fn on_sent(&mut self, candidate: Candidate, _now: Time, flight: &mut Flight) {
        self.duplicates.sent(candidate, flight);
    }

    fn inflation(&self) -> i64 {
        self.recovering.unwrap_or(0)
    }

    fn newly_lost(&mut self, _flight: &Flight) -> u64 {
        std::mem::take(&mut self.duplicates.lost)
    }

    fn phase(&self, _flight: &Flight) -> Phase {
        self.duplicates.phase(self.recovering.is_some())
    }
}
