//! Explicit congestion notification (RFC 3168): answers to the echo of a mark.

use super::Sender;
use crate::cc::{Ack, Loss};
use crate::recovery::Phase;
use crate::wire::segment::CWR;
use lightburst_net::Header;

/// Reductions of the window, of which the receiver is told.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reductions {
    /// End of the data sent at the last reduction; 0 before the first.
    until: u64,
    /// Whether the receiver has not been told yet.
    news: bool,
}

impl Sender {
    /// Notes that the window was reduced.
    pub(super) fn note_reduction(&mut self) {
        self.reductions = Reductions {
            until: self.flight.snd_max,
            news: true,
        };
    }

    /// Answers an acknowledgement that echoes a mark, after the recovery has handled it. `before` is
    /// the window before that; `fast`: the recovery has reduced the window.
    #[inline]
    pub(super) fn answer_echo(&mut self, ack: &Ack, before: f64, fast: bool) {
        if self.measure.ecn && (ack.ecn_echo || fast) {
            self.reduce_once(ack, before, fast);
        }
    }

    /// Reduces the window as for a loss, at most once per window of data (RFC 3168, section 6.1.2).
    #[cold]
    #[inline(never)]
    fn reduce_once(&mut self, ack: &Ack, before: f64, fast: bool) {
        if fast {
            return self.note_reduction();
        }
        // "SHOULD NOT increase the congestion window in response to" an echo.
        if self.congestion.window().cwnd > before {
            self.congestion.set_cwnd(before);
        }
        let until = self.reductions.until;
        let newer = until == 0 || self.flight.snd_una > until;
        if newer && self.recovery.phase(&self.flight) == Phase::Open {
            self.congestion.on_loss(&Loss {
                at: ack.at,
                in_flight: self.recovery.flight_size(&self.flight),
                echo: true,
            });
            self.note_reduction();
        }
    }

    /// Returns the header of a new data segment, which tells the receiver of a reduction.
    pub(super) fn with_news(&mut self, mut header: Header) -> Header {
        if std::mem::take(&mut self.reductions.news) {
            header.flags |= CWR;
        }
        header
    }
}
