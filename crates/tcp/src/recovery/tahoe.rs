//! Tahoe: fast retransmit, then slow start from one segment (Jacobson 1988; Fall and Floyd 1996,
//! section 2). All data sent after the lost segment is sent again.

use super::{Candidate, Duplicates, LossRecovery, Phase, Reaction, SenderState};
use crate::cc::{Ack, Loss};
use crate::flight::Flight;
use crate::Parameters;
use lightburst_des::Time;

#[derive(Clone)]
pub struct Tahoe {
    duplicates: Duplicates,
}

impl Tahoe {
    pub fn new(parameters: &Parameters) -> Tahoe {
        Tahoe {
            duplicates: Duplicates::new(parameters),
        }
    }
}

impl LossRecovery for Tahoe {
    fn on_ack(&mut self, ack: &Ack, _news: bool, sender: &mut SenderState<'_>) -> Reaction {
        self.duplicates.clear(sender);
        sender.congestion.on_ack(ack);
        Reaction::default()
    }

    fn on_duplicate(&mut self, _news: bool, sender: &mut SenderState<'_>) -> Reaction {
        if !self.duplicates.count(sender.flight) {
            return Reaction::KEEP;
        }
        let in_flight = self.duplicates.loss(sender.flight);
        sender.congestion.on_loss(&Loss {
            at: sender.now,
            in_flight,
            echo: false,
        });
        sender.congestion.set_cwnd(f64::from(sender.flight.mss));
        sender.flight.rewind();
        self.duplicates.beyond = 0;
        Reaction::RETRANSMIT
    }

    fn flight_size(&self, flight: &Flight) -> u64 {
        self.duplicates.flight_size(flight)
    }

    fn on_timeout(&mut self, flight: &Flight) {
        self.duplicates.timeout(flight);
    }

    fn candidate(&mut self, flight: &Flight, window: u64) -> Option<Candidate> {
        self.duplicates.candidate(None, flight, window)
    }

    fn on_sent(&mut self, candidate: Candidate, _now: Time, flight: &mut Flight) {
        self.duplicates.sent(candidate, flight);
    }

    fn newly_lost(&mut self, _flight: &Flight) -> u64 {
        std::mem::take(&mut self.duplicates.lost)
    }

    fn phase(&self, _flight: &Flight) -> Phase {
        self.duplicates.phase(false)
    }
}
