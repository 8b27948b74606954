//! CUBIC (RFC 9438): the window is a cubic function of the time since the last loss.

use super::{Ack, CongestionControl, CongestionControlSettings, Loss, Timeout, Wants, Window};
use crate::congestion::byte_counting::ByteCounting;
use crate::transport::parameters::FRACTION;
use lightburst_des::real::root;
use lightburst_des::Time;

/// Picoseconds in a second.
const SECOND: f64 = 1e12;
/// Factor after an echo with ABE (RFC 8511, section 3.1).
const BETA_ECN: f64 = 0.85;

/// State of one stage of congestion avoidance (between two losses); windows in segments, times in
/// seconds unless noted.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// Start of the stage (t_epoch).
    start: Time,
    /// Plateau of the cubic curve (W_max), in segments.
    plateau: f64,
    /// Time from the start of the stage to the plateau (K), in seconds.
    k: f64,
    /// Estimated window of Reno (W_est), in segments.
    reno: f64,
}

/// Window law of CUBIC; windows in segments.
#[derive(Clone)]
pub struct Cubic {
    mss: f64,
    c: f64,
    beta: f64,
    /// Factor after an echo of a mark.
    beta_ecn: f64,
    /// Limit in slow start; `None` for that of RFC 5681.
    counting: Option<ByteCounting>,
    fast_convergence: bool,
    reno_friendly: bool,
    /// Whether a loss reduces the congestion window; otherwise the reduction is computed from the
    /// data in flight.
    of_window: bool,
    /// Plateau of the next stage (W_max), in segments; 0 before the first loss and after a timeout.
    plateau: f64,
    /// Congestion window before the last reduction (cwnd_prior).
    prior: f64,
    /// Smoothed round-trip time in picoseconds; `None` before the first sample.
    smoothed: Option<f64>,
    epoch: Option<Epoch>,
    /// W_max, cwnd_prior and the stage before the last loss, restored if that loss was spurious.
    before: (f64, f64, Option<Epoch>),
}

impl Cubic {
    /// Creates the state of one connection.
    pub fn new(settings: &CongestionControlSettings) -> Cubic {
        let parameters = settings.parameters;
        let mss = f64::from(settings.mss);
        let beta = parameters.get("beta", FRACTION);
        Cubic {
            mss,
            c: parameters.get("c", 1e-9..=1e9),
            beta,
            beta_ecn: settings.beta_ecn(BETA_ECN).unwrap_or(beta),
            counting: ByteCounting::of(parameters, mss),
            fast_convergence: parameters.is("fast_convergence"),
            reno_friendly: parameters.is("reno_friendly"),
            of_window: parameters.word("reduces", &["flight-size", "window"]) == "window",
            plateau: 0.0,
            prior: 0.0,
            smoothed: None,
            epoch: None,
            before: (0.0, 0.0, None),
        }
    }

    /// Returns a stage that starts at `now` with a window of `w` segments.
    fn begin(&self, now: Time, w: f64) -> Epoch {
        let (plateau, k) = match w < self.plateau {
            // Section 4.2, figure 2: K = cbrt ((W_max - cwnd_epoch) / C)
            true => (self.plateau, root((self.plateau - w) / self.c, 3)),
            false => (w, 0.0),
        };
        Epoch {
            start: now,
            plateau,
            k,
            reno: w,
        }
    }

    /// Evaluates the curve of section 4.2, figure 1: W_cubic (t) = C (t - K)^3 + W_max.
    fn curve(&self, epoch: &Epoch, t: f64) -> f64 {
        let from_plateau = t - epoch.k;
        self.c * from_plateau * from_plateau * from_plateau + epoch.plateau
    }

    /// Returns W_est after an acknowledgement of `segments` (section 4.3, figure 4). The growth
    /// rate gives the mean window of Reno despite the smaller decrease.
    fn grow_reno(&self, reno: f64, segments: f64, w: f64) -> f64 {
        let alpha = match reno >= self.prior {
            true => 1.0,
            false => 3.0 * (1.0 - self.beta) / (1.0 + self.beta),
        };
        reno + alpha * segments / w
    }

