//! Reports of acknowledgements, for window laws that request them.

use crate::cc::{Ack, Report};
use crate::flight::Flight;
use crate::recovery::LossRecovery;
use lightburst_des::{Duration, Time};

/// State from which the changes since the last report are computed.
#[derive(Debug)]
pub struct Reports {
    round_trips: bool,
    /// Payload bytes known to have reached the receiver: acknowledged or SACKed.
    delivered: u64,
    /// End of the highest data ever SACKed.
    sacked: u64,
}

impl Reports {
    /// Creates the state before the first report. With `round_trips`, SACK blocks also yield
    /// round-trip times.
    pub fn new(round_trips: bool) -> Reports {
        Reports {
            round_trips,
            delivered: 0,
            sacked: 0,
        }
    }

    /// Returns the report of an acknowledgement; called after the recovery has handled it. `cwnd`
    /// is the congestion window in bytes.
    pub fn of(
        &mut self,
        mut ack: Ack,
        recovery: &mut dyn LossRecovery,
        flight: &Flight,
        cwnd: u64,
    ) -> Report {
        let first = flight.snd_una;
        let scoreboard = recovery.scoreboard();
        let (sacked, end) = scoreboard.map_or((0, 0), |s| (s.sacked(first), s.end()));
        // SACK information can vanish: a receiver may discard data, and a timeout clears the
        // scoreboard. The maximum keeps such data from being counted as delivered twice.
        let delivered = self.delivered.max(first + sacked);
        if end > self.sacked {
            self.sacked = end;
            if self.round_trips && ack.rtt.is_none() {
                ack.rtt = round_trip(flight, end, ack.at);
            }
        }
        let mss = u64::from(flight.mss);
        Report {
            ack,
            delivered: delivered - std::mem::replace(&mut self.delivered, delivered),
            lost: recovery.newly_lost(flight),
            phase: recovery.phase(flight),
            application_limited: flight.snd_nxt == flight.size
                && flight.flight_size() + mss <= cwnd,
        }
    }
}

/// Returns the time since the segment that ends at `end` was sent, or `None` if it was sent more
/// than once (Karn's algorithm).
fn round_trip(flight: &Flight, end: u64, now: Time) -> Option<Duration> {
    let segment = flight.ending_at(end)?;
    (!segment.retransmitted()).then(|| now.since(segment.sent))
}
