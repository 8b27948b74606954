//! Go-back-N: no single segment is sent again. After a timeout, and after a negative
//! acknowledgement where receivers send them, all outstanding data is, in order.

use super::{in_window, Candidate, LossRecovery, Phase, Reaction, SenderState, TimerAction};
use crate::cc::{Ack, Loss};
use crate::flight::Flight;

/// Loss recovery that sends all outstanding data again.
#[derive(Clone, Default)]
pub struct GoBackN {
    /// Whether the acknowledgement that is handled next is negative.
    nak: bool,
}

impl GoBackN {
    /// Goes back to the first unacknowledged byte, which is missing at the receiver.
    #[cold]
    fn go_back(&mut self, sender: &mut SenderState<'_>) -> Reaction {
        self.nak = false;
        sender.congestion.on_loss(&Loss {
            at: sender.now,
            in_flight: sender.flight.flight_size(),
            echo: false,
        });
        sender.flight.rewind();
        Reaction {
            retransmit: false,
            fast: true,
            timer: TimerAction::Restart,
        }
    }
}

impl LossRecovery for GoBackN {
    fn on_nak(&mut self) {
        self.nak = true;
    }

    fn on_ack(&mut self, ack: &Ack, _news: bool, sender: &mut SenderState<'_>) -> Reaction {
        sender.congestion.on_ack(ack);
        match self.nak {
            true => self.go_back(sender),
            false => Reaction::default(),
        }
    }

    fn on_duplicate(&mut self, _news: bool, sender: &mut SenderState<'_>) -> Reaction {
        match self.nak {
            true => self.go_back(sender),
            false => Reaction::KEEP,
        }
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
