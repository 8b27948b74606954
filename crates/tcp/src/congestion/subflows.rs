//! The subflows of one connection, as the laws that couple their windows see them.

use lightburst_des::Duration;

/// State of one subflow at the end of its last event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subflow {
    /// Congestion window in payload bytes, without the inflation of a recovery.
    pub cwnd: f64,
    /// Smoothed round-trip time.
    pub rtt: Duration,
    /// Payload bytes acknowledged between its last two losses, or since the last one if these are
    /// more.
    pub between_losses: u64,
}

impl Subflow {
    /// Returns the round-trip time in picoseconds.
    pub fn rtt(&self) -> f64 {
        self.rtt.0 as f64
    }
}

/// The subflows of a connection, as one of them sees them.
#[derive(Clone, Debug, Default)]
pub struct Subflows {
    own: usize,
    all: Vec<Option<Subflow>>,
}

impl Subflows {
    /// Notes the subflows; `own` is the number of the one that sees them.
    pub fn note(&mut self, own: usize, all: &[Option<Subflow>]) {
        self.own = own;
        self.all.clear();
        self.all.extend_from_slice(all);
    }

    /// Returns the state of the own subflow, whose window is `cwnd` now; `None` if it has no
    /// round-trip time yet.
    pub fn own(&mut self, cwnd: f64) -> Option<Subflow> {
        let own = self.all.get_mut(self.own)?.as_mut()?;
        own.cwnd = cwnd;
        Some(*own)
    }

    /// Yields the subflows in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Subflow> {
        self.all.iter().flatten()
    }
}
