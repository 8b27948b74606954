//! The window: towards the product of bandwidth and round trip, and by deliveries in a recovery.

use super::{product, Bbr1, Mode, INITIAL, LEAST_WINDOW, LONGEST_EXCESS};
use crate::cc::Window;
use crate::measure::rates::RateSample;
use crate::recovery::Phase;

impl Bbr1 {
    /// Sets the window of a first round of recovery by the conservation of packets, and restores it
    /// afterwards (`bbr_set_cwnd_to_recover_or_restore`). Returns the window, and whether packets
    /// are conserved.
    fn recover(&mut self, sample: &RateSample, cwnd: u64) -> (u64, bool) {
        let sent_for = sample.in_flight + sample.newly_delivered;
        let mut cwnd = match sample.newly_lost {
            0 => cwnd,
            lost => cwnd.saturating_sub(lost).max(1),
        };
        let before = std::mem::replace(&mut self.before, sample.phase);
        if sample.phase == Phase::Recovery && before != Phase::Recovery {
            self.conserves = true;
            self.round_end = sample.delivered;
            cwnd = sent_for;
        } else if before != Phase::Open && sample.phase == Phase::Open {
            cwnd = cwnd.max(self.prior_cwnd);
            self.conserves = false;
        }
        match self.conserves {
            true => (cwnd.max(sent_for), true),
            false => (cwnd, false),
        }
    }

    /// Moves the window towards cwnd_gain * bandwidth * min_rtt (`bbr_set_cwnd`).
    pub(super) fn update_cwnd(&mut self, sample: &RateSample, window: &mut Window) {
        let mut cwnd = self.cwnd(window);
        let acked = sample.newly_delivered;
        if acked > 0 {
            let conserves;
            (cwnd, conserves) = self.recover(sample, cwnd);
            if !conserves {
                let bandwidth = self.estimate();
                let target = self.bdp(bandwidth, self.cwnd_gain) + self.excess(bandwidth);
                let target = self.with_budget(target);
                if self.full {
                    cwnd = (cwnd + acked).min(target);
                } else if cwnd < target || sample.delivered < INITIAL {
                    cwnd += acked;
                }
                cwnd = cwnd.max(LEAST_WINDOW);
            }
        }
        if self.mode == Mode::ProbeRoundTrip {
            cwnd = cwnd.min(LEAST_WINDOW);
        }
        self.set_cwnd(cwnd, window);
    }

    /// Returns the room for acknowledgements that come in bunches (`bbr_ack_aggregation_cwnd`).
    fn excess(&self, bandwidth: u64) -> u64 {
        match self.constants.aggregation && self.full {
            true => self
                .aggregation
                .most()
                .min(product(bandwidth, LONGEST_EXCESS)),
            false => 0,
        }
    }

    /// Saves the window before a recovery or PROBE_RTT cuts it (`bbr_save_cwnd`).
    pub(super) fn save_cwnd(&mut self, window: &Window) {
        let cwnd = self.cwnd(window);
        self.prior_cwnd = match self.before == Phase::Open && self.mode != Mode::ProbeRoundTrip {
            true => cwnd,
            false => self.prior_cwnd.max(cwnd),
        };
    }
}
