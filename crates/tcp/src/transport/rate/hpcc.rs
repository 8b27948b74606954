//! HPCC: Y. Li et al., "HPCC: high precision congestion control", SIGCOMM 2019, algorithm 1.
//!
//! A window law, whose packets also leave at W / T. The windows count bytes on the wire, as the
//! outputs do.

use super::{RateLawSettings, COUNT_OF_FLOWS, UNLIMITED};
use crate::cc::{Ack, CongestionControl, Loss, Timeout, Wants, Window};
use crate::measure::told::Told;
use crate::transport::parameters::{COUNT, POSITIVE_TIME};
use lightburst_net::{Rate, Reading};

/// Windows in bytes on the wire, rates in bits per second, times in picoseconds.
#[derive(Clone)]
pub struct Hpcc {
    /// Target utilisation.
    eta: f64,
    /// Round trip T without queues.
    round_trip: f64,
    /// Additive increases in a row (`maxStage`).
    most_stages: u32,
    /// Additive increase `W_AI`.
    step: f64,
    /// Largest window, `W_init`: the rate of the link for T.
    most: f64,
    line: f64,
    /// Useful part of a full packet.
    useful: f64,
    /// Present window W, and reference window `W^c`.
    window: f64,
    reference: f64,
    /// Average utilisation U.
    utilisation: f64,
    stages: u32,
    /// End of the data sent at the last update of the reference window (`lastUpdateSeq`).
    updated: u64,
    /// Readings in the last acknowledgement.
    last: Vec<Reading>,
}

impl Hpcc {
    /// Creates the law of one message, which begins at the rate of the link.
    pub fn new(settings: &RateLawSettings) -> Hpcc {
        let parameters = settings.parameters;
        let line = settings.line_rate.bps() as f64;
        let eta = parameters.get("eta", 1e-3..=1.0);
        let round_trip = parameters.get("base_round_trip_ps", POSITIVE_TIME);
        // W_init = B_NIC T: a flow begins at the rate of its link.
        let most = line * round_trip / 8e12;
        Hpcc {
            eta,
            round_trip,
            most_stages: parameters.get("max_stage", COUNT) as u32,
            // Section 3.3: W_AI = W_init (1 - eta) / N.
            step: most * (1.0 - eta) / parameters.get("flows", COUNT_OF_FLOWS),
            most,
            line,
            useful: f64::from(settings.sizes.mss()) / f64::from(settings.sizes.segment),
            window: most,
            reference: most,
            utilisation: 1.0,
            stages: 0,
            updated: 0,
            last: Vec::new(),
        }
    }

    /// Returns whether the readings are of the same outputs as the last ones, and later.
    fn follows(&self, readings: &[Reading]) -> Option<bool> {
        let same = readings.len() == self.last.len()
            && readings
                .iter()
                .zip(&self.last)
                .all(|(a, b)| a.link == b.link);
        let later = || readings.iter().zip(&self.last).all(|(a, b)| a.at > b.at);
        same.then(later)
    }

    /// Procedure `MeasureInflight`.
    fn measure(&mut self, readings: &[Reading]) {
        let (mut most, mut interval) = (0.0, 0.0);
        for (new, old) in readings.iter().zip(&self.last) {
            let time = new.at.since(old.at).0 as f64;
            let rate = new.rate.bps() as f64;
            // txRate = (ack.L[i].txBytes - L[i].txBytes) / (ack.L[i].ts - L[i].ts)
            let sent = 8e12 * (new.sent - old.sent) as f64 / time;
            // u' = min(ack.L[i].qlen, L[i].qlen) / (ack.L[i].B T) + txRate / ack.L[i].B
            let queue = 8e12 * new.queue.min(old.queue) as f64;
            let used = queue / (rate * self.round_trip) + sent / rate;
            if used > most {
                (most, interval) = (used, time);
            }
        }
        // tau = min(tau, T); U = (1 - tau / T) U + tau / T u
        let weight = interval.min(self.round_trip) / self.round_trip;
        self.utilisation = (1.0 - weight) * self.utilisation + weight * most;
    }

    /// Function `ComputeWind`.
    fn compute(&mut self, update: bool) {
        let multiplies = self.utilisation >= self.eta || self.stages >= self.most_stages;
        let window = match multiplies {
            // W = W^c / (U / eta) + W_AI
            true => self.reference / (self.utilisation / self.eta) + self.step,
            // W = W^c + W_AI
            false => self.reference + self.step,
        };
        // No window is larger than what the link sends in T.
        self.window = window.min(self.most);
        if update {
            self.stages = if multiplies { 0 } else { self.stages + 1 };
            self.reference = self.window;
        }
    }
}

impl CongestionControl for Hpcc {
    fn start(&self, _initial: f64) -> Window {
        Window {
            cwnd: self.window * self.useful,
            ..UNLIMITED
        }
    }

    fn on_ack(&mut self, _ack: &Ack, _window: &mut Window) {}

    /// Procedure `NewAck`.
    fn on_told(&mut self, told: &Told<'_>, window: &mut Window) {
        match self.follows(told.readings) {
            // On another path the sender throws its records away.
            None => self.updated = told.sent,
            // An older packet, which came late, tells nothing.
            Some(false) => return,
            Some(true) => {
                let update = told.acknowledged > self.updated;
                self.measure(told.readings);
                self.compute(update);
                if update {
                    self.updated = told.sent;
                }
            }
        }
        self.last.clear();
        self.last.extend_from_slice(told.readings);
        window.cwnd = self.window * self.useful;
    }

