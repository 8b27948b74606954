//! Loss recovery: decides which segments are retransmitted, and when. The window law
//! ([`crate::cc`]) is chosen independently.
//!
//! Each recovery has a file of its own; [`REGISTRY`] lists them all.

mod go_back_n;
mod new_reno;
mod rack_tlp;
mod reno;
mod rr_tcp;
mod sack;
mod sack1;
mod selective_repeat;
mod tahoe;
pub mod timed;

use self::timed::Timed;
use crate::cc::{Ack, Congestion, Loss, Timeout};
use crate::flight::scoreboard::Scoreboard;
use crate::flight::Flight;
use crate::{Parameters, TimeoutPolicy};
use lightburst_des::{Duration, Time};
use lightburst_net::Block;
use std::ops::RangeInclusive;

pub use go_back_n::GoBackN;
pub use selective_repeat::SelectiveRepeat;

/// Range of the number of duplicate acknowledgements, or of SACKed segments, that indicate a loss.
const THRESHOLD: RangeInclusive<f64> = 1.0..=1000.0;

/// Registry entry of a loss recovery.
pub struct RecoveryKind {
    /// Name in the scenario.
    pub name: &'static str,
    /// Whether the receiver sends SACK blocks.
    pub selective: bool,
    /// Whether it goes by times of sending (see [`Timed`]).
    pub timed: bool,
    /// Builds the state of one connection.
    pub build: fn(&Parameters) -> Box<dyn LossRecovery>,
}

/// All loss recoveries of `tcp`. To add one, add a file and an entry here.
pub const REGISTRY: &[RecoveryKind] = &[
    RecoveryKind {
        name: "tahoe",
        selective: false,
        timed: false,
        build: |p| Box::new(tahoe::Tahoe::new(p)),
    },
    RecoveryKind {
        name: "reno",
        selective: false,
        timed: false,
        build: |p| Box::new(reno::Reno::new(p)),
    },
    RecoveryKind {
        name: "new-reno",
        selective: false,
        timed: false,
        build: |p| Box::new(new_reno::NewReno::new(p)),
    },
    RecoveryKind {
        name: "sack",
        selective: true,
        timed: false,
        build: |p| Box::new(sack::Sack::new(p)),
    },
    RecoveryKind {
        name: "sack1",
        selective: true,
        timed: false,
        build: |p| Box::new(sack1::Sack1::new(p)),
    },
    RecoveryKind {
        name: "rack-tlp",
        selective: true,
        timed: true,
        build: |p| Box::new(rack_tlp::RackTlp::new(p)),
    },
    RecoveryKind {
        name: "rr-tcp",
        selective: true,
        timed: false,
        build: |p| Box::new(rr_tcp::RrTcp::new(p)),
    },
];

/// Returns the loss recovery called `name`.
pub fn find(name: &str) -> Option<&'static RecoveryKind> {
    REGISTRY.iter().find(|entry| entry.name == name)
}

/// State of the sender that a recovery reads and changes.
pub struct SenderState<'a> {
    /// Data in flight.
    pub flight: &'a mut Flight,
    /// Window and window law.
    pub congestion: &'a mut Congestion,
    /// Retransmission timeout.
    pub timeout: &'a mut dyn TimeoutPolicy,
    /// Present time.
    pub now: Time,
}

impl<'a> SenderState<'a> {
    /// Borrows the state from a sender.
    #[inline]
    pub fn new(
        flight: &'a mut Flight,
        congestion: &'a mut Congestion,
        timeout: &'a mut dyn TimeoutPolicy,
        now: Time,
    ) -> SenderState<'a> {
        SenderState {
            flight,
            congestion,
            timeout,
            now,
        }
    }

    /// Returns how many of the `bytes` sent beyond the window still exceed it.
    fn still_beyond(&self, bytes: u64) -> u64 {
        if bytes == 0 {
            return 0;
        }
        let outstanding = self.flight.flight_size();
        bytes.min(outstanding.saturating_sub(self.congestion.cwnd()))
    }
}

