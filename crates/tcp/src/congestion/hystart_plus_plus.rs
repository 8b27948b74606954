//! HyStart++ (RFC 9406): the initial slow start ends when the round-trip time rises, after a
//! conservative slow start in which a wrong decision is seen and taken back.

use crate::cc::{
    Ack, CongestionControl, CongestionControlSettings, Loss, Report, Timeout, Wants, Window,
};
use crate::flight::rounds::Rounds;
use crate::transport::parameters::{COUNT, TIME};
use crate::Parameters;

/// Names of the rules for slow start.
const KINDS: &[&str] = &["standard", "hystart++"];
/// Most segments that an acknowledgement counts for without pacing (L, section 4.3).
const LIMIT: f64 = 8.0;
/// Stands for a round-trip time that is not known.
const INFINITE: u64 = u64::MAX;

/// Constants of section 4.3; times in picoseconds.
#[derive(Clone, Copy, Debug)]
struct Constants {
    min_rtt_thresh: u64,
    max_rtt_thresh: u64,
    min_rtt_divisor: u64,
    n_rtt_sample: u32,
    css_growth_divisor: f64,
    css_rounds: u32,
    /// Most bytes that an acknowledgement counts for (L * SMSS).
    limit: f64,
}

impl Constants {
    fn new(parameters: &Parameters, mss: f64, paced: bool) -> Constants {
        // L = infinity if paced, L = 8 if non-paced
        let usual = if paced { f64::INFINITY } else { LIMIT };
        Constants {
            min_rtt_thresh: parameters.duration("min_rtt_thresh_ps", TIME).0,
            max_rtt_thresh: parameters.duration("max_rtt_thresh_ps", TIME).0,
            min_rtt_divisor: parameters.get("min_rtt_divisor", COUNT) as u64,
            n_rtt_sample: parameters.get("n_rtt_sample", COUNT) as u32,
            css_growth_divisor: parameters.get("css_growth_divisor", 1.0..=1e9),
            css_rounds: parameters.get("css_rounds", COUNT) as u32,
            limit: parameters.optional("limit", COUNT).unwrap_or(usual) * mss,
        }
    }
}

/// Stage of the initial slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    SlowStart,
    /// Conservative slow start (CSS), with cssBaselineMinRtt and the rounds completed in it.
    Conservative {
        baseline: u64,
        rounds: u32,
    },
    /// "fall back to using standard slow start for the remainder of the connection"
    Over,
}

/// A window law with slow start, and HyStart++ in the first one. A later slow start is that of the
/// law.
#[derive(Clone)]
struct HyStartPlusPlus {
    law: Box<dyn CongestionControl>,
    constants: Constants,
    stage: Stage,
    round_trips: Rounds,
    /// lastRoundMinRTT, currentRoundMinRTT and rttSampleCount.
    last: u64,
    current: u64,
    samples: u32,
}

/// Returns `law` with the rule for slow start that its settings name.
pub fn wrap(
    settings: &CongestionControlSettings,
    law: impl CongestionControl + 'static,
) -> Box<dyn CongestionControl> {
    let law = Box::new(law);
    let Some(own) = settings.parameters.optional_table("slow_start") else {
        return law;
    };
    match own.word("kind", KINDS) {
        "hystart++" => {
            let mss = f64::from(settings.mss);
            let constants = Constants::new(own, mss, settings.paced);
            Box::new(HyStartPlusPlus::new(law, constants))
        }
        _ => law,
    }
}

impl HyStartPlusPlus {
    fn new(law: Box<dyn CongestionControl>, constants: Constants) -> HyStartPlusPlus {
        HyStartPlusPlus {
            law,
            constants,
            stage: Stage::SlowStart,
            round_trips: Rounds::default(),
            last: INFINITE,
            current: INFINITE,
            samples: 0,
        }
    }

    /// Returns whether the connection is in its first slow start: "when the ssthresh is at its
    /// initial value of arbitrarily high".
    fn is_initial(&self, window: &Window) -> bool {
        self.stage != Stage::Over && window.ssthresh == f64::INFINITY
    }

