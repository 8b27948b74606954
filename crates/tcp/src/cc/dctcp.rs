//! Data Center TCP (RFC 8257): the window shrinks in proportion to the fraction of marked bytes.

use super::{
    Ack, CongestionControl, CongestionControlSettings, Loss, Report, Timeout, Wants, Window,
};
use crate::flight::rounds::Rounds;
use crate::recovery::Phase;
use crate::transport::parameters::FRACTION;

/// Window law of DCTCP.
#[derive(Clone)]
pub struct Dctcp {
    mss: f64,
    /// Gain of the estimator of the marked fraction (g).
    gain: f64,
    /// Estimated fraction of marked bytes (DCTCP.Alpha).
    alpha: f64,
    /// Bytes acknowledged and bytes marked in this window of data (DCTCP.BytesAcked,
    /// DCTCP.BytesMarked).
    acknowledged: u64,
    marked: u64,
    /// Detects the end of a window of data (DCTCP.WindowEnd).
    rounds: Rounds,
    /// End of the data in flight at the last reduction. Marks on data before this byte cause no
    /// further reduction.
    answered: u64,
}

impl Dctcp {
    /// Creates the state of one connection.
    pub fn new(settings: &CongestionControlSettings) -> Dctcp {
        Dctcp {
            mss: f64::from(settings.mss),
            gain: settings.parameters.get("g", FRACTION),
            // Section 4.2: the initial value 1 makes the first reductions large.
            alpha: 1.0,
            acknowledged: 0,
            marked: 0,
            rounds: Rounds::default(),
            answered: 0,
        }
    }

    /// Updates Alpha at the end of a window of data (section 3.3, steps 5, 6 and 8).
    fn estimate(&mut self) {
        // DCTCP.Alpha = DCTCP.Alpha * (1 - g) + g * M
        // Counts also tell of segments beyond the cumulative acknowledgement.
        let marked = self.marked.min(self.acknowledged);
        let share = marked as f64 / self.acknowledged as f64;
        self.alpha = self.alpha * (1.0 - self.gain) + self.gain * share;
        (self.acknowledged, self.marked) = (0, 0);
    }

    /// Reduces the window (section 3.3, step 9): cwnd = cwnd * (1 - DCTCP.Alpha / 2).
    fn reduce(&self, window: &mut Window) {
        window.lower_threshold(window.cwnd * (1.0 - self.alpha / 2.0), self.mss);
        window.cwnd = window.ssthresh;
    }
}

