//! Congestion control: how much may be in flight, and how fast it may be sent.
//!
//! One file for each; [`REGISTRY`] is the one list of them.

mod cubic;
mod dctcp;
mod fast;
mod highspeed;
mod reno;
mod scalable;
mod stop_and_wait;
mod vegas;

use crate::recovery::Phase;
use crate::Parameters;
use lightburst_des::{Duration, Time};
use lightburst_net::Rate;

pub use reno::Reno;
pub use stop_and_wait::StopAndWait;

/// What a congestion control is built from.
pub struct CongestionControlSettings<'a> {
    /// The settings of its own table.
    pub parameters: &'a Parameters,
    /// Useful bytes of a full segment (SMSS of RFC 5681).
    pub mss: u32,
    /// Useful bytes that the receiver has room for (rwnd of RFC 5681).
    pub rwnd: f64,
}

/// A congestion control by its name in the scenario.
pub struct CongestionControlKind {
    /// The name.
    pub name: &'static str,
    /// Whether its receiver echoes the marks of the network (ECN).
    pub ecn: bool,
    /// Builds the state of one connection.
    pub build: fn(&CongestionControlSettings) -> Box<dyn CongestionControl>,
}

/// All congestion controls of `tcp`. A new one is a new file and a line here.
pub const REGISTRY: &[CongestionControlKind] = &[
    CongestionControlKind {
        name: "cubic",
        ecn: false,
        build: |s| Box::new(cubic::Cubic::new(s)),
    },
    CongestionControlKind {
        name: "dctcp",
        ecn: true,
        build: |s| Box::new(dctcp::Dctcp::new(s)),
    },
    CongestionControlKind {
        name: "fast",
        ecn: false,
        build: |s| Box::new(fast::Fast::new(s)),
    },
    CongestionControlKind {
        name: "highspeed",
        ecn: false,
        build: |s| Box::new(highspeed::HighSpeed::new(s)),
    },
    CongestionControlKind {
        name: "reno",
        ecn: false,
        build: |s| Box::new(Reno::new(s)),
    },
    CongestionControlKind {
        name: "scalable",
        ecn: false,
        build: |s| Box::new(scalable::Scalable::new(s)),
    },
    CongestionControlKind {
        name: "stop-and-wait",
        ecn: false,
        build: |s| Box::new(StopAndWait::new(s.mss)),
    },
    CongestionControlKind {
        name: "vegas",
        ecn: false,
        build: |s| Box::new(vegas::Vegas::new(s)),
    },
];

/// The congestion control called `name`.
pub fn find(name: &str) -> Option<&'static CongestionControlKind> {
    REGISTRY.iter().find(|entry| entry.name == name)
}

/// A segment was handed to the network interface.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// From when on its times count; [`Time::NEVER`] as long as it waits at a fair interface, if they
    /// count from its transmission.
    pub at: Time,
    /// Its useful bytes.
    pub bytes: u64,
    /// Useful bytes in flight, this segment included.
    pub in_flight: u64,
    /// Whether it was sent before.
    pub retransmission: bool,
}

/// An acknowledgement came.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack {
    /// When.
    pub at: Time,
    /// Useful bytes newly acknowledged; none by a duplicate.
    pub bytes: u64,
    /// Useful bytes still in flight.
    pub in_flight: u64,
    /// Round-trip time: one for each acknowledgement that tells one, if the law
    /// [wants](Wants::round_trips) that, else those that the timeout is told.
    pub rtt: Option<Duration>,
    /// Whether it echoes a mark of the network (ECE of RFC 3168).
    pub ecn_echo: bool,
    /// How fast data was delivered over the last round trip, if the law
    /// [wants](Wants::delivery_rates) to know.
    pub delivery_rate: Option<DeliveryRate>,
}

/// All that an acknowledgement tells, new or duplicate, also during a recovery, which has
/// handled it already.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// What came.
    pub ack: Ack,
    /// Useful bytes that are newly known to be at the receiver, by the cumulative
    /// acknowledgement or by SACK blocks.
    pub delivered: u64,
    /// Useful bytes that the recovery newly takes for lost; what a timeout does is told by it.
    pub lost: u64,
    /// Where the recovery is now.
    pub phase: Phase,
    /// Whether there is nothing more to send though the window has room for it.
    pub application_limited: bool,
}

/// What a law wants to know beside what every law is told. What nobody wants is not computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// A round-trip time with each acknowledgement that tells one, whatever the timeout is told.
    pub round_trips: bool,
    /// A [`Report`] of each acknowledgement.
    pub reports: bool,
    /// A delivery rate with each acknowledgement of new data, which costs a record for each
    /// segment in flight.
    pub delivery_rates: bool,
}

impl Wants {
    /// What a law by delay wants: all of each acknowledgement, with its round-trip time.
    pub const DELAYS: Wants = Wants {
        round_trips: true,
        reports: true,
        delivery_rates: false,
    };
}

/// A sample of the delivery rate (draft-ietf-ccwg-bbr, section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryRate {
    /// Useful bytes delivered between the sending of a segment and its acknowledgement.
    pub delivered: u64,
    /// The time that took: the longer of the send and the acknowledgement interval.
    pub interval: Duration,
}

/// The retransmission timer expired.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timeout {
    /// When.
    pub at: Time,
    /// Useful bytes in flight before.
    pub in_flight: u64,
    /// Whether nothing was acknowledged since the last timeout.
    pub repeated: bool,
}