    /// Handles the end of a round; returns whether slow start ends with it.
    fn end_round(&mut self) -> bool {
        // lastRoundMinRTT = currentRoundMinRTT, currentRoundMinRTT = infinity, rttSampleCount = 0
        self.last = std::mem::replace(&mut self.current, INFINITE);
        self.samples = 0;
        let Stage::Conservative { rounds, .. } = &mut self.stage else {
            return false;
        };
        // "If the transition into CSS happens in the middle of a round, that partial round counts
        // towards the limit."
        *rounds += 1;
        *rounds >= self.constants.css_rounds
    }

    /// Returns the rise of the round-trip time that begins a conservative slow start.
    fn threshold(&self) -> u64 {
        let constants = &self.constants;
        // RttThresh = max (MIN_RTT_THRESH,
        //                  min (lastRoundMinRTT / MIN_RTT_DIVISOR, MAX_RTT_THRESH))
        let share = self.last / constants.min_rtt_divisor;
        share
            .min(constants.max_rtt_thresh)
            .max(constants.min_rtt_thresh)
    }

    fn sample(&mut self, rtt: u64) {
        // currentRoundMinRTT = min (currentRoundMinRTT, currRTT), rttSampleCount += 1
        self.current = self.current.min(rtt);
        self.samples += 1;
        // rttSampleCount >= N_RTT_SAMPLE
        if self.samples < self.constants.n_rtt_sample {
            return;
        }
        match self.stage {
            // lastRoundMinRTT != infinity, currentRoundMinRTT >= lastRoundMinRTT + RttThresh
            Stage::SlowStart
                if self.last != INFINITE
                    && self.current >= self.last.saturating_add(self.threshold()) =>
            {
                // cssBaselineMinRtt = currentRoundMinRTT
                let baseline = self.current;
                self.stage = Stage::Conservative {
                    baseline,
                    rounds: 0,
                };
            }
            // currentRoundMinRTT < cssBaselineMinRtt: resume slow start including HyStart++.
            Stage::Conservative { baseline, .. } if self.current < baseline => {
                self.stage = Stage::SlowStart;
            }
            _ => {}
        }
    }
}

impl CongestionControl for HyStartPlusPlus {
    fn start(&self, initial: f64) -> Window {
        self.law.start(initial)
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        let (before, initial) = (window.cwnd, self.is_initial(window));
        self.law.on_ack(ack, window);
        if !initial || window.cwnd <= before {
            return;
        }
        let counted = (ack.bytes as f64).min(self.constants.limit);
        window.cwnd = match self.stage {
            // cwnd = cwnd + (min (N, L * SMSS) / CSS_GROWTH_DIVISOR)
            Stage::Conservative { .. } => before + counted / self.constants.css_growth_divisor,
            // cwnd = cwnd + min (N, L * SMSS)
            _ => before + counted,
        };
    }

    fn on_report(&mut self, report: &Report, window: &mut Window) {
        self.law.on_report(report, window);
        if !self.is_initial(window) {
            return;
        }
        // "When windowEnd is ACKed, the current round ends and windowEnd is set to SND.NXT."
        if self.round_trips.ends(&report.ack) && self.end_round() {
            // "If CSS_ROUNDS rounds are complete, enter congestion avoidance": ssthresh = cwnd
            window.ssthresh = window.cwnd;
            self.stage = Stage::Over;
        } else if let Some(rtt) = report.ack.rtt {
            self.sample(rtt.0);
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        self.stage = Stage::Over;
        self.law.on_loss(loss, window);
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        self.stage = Stage::Over;
        self.law.on_timeout(timeout, window);
    }

    fn on_spurious(&mut self) {
        self.law.on_spurious();
    }

    fn wants(&self) -> Wants {
        Wants {
            round_trips: true,
            reports: true,
            ..self.law.wants()
        }
    }
}

#[cfg(test)]
mod tests;