impl CongestionControl for Dctcp {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        // RFC 3168, section 6.1.2: an acknowledgement that echoes a mark does not grow the window.
        if ack.ecn_echo {
            return;
        }
        if window.in_slow_start() {
            window.slow_start(ack, self.mss);
        } else {
            // RFC 5681, equation 3: cwnd += SMSS*SMSS/cwnd.
            window.cwnd += self.mss * self.mss / window.cwnd;
        }
    }

    fn on_report(&mut self, report: &Report, window: &mut Window) {
        let ack = &report.ack;
        // Section 3.3, steps 1 to 4 and 7: only cumulatively acknowledged bytes count, not SACKed
        // ones.
        self.acknowledged += ack.bytes;
        self.marked += match ack.marks {
            // RFC 9768, appendix A.3: marked bytes by the size of segments.
            Some(segments) => u64::from(segments) * self.mss as u64,
            None if ack.ecn_echo => ack.bytes,
            None => 0,
        };
        if self.rounds.ends(ack) {
            self.estimate();
        }
        // At most one reduction per window of data, as in RFC 3168.
        let now = self.rounds.acknowledged;
        if ack.ecn_echo && now > self.answered && report.phase != Phase::Recovery {
            self.answered = now + ack.in_flight;
            self.reduce(window);
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        // Section 3.5: a loss halves the window as in other TCPs.
        self.answered = self.rounds.acknowledged + loss.in_flight;
        window.lower_threshold(loss.in_flight as f64 / 2.0, self.mss);
        window.cwnd = window.ssthresh;
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        window.restart(timeout.in_flight as f64 / 2.0, timeout.repeated, self.mss);
    }

    fn wants(&self) -> Wants {
        Wants {
            reports: true,
            ..Wants::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::vectors::{list, number, vectors};

    fn dctcp(alpha: f64) -> Dctcp {
        Dctcp {
            mss: 1.0,
            gain: 1.0 / 16.0,
            alpha,
            acknowledged: 0,
            marked: 0,
            rounds: Rounds::default(),
            answered: 0,
        }
    }

    #[test]
    fn the_share_of_marks_is_estimated_and_answered_as_in_rfc_8257() {
        for (name, alpha) in [("from0", 0.0), ("from1", 1.0)] {
            let mut law = dctcp(alpha);
            for row in list(&vectors()["dctcp"][name]) {
                law.acknowledged = 1000;
                law.marked = (1000.0 * number(&row["M"])) as u64;
                law.estimate();
                assert_eq!(law.alpha, number(&row["alpha"]));
                let mut window = Window {
                    cwnd: 100.0,
                    ssthresh: 0.0,
                };
                law.reduce(&mut window);
                assert_eq!(window.cwnd, number(&row["cwnd100"]));
            }
        }
    }

    fn report(ack: Ack) -> Report {
        Report {
            ack,
            delivered: ack.bytes,
            lost: 0,
            phase: Phase::Open,
            application_limited: false,
        }
    }

    #[test]
    fn counts_of_marks_are_the_share_of_the_bytes_acknowledged() {
        let mut law = dctcp(1.0);
        law.gain = 1.0;
        let mut window = law.start(8.0);
        let mut hear = |bytes, in_flight, marks| {
            let ack = Ack {
                bytes,
                in_flight,
                ecn_echo: marks > 0,
                marks: Some(marks),
                ..Ack::default()
            };
            law.on_report(&report(ack), &mut window);
            (law.alpha, window.cwnd)
        };
        // The first window of data: two segments, of which one is marked, and not both.
        assert_eq!(hear(2, 8, 1), (0.5, 6.0));
        // Four acknowledgements of two segments, with 1 + 0 + 2 + 0 marks; the next one ends the
        // round: 3 + 1 of 10.
        assert_eq!(
            [hear(2, 8, 1), hear(2, 8, 0), hear(2, 8, 2), hear(2, 8, 0)].map(|it| it.0),
            [0.5; 4]
        );
        assert_eq!(hear(2, 8, 1), (0.4, 6.0 * 0.8));
        // A duplicate tells of a mark on data that is not acknowledged yet.
        hear(0, 8, 3);
        assert_eq!([hear(8, 8, 0).0, hear(1, 8, 2).0], [0.4, 5.0 / 9.0]);
        // No share is above 1.
        assert_eq!(hear(9, 8, 12).0, 1.0);
    }

    #[test]
    fn a_loss_halves_the_window_whatever_alpha_and_marks_in_its_recovery_reduce_nothing() {
        let mut law = dctcp(0.25);
        let mut window = law.start(10.0);
        law.on_loss(
            &Loss {
                in_flight: 10,
                ..Loss::default()
            },
            &mut window,
        );
        // RFC 8257, section 3.5: as in other TCPs, not 1 - 0.25 / 2.
        assert_eq!((window.cwnd, window.ssthresh), (5.0, 5.0));
        let marked = Ack {
            bytes: 20,
            in_flight: 5,
            ecn_echo: true,
            ..Ack::default()
        };
        let mut report = report(marked);
        report.phase = Phase::Recovery;
        law.on_report(&report, &mut window);
        assert_eq!(window.cwnd, 5.0);
        report.phase = Phase::Open;
        law.on_report(&report, &mut window);
        assert!(window.cwnd < 5.0);
    }

    #[test]
    fn marks_are_answered_once_in_a_window_of_data_and_stop_its_growth() {
        let mut law = dctcp(1.0);
        let mut window = law.start(10.0);
        let mut hear = |bytes, in_flight, ecn_echo| {
            let ack = Ack {
                bytes,
                in_flight,
                ecn_echo,
                ..Ack::default()
            };
            law.on_ack(&ack, &mut window);
            law.on_report(&report(ack), &mut window);
            window.cwnd
        };
        // The first acknowledgement completes the first window of data, all of it marked.
        assert_eq!(hear(1, 9, true), 5.0);
        // No further reduction until the data in flight at the first one is acknowledged.
        assert_eq!([hear(4, 5, true), hear(5, 4, true)], [5.0, 5.0]);
        assert_eq!(hear(1, 4, true), 2.5);
        // An acknowledgement without a mark grows the window again.
        assert_eq!(hear(1, 2, false), 2.9);
    }
}