/// A loss was seen without a timeout.
#[derive(Clone, Copy, Debug, Default)]
pub struct Loss {
    /// When.
    pub at: Time,
    /// Useful bytes in flight before (FlightSize).
    pub in_flight: u64,
}

/// The window of one connection, in useful bytes; a float, because it grows by fractions of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// How much may be in flight (cwnd of RFC 5681); the first segment may always be sent.
    pub cwnd: f64,
    /// Below this window it is in slow start (ssthresh of RFC 5681).
    pub ssthresh: f64,
}

impl Window {
    /// RFC 5681, section 3.1: slow start is used when cwnd < ssthresh.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// RFC 5681, equation 2: cwnd += min (N, SMSS).
    #[inline]
    pub fn slow_start(&mut self, ack: &Ack, mss: f64) {
        self.cwnd += (ack.bytes as f64).min(mss);
    }

    /// RFC 5681, equation 4: ssthresh is so much, and at least 2*SMSS.
    pub fn lower_threshold(&mut self, bytes: f64, mss: f64) {
        self.ssthresh = bytes.max(2.0 * mss);
    }

    /// RFC 5681, section 3.1: after a timeout ssthresh is so much, but is held when the same
    /// segment times out again, and cwnd is the loss window of one segment.
    pub fn restart(&mut self, bytes: f64, repeated: bool, mss: f64) {
        if !repeated {
            self.lower_threshold(bytes, mss);
        }
        self.cwnd = mss;
    }
}

/// A law by which the window of one connection moves. It never sends anything itself.
///
/// The window is the sender's: whatever a law does to it, the sender takes no growth beyond what
/// the receiver has room for, and lowers it where RFC 5681 and RFC 6582 want that.
pub trait CongestionControl: CopiedLaw + Send {
    /// The window after the handshake; `initial` is the one that the scenario gives.
    fn start(&self, initial: f64) -> Window {
        Window {
            cwnd: initial,
            // RFC 5681, section 3.1: arbitrarily high at first.
            ssthresh: f64::INFINITY,
        }
    }

    /// New data was acknowledged: the window may grow. Not called while a recovery holds it.
    fn on_ack(&mut self, ack: &Ack, window: &mut Window);

    /// An acknowledgement came, if the law [wants](Wants::reports) to know; after `on_ack` or
    /// `on_loss`, if it causes one of them, and before anything is sent.
    fn on_report(&mut self, _report: &Report, _window: &mut Window) {}

    /// A loss was seen, and will be repaired without a timeout.
    fn on_loss(&mut self, loss: &Loss, window: &mut Window);

    /// The retransmission timer expired.
    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window);

    /// The last loss was none, and the window is as it was before: RFC 9438, section 4.9, lets a
    /// law that remembers more than the window take that back, too.
    fn on_spurious(&mut self) {}

    /// A segment was sent.
    fn on_sent(&mut self, _sent: &Sent) {}

    /// The rate at which segments may leave; none: as fast as the window lets them.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// What it wants to know. Asked once, before the first segment.
    fn wants(&self) -> Wants {
        Wants::default()
    }
}

crate::boxed::copied_in_box!(CongestionControl, CopiedLaw);

/// A window and the law by which it moves.
#[derive(Clone)]
pub struct Congestion {
    window: Window,
    /// Useful bytes that the receiver has room for.
    rwnd: f64,
    law: Box<dyn CongestionControl>,
}

impl Congestion {
    /// The window after the handshake; `initial` and `rwnd` are in useful bytes.
    pub fn new(law: Box<dyn CongestionControl>, initial: f64, rwnd: f64) -> Congestion {
        Congestion {
            window: law.start(initial),
            rwnd,
            law,
        }
    }

    /// The window as the law has it.
    #[inline]
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The window in whole bytes.
    #[inline]
    pub fn cwnd(&self) -> u64 {
        self.window.cwnd as u64
    }

    /// Lets the window grow by what was acknowledged.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack) {
        self.law.on_ack(ack, &mut self.window);
        // What the receiver has no room for would never be used.
        self.window.cwnd = self.window.cwnd.min(self.rwnd);
    }

    /// Lets the law answer all that an acknowledgement tells.
    pub fn on_report(&mut self, report: &Report) {
        self.law.on_report(report, &mut self.window);
        self.window.cwnd = self.window.cwnd.min(self.rwnd);
    }

    /// Lets the law answer a loss that was seen.
    pub fn on_loss(&mut self, loss: &Loss) {
        self.law.on_loss(loss, &mut self.window);
    }

    /// Lets the law answer a timeout.
    pub fn on_timeout(&mut self, timeout: &Timeout) {
        self.law.on_timeout(timeout, &mut self.window);
    }

    /// Takes a reduction back that answered no loss, with the window before it.
    pub fn undo(&mut self, before: Window) {
        self.window.cwnd = self.window.cwnd.max(before.cwnd);
        self.window.ssthresh = before.ssthresh;
        self.law.on_spurious();
    }

    /// Allows no more than so many bytes now: a recovery ends, or a connection begins after a SYN
    /// that was lost.
    pub fn limit(&mut self, bytes: u64) {
        self.window.cwnd = self.window.cwnd.min(bytes as f64);
    }

    /// Begins anew with so many bytes: the loss window of RFC 5681, section 3.1.
    pub fn restart(&mut self, bytes: u64) {
        self.window.cwnd = bytes as f64;
    }

    /// Tells the law that a segment was sent.
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

    /// A law that knows no bound.
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
