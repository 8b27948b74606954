//! Segments of a sender without data.

use super::Sender;
use crate::wire::ace;
use crate::wire::host_timer::HostTimer;
use crate::wire::segment::{Endpoint, ACK, FORWARD, SYN_ACKNOWLEDGED};
use lightburst_des::Time;
use lightburst_net::Header;

impl Sender {
    /// Sends a SYN or FIN for the `transmission`-th time, from 1, and sets the timer.
    /// Returns the time from which timer and round trip are counted.
    pub(super) fn control(
        &mut self,
        flag: u8,
        transmission: u32,
        end: &mut Endpoint<'_, '_>,
    ) -> Time {
        let header = Header {
            flags: FORWARD | flag,
            ace: self.measure.ace(ace::REQUEST),
            ..Header::default()
        };
        let begin = end.send(header, self.measure.options(end.now()), transmission);
        let sent = self.measure.counted_from(begin, end.now());
        let value = self.timeout.value();
        self.timer.set(sent + value, HostTimer::Sender, end);
        sent
    }

    pub(super) fn acknowledge(&self, acknowledgement: u64, end: &mut Endpoint<'_, '_>) {
        let header = Header {
            acknowledgement,
            flags: FORWARD | ACK,
            ace: self.measure.ace(match acknowledgement {
                SYN_ACKNOWLEDGED => ace::NOT_CAPABLE,
                _ => ace::FIRST,
            }),
            ..Header::default()
        };
        end.send(header, self.measure.options(end.now()), 0);
    }
}
