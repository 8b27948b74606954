//! Slow start and congestion avoidance (RFC 5681, section 3.1), counting acknowledgements or, as an
//! option, acknowledged bytes (RFC 3465).

use super::{Ack, CongestionControl, CongestionControlSettings, Loss, Timeout, Window};
use crate::congestion::byte_counting::ByteCounting;

/// Quantity that is halved after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Halving {
    /// The data in flight (RFC 5681, equation 4).
    FlightSize,
    /// The smaller of the congestion window and the receive window, as in ns-2; ssthresh is rounded
    /// down to whole segments.
    Window,
}

/// Appropriate byte counting (RFC 3465), in bytes.
#[derive(Clone, Copy)]
struct Counting {
    slow_start: ByteCounting,
    /// Bytes acknowledged towards the next increase in congestion avoidance (bytes_acked).
    acked: f64,
}

impl Counting {
    fn grow(&mut self, bytes: f64, window: &mut Window, mss: f64) {
        if window.in_slow_start() {
            return self.slow_start.slow_start(bytes, window, mss);
        }
        self.slow_start.end();
        self.acked += bytes;
        // Section 2.1: if bytes_acked >= cwnd: bytes_acked -= cwnd, cwnd += SMSS
        if self.acked >= window.cwnd {
            self.acked -= window.cwnd;
            window.cwnd += mss;
        }
    }
}

/// Window law of Tahoe, Reno, New-Reno and SACK.
#[derive(Clone)]
pub struct Reno {
    mss: f64,
    rwnd: f64,
    halving: Halving,
    counting: Option<Counting>,
    /// Factor on the halved quantity after an echo of a mark.
    beta_ecn: f64,
}

/// Factor after a loss (RFC 5681, equation 4).
const HALF: f64 = 0.5;
/// Factor after an echo with ABE (RFC 8511, section 3: beta_{ecn} = 0.8).
const BETA_ECN: f64 = 0.8;

impl Reno {
    /// Creates the state of one connection.
    pub fn new(settings: &CongestionControlSettings) -> Reno {
        let mss = f64::from(settings.mss);
        let counting = ByteCounting::of(settings.parameters, mss);
        Reno {
            mss,
            rwnd: settings.rwnd,
            halving: match settings
                .parameters
                .word("halving", &["flight-size", "window"])
            {
                "window" => Halving::Window,
                _ => Halving::FlightSize,
            },
            counting: counting.map(|slow_start| Counting {
                slow_start,
                acked: 0.0,
            }),
            beta_ecn: settings.beta_ecn(BETA_ECN).unwrap_or(HALF),
        }
    }

    /// Sets ssthresh to a `factor` of the halved quantity, and returns the window with which fast
    /// recovery starts.
    fn reduce(&self, in_flight: u64, factor: f64, window: &mut Window) -> f64 {
        match self.halving {
            Halving::FlightSize => {
                // RFC 5681, equation 4: ssthresh = max (FlightSize / 2, 2*SMSS)
                window.lower_threshold(in_flight as f64 * factor, self.mss);
                window.ssthresh
            }
            Halving::Window => {
                let reduced = window.cwnd.min(self.rwnd) * factor;
                let segments = (reduced / self.mss).floor().max(2.0);
                window.ssthresh = segments * self.mss;
                reduced
            }
        }
    }
}

