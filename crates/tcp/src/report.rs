//! All that an acknowledgement tells, for a law that asks.

use crate::cc::{Ack, Report};
use crate::flight::Flight;
use crate::recovery::LossRecovery;
use lightburst_des::{Duration, Time};

/// What was told before.
#[derive(Debug)]
pub struct Reports {
    round_trips: bool,
    /// Useful bytes known to be at the receiver: acknowledged or SACKed.
    delivered: u64,
    /// The byte after the highest one that was ever SACKed.
    sacked: u64,
}

impl Reports {
    /// Nothing told yet; with `round_trips` SACK blocks tell them, too.
    pub fn new(round_trips: bool) -> Reports {
        Reports {
            round_trips,
            delivered: 0,
            sacked: 0,
        }
    }

    /// What an acknowledgement tells that the recovery has handled, with so much congestion window.
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
        // What a receiver gave up again, or a timeout forgot, is not delivered twice.
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

/// Since the segment that ends at `end` was sent, if that was once (Karn).
fn round_trip(flight: &Flight, end: u64, now: Time) -> Option<Duration> {
    let segment = flight.ending_at(end)?;
    (!segment.retransmitted()).then(|| now.since(segment.sent))
}
