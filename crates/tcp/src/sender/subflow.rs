//! A sender that is a subflow of a connection: it takes its data from what the connection has left.

use super::{Sender, State};
use crate::cc::Subflow;
use crate::wire::segment::Endpoint;

impl Sender {
    /// Makes it a subflow, before the connection begins: it has no data of its own, and its FIN is
    /// sent when all its data is acknowledged.
    pub fn be_subflow(&mut self) {
        self.flight.size = 0;
        self.flight.fin_with_data = false;
    }

    /// Offers the `left` bytes that no subflow has taken. What it sends of them for the first time
    /// in the event that follows is taken.
    pub fn offer(&mut self, left: u64) {
        self.flight.size = self.flight.snd_max + left;
    }

    /// Offers `left` bytes of slots of the data level. It stays open until all data of the connection
    /// is acknowledged there (`done`).
    pub fn offer_slots(&mut self, left: u64, done: bool) {
        self.offer(left);
        self.flight.more = !done;
    }

    /// Sends what the connection offers, in an event of another subflow.
    pub fn send_offered(&mut self, end: &mut Endpoint<'_, '_>) {
        if self.state == State::Established {
            self.resume(end);
            self.tell_window(end);
        }
    }

    /// Ends the subflow at an expiry after all data of the connection was acknowledged: nobody waits
    /// for its data. Returns whether it had not sent its FIN.
    #[cold]
    pub(super) fn reset(&mut self) -> bool {
        let waits = matches!(self.state, State::SynSent | State::Established);
        if waits {
            self.state = State::Closed;
            self.pacing.clear();
        }
        waits
    }

    /// Passes the subflows of the connection to the window law; its own number is `own`.
    pub fn hear_subflows(&mut self, own: usize, subflows: &[Option<Subflow>]) {
        self.congestion.on_subflows(own, subflows);
    }

    /// Closes the subflow if all data that it has taken is acknowledged, and nothing is left.
    pub fn close_if_done(&mut self, end: &mut Endpoint<'_, '_>) {
        let done = self.flight.snd_una == self.flight.size;
        if self.state == State::Established && done {
            self.finish(end);
            self.tell_window(end);
        }
    }

    /// Returns whether the handshake is over, or there was none.
    pub fn is_open(&self) -> bool {
        !matches!(self.state, State::Idle | State::SynSent) && !self.gave_up()
    }

    /// Returns the state that the laws of other subflows see, with the data between losses;
    /// `None` if it sends no data, or has no round-trip time yet.
    pub fn subflow(&self, between_losses: u64) -> Option<Subflow> {
        if self.state != State::Established {
            return None;
        }
        Some(Subflow {
            cwnd: self.congestion.window().cwnd,
            rtt: self.timeout.smoothed()?,
            between_losses,
        })
    }

    /// Returns the end of the data that is acknowledged.
    pub fn acknowledged_until(&self) -> u64 {
        self.flight.snd_una
    }

    /// Returns the number of losses so far, and the data acknowledged.
    pub fn losses(&self) -> (u64, u64) {
        (self.audit.reductions(), self.flight.snd_una)
    }
}
