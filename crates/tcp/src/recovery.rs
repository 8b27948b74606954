//! Loss recovery: what is sent again, and when. The window law
//! ([`crate::cc`]) is a choice of its own.
//!
//! One file for each; [`REGISTRY`] is the one list of them.

mod go_back_n;
mod new_reno;
mod reno;
mod rr_tcp;
mod sack;
mod sack1;
mod tahoe;

use crate::cc::{Ack, Congestion, Loss};
use crate::flight::Flight;
use crate::scoreboard::Scoreboard;
use crate::Parameters;
use lightburst_des::Time;
use lightburst_net::Block;

pub use go_back_n::GoBackN;

/// A recovery by its name in the scenario.
pub struct RecoveryKind {
    /// The name.
    pub name: &'static str,
    /// Whether it wants SACK blocks.
    pub selective: bool,
    /// Builds the state of one connection.
    pub build: fn(&Parameters) -> Box<dyn LossRecovery>,
}

/// All recoveries of `tcp`. A new one is a new file and a line here.
pub const REGISTRY: &[RecoveryKind] = &[
    RecoveryKind {
        name: "tahoe",
        selective: false,
        build: |p| Box::new(tahoe::Tahoe::new(p)),
    },
    RecoveryKind {
        name: "reno",
        selective: false,
        build: |p| Box::new(reno::Reno::new(p)),
    },
    RecoveryKind {
        name: "new-reno",
        selective: false,
        build: |p| Box::new(new_reno::NewReno::new(p)),
    },
    RecoveryKind {
        name: "sack",
        selective: true,
        build: |p| Box::new(sack::Sack::new(p)),
    },
    RecoveryKind {
        name: "sack1",
        selective: true,
        build: |p| Box::new(sack1::Sack1::new(p)),
    },
    RecoveryKind {
        name: "rr-tcp",
        selective: true,
        build: |p| Box::new(rr_tcp::RrTcp::new(p)),
    },
];

/// The recovery called `name`.
pub fn find(name: &str) -> Option<&'static RecoveryKind> {
    REGISTRY.iter().find(|entry| entry.name == name)
}

/// What a recovery works with.
pub struct SenderState<'a> {
    /// What was sent.
    pub flight: &'a mut Flight,
    /// The window law.
    pub congestion: &'a mut Congestion,
    /// The present time.
    pub now: Time,
}

impl<'a> SenderState<'a> {
    /// What a sender lends it.
    #[inline]
    pub fn new(
        flight: &'a mut Flight,
        congestion: &'a mut Congestion,
        now: Time,
    ) -> SenderState<'a> {
        SenderState {
            flight,
            congestion,
            now,
        }
    }

    /// How much of the bytes that were sent beyond the window does not fit into it yet.
    fn still_beyond(&self, bytes: u64) -> u64 {
        let outstanding = self.flight.flight_size();
        bytes.min(outstanding.saturating_sub(self.congestion.cwnd()))
    }
}

/// What the sender is to do at once, whatever the window says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reaction {
    /// Send the first segment that is not acknowledged.
    pub retransmit: bool,
    /// That is a fast retransmission, with which a fast recovery begins, if there is one.
    pub fast: bool,
    /// What becomes of the retransmission timer.
    pub timer: TimerAction,
}

impl Reaction {
    const KEEP: Reaction = Reaction {
        retransmit: false,
        fast: false,
        timer: TimerAction::Keep,
    };
    /// A fast retransmit starts the timer anew, as BSD, Linux and ns-2 do and
    /// RFC 6675, section 6, allows.
    const RETRANSMIT: Reaction = Reaction {
        retransmit: true,
        fast: true,
        timer: TimerAction::Restart,
    };
}

/// What becomes of the retransmission timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimerAction {
    /// RFC 6298, section 5: (5.3) new data acknowledged: restarted.
    #[default]
    Restart,
    /// It goes on.
    Keep,
}

