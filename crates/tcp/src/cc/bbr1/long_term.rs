//! Bandwidth over long intervals with losses: that of a policer (`bbr_lt_bw_sampling`; Flach et al.,
//! "An Internet-Wide Analysis of Traffic Policing", 2016).

use super::UNIT;

/// Least rounds of an interval (`bbr_lt_intvl_min_rtts`); it ends after four times as many.
const LEAST_ROUNDS: u64 = 4;
/// Share of losses, in 256ths, from which an interval is lossy (`bbr_lt_loss_thresh`): about 20 %.
const LOSSY: u64 = 50;
/// Largest difference of two intervals that agree: a share of the bandwidth in 256ths
/// (`bbr_lt_bw_ratio`), or bytes per second (`bbr_lt_bw_diff`).
const RATIO: u64 = UNIT / 8;
const DIFFERENCE: u64 = 4000 / 8;
/// Rounds for which the bandwidth of a policer is used (`bbr_lt_bw_max_rtts`).
const USED_ROUNDS: u64 = 48;
const MILLISECOND: u64 = 1_000;
/// Longest interval in milliseconds (that of 32 bits of microseconds).
const LONGEST: u64 = u32::MAX as u64 / MILLISECOND;

/// Totals of a connection, in segments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    pub delivered: u64,
    pub lost: u64,
    /// Time of the last delivery in microseconds.
    pub delivered_at: u64,
}

/// What an acknowledgement or a timeout says about a round.
#[derive(Clone, Copy, Debug)]
pub struct Evidence {
    pub round_start: bool,
    pub losses: bool,
    pub application_limited: bool,
}

/// Estimator of the bandwidth over long intervals.
#[derive(Clone, Copy, Debug, Default)]
pub struct LongTerm {
    sampling: bool,
    rounds: u64,
    /// Whether the bandwidth is used: the path seems to be policed.
    pub used: bool,
    /// Bandwidth in segments per microsecond times 2^24.
    pub bandwidth: u64,
    /// Totals at the begin of the interval.
    begin: Totals,
}

impl LongTerm {
    fn restart(&mut self, totals: &Totals) {
        self.begin = *totals;
        self.rounds = 0;
    }

    /// Forgets all (`bbr_reset_lt_bw_sampling`).
    pub fn reset(&mut self, totals: &Totals) {
        *self = LongTerm::default();
        self.restart(totals);
    }

    /// Counts a round in which the bandwidth is used; returns whether it is to be used no longer.
    pub fn expires(&mut self) -> bool {
        self.rounds += 1;
        self.rounds >= USED_ROUNDS
    }

    /// Takes in the evidence while the bandwidth is not used; returns whether it is from now on.
    /// `bytes` converts a bandwidth to bytes per second.
    pub fn sample(
        &mut self,
        evidence: Evidence,
        totals: &Totals,
        bytes: impl Fn(u64) -> u64,
    ) -> bool {
        if !self.sampling {
            // Before the first loss the tokens of a policer are not exhausted.
            if !evidence.losses {
                return false;
            }
            self.restart(totals);
            self.sampling = true;
        }
        if evidence.application_limited {
            self.reset(totals);
            return false;
        }
        self.rounds += u64::from(evidence.round_start);
        if self.rounds < LEAST_ROUNDS {
            return false;
        }
        if self.rounds > 4 * LEAST_ROUNDS {
            self.reset(totals);
            return false;
        }
        if !evidence.losses {
            return false;
        }
        let lost = totals.lost - self.begin.lost;
        let delivered = totals.delivered - self.begin.delivered;
        if delivered == 0 || lost * UNIT < LOSSY * delivered {
            return false;
        }
        let time = totals.delivered_at / MILLISECOND - self.begin.delivered_at / MILLISECOND;
        if time == 0 {
            return false;
        }
        if time >= LONGEST {
            self.reset(totals);
            return false;
        }
        self.end_interval((delivered << super::SCALE) / (time * MILLISECOND), bytes);
        if !self.used {
            self.restart(totals);
        }
        self.used
    }

    /// Compares the bandwidth of an interval with that of the one before (`bbr_lt_bw_interval_done`).
    fn end_interval(&mut self, bandwidth: u64, bytes: impl Fn(u64) -> u64) {
        let before = self.bandwidth;
        let difference = bandwidth.abs_diff(before);
        let agree = difference * UNIT <= RATIO * before || bytes(difference) <= DIFFERENCE;
        if before > 0 && agree {
            self.bandwidth = (bandwidth + before) / 2;
            (self.used, self.rounds) = (true, 0);
        } else {
            self.bandwidth = bandwidth;
        }
    }
}