impl CongestionControl for Reno {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if let Some(counting) = &mut self.counting {
            counting.grow(ack.bytes as f64, window, self.mss);
        } else if window.in_slow_start() {
            window.slow_start(ack, self.mss);
        } else {
            // RFC 5681, equation 3: cwnd += SMSS*SMSS/cwnd
            window.cwnd += self.mss * self.mss / window.cwnd;
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        if let Some(counting) = &mut self.counting {
            counting.acked = 0.0;
            counting.slow_start.end();
        }
        let factor = if loss.echo { self.beta_ecn } else { HALF };
        // RFC 5681, section 3.2, step 3, without the inflation, which the loss recovery adds.
        window.cwnd = self.reduce(loss.in_flight, factor, window);
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        if let Some(counting) = &mut self.counting {
            counting.acked = 0.0;
            counting.slow_start.on_timeout();
        }
        match self.halving {
            Halving::FlightSize => {
                window.restart(timeout.in_flight as f64 / 2.0, timeout.repeated, self.mss)
            }
            Halving::Window => {
                // ns-2 halves at every timeout, also when the same segment times out again.
                self.reduce(timeout.in_flight, HALF, window);
                window.cwnd = self.mss;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightburst_des::Time;

    const MSS: u64 = 1000;

    fn counting(segments: u64) -> Reno {
        let mss = MSS as f64;
        Reno {
            mss,
            rwnd: 1e9,
            halving: Halving::FlightSize,
            counting: Some(Counting {
                slow_start: ByteCounting::new((segments * MSS) as f64),
                acked: 0.0,
            }),
            beta_ecn: HALF,
        }
    }

    fn window(segments: f64, ssthresh: f64) -> Window {
        let mss = MSS as f64;
        Window {
            cwnd: segments * mss,
            ssthresh: ssthresh * mss,
        }
    }

    fn ack(law: &mut Reno, bytes: u64, window: &mut Window) -> f64 {
        let ack = Ack {
            at: Time::ZERO,
            bytes,
            ..Ack::default()
        };
        law.on_ack(&ack, window);
        window.cwnd
    }

    #[test]
    fn in_slow_start_it_counts_what_is_acknowledged_up_to_the_limit_of_rfc_3465() {
        for (segments, expected) in [(1, [10_400.0, 11_400.0]), (2, [10_400.0, 12_400.0])] {
            let (mut law, mut window) = (counting(segments), window(10.0, 1e6));
            // 400 bytes grow the window by 400 bytes, 3 segments by at most L.
            let found = [400, 3 * MSS].map(|bytes| ack(&mut law, bytes, &mut window));
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn in_the_slow_start_after_a_timeout_the_limit_is_one_segment() {
        let (mut law, mut window) = (counting(2), window(8.0, 1e6));
        law.on_timeout(
            &Timeout {
                in_flight: 8 * MSS,
                ..Timeout::default()
            },
            &mut window,
        );
        // Grows from one segment to ssthresh = 4 segments; a slow start not caused by a timeout
        // uses L = 2 again.
        let found = [0; 3].map(|_| ack(&mut law, 2 * MSS, &mut window));
        assert_eq!(found, [2_000.0, 3_000.0, 4_000.0]);
        assert_eq!(ack(&mut law, 4 * MSS, &mut window), 5_000.0);
        window.ssthresh = f64::INFINITY;
        assert_eq!(ack(&mut law, 2 * MSS, &mut window), 7_000.0);
    }

    #[test]
    fn in_congestion_avoidance_a_window_acknowledged_is_a_segment_more() {
        let (mut law, mut window) = (counting(1), window(10.0, 10.0));
        let mut of = |segments: u64| ack(&mut law, segments * MSS, &mut window) / 1000.0;
        // Acknowledges two segments at a time; the excess is carried over: 10 of 10, then 12 of 11
        // with 1 left over.
        assert_eq!([2; 5].map(&mut of), [10.0, 10.0, 10.0, 10.0, 11.0]);
        assert_eq!([2; 6].map(&mut of), [11.0, 11.0, 11.0, 11.0, 11.0, 12.0]);
        assert_eq!(of(11), 13.0);
        // A loss resets the count.
        of(12);
        let loss = Loss {
            in_flight: 12 * MSS,
            ..Loss::default()
        };
        law.on_loss(&loss, &mut window);
        let mut of = |segments: u64| ack(&mut law, segments * MSS, &mut window) / 1000.0;
        assert_eq!((of(5), of(1)), (6.0, 7.0));
    }
}