/// A segment that may be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its first byte.
    pub sequence: u64,
    /// Why it may be sent.
    pub reason: Reason,
}

/// Why a segment may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is the next one in order.
    Next,
    /// It is that, but with it more than the window is outstanding: it may go because others have
    /// left the network, in limited transmit (RFC 3042) or in a recovery.
    Beyond,
    /// It is missing at the receiver.
    Hole,
    /// It ends the window, which may be missing (RFC 6675, section 4, NextSeg, rule 4).
    Rescue,
}

impl Candidate {
    /// The next segment in order.
    pub fn next(sequence: u64) -> Candidate {
        let reason = Reason::Next;
        Candidate { sequence, reason }
    }

    /// The next segment in order, which the window may or may not have room for.
    fn in_order(sequence: u64, flight: &Flight, window: u64) -> Candidate {
        let fits = flight.flight_size() + flight.payload(sequence) <= window;
        let reason = if fits { Reason::Next } else { Reason::Beyond };
        Candidate { sequence, reason }
    }

    /// A missing segment.
    pub fn hole(sequence: u64) -> Candidate {
        let reason = Reason::Hole;
        Candidate { sequence, reason }
    }
}

/// Where a sender is between two losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No loss is being repaired.
    Open,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until what was outstanding is acknowledged.
    Loss,
}

/// What is retransmitted when, for one connection.
pub trait LossRecovery: CopiedRecovery + Send {
    /// SACK blocks arrived; says whether they tell anything new. Called before
    /// `on_ack` or `on_duplicate`, if there are any.
    fn on_blocks(&mut self, _blocks: &[Block], _flight: &Flight) -> bool {
        false
    }

