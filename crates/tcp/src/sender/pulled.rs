//! A sender whose packets the receiver pulls (rate law `ndp`).

use super::Sender;
use crate::wire::host_timer::HostTimer;
use crate::wire::segment::Endpoint;
use lightburst_des::Time;

impl Sender {
    /// Handles the pull with this number.
    #[cold]
    pub(super) fn on_pull(&mut self, number: u64, end: &mut Endpoint<'_, '_>) {
        self.congestion.on_pull(number);
        self.wait_for_pull();
        self.send_allowed(end);
        self.tell_window(end);
    }

    /// Holds all packets back if none may be sent before a pull.
    #[cold]
    pub(super) fn wait_for_pull(&mut self) {
        self.release = match self.congestion.may_send() {
            true => Time::ZERO,
            false => Time::NEVER,
        };
    }

    /// Lets the timer run while a packet waits for a pull, since the pull may be lost.
    #[cold]
    pub(super) fn guard_pull(&mut self, end: &mut Endpoint<'_, '_>) {
        if !self.timer.is_set() {
            let value = self.timeout.value();
            self.timer.set(end.now() + value, HostTimer::Sender, end);
        }
    }
}
