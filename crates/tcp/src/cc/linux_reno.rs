//! Reno as in Linux: slow start and congestion avoidance by whole segments acknowledged.

use super::{Ack, CongestionControl, CongestionControlSettings, Loss, Timeout, Window};

/// Window of a law in whole segments, with the segments counted towards its next increase
/// (`snd_cwnd_cnt`).
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    /// Payload of a segment in bytes.
    pub mss: f64,
    /// Segments counted towards the next increase.
    pub count: u64,
}

impl Whole {
    pub fn new(mss: u32) -> Whole {
        Whole {
            mss: f64::from(mss),
            count: 0,
        }
    }

    /// Returns the window in segments.
    pub fn cwnd(&self, window: &Window) -> u64 {
        (window.cwnd / self.mss) as u64
    }

    /// Returns bytes as whole segments, rounded up.
    pub fn segments(&self, bytes: u64) -> u64 {
        (bytes as f64 / self.mss).ceil() as u64
    }

    /// Sets ssthresh to a number of segments, but at least 2 (RFC 5681, equation 4).
    pub fn reduce(&mut self, segments: u64, window: &mut Window) {
        self.count = 0;
        window.ssthresh = segments.max(2) as f64 * self.mss;
    }

    /// Grows by the segments `acked` up to ssthresh (RFC 3465 without a limit); returns the segments
    /// left for congestion avoidance (`tcp_slow_start`).
    pub fn slow_start(&self, acked: u64, window: &mut Window) -> u64 {
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
    pub fn additive(&mut self, per: u64, acked: u64, window: &mut Window) {
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

/// Window law of Linux's Reno.
#[derive(Clone)]
pub struct LinuxReno {
    whole: Whole,
}

impl LinuxReno {
    /// Creates the state of one connection.
    pub fn new(settings: &CongestionControlSettings) -> LinuxReno {
        LinuxReno {
            whole: Whole::new(settings.mss),
        }
    }
}

impl CongestionControl for LinuxReno {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        let acked = self.whole.segments(ack.bytes);
        let acked = self.whole.slow_start(acked, window);
        if acked > 0 {
            let cwnd = self.whole.cwnd(window);
            self.whole.additive(cwnd, acked, window);
        }
    }

    fn on_loss(&mut self, _loss: &Loss, window: &mut Window) {
        let cwnd = self.whole.cwnd(window);
        self.whole.reduce(cwnd / 2, window);
        window.cwnd = window.ssthresh;
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        let cwnd = self.whole.cwnd(window);
        self.whole.count = 0;
        if !timeout.repeated {
            self.whole.reduce(cwnd / 2, window);
        }
        window.cwnd = self.whole.mss;
    }
}
