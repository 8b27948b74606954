//! Units and estimators that the versions of BBR have in common.
//!
//! As in Linux, windows are in segments, times in microseconds, and bandwidths in segments per
//! microsecond times 2^24.

use crate::cc::Window;
use crate::timeout::MICROSECOND;
use lightburst_des::Time;

/// Binary digits of a bandwidth behind the point (`BW_SCALE`).
pub const SCALE: u32 = 24;
/// Least segments in flight that keep a path with delayed acknowledgements busy
/// (`bbr_cwnd_min_target`; BBR.MinPipeCwnd of draft-ietf-ccwg-bbr, section 2.8).
pub const LEAST_WINDOW: u64 = 4;
/// Round trip that stands for one not known, in microseconds (`bbr_init_pacing_rate_from_rtt`;
/// InitPacingRate () of draft-ietf-ccwg-bbr, section 5.6.2).
pub const NOMINAL_ROUND_TRIP: u64 = 1_000;
/// Part of the bandwidth that is used, in percent (`bbr_pacing_margin_percent`;
/// BBR.PacingMarginPercent of draft-ietf-ccwg-bbr, section 2.5): 1 % is left, so that queues shrink.
const PACED_PERCENT: u64 = 99;
/// Number of rounds without more bandwidth after which the pipe is full (`bbr_full_bw_cnt`;
/// CheckFullBWReached () of draft-ietf-ccwg-bbr, section 5.3.1.2).
const FULL_ROUNDS: u32 = 3;

/// Returns a time in whole microseconds.
pub fn microseconds(at: Time) -> u64 {
    at.0 / MICROSECOND
}

/// Returns the segments of a bandwidth over some microseconds.
pub fn product(bandwidth: u64, time: u64) -> u64 {
    ((u128::from(bandwidth) * u128::from(time)) >> SCALE) as u64
}

/// Units of a connection, whose gains are in parts of `UNIT`.
#[derive(Clone, Copy, Debug)]
pub struct Units<const UNIT: u64> {
    /// Bytes of a full segment.
    pub mss: u64,
}

impl<const UNIT: u64> Units<UNIT> {
    /// Creates the units for segments of `mss` bytes.
    pub fn new(mss: u32) -> Self {
        Units {
            mss: u64::from(mss),
        }
    }

    /// Returns a window in whole segments.
    pub fn cwnd(self, window: &Window) -> u64 {
        (window.cwnd / self.mss as f64) as u64
    }

    /// Returns so many segments in bytes, as a window has them.
    pub fn bytes(self, segments: u64) -> f64 {
        (segments * self.mss) as f64
    }

    /// Returns a bandwidth times a gain in bytes per second.
    pub fn scaled(self, bandwidth: u64, gain: u64) -> u64 {
        self.per_second(bandwidth, gain, 100)
    }

    /// Returns the pacing rate of a bandwidth in bytes per second (`bbr_rate_bytes_per_sec`;
    /// SetPacingRateWithGain () of draft-ietf-ccwg-bbr, section 5.6.2).
    pub fn pace(self, bandwidth: u64, gain: u64) -> u64 {
        self.per_second(bandwidth, gain, PACED_PERCENT)
    }

    fn per_second(self, bandwidth: u64, gain: u64, percent: u64) -> u64 {
        let rate = (u128::from(bandwidth * self.mss) * u128::from(gain)) / u128::from(UNIT);
        ((rate * u128::from(1_000_000 / 100 * percent)) >> SCALE) as u64
    }

    /// bdp = ceil (gain * bandwidth * min_rtt) (`bbr_bdp`; BDPMultiple () of draft-ietf-ccwg-bbr,
    /// section 5.6.4.2).
    pub fn bdp(self, bandwidth: u64, min_rtt: u64, gain: u64) -> u64 {
        let product = u128::from(bandwidth) * u128::from(min_rtt) * u128::from(gain);
        (product / u128::from(UNIT)).div_ceil(1 << SCALE) as u64
    }
}

/// Search for the bandwidth that more data in flight does not raise (`bbr_check_full_bw_reached`;
/// CheckFullBWReached () of draft-ietf-ccwg-bbr, section 5.3.1.2).
#[derive(Clone, Copy, Debug, Default)]
pub struct Plateau {
    /// Bandwidth from which growth is counted.
    pub bandwidth: u64,
    /// Rounds in which it did not grow.
    pub rounds: u32,
}

impl Plateau {
    /// Takes in the bandwidth of a round; returns whether the pipe is full: it grew by less than a
    /// quarter in each of three rounds.
    pub fn look(&mut self, bandwidth: u64) -> bool {
        // `bbr_full_bw_thresh`: 5/4
        if bandwidth >= self.bandwidth * 5 / 4 {
            *self = Plateau {
                bandwidth,
                rounds: 0,
            };
            return false;
        }
        self.rounds += 1;
        self.rounds >= FULL_ROUNDS
    }
}

/// Segments acknowledged in an epoch, against those expected (`bbr_update_ack_aggregation`;
/// UpdateACKAggregation () of draft-ietf-ccwg-bbr, section 5.5.9).
#[derive(Clone, Copy, Debug, Default)]
pub struct Epoch {
    /// Begin in microseconds, and segments acknowledged since.
    begin: u64,
    acked: u64,
}

impl Epoch {
    /// Starts an epoch at `now`.
    pub fn restart(&mut self, now: u64) {
        (self.begin, self.acked) = (now, 0);
    }

    /// Takes in `newly` segments acknowledged at `now`, and returns those beyond the expected ones.
    /// The epoch begins anew when no more than these were acknowledged, or `most` segments.
    pub fn excess(&mut self, now: u64, newly: u64, bandwidth: u64, most: u64) -> u64 {
        let mut expected = product(bandwidth, now - self.begin);
        if self.acked <= expected || self.acked + newly >= most {
            self.restart(now);
            expected = 0;
        }
        self.acked = (self.acked + newly).min(most - 1);
        self.acked - expected
    }
}