/// Actions that the sender takes at once, regardless of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reaction {
    /// Whether to retransmit the first unacknowledged segment.
    pub retransmit: bool,
    /// Whether this is a fast retransmission; it starts a fast recovery where the algorithm has
    /// one.
    pub fast: bool,
    /// Action on the retransmission timer.
    pub timer: TimerAction,
}

impl Reaction {
    const KEEP: Reaction = Reaction {
        retransmit: false,
        fast: false,
        timer: TimerAction::Keep,
    };
    /// A fast retransmit. It restarts the timer, as in BSD, Linux and ns-2; RFC 6675, section 6,
    /// permits this.
    const RETRANSMIT: Reaction = Reaction {
        retransmit: true,
        fast: true,
        timer: TimerAction::Restart,
    };
}

/// Action on the retransmission timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimerAction {
    /// Restart, since new data was acknowledged (RFC 6298, section 5, (5.3)).
    #[default]
    Restart,
    /// Leave unchanged.
    Keep,
}

/// A segment that may be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// First byte of the segment.
    pub sequence: u64,
    /// Reason for sending it.
    pub reason: Reason,
}

/// Reason why a segment may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is the next segment in order and fits into the window.
    Next,
    /// It is the next segment in order but exceeds the window. It may be sent because other
    /// segments have left the network: limited transmit (RFC 3042) or a recovery.
    Beyond,
    /// It is missing at the receiver.
    Hole,
    /// It is the last outstanding segment that is not SACKed, and possibly lost (RFC 6675, section
    /// 4, NextSeg, rule 4).
    Rescue,
    /// It is a tail loss probe (RFC 8985, section 7.3), new or sent before.
    Probe,
}

impl Candidate {
    /// Returns the next segment in order, which fits into the window.
    pub fn next(sequence: u64) -> Candidate {
        let reason = Reason::Next;
        Candidate { sequence, reason }
    }

    /// Returns the next segment in order; the reason depends on whether it fits into `window`.
    fn in_order(sequence: u64, flight: &Flight, window: u64) -> Candidate {
        let fits = flight.flight_size() + flight.payload(sequence) <= window;
        let reason = if fits { Reason::Next } else { Reason::Beyond };
        Candidate { sequence, reason }
    }

    /// Returns a missing segment.
    pub fn hole(sequence: u64) -> Candidate {
        let reason = Reason::Hole;
        Candidate { sequence, reason }
    }
}

/// Phase of the loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No loss is being repaired.
    Open,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until the data outstanding at the timeout is acknowledged.
    Loss,
}

/// Loss recovery of one connection.
pub trait LossRecovery: CopiedRecovery + Send {
    /// Handles SACK blocks; returns whether they contain new information. Called before `on_ack` or
    /// `on_duplicate` if an acknowledgement has SACK blocks.
    fn on_blocks(&mut self, _blocks: &[Block], _flight: &Flight) -> bool {
        false
    }