    /// New data was acknowledged; the flight knows already. `news`: the
    /// acknowledgement brings SACK blocks that tell something new, too.
    fn on_ack(&mut self, ack: &Ack, news: bool, sender: &mut SenderState<'_>) -> Reaction;

    /// An acknowledgement came that acknowledges nothing new; `news`: its SACK blocks do.
    fn on_duplicate(&mut self, news: bool, sender: &mut SenderState<'_>) -> Reaction;

    /// FlightSize as a window law is told it at a loss and at a timeout. RFC 5681, section 3.2,
    /// step 2 leaves out what limited transmit has sent. A recovery that goes on sending leaves
    /// out what it has sent as well: section 3.1 wants no more than equation 4, and a loss would
    /// make the window larger.
    fn flight_size(&self, flight: &Flight) -> u64 {
        flight.flight_size()
    }

    /// The retransmission timer expired; the window law knows already.
    fn on_timeout(&mut self, flight: &Flight);

    /// What may be sent now.
    fn candidate(&self, flight: &Flight, window: u64) -> Option<Candidate>;

    /// A segment was sent; the flight knows already.
    fn on_sent(&mut self, _candidate: Candidate, _flight: &mut Flight) {}

    /// Bytes by which duplicate acknowledgements widen the window.
    fn inflation(&self) -> i64 {
        0
    }

    /// What SACK blocks reported, if it reads them.
    fn scoreboard(&self) -> Option<&Scoreboard> {
        None
    }

    /// Useful bytes that it takes for lost, and did not when this was asked last.
    fn newly_lost(&mut self, _flight: &Flight) -> u64 {
        0
    }

    /// Where it is.
    fn phase(&self, flight: &Flight) -> Phase;
}

crate::boxed::copied_in_box!(LossRecovery, CopiedRecovery);

/// The next segment in order, if `window` has room for it beside what is `outstanding`.
#[inline]
fn in_window(flight: &Flight, outstanding: u64, window: u64) -> Option<Candidate> {
    let sequence = flight.snd_nxt;
    if sequence >= flight.size {
        return None;
    }
    let payload = flight.payload(sequence);
    let fits = outstanding + payload <= window && flight.is_advertised(sequence + payload);
    // The first segment may always be sent.
    (fits || sequence == flight.snd_una).then(|| Candidate::next(sequence))
}

/// Duplicate acknowledgements, and which data they may cause to be sent again:
/// what Tahoe, Reno, New-Reno and Sack1 share.
#[derive(Clone, Debug)]
struct Duplicates {
    /// Since the last acknowledgement of new data.
    count: u64,
    threshold: u64,
    limited_transmit: bool,
    /// No second fast retransmit of data sent before `recover`.
    bug_fix: bool,
    /// The byte after the last one sent when the last loss was seen.
    recover: u64,
    after_timeout: bool,
    /// Bytes sent beyond the window that do not fit into it yet.
    beyond: u64,
    /// Bytes taken for lost that nobody has asked for.
    lost: u64,
}

impl Duplicates {
    fn new(parameters: &Parameters) -> Duplicates {
        Duplicates {
            count: 0,
            threshold: parameters.get("duplicate_threshold") as u64,
            limited_transmit: parameters.is("limited_transmit"),
            bug_fix: parameters.is("bug_fix"),
            recover: 0,
            after_timeout: false,
            beyond: 0,
            lost: 0,
        }
    }

    /// Counts one; says whether a fast retransmit is due.
    fn count(&mut self, flight: &Flight) -> bool {
        self.count += 1;
        self.count == self.threshold && self.may_enter(flight)
    }

    /// RFC 6582, section 3.2, step 2: only if the acknowledgement covers more than
    /// what was sent before the last loss.
    fn may_enter(&self, flight: &Flight) -> bool {
        !self.bug_fix || self.recover == 0 || flight.snd_una > self.recover
    }

    /// New data was acknowledged.
    fn clear(&mut self, sender: &SenderState<'_>) {
        self.count = 0;
        self.beyond = sender.still_beyond(self.beyond);
        self.after_timeout &= sender.flight.snd_una < self.recover;
    }

    /// FlightSize without what was sent beyond the window.
    fn flight_size(&self, flight: &Flight) -> u64 {
        flight.flight_size() - self.beyond
    }

    /// A loss is seen now; returns what was in flight.
    fn loss(&mut self, flight: &Flight) -> u64 {
        self.recover = flight.snd_max;
        self.after_timeout = false;
        self.lose(flight);
        self.flight_size(flight)
    }

    /// The first segment that is not acknowledged is taken for lost.
    fn lose(&mut self, flight: &Flight) {
        self.lost += flight.payload(flight.snd_una);
    }

    /// Fast recovery begins: RFC 5681, section 3.2, step 3 widens the window by the
    /// segments that have left the network, which is returned in bytes.
    fn enter(&mut self, sender: &mut SenderState<'_>) -> i64 {
        let in_flight = self.loss(sender.flight);
        sender.congestion.on_loss(&Loss {
            at: sender.now,
            in_flight,
        });
        self.threshold as i64 * i64::from(sender.flight.mss)
    }

    fn timeout(&mut self, flight: &Flight) {
        self.count = 0;
        self.beyond = 0;
        self.recover = flight.snd_max;
        self.after_timeout = true;
    }

    /// RFC 3042, section 2: each of the first two duplicates lets one new segment go.
    fn limited(&self, flight: &Flight) -> u64 {
        match self.limited_transmit && self.count < self.threshold {
            true => self.count * u64::from(flight.mss),
            false => 0,
        }
    }

    /// What may be sent in order, with the window widened by `inflation` or by limited transmit.
    fn candidate(&self, inflation: Option<i64>, flight: &Flight, window: u64) -> Option<Candidate> {
        let wider = match inflation {
            Some(inflation) => window.saturating_add_signed(inflation),
            None if flight.snd_nxt == flight.snd_max => window + self.limited(flight),
            None => window,
        };
        let candidate = in_window(flight, flight.flight_size(), wider)?;
        Some(Candidate::in_order(candidate.sequence, flight, window))
    }

    /// Notes what is sent beyond the window.
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
