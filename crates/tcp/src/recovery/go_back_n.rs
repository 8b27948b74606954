//! No fast retransmit: a timeout sends everything outstanding again, in order.

use super::{in_window, Candidate, LossRecovery, Phase, Reaction, RecoveryContext};
use crate::cc::{Ack, CongestionControl};
use crate::flight::Flight;

/// Go-back-N.
pub struct GoBackN;

impl LossRecovery for GoBackN {
    fn on_ack(&mut self, ack: &Ack, _news: bool, cx: &mut RecoveryContext<'_>) -> Reaction {
        cx.congestion.on_ack(ack);
        Reaction::default()
    }

    fn on_duplicate(&mut self, _news: bool, _cx: &mut RecoveryContext<'_>) -> Reaction {
        Reaction::KEEP
    }

    fn on_timeout(&mut self, _flight: &Flight) {}

    #[inline]
    fn candidate(&self, flight: &Flight, congestion: &dyn CongestionControl) -> Option<Candidate> {
        in_window(flight, flight.outstanding(), congestion.window())
    }

    fn phase(&self, _flight: &Flight) -> Phase {
        Phase::Open
    }
}
