//! Excess of acknowledgements that come in bunches (`bbr_update_ack_aggregation`).

use crate::measure::bbr::Epoch;
use crate::measure::rates::RateSample;

/// Rounds after which the older of two maxima is forgotten (`bbr_extra_acked_win_rtts`).
const WINDOW: u64 = 5;
/// Segments acknowledged after which an epoch begins anew (`bbr_ack_epoch_acked_reset_thresh`).
const LONGEST: u64 = 1 << 20;

/// Most segments acknowledged beyond those expected at the estimated bandwidth.
#[derive(Clone, Copy, Debug, Default)]
pub struct Aggregation {
    epoch: Epoch,
    /// Maxima of the present and the last window of rounds, which of them is the present one, and
    /// the rounds of its window.
    excess: [u64; 2],
    present: usize,
    rounds: u64,
}

impl Aggregation {
    /// Starts an epoch at `now`.
    pub fn restart(&mut self, now: u64) {
        self.epoch.restart(now);
    }

    /// Returns the largest excess of the last five to ten rounds (`bbr_extra_acked`).
    pub fn most(&self) -> u64 {
        self.excess[0].max(self.excess[1])
    }

    /// Takes in an acknowledgement; `bandwidth` is in segments per microsecond times 2^24, and
    /// `cwnd` in segments.
    pub fn update(&mut self, sample: &RateSample, round_start: bool, bandwidth: u64, cwnd: u64) {
        let valid = sample.rate.is_some_and(|rate| rate.interval.is_some());
        if sample.newly_delivered == 0 || !valid {
            return;
        }
        if round_start {
            self.rounds += 1;
            if self.rounds >= WINDOW {
                self.rounds = 0;
                self.present = 1 - self.present;
                self.excess[self.present] = 0;
            }
        }
        let now = super::microseconds(sample.delivered_at);
        // An epoch shorter than `LONGEST` keeps the count within the 20 bits of the kernel.
        let newly = sample.newly_delivered;
        let excess = self.epoch.excess(now, newly, bandwidth, LONGEST).min(cwnd);
        let held = &mut self.excess[self.present];
        *held = excess.max(*held);
    }
}
