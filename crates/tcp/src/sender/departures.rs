//! What held a sender's segments back and does no longer: a fair interface, or pacing.

use super::{Sender, State};
use crate::wire::host_timer::HostTimer;
use crate::wire::segment::{Endpoint, FIN, SYN};
use lightburst_net::Header;

impl Sender {
    /// Handles the start of the transmission of a segment that waited at the interface. `wanted`:
    /// this sender waits for room at the interface.
    pub fn on_departure(&mut self, header: &Header, wanted: bool, end: &mut Endpoint<'_, '_>) {
        if self.measure.counts_transmissions() {
            self.count_from_departure(header, end);
        }
        if wanted && self.state == State::Established {
            self.on_room(end);
        }
    }

    /// Restarts the timer and the round trip of a segment at the start of its transmission, unless
    /// it was acknowledged meanwhile.
    fn count_from_departure(&mut self, header: &Header, end: &mut Endpoint<'_, '_>) {
        let awaited = match self.state {
            State::SynSent if header.flags & SYN != 0 => {
                if self.attempts == 0 {
                    self.syn_sent = end.now();
                }
                true
            }
            State::FinWait => header.flags & FIN != 0,
            State::Established => {
                header.payload > 0 && self.flight.departs(header.sequence, end.now())
            }
            _ => false,
        };
        if awaited {
            let value = self.timeout.value();
            self.timer.set(end.now() + value, HostTimer::Sender, end);
        }
    }

    /// Handles the event of the pacing timer.
    pub fn on_pacing(&mut self, end: &mut Endpoint<'_, '_>) {
        if self.pacing.expired(HostTimer::Pacing, end) {
            self.on_room(end);
        }
    }
}
