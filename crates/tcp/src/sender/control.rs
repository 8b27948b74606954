//! Segments of a sender without data.

use super::{Sender, State};
use crate::wire::ace;
use crate::wire::host_timer::HostTimer;
use crate::wire::segment::{Endpoint, ACK, FORWARD, SYN, SYN_ACKNOWLEDGED};
use lightburst_des::Time;
use lightburst_net::{Header, Options};

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
            ace: self.measure.ace(match flag {
                SYN => ace::REQUEST,
                _ => ace::FIRST,
            }),
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

    /// Handles a SYN+ACK.
    pub(super) fn on_syn_ack(&mut self, options: Option<&Options>, end: &mut Endpoint<'_, '_>) {
        self.acknowledge(SYN_ACKNOWLEDGED, end);
        if self.state != State::SynSent {
            return;
        }
        self.audit_acknowledged(0, end);
        self.timer.clear();
        if self.attempts > 0 && self.timeout.samples_repeated() {
            // The SYN that is answered, by its timestamp; NEVER without one.
            self.syn_sent = options.map_or(Time::NEVER, |options| options.echo);
        }
        let sampled = self.syn_sent != Time::NEVER;
        self.timeout.on_established(sampled);
        if sampled {
            self.sample(end.now().since(self.syn_sent), end);
        }
        if self.attempts > self.timeout.excused() {
            // RFC 5681, section 3.1: one segment if the SYN or SYN+ACK was lost.
            self.congestion.limit(u64::from(self.flight.mss));
        }
        self.establish(end);
    }
}