    fn on_loss(&mut self, _loss: &Loss, _window: &mut Window) {}

    fn on_timeout(&mut self, _timeout: &Timeout, _window: &mut Window) {}

    fn pacing_rate(&self) -> Option<Rate> {
        // R = W / T
        let rate = self.line * (self.window / self.most);
        Some(Rate::from_bps(rate.max(1.0) as u64))
    }

    fn wants(&self) -> Wants {
        Wants {
            telemetry: true,
            ..Wants::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Parameters, Sizes, Value};
    use lightburst_des::Time;
    use lightburst_net::LinkId;

    const LINE: u64 = 10_000_000_000;
    const US: u64 = 1_000_000;

    /// A law at 10 Gb/s with T = 8 us, a window of 10,000 bytes, and a step of 250.
    fn law() -> (Hpcc, Window) {
        let numbers = [
            ("eta", 0.5),
            ("base_round_trip_ps", 8e6),
            ("max_stage", 2.0),
            ("flows", 20.0),
        ];
        let numbers = numbers.map(|(name, x)| (name.to_string(), Value::Number(x)));
        let law = Hpcc::new(&RateLawSettings {
            parameters: &Parameters::new(numbers),
            line_rate: Rate::from_bps(LINE),
            sizes: &Sizes::FOR_TESTS,
        });
        assert_eq!((law.most, law.step), (10_000.0, 250.0));
        let window = law.start(0.0);
        (law, window)
    }

    /// Tells of an output at `us` with `queue` bytes that has sent `sent`, in an acknowledgement of
    /// packet `n` while `next` were sent. Returns the window and the reference window.
    fn tell(
        (law, window): &mut (Hpcc, Window),
        (us, queue, sent): (u64, u64, u64),
        (n, next): (u64, u64),
    ) -> (f64, f64) {
        let reading = Reading {
            link: LinkId(3),
            at: Time(us * US),
            queue,
            sent,
            rate: Rate::from_bps(LINE),
        };
        let told = Told {
            readings: &[reading],
            acknowledged: n,
            sent: next,
        };
        law.on_told(&told, window);
        assert_eq!(window.cwnd, law.window * 0.8);
        (law.window, law.reference)
    }

    #[test]
    fn the_window_is_divided_by_the_utilisation_and_the_reference_once_a_round_trip() {
        let state = &mut law();
        // The first acknowledgement has nothing to compare with.
        assert_eq!(tell(state, (10, 0, 0), (1, 8)), (10_000.0, 10_000.0));
        // 5,000 bytes in 8 us are half of the link, and 2,500 in both queues a quarter.
        assert_eq!(
            tell(state, (18, 2_500, 5_000), (2, 9)),
            (10_000.0, 10_000.0)
        );
        assert_eq!(state.0.utilisation, 0.5);
        let wanted = 10_000.0 / (0.75 / 0.5) + 250.0;
        assert_eq!(tell(state, (26, 9_000, 10_000), (3, 9)), (wanted, 10_000.0));
        // Again from the same reference, until the data sent then is acknowledged.
        tell(state, (34, 2_500, 15_000), (8, 9));
        assert_eq!((state.0.window, state.0.reference), (wanted, 10_000.0));
        assert_eq!(tell(state, (42, 2_500, 20_000), (9, 17)), (wanted, wanted));
        assert_eq!(state.0.pacing_rate(), Some(Rate::from_bps(6_916_666_666)));
    }

    #[test]
    fn an_interval_shorter_than_t_counts_by_its_length() {
        let state = &mut law();
        tell(state, (10, 0, 0), (1, 8));
        // 2 us of 8 without anything: 0.75 of 1, and a quarter of what 1,250 bytes are of 2,500.
        tell(state, (12, 0, 1_250), (2, 8));
        assert_eq!(state.0.utilisation, 0.75 + 0.25 * 0.5);
        // Longer than T it counts once.
        tell(state, (28, 0, 6_250), (3, 8));
        assert_eq!(state.0.utilisation, 0.25);
    }

    #[test]
    fn two_steps_in_a_row_are_additive_and_the_third_is_not() {
        let state = &mut law();
        state.0.reference = 2_000.0;
        tell(state, (10, 0, 0), (1, 1));
        // A quarter of the link each time, and an update at each acknowledgement.
        let mut windows = [0.0; 4];
        for (n, window) in (1..).zip(&mut windows) {
            *window = tell(state, (10 + 8 * n, 0, 2_500 * n), (1 + n, 1 + n)).0;
        }
        let third = 2_500.0 / (0.25 / 0.5) + 250.0;
        assert_eq!(windows, [2_250.0, 2_500.0, third, third + 250.0]);
    }

    #[test]
    fn another_path_begins_anew_and_what_is_late_tells_nothing() {
        let state = &mut law();
        tell(state, (10, 0, 0), (1, 8));
        tell(state, (9, 0, 0), (9, 8));
        assert_eq!((state.0.updated, state.0.last[0].at), (8, Time(10 * US)));
        state.0.last[0].link = LinkId(7);
        assert_eq!(tell(state, (18, 0, 0), (9, 12)), (10_000.0, 10_000.0));
        assert_eq!((state.0.updated, state.0.utilisation), (12, 1.0));
    }
}
