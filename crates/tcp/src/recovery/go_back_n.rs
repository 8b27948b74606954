//! Go-back-N: no fast retransmit; a timeout resends all outstanding data in order.

use super::{in_window, Candidate, LossRecovery, Phase, Reaction, SenderState};
use crate::cc::Ack;
use crate::flight::Flight;

/// Loss recovery by timeouts only.
#[derive(Clone)]
pub struct GoBackN;

impl LossRecovery for GoBackN {
    fn on_ack(&mut self, ack: &Ack, _news: bool, sender: &mut SenderState<'_>) -> Reaction {
        sender.congestion.on_ack(ack);
        Reaction::default()
    }

    fn on_duplicate(&mut self, _news: bool, _cx: &mut SenderState<'_>) -> Reaction {
        Reaction::KEEP
    }

    fn on_timeout(&mut self, _flight: &Flight) {}

    #[inline]
    fn candidate(&mut self, flight: &Flight, window: u64) -> Option<Candidate> {
        in_window(flight, flight.flight_size(), window)
    }

    fn phase(&self, _flight: &Flight) -> Phase {
        Phase::Open
    }
}
