//! Pacing within the TCP of Linux (`tcp_update_pacing_rate`, `tcp_update_skb_after_send`).

use super::MICROSECOND;
use crate::cc::Window;
use lightburst_des::{Duration, Time};

/// Segments that are sent at once when a connection begins.
const UNPACED: u64 = 10;
/// Factors on the window per round trip, in percent (tcp_pacing_ss_ratio, tcp_pacing_ca_ratio).
const SLOW_START: u64 = 200;
const AVOIDANCE: u64 = 120;
const NANOSECOND: u64 = 1_000;

/// State of a sender from which its pacing rate follows.
#[derive(Clone, Copy, Debug)]
pub struct Basis {
    pub mss: u64,
    /// Segments outstanding, or the window in segments if that is more.
    pub outstanding: u64,
    pub window: Window,
    pub smoothed: Option<Duration>,
}

impl Basis {
    /// Returns the rate in bytes per second: `outstanding` segments per SRTT, times 2 in the first
    /// half of slow start and 1.2 later.
    fn rate(&self) -> u64 {
        let half = (self.window.ssthresh / (2 * self.mss) as f64).floor();
        let percent = match ((self.window.cwnd / self.mss as f64).floor()) < half {
            true => SLOW_START,
            false => AVOIDANCE,
        };
        // Bytes per hundredth of a second in eighths, over SRTT in eighths of a microsecond.
        let bytes = (self.mss * 8 * 10_000 * percent).saturating_mul(self.outstanding);
        let srtt = self.smoothed.map_or(0, |srtt| srtt.0 / (MICROSECOND / 8));
        bytes / srtt.max(1)
    }
}

/// Pacing rate, and the time of the next segment.
#[derive(Clone, Copy, Debug)]
pub struct Pacing {
    on: bool,
    /// Bytes per second; 0 before the first round trip.
    rate: u64,
    /// State that the rate does not follow yet: few acknowledgements need a rate, which costs
    /// divisions.
    basis: Option<Basis>,
    /// Segments sent.
    sent: u64,
    /// Earliest time of the next segment in nanoseconds.
    next: u64,
}

impl Pacing {
    pub fn new(on: bool) -> Pacing {
        Pacing {
            on,
            rate: 0,
            basis: None,
            sent: 0,
            next: 0,
        }
    }

    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Returns the pacing rate in bytes per second, and keeps it.
    pub fn rate(&mut self) -> u64 {
        self.rate = self.present_rate();
        self.basis = None;
        self.rate
    }

    /// Returns the pacing rate in bytes per second.
    pub fn present_rate(&self) -> u64 {
        self.basis.map_or(self.rate, |basis| basis.rate())
    }

    /// Sets the rate to that of a law, in bytes per second.
    pub fn set_rate(&mut self, rate: u64) {
        self.rate = rate;
    }

    /// Returns the time until the next segment may leave.
    pub fn ahead(&self, now: Time) -> Duration {
        Duration((self.next * NANOSECOND).saturating_sub(now.0))
    }

    /// Has the rate follow the state of the sender.
    #[inline]
    pub fn update(&mut self, basis: Basis) {
        self.basis = Some(basis);
    }

    /// Returns the earliest time of the next segment after one of these bytes left at `now`.
    pub fn release(&mut self, bytes: u64, now: Time) -> Time {
        let rate = self.rate();
        if rate > 0 && self.sent >= UNPACED {
            let now = now.0 / NANOSECOND;
            let mut length = bytes * 1_000_000_000 / rate;
            let before = self.next;
            self.next = self.next.max(now);
            // A late segment is paid back by up to half of its length.
            length -= (length / 2).min(self.next - before);
            self.next += length;
        }
        self.sent += 1;
        Time(self.next * NANOSECOND)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the rate of 20 segments of 1000 bytes in 200 ms, in bytes per second.
    fn rate(cwnd: u64, ssthresh: u64) -> u64 {
        let bytes = |segments: u64| (segments * 1000) as f64;
        let basis = Basis {
            mss: 1000,
            outstanding: 20,
            window: Window {
                cwnd: bytes(cwnd),
                ssthresh: bytes(ssthresh),
            },
            smoothed: Some(Duration(200_000 * MICROSECOND)),
        };
        basis.rate()
    }

    #[test]
    fn the_window_is_paced_twice_in_the_first_half_of_slow_start_and_1_2_times_later() {
        // `tcp_update_pacing_rate`: "snd_cwnd < snd_ssthresh / 2".
        assert_eq!([rate(20, 1 << 31), rate(20, 42)], [200_000; 2]);
        assert_eq!([rate(20, 41), rate(20, 30), rate(20, 20)], [120_000; 3]);
    }
}
