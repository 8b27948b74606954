//! NDP: M. Handley et al., "Re-architecting datacenter networks and stacks for low latency and high
//! performance", SIGCOMM 2017, section 3.2. The receiver pulls; `hosts/pulls.rs` has its side.

use super::{RateLawSettings, UNLIMITED};
use crate::cc::{Ack, CongestionControl, Loss, Sent, Timeout, Wants, Window};
use crate::transport::parameters::COUNT;

/// The packets that may be sent: a first window unasked, then one for each pull.
#[derive(Clone)]
pub struct Ndp {
    first: u64,
    /// Packets that may be sent now.
    left: u64,
    /// Largest number of pulls of which the receiver told.
    pulled: u64,
    /// Packets sent since the last timeout that have caused neither a pull nor a return so far.
    expected: u64,
}

impl Ndp {
    /// Creates the law of one message.
    pub fn new(settings: &RateLawSettings) -> Ndp {
        let first = settings.parameters.get("first_window", COUNT) as u64;
        Ndp {
            first,
            left: first,
            pulled: 0,
            expected: 0,
        }
    }
}

impl CongestionControl for Ndp {
    fn start(&self, _initial: f64) -> Window {
        UNLIMITED
    }

    fn on_message(&mut self, packets: u64) {
        // Section 3.2: a packet that was trimmed waits for a pull, also if the message is shorter than
        // the first window.
        self.first = self.first.min(packets);
        self.left = self.first;
    }

    fn on_ack(&mut self, _ack: &Ack, _window: &mut Window) {}

    fn on_loss(&mut self, _loss: &Loss, _window: &mut Window) {}

    fn on_timeout(&mut self, _timeout: &Timeout, _window: &mut Window) {
        // All that was sent is taken for lost, and so are the pulls that it would have caused.
        self.left = self.first;
        self.expected = 0;
    }

    fn on_sent(&mut self, _sent: &Sent) {
        self.left = self.left.saturating_sub(1);
        self.expected += 1;
    }

    fn on_pull(&mut self, number: u64) {
        // Section 3.2: the counter makes up for pulls that were lost, or overtaken.
        let new = number.saturating_sub(self.pulled);
        self.left += new;
        self.pulled += new;
        self.expected = self.expected.saturating_sub(new);
    }

    fn on_return(&mut self) {
        self.expected = self.expected.saturating_sub(1);
        // Section 3.2.4: it sends at once only if it expects no more pulls, or the incast would come
        // again.
        if self.expected == 0 {
            self.left = self.left.max(1);
        }
    }

    fn may_send(&self) -> bool {
        self.left > 0
    }

    fn wants(&self) -> Wants {
        Wants {
            transmissions: true,
            pulls: true,
            ..Wants::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::parameters::{Parameters, Value};
    use crate::Sizes;
    use lightburst_des::Time;
    use lightburst_net::Rate;

    fn of(first: f64) -> Ndp {
        let settings = Parameters::new([("first_window".into(), Value::Number(first))]);
        Ndp::new(&RateLawSettings {
            parameters: &settings,
            line_rate: Rate::from_bps(1),
            sizes: &Sizes::FOR_TESTS,
        })
    }

    /// Sends as many packets as may be sent, at most `most`, and returns their number.
    fn send(law: &mut Ndp, most: usize) -> usize {
        let sent = Sent {
            at: Time::ZERO,
            bytes: 1000,
            in_flight: 1000,
            retransmission: false,
        };
        let may = |law: &mut Ndp| law.may_send().then(|| law.on_sent(&sent)).is_some();
        (0..most).take_while(|_| may(law)).count()
    }

    #[test]
    fn a_packet_is_sent_for_each_pull_also_for_those_that_were_lost() {
        let mut law = of(3.0);
        assert_eq!(send(&mut law, 9), 3);
        law.on_pull(1);
        assert_eq!(send(&mut law, 9), 1);
        // Number 2 was lost, and number 3 comes twice, then number 2 after all.
        for (pull, packets) in [(3, 2), (3, 0), (2, 0), (4, 1)] {
            law.on_pull(pull);
            assert_eq!(send(&mut law, 9), packets, "pull {pull}");
        }
    }

    #[test]
    fn a_timeout_permits_the_first_window_and_no_more() {
        let mut law = of(2.0);
        assert_eq!(send(&mut law, 1), 1);
        law.on_pull(5);
        let window = &mut law.start(0.0);
        law.on_timeout(&Timeout::default(), window);
        assert_eq!(send(&mut law, 9), 2);
        // What had been pulled before stays pulled.
        law.on_pull(5);
        assert!(!law.may_send());
    }

    #[test]
    fn a_return_lets_a_packet_leave_only_if_no_more_pulls_are_expected() {
        let mut law = of(4.0);
        assert_eq!(send(&mut law, 9), 4);
        // Pulls 1 and 3 tell of three packets; the fourth returns.
        law.on_pull(1);
        assert_eq!(send(&mut law, 0), 0);
        law.on_return();
        assert_eq!(send(&mut law, 9), 1, "that of the pull");
        law.on_pull(3);
        assert_eq!(send(&mut law, 9), 2);
        law.on_return();
        law.on_return();
        assert_eq!(send(&mut law, 9), 0, "one more is expected");
        law.on_return();
        assert_eq!(send(&mut law, 9), 1);
        // After a timeout no pulls are expected for the packets before it: that one, and now four.
        law.on_timeout(&Timeout::default(), &mut law.start(0.0));
        assert_eq!(send(&mut law, 9), 4);
        (0..3).for_each(|_| law.on_return());
        assert_eq!(send(&mut law, 9), 0);
        law.on_return();
        assert_eq!(send(&mut law, 9), 1);
    }

    #[test]
    fn what_a_short_message_leaves_of_the_first_window_is_not_kept() {
        let mut law = of(30.0);
        law.on_message(4);
        assert_eq!(send(&mut law, 9), 4);
        law.on_timeout(&Timeout::default(), &mut law.start(0.0));
        assert_eq!(send(&mut law, 9), 4);
        let mut law = of(3.0);
        law.on_message(4);
        assert_eq!(send(&mut law, 9), 3);
    }
}
