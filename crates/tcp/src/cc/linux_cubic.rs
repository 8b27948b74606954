//! CUBIC (RFC 9438) with HyStart as in Linux: whole segments, and time in ticks of 4 ms.

use super::linux_reno::Whole;
use super::{
    Ack, CongestionControl, CongestionControlSettings, Loss, Sample, Sent, Timeout, Wants, Window,
};
use crate::timeout::{MICROSECOND, TICK};
use lightburst_des::Time;

const SECOND: u64 = 1_000_000;
/// Multiplicative decrease in 1024ths (0.7), and C in 1024ths (0.4).
const BETA: u64 = 717;
const SCALE: u64 = 410;
/// 8 (1024 + beta) / (3 (1024 - beta)): acknowledged windows, in eighths, per segment by which the
/// Reno-friendly window grows (section 4.3).
const FRIENDLINESS: u64 = 15;
/// Window below which HyStart does not look, and acknowledgements per round trip of which it takes
/// the minimum.
const LOW_WINDOW: u64 = 16;
const SAMPLES: u32 = 8;
/// Longest spacing of acknowledgements that belong to one train, in microseconds.
const TRAIN: u64 = 2_000;

/// Slow start that ends before losses (HyStart), by the length of trains of acknowledgements and by
/// the delay; times in microseconds.
#[derive(Clone, Copy, Debug)]
struct HyStart {
    on: bool,
    found: bool,
    /// End of the data of the present round trip.
    end: u64,
    round_start: u64,
    last_ack: u64,
    /// Minimum round trip in the present one, and number of its samples.
    current: u64,
    samples: u32,
}

impl HyStart {
    fn new(on: bool) -> HyStart {
        HyStart {
            on,
            found: false,
            end: 0,
            round_start: 0,
            last_ack: 0,
            current: u64::MAX,
            samples: 0,
        }
    }

    fn begin(&mut self, now: u64, end: u64) {
        (self.round_start, self.last_ack, self.end) = (now, now, end);
        (self.current, self.samples) = (u64::MAX, 0);
    }

    /// Returns whether slow start is to end (`hystart_update`); `least` is the minimum delay.
    fn look(&mut self, sample: &Sample, delay: u64, least: u64, cwnd: u64) -> bool {
        let now = sample.at.0 / MICROSECOND;
        if sample.acknowledged > self.end {
            self.begin(now, sample.sent);
        }
        if cwnd < LOW_WINDOW {
            return false;
        }
        if now - self.last_ack <= TRAIN {
            self.last_ack = now;
            // Time of the largest aggregate of segments, four times, at the pacing rate.
            let aggregate = 4 * 65_536 * SECOND / sample.pacing_rate.max(1);
            let threshold = (least + aggregate.min(1_000)) >> u32::from(!sample.paced);
            if now - self.round_start > threshold {
                self.found = true;
            }
        }
        self.current = self.current.min(delay);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else if self.current > least + (least >> 3).clamp(4_000, 16_000) {
            self.found = true;
        }
        self.found
    }
}

/// Window law of Linux's CUBIC; windows in segments, times in ticks unless noted.
#[derive(Clone)]
pub struct LinuxCubic {
    whole: Whole,
    hystart: HyStart,
    fast_convergence: bool,
    /// W_max before the last reduction.
    last_max: u64,
    /// Window and tick of the last computation.
    last_cwnd: u64,
    last_time: u64,
    /// Plateau of the curve, and the time to it in 1024ths of a second (K).
    origin: u64,
    k: u64,
    /// Least round trip in microseconds; 0 before the first.
    delay_min: u64,
    /// Tick at which the stage began.
    epoch: Option<u64>,
    /// Segments acknowledged towards the next increase of the Reno-friendly window.
    acked: u64,
    friendly: u64,
    /// Acknowledged segments per segment of growth.
    per: u64,
    /// Tick of the last transmission of new data.
    last_sent: u64,
}

impl LinuxCubic {
    /// Creates the state of one connection.
    pub fn new(settings: &CongestionControlSettings) -> LinuxCubic {
        LinuxCubic {
            whole: Whole::new(settings.mss),
            hystart: HyStart::new(settings.parameters.is("hystart")),
            fast_convergence: settings.parameters.is("fast_convergence"),
            last_max: 0,
            last_cwnd: 0,
            last_time: 0,
            origin: 0,
            k: 0,
            delay_min: 0,
            epoch: None,
            acked: 0,
            friendly: 0,
            per: 0,
            last_sent: 0,
        }
    }

    fn tick(at: Time) -> u64 {
        at.0 / MICROSECOND / TICK
    }

    /// Sets ssthresh after a loss (`cubictcp_recalc_ssthresh`).
    fn reduce(&mut self, window: &mut Window) {
        let cwnd = self.whole.cwnd(window);
        self.epoch = None;
        // Section 4.7: W_max = cwnd * (1 + beta) / 2 if cwnd < W_max
        self.last_max = match self.fast_convergence && cwnd < self.last_max {
            true => cwnd * (1024 + BETA) / 2048,
            false => cwnd,
        };
        self.whole.reduce(cwnd * BETA / 1024, window);
    }