    /// Returns ssthresh in bytes after a loss, an echo or a timeout.
    fn reduced(&self, in_flight: u64, factor: f64, window: &Window) -> f64 {
        // Section 4.6: ssthresh = flight_size * beta
        let before = match self.of_window {
            true => window.cwnd,
            false => in_flight as f64,
        };
        factor * before
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.0 as f64;
            self.smoothed = Some(self.smoothed.map_or(rtt, |old| 0.875 * old + 0.125 * rtt));
        }
        if window.in_slow_start() {
            return match &self.counting {
                Some(counting) => counting.slow_start(ack.bytes as f64, window, self.mss),
                None => window.slow_start(ack, self.mss),
            };
        }
        if let Some(counting) = &mut self.counting {
            counting.end();
        }
        let w = window.cwnd / self.mss;
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin(ack.at, w));
        epoch.reno = self.grow_reno(epoch.reno, ack.bytes as f64 / self.mss, w);
        self.epoch = Some(epoch);
        let t = ack.at.since(epoch.start).0 as f64 / SECOND;
        if self.reno_friendly && self.curve(&epoch, t) < epoch.reno {
            // Section 4.3: the Reno-friendly region.
            window.cwnd = window.cwnd.max(epoch.reno * self.mss);
            return;
        }
        // Section 4.2: target is W_cubic (t + RTT), at least cwnd and at most 1.5 cwnd.
        let ahead = t + self.smoothed.unwrap_or(0.0) / SECOND;
        let target = self.curve(&epoch, ahead).max(w).min(1.5 * w);
        // Sections 4.4 and 4.5: cwnd += (target - cwnd) / cwnd
        window.cwnd += (target - w) / w * self.mss;
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        self.before = (self.plateau, self.prior, self.epoch);
        let w = window.cwnd / self.mss;
        // Section 4.7: W_max = cwnd * (1 + beta) / 2 if cwnd < W_max
        self.plateau = match self.fast_convergence && w < self.plateau {
            true => w * (1.0 + self.beta) / 2.0,
            false => w,
        };
        self.prior = w;
        self.epoch = None;
        if let Some(counting) = &mut self.counting {
            counting.end();
        }
        let factor = if loss.echo { self.beta_ecn } else { self.beta };
        window.lower_threshold(self.reduced(loss.in_flight, factor, window), self.mss);
        window.cwnd = window.ssthresh;
    }

    /// Restores the state before a spurious fast retransmit (section 4.9.2).
    fn on_spurious(&mut self) {
        (self.plateau, self.prior, self.epoch) = self.before;
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        // Section 4.8: like Reno but with factor beta; K is 0 in the next stage.
        self.plateau = 0.0;
        self.prior = window.cwnd / self.mss;
        self.epoch = None;
        if let Some(counting) = &mut self.counting {
            counting.on_timeout();
        }
        let reduced = self.reduced(timeout.in_flight, self.beta, window);
        window.restart(reduced, timeout.repeated, self.mss);
    }

    fn wants(&self) -> Wants {
        Wants {
            round_trips: true,
            ..Wants::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::vectors::{list, number, vectors};
    use lightburst_des::Duration;

    /// Returns CUBIC with segments of one byte, after a loss at a window of `plateau`.
    fn cubic(plateau: f64) -> Cubic {
        Cubic {
            mss: 1.0,
            c: 0.4,
            beta: 0.7,
            beta_ecn: 0.7,
            counting: None,
            fast_convergence: true,
            reno_friendly: true,
            of_window: true,
            plateau,
            prior: plateau,
            smoothed: None,
            epoch: None,
            before: (0.0, 0.0, None),
        }
    }

    fn window(cwnd: f64) -> Window {
        Window {
            cwnd,
            ssthresh: 0.0,
        }
    }

    #[test]
    fn k_and_the_curve_are_those_of_rfc_9438() {
        let all = &vectors()["rfc9438"];
        for row in list(&all["K"]) {
            let law = cubic(number(&row["Wmax"]));
            let epoch = law.begin(Time::ZERO, number(&row["cwnd_epoch"]));
            assert!((epoch.k / number(&row["K"]) - 1.0).abs() < 1e-14);
        }
        for (name, plateau) in [("W100", 100.0), ("W1000", 1000.0)] {
            let law = cubic(plateau);
            let epoch = law.begin(Time::ZERO, 0.7 * plateau);
            for row in list(&all[name]) {
                let w = law.curve(&epoch, number(&row["t"]));
                assert!((w / number(&row["W"]) - 1.0).abs() < 1e-13, "{row}");
            }
        }
    }

    #[test]
    fn a_loss_and_fast_convergence_are_those_of_rfc_9438() {
        for row in list(&vectors()["rfc9438"]["fast_conv"]) {
            let mut law = cubic(number(&row["prevWmax"]));
            let mut window = window(number(&row["cwnd"]));
            law.on_loss(&Loss::default(), &mut window);
            assert_eq!(law.plateau, number(&row["newWmax"]));
            assert!((window.ssthresh - number(&row["ssthresh"])).abs() < 1e-12);
            assert_eq!(window.cwnd, window.ssthresh);
        }
    }

    #[test]
    fn the_window_of_reno_is_estimated_as_in_rfc_9438() {
        let mut law = cubic(1e9);
        let w = 70.0;
        for row in list(&vectors()["rfc9438"]["West"]) {
            let reno = law.grow_reno(w, number(&row["acked"]), w);
            assert!((reno - number(&row["W_est"])).abs() < 1e-12);
        }
        // Above cwnd_prior, W_est grows as fast as Reno.
        law.prior = 70.0;
        assert_eq!(law.grow_reno(70.0, 7.0, 70.0), 70.1);
    }

    /// Returns the windows at `times` (in seconds) after a loss at 1000 segments, with a round-trip
    /// time of 10 ms.
    fn windows<const N: usize>(reno_friendly: bool, times: [f64; N]) -> [f64; N] {
        let mut law = cubic(1000.0);
        law.reno_friendly = reno_friendly;
        let mut window = window(700.0);
        let (mut now, rtt) = (0.0, 0.01);
        times.map(|seconds| {
            while now < seconds {
                now += rtt / window.cwnd;
                let ack = Ack {
                    at: Time((now * SECOND) as u64),
                    bytes: 1,
                    rtt: Some(Duration((rtt * SECOND) as u64)),
                    ..Ack::default()
                };
                law.on_ack(&ack, &mut window);
            }
            window.cwnd
        })
    }

    #[test]
    fn the_window_follows_the_curve_over_its_plateau() {
        // W_cubic (t): concave up to the plateau at K = 9.09 s, then convex.
        let expected = [857.7, 972.7, 1000.0, 1009.9, 1520.0];
        let found = windows(false, [2.0, 5.0, 9.0856, 12.0, 20.0]);
        for (found, expected) in found.iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 2e-3, "{found}");
        }
    }

    #[test]
    fn the_window_is_no_smaller_than_that_of_reno() {
        // W_est gains 9/17 of a segment per round trip and reaches cwnd_prior after 567 round
        // trips, at 5.67 s; from then on it gains one segment per round trip. It overtakes the
        // curve soon after 5 s.
        let [concave, reno] = windows(true, [4.0, 12.0]);
        assert!((concave / 947.6 - 1.0).abs() < 2e-3, "{concave}");
        assert!((reno / 1633.0 - 1.0).abs() < 5e-3, "{reno}");
    }

    #[test]
    fn an_acknowledgement_aims_at_one_and_a_half_windows_at_the_most_and_never_lower() {
        let next = |now: f64, w: f64| {
            let mut law = cubic(1000.0);
            law.reno_friendly = false;
            law.epoch = Some(law.begin(Time::ZERO, 700.0));
            let mut window = window(w);
            let at = Time((now * SECOND) as u64);
            law.on_ack(
                &Ack {
                    at,
                    ..Ack::default()
                },
                &mut window,
            );
            window.cwnd
        };
        // W_cubic (100 s) is 300,000 segments; W_cubic (0) is 700.
        assert_eq!(next(100.0, 800.0), 800.5);
        assert_eq!(next(0.0, 800.0), 800.0);
    }

    #[test]
    fn after_a_timeout_the_curve_begins_at_its_plateau() {
        let mut law = cubic(1000.0);
        let mut window = window(800.0);
        law.on_timeout(&Timeout::default(), &mut window);
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 0.7 * 800.0));
        let epoch = law.begin(Time::ZERO, 560.0);
        assert_eq!((epoch.k, epoch.plateau), (0.0, 560.0));
    }
}
