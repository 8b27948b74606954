//! The window of one connection, with the law that changes it; and the rules for slow start that
//! several laws share.

pub mod byte_counting;
pub mod hystart_plus_plus;
pub mod subflows;

use crate::cc::{
    Ack, CongestionControl, Loss, Report, Sample, Sent, Subflow, Timeout, Wants, Window,
};
use crate::measure::rates::{Established, Lost, PathModel, RateSample};
use crate::measure::told::Told;
use lightburst_des::Time;
use lightburst_net::unit::arena::prefetch_lines;
use lightburst_net::{FlowId, Rate};

/// The window of a connection and its law.
#[derive(Clone)]
pub struct Congestion {
    window: Window,
    /// Receive window in payload bytes.
    rwnd: f64,
    law: Box<dyn CongestionControl>,
}

impl Congestion {
    /// Creates the window after the handshake; `initial` and `rwnd` are in payload bytes.
    pub fn new(law: Box<dyn CongestionControl>, initial: f64, rwnd: f64) -> Congestion {
        Congestion {
            window: law.start(initial),
            rwnd,
            law,
        }
    }

    /// Prefetches the state of the law.
    #[inline]
    pub fn prefetch(&self) {
        prefetch_lines(&*self.law, 0..2);
    }

    /// Returns the window.
    #[inline]
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Returns cwnd in whole bytes.
    #[inline]
    pub fn cwnd(&self) -> u64 {
        // A window is not negative, and a conversion to a signed number is one instruction.
        self.window.cwnd as i64 as u64
    }

    /// Passes an acknowledgement of new data to the law.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack) {
        self.law.on_ack(ack, &mut self.window);
        // Data beyond the receive window could never be sent.
        self.window.cwnd = self.window.cwnd.min(self.rwnd);
    }

    /// Passes an acknowledgement of new data to the law; the window limited the sender. It may then
    /// be larger than the receive window by what a round trip adds (RFC 7661).
    #[inline]
    pub fn on_limited_ack(&mut self, ack: &Ack) {
        self.law.on_ack(ack, &mut self.window);
    }

    /// Passes a report to the law.
    pub fn on_report(&mut self, report: &Report) {
        self.law.on_report(report, &mut self.window);
        self.window.cwnd = self.window.cwnd.min(self.rwnd);
    }

    /// Passes a loss to the law.
    pub fn on_loss(&mut self, loss: &Loss) {
        self.law.on_loss(loss, &mut self.window);
    }

    /// Passes a timeout to the law.
    pub fn on_timeout(&mut self, timeout: &Timeout) {
        self.law.on_timeout(timeout, &mut self.window);
    }

    /// Undoes the last reduction after a spurious loss; `before` is the window before that
    /// reduction.
    pub fn undo(&mut self, before: Window) {
        self.window.cwnd = self.window.cwnd.max(before.cwnd);
        self.window.ssthresh = before.ssthresh;
        self.law.on_spurious();
    }

    /// Lowers the window to at most `bytes`: at the end of a recovery, or at the start of a
    /// connection whose SYN was lost.
    pub fn limit(&mut self, bytes: u64) {
        self.window.cwnd = self.window.cwnd.min(bytes as f64);
    }

    /// Sets the window to `bytes`: the loss window (RFC 5681, section 3.1), or that of a recovery
    /// that reduces it step by step.
    pub fn set_cwnd(&mut self, bytes: f64) {
        self.window.cwnd = bytes;
    }

    /// Sets ssthresh to `bytes`.
    pub fn set_ssthresh(&mut self, bytes: f64) {
        self.window.ssthresh = bytes;
    }

    /// Passes a sample of the round-trip time to the law.
    pub fn on_sample(&mut self, sample: &Sample) {
        self.law.on_sample(sample, &mut self.window);
    }

    /// Passes a notification of marks to the law.
    pub fn on_notification(&mut self, at: Time) {
        self.law.on_notification(at);
    }

    /// Passes the number of packets of the message to the law.
    pub fn on_message(&mut self, packets: u64) {
        self.law.on_message(packets);
    }

    /// Passes a pull to the law.
    pub fn on_pull(&mut self, number: u64) {
        self.law.on_pull(number);
    }

    /// Passes the return of a packet's header to the law.
    pub fn on_return(&mut self) {
        self.law.on_return();
    }

    /// See [`CongestionControl::may_send`].
    pub fn may_send(&self) -> bool {
        self.law.may_send()
    }

    /// Passes the flow to the law.
    pub fn on_flow(&mut self, flow: FlowId) {
        self.law.on_flow(flow);
    }

    /// Passes the subflows of the connection to the law.
    pub fn on_subflows(&mut self, own: usize, subflows: &[Option<Subflow>]) {
        self.law.on_subflows(own, subflows);
    }

    /// Passes telemetry to the law.
    pub fn on_told(&mut self, told: &Told<'_>) {
        self.law.on_told(told, &mut self.window);
        self.window.cwnd = self.window.cwnd.min(self.rwnd);
    }

    /// Passes the number of switches on the path to the law.
    pub fn on_path(&mut self, switches: u32) {
        self.law.on_path(switches);
    }

    /// Passes the end of the handshake to the law.
    pub fn on_established(&mut self, established: &Established) {
        self.law.on_established(established, &mut self.window);
    }

    /// See [`CongestionControl::on_rate`].
    pub fn on_rate(&mut self, sample: &RateSample) -> bool {
        self.law.on_rate(sample, &mut self.window)
    }

    /// Passes a lost segment to the law.
    pub fn on_lost(&mut self, lost: &Lost) {
        self.law.on_lost(lost, &mut self.window);
    }

    /// Passes the end of an idle time to the law.
    pub fn on_restart(&mut self, at: Time) {
        self.law.on_restart(at, &mut self.window);
    }

    /// See [`CongestionControl::model`].
    pub fn model(&self) -> Option<PathModel> {
        self.law.model()
    }

    /// Passes a transmission to the law.
    #[inline]
    pub fn on_sent(&mut self, sent: &Sent) {
        self.law.on_sent(sent);
    }

    /// See [`CongestionControl::pacing_rate`].
    #[inline]
    pub fn pacing_rate(&self) -> Option<Rate> {
        self.law.pacing_rate()
    }

    /// See [`CongestionControl::wants`].
    pub fn wants(&self) -> Wants {
        self.law.wants()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A law that doubles the window without limit.
    #[derive(Clone)]
    struct Greedy;

    impl CongestionControl for Greedy {
        fn start(&self, initial: f64) -> Window {
            Window {
                cwnd: initial,
                ssthresh: 0.0,
            }
        }

        fn on_ack(&mut self, _ack: &Ack, window: &mut Window) {
            window.cwnd *= 2.0;
        }

        fn on_loss(&mut self, _loss: &Loss, _window: &mut Window) {}

        fn on_timeout(&mut self, _timeout: &Timeout, _window: &mut Window) {}
    }

    #[test]
    fn no_law_grows_beyond_the_advertised_window_or_through_a_limit() {
        let mut congestion = Congestion::new(Box::new(Greedy), 2000.5, 5000.0);
        let ack = Ack {
            bytes: 1000,
            ..Ack::default()
        };
        for expected in [4001, 5000, 5000] {
            congestion.on_ack(&ack);
            assert_eq!(congestion.cwnd(), expected);
        }
        congestion.limit(1000);
        assert_eq!(congestion.cwnd(), 1000);
        congestion.limit(3000);
        assert_eq!(congestion.cwnd(), 1000);
    }
}