    /// Computes after how many acknowledged segments the window grows by one (`bictcp_update`).
    fn update(&mut self, cwnd: u64, acked: u64, tick: u64) {
        self.acked += acked;
        let same = self.last_cwnd == cwnd;
        if same && tick - self.last_time <= SECOND / TICK / 32 {
            return;
        }
        if self.epoch.is_none() || tick != self.last_time {
            self.last_cwnd = cwnd;
            self.last_time = tick;
            self.follow(cwnd, acked, tick);
        }
        // Section 4.3: the Reno-friendly window.
        let per = (cwnd * FRIENDLINESS) >> 3;
        let grown = self.acked.saturating_sub(1).checked_div(per).unwrap_or(0);
        self.friendly += grown;
        self.acked -= grown * per;
        if self.friendly > cwnd {
            self.per = self.per.min(cwnd / (self.friendly - cwnd));
        }
        // At most half a window per round trip.
        self.per = self.per.max(2);
    }

    /// Follows the cubic curve of section 4.2.
    fn follow(&mut self, cwnd: u64, acked: u64, tick: u64) {
        let epoch = *self.epoch.get_or_insert_with(|| {
            (self.acked, self.friendly) = (acked, cwnd);
            if self.last_max <= cwnd {
                (self.k, self.origin) = (0, cwnd);
            } else {
                // Figure 2: K = cbrt ((W_max - cwnd_epoch) / C)
                self.k = cube_root((1 << 40) / SCALE * (self.last_max - cwnd));
                self.origin = self.last_max;
            }
            tick
        });
        // t + RTT in 1024ths of a second.
        let ticks = tick - epoch + self.delay_min.div_ceil(TICK);
        let t = (ticks << 10) * TICK / SECOND;
        // Figure 1: W_cubic (t) = C (t - K)^3 + W_max
        let offset = u128::from(t.abs_diff(self.k));
        let delta = (u128::from(SCALE) * offset * offset * offset) >> 40;
        let delta = u64::try_from(delta).unwrap_or(u64::MAX >> 1);
        let target = match t < self.k {
            true => self.origin.saturating_sub(delta),
            false => self.origin + delta,
        };
        self.per = match target > cwnd {
            true => cwnd / (target - cwnd),
            false => 100 * cwnd,
        };
        // Before the first loss the window grows by at least 5 % per round trip.
        if self.last_max == 0 {
            self.per = self.per.min(20);
        }
    }
}

/// Returns the cube root, rounded down.
fn cube_root(number: u64) -> u64 {
    let mut root = (number as f64).cbrt() as u64;
    let cube = |root: u64| u128::from(root) * u128::from(root) * u128::from(root);
    while cube(root) > u128::from(number) {
        root -= 1;
    }
    while cube(root + 1) <= u128::from(number) {
        root += 1;
    }
    root
}

impl CongestionControl for LinuxCubic {
    fn wants(&self) -> Wants {
        Wants {
            samples: true,
            transmissions: true,
            ..Wants::default()
        }
    }

    fn on_sample(&mut self, sample: &Sample, window: &mut Window) {
        let tick = Self::tick(sample.at);
        // Samples within a second of a reduction do not count.
        if self.epoch.is_some_and(|epoch| tick - epoch < SECOND / TICK) {
            return;
        }
        let delay = (sample.rtt.0 / MICROSECOND).max(1);
        if self.delay_min == 0 || self.delay_min > delay {
            self.delay_min = delay;
        }
        let cwnd = self.whole.cwnd(window);
        let looks = self.hystart.on && !self.hystart.found && window.in_slow_start();
        if looks && self.hystart.look(sample, delay, self.delay_min, cwnd) {
            window.ssthresh = cwnd as f64 * self.whole.mss;
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        let acked = self.whole.segments(ack.bytes);
        let acked = self.whole.slow_start(acked, window);
        if acked > 0 {
            self.update(self.whole.cwnd(window), acked, Self::tick(ack.at));
            self.whole.additive(self.per, acked, window);
        }
    }

    fn on_loss(&mut self, _loss: &Loss, window: &mut Window) {
        self.reduce(window);
        window.cwnd = window.ssthresh;
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        if !timeout.repeated {
            self.reduce(window);
        }
        // Section 4.8, as in Linux: everything starts anew (`bictcp_reset`).
        let mut hystart = HyStart::new(self.hystart.on);
        hystart.begin(timeout.at.0 / MICROSECOND, timeout.sent);
        self.hystart = hystart;
        self.whole.count = 0;
        (self.last_max, self.last_cwnd, self.last_time) = (0, 0, 0);
        (self.origin, self.k, self.delay_min) = (0, 0, 0);
        (self.epoch, self.acked, self.friendly, self.per) = (None, 0, 0, 0);
        window.cwnd = self.whole.mss;
    }

    fn on_sent(&mut self, sent: &Sent) {
        if sent.retransmission || sent.at == Time::NEVER {
            return;
        }
        let tick = Self::tick(sent.at);
        // An idle time does not belong to the stage (`cubictcp_cwnd_event_tx_start`).
        if sent.in_flight as f64 <= self.whole.mss {
            self.epoch = self
                .epoch
                .map(|epoch| (epoch + tick - self.last_sent).min(tick));
        }
        self.last_sent = tick;
    }
}
