//! The window laws of Linux 6.18 count the window in whole segments.

pub mod cubic;
pub mod reno;

use super::Window;

/// Window of a law in whole segments, with the segments counted towards its next increase
/// (`snd_cwnd_cnt`).
#[derive(Clone, Copy, Debug)]
struct Whole {
    mss: f64,
    count: u64,
}

impl Whole {
    fn new(mss: u32) -> Whole {
        Whole {
            mss: f64::from(mss),
            count: 0,
        }
    }

    /// Returns the window in segments.
    fn cwnd(&self, window: &Window) -> u64 {
        (window.cwnd / self.mss) as u64
    }

    /// Returns bytes as whole segments, rounded up.
    fn segments(&self, bytes: u64) -> u64 {
        (bytes as f64 / self.mss).ceil() as u64
    }

    /// Sets ssthresh to a number of segments, but at least 2 (RFC 5681, equation 4).
    fn reduce(&mut self, segments: u64, window: &mut Window) {
        self.count = 0;
        window.ssthresh = segments.max(2) as f64 * self.mss;
    }

    /// Grows by the segments `acked` up to ssthresh (RFC 3465 without a limit); returns the segments
    /// left for congestion avoidance (`tcp_slow_start`).
    fn slow_start(&self, acked: u64, window: &mut Window) -> u64 {
        if !window.in_slow_start() {
            return acked;
        }
        let before = self.cwnd(window);
        let most = (window.ssthresh / self.mss).min(1e15) as u64;
        let cwnd = (before + acked).min(most);
        window.cwnd = cwnd as f64 * self.mss;
        acked - (cwnd - before)
    }

    /// Grows by one segment for every `per` segments acknowledged (`tcp_cong_avoid_ai`).
    fn additive(&mut self, per: u64, acked: u64, window: &mut Window) {
        let mut more = 0;
        if self.count >= per {
            self.count = 0;
            more = 1;
        }
        self.count += acked;
        more += self.count / per;
        self.count %= per;
        window.cwnd += more as f64 * self.mss;
    }
}
