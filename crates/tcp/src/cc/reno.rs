//! Slow start and congestion avoidance (RFC 5681, section 3.1).

use super::{Ack, CongestionControl, CongestionControlSettings, Loss, Timeout, Window};

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
#[derive(Clone)]
pub struct Reno {
    mss: f64,
    rwnd: f64,
    halving: Halving,
}

impl Reno {
    /// The law of one connection.
    pub fn new(settings: &CongestionControlSettings) -> Reno {
        Reno {
            mss: f64::from(settings.mss),
            rwnd: settings.rwnd,
            halving: match settings.parameters.word("halving") {
                "window" => Halving::Window,
                _ => Halving::FlightSize,
            },
        }
    }

    /// Sets ssthresh; returns the window from which fast recovery starts.
    fn halve(&self, in_flight: u64, window: &mut Window) -> f64 {
        match self.halving {
            Halving::FlightSize => {
                // RFC 5681, equation 4: ssthresh = max (FlightSize / 2, 2*SMSS)
                window.lower_threshold(in_flight as f64 / 2.0, self.mss);
                window.ssthresh
            }
            Halving::Window => {
                let half = window.cwnd.min(self.rwnd) / 2.0;
                let segments = (half / self.mss).floor().max(2.0);
                window.ssthresh = segments * self.mss;
                half
            }
        }
    }
}

impl CongestionControl for Reno {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if window.in_slow_start() {
            window.slow_start(ack, self.mss);
        } else {
            // RFC 5681, equation 3: cwnd += SMSS*SMSS/cwnd
            window.cwnd += self.mss * self.mss / window.cwnd;
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        // RFC 5681, section 3.2, step 3, without the inflation, which is the recovery's.
        window.cwnd = self.halve(loss.in_flight, window);
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        match self.halving {
            Halving::FlightSize => {
                window.restart(timeout.in_flight as f64 / 2.0, timeout.repeated, self.mss)
            }
            Halving::Window => {
                // ns-2 halves each time, also when the same segment times out again.
                self.halve(timeout.in_flight, window);
                window.cwnd = self.mss;
            }
        }
    }
}