    /// Handles an acknowledgement of new data; called after the flight was updated. `news` is true
    /// if its SACK blocks contain new information.
    fn on_ack(&mut self, ack: &Ack, news: bool, sender: &mut SenderState<'_>) -> Reaction;

    /// Handles an acknowledgement of no new data; `news` is true if its SACK blocks contain new
    /// information.
    fn on_duplicate(&mut self, news: bool, sender: &mut SenderState<'_>) -> Reaction;

    /// Notes that the acknowledgement that is handled next is negative (transport `rdma`).
    fn on_nak(&mut self) {}

    /// Returns FlightSize as reported to the window law at a loss or a timeout. Data sent beyond
    /// the window by limited transmit does not count (RFC 5681, section 3.2, step 2). Data sent
    /// beyond the window in a recovery does not count either; otherwise a loss could enlarge the
    /// window, while RFC 5681, section 3.1, permits at most equation 4.
    fn flight_size(&self, flight: &Flight) -> u64 {
        flight.flight_size()
    }

    /// Handles an expiry of the retransmission timer; called after the window law.
    fn on_timeout(&mut self, flight: &Flight);

    /// Handles an expiry of the retransmission timer, as far as window and data in flight are
    /// concerned. RFC 6298, section 5, (5.4): the earliest segment is retransmitted. All data in
    /// flight is taken for lost and sent again (go-back-N). `repeated` is true if nothing was
    /// acknowledged since the previous expiry.
    fn on_expiry(&mut self, repeated: bool, sender: &mut SenderState<'_>) {
        sender.congestion.on_timeout(&Timeout {
            at: sender.now,
            in_flight: self.flight_size(sender.flight),
            repeated,
            sent: sender.flight.snd_max,
            lost: 0,
        });
        self.on_timeout(sender.flight);
        sender.flight.rewind();
    }

    /// Returns the segment to send next, if one may be sent now.
    fn candidate(&mut self, flight: &Flight, window: u64) -> Option<Candidate>;

    /// Notes that a segment was sent at `now`; called after the flight was updated.
    fn on_sent(&mut self, _candidate: Candidate, _now: Time, _flight: &mut Flight) {}

    /// Returns the bytes by which duplicate acknowledgements widen the window.
    fn inflation(&self) -> i64 {
        0
    }

    /// Returns the pacing rate in bytes per second; `None` if the recovery does not pace.
    fn pacing(&self) -> Option<u64> {
        None
    }

    /// Returns the present reordering window, given SRTT; `None` if the recovery finds no loss by
    /// time.
    fn reordering_window(&self, _smoothed: Option<Duration>) -> Option<Duration> {
        None
    }

    /// Returns the number of reductions of the window undone so far.
    fn undone(&self) -> u32 {
        0
    }

    /// Returns the scoreboard of SACKed data; `None` if the recovery does not use SACK.
    fn scoreboard(&self) -> Option<&Scoreboard> {
        None
    }

    /// Returns the payload bytes taken for lost since the last call.
    fn newly_lost(&mut self, _flight: &Flight) -> u64 {
        0
    }

    /// Returns the payload bytes in the network: by default all that are outstanding.
    fn in_flight(&self, flight: &Flight) -> u64 {
        flight.flight_size()
    }

    /// Returns the present phase.
    fn phase(&self, flight: &Flight) -> Phase;

    /// Returns the recovery if it goes by times of sending, and so keeps the sender's timer. Called
    /// once per event of such a recovery.
    fn timed(&mut self) -> Option<&mut dyn Timed> {
        None
    }
}

crate::boxed::copied_in_box!(LossRecovery, CopiedRecovery);

/// Returns the next segment in order, if `window` has room for it in addition to the `outstanding`
/// bytes.
#[inline]
fn in_window(flight: &Flight, outstanding: u64, window: u64) -> Option<Candidate> {
    let sequence = flight.snd_nxt;
    if sequence >= flight.size {
        return None;
    }
    let payload = flight.payload(sequence);
    let fits = outstanding + payload <= window && flight.is_advertised(sequence + payload);
    // The first unacknowledged segment may always be sent.
    (fits || sequence == flight.snd_una).then(|| Candidate::next(sequence))
}

/// Counter of duplicate acknowledgements, with the conditions for a fast retransmit and for limited
/// transmit. Shared by Tahoe, Reno, New-Reno and Sack1.
#[derive(Clone, Debug)]
struct Duplicates {
    /// Duplicate acknowledgements since the last acknowledgement of new data.
    count: u64,
    threshold: u64,
    limited_transmit: bool,
    /// Whether a second fast retransmit of data sent before `recover` is suppressed.
    bug_fix: bool,
    /// End of the data sent when the last loss was detected.
    recover: u64,
    after_timeout: bool,
    /// Bytes sent beyond the window that still exceed it.
    beyond: u64,
    /// Bytes taken for lost since the last call of [`LossRecovery::newly_lost`].
    lost: u64,
}

impl Duplicates {
    fn new(parameters: &Parameters) -> Duplicates {
        Duplicates {
            count: 0,
            threshold: parameters.get("duplicate_threshold", THRESHOLD) as u64,
            limited_transmit: parameters.is("limited_transmit"),
            bug_fix: parameters.is("bug_fix"),
            recover: 0,
            after_timeout: false,
            beyond: 0,
            lost: 0,
        }
    }

    /// Counts a duplicate acknowledgement; returns whether a fast retransmit is due.
    fn count(&mut self, flight: &Flight) -> bool {
        self.count += 1;
        self.count == self.threshold && self.may_enter(flight)
    }

    /// Returns whether a fast retransmit is permitted: more data is acknowledged than was sent
    /// before the last loss (RFC 6582, section 3.2, step 2).
    fn may_enter(&self, flight: &Flight) -> bool {
        !self.bug_fix || self.recover == 0 || flight.snd_una > self.recover
    }

    /// Handles an acknowledgement of new data.
    fn clear(&mut self, sender: &SenderState<'_>) {
        self.count = 0;
        self.beyond = sender.still_beyond(self.beyond);
        self.after_timeout &= sender.flight.snd_una < self.recover;
    }

    /// Returns FlightSize without the data sent beyond the window.
    fn flight_size(&self, flight: &Flight) -> u64 {
        flight.flight_size() - self.beyond
    }

    /// Records the detection of a loss; returns FlightSize.
    fn loss(&mut self, flight: &Flight) -> u64 {
        self.recover = flight.snd_max;
        self.after_timeout = false;
        self.lose(flight);
        self.flight_size(flight)
    }

    /// Counts the first unacknowledged segment as lost.
    fn lose(&mut self, flight: &Flight) {
        self.lost += flight.payload(flight.snd_una);
    }

    /// Starts a fast recovery. Returns the initial inflation of the window in bytes, for the
    /// segments that have left the network (RFC 5681, section 3.2, step 3).
    fn enter(&mut self, sender: &mut SenderState<'_>) -> i64 {
        let in_flight = self.loss(sender.flight);
        sender.congestion.on_loss(&Loss {
            at: sender.now,
            in_flight,
            echo: false,
        });
        self.threshold as i64 * i64::from(sender.flight.mss)
    }

    fn timeout(&mut self, flight: &Flight) {
        self.count = 0;
        self.beyond = 0;
        self.recover = flight.snd_max;
        self.after_timeout = true;
    }

    /// Returns the bytes that limited transmit permits beyond the window: one segment for each
    /// duplicate below the threshold (RFC 3042, section 2).
    fn limited(&self, flight: &Flight) -> u64 {
        match self.limited_transmit && self.count < self.threshold {
            true => self.count * u64::from(flight.mss),
            false => 0,
        }
    }

    /// Returns the next segment in order, if it fits into the window widened by `inflation` or by
    /// limited transmit.
    fn candidate(&self, inflation: Option<i64>, flight: &Flight, window: u64) -> Option<Candidate> {
        let wider = match inflation {
            Some(inflation) => window.saturating_add_signed(inflation),
            None if flight.snd_nxt == flight.snd_max => window + self.limited(flight),
            None => window,
        };
        let candidate = in_window(flight, flight.flight_size(), wider)?;
        Some(Candidate::in_order(candidate.sequence, flight, window))
    }

    /// Counts a segment that was sent beyond the window.
    fn sent(&mut self, candidate: Candidate, flight: &Flight) {
        if candidate.reason == Reason::Beyond {
            self.beyond += flight.payload(candidate.sequence);
        }
    }

    fn phase(&self, recovering: bool) -> Phase {
        if recovering {
            Phase::Recovery
        } else if self.after_timeout {
            Phase::Loss
        } else {
            Phase::Open
        }
    }
}
