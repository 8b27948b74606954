//! Slow start and congestion avoidance (RFC 5681, section 3.1).

use super::{Ack, CongestionControl, CongestionControlSettings, Loss, Timeout};

/// What is halved when a loss is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Halving {
    /// What is in flight (RFC 5681, equation 4).
    FlightSize,
    /// The smaller of the congestion window and the advertised one, as ns-2
    /// does; ssthresh is in whole segments.
    Window,
}

/// The window law of Tahoe, Reno, New-Reno and SACK.
pub struct Reno {
    window: f64,
    threshold: f64,
    /// Sender maximum segment size (SMSS), in useful bytes.
    mss: f64,
    advertised: f64,
    halving: Halving,
}

impl Reno {
    /// The state after the handshake.
    pub fn new(setting: &CongestionControlSettings) -> Reno {
        Reno {
            window: setting.initial_window,
            // RFC 5681, section 3.1: arbitrarily high at first.
            threshold: f64::INFINITY,
            mss: f64::from(setting.mss),
            advertised: setting.advertised,
            halving: match setting.parameters.word("halving") {
                "window" => Halving::Window,
                _ => Halving::FlightSize,
            },
        }
    }

    fn halve(&mut self, in_flight: u64) -> f64 {
        match self.halving {
            Halving::FlightSize => {
                // RFC 5681, equation 4: ssthresh = max (FlightSize / 2, 2*SMSS)
                self.threshold = (in_flight as f64 / 2.0).max(2.0 * self.mss);
                self.threshold
            }
            Halving::Window => {
                let half = self.window.min(self.advertised) / 2.0;
                let segments = (half / self.mss).floor().max(2.0);
                self.threshold = segments * self.mss;
                half
            }
        }
    }
}

impl CongestionControl for Reno {
    fn on_ack(&mut self, ack: &Ack) {
        if self.window < self.threshold {
            // RFC 5681, equation 2: cwnd += min (N, SMSS)
            self.window += (ack.bytes as f64).min(self.mss);
        } else {
            // RFC 5681, equation 3: cwnd += SMSS*SMSS/cwnd
            self.window += self.mss * self.mss / self.window;
        }
        // What the receiver has no room for would never be used.
        self.window = self.window.min(self.advertised);
    }

    fn on_loss(&mut self, loss: &Loss) {
        // RFC 5681, section 3.2, step 3, without the inflation, which is the recovery's.
        self.window = self.halve(loss.in_flight);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        // RFC 5681, section 3.1: held when the same segment times out again; ns-2 halves each time.
        if !timeout.repeated || self.halving == Halving::Window {
            self.halve(timeout.in_flight);
        }
        // RFC 5681, section 3.1: the loss window is one segment.
        self.window = self.mss;
    }

    fn limit(&mut self, window: u64) {
        self.window = self.window.min(window as f64);
    }

    fn window(&self) -> u64 {
        self.window as u64
    }

    fn exact_window(&self) -> f64 {
        self.window
    }

    fn slow_start_threshold(&self) -> f64 {
        self.threshold
    }
}
