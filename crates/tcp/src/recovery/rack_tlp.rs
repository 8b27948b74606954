//! RACK-TLP (RFC 8985) with PRR (RFC 6937), F-RTO (RFC 5682) and the undoing of spurious reductions
//! (RFC 3522, RFC 4015), as in the TCP of Linux 6.18.
//!
//! Segments and windows are counted in whole segments and times in microseconds, as there. The names
//! of states and variables are those of `net/ipv4/tcp_input.c` and its neighbours. Window laws are
//! free: the recovery decides by how much of the law's reduction the window falls at a time.

mod acknowledgement;
mod board;
mod choice;
mod evidence;
mod pacing;
mod rates;
mod reduction;
mod sacked;
mod states;
mod timer;
mod usage;

use self::board::Board;
use self::evidence::{Evidence, MIN_RTT_WINDOW};
use self::pacing::Pacing;
use self::rates::Rates;
use self::reduction::{Prr, Rule, Undo};
use self::timer::{Pending, ProbeState, TimerState};
use self::usage::Usage;
use super::timed::{Arrival, Counts, Heard, Timed};
use super::{Candidate, LossRecovery, Phase, Reaction, Reason, SenderState};
use crate::cc::Ack;
use crate::flight::scoreboard::Scoreboard;
use crate::flight::Flight;
use crate::timeout::MICROSECOND;
use crate::Parameters;
use lightburst_des::{Duration, Time};

/// Stands for an ssthresh that was never lowered (TCP_INFINITE_SSTHRESH).
const INFINITE: u64 = 0x7fff_ffff;
/// Largest reordering metric (net.ipv4.tcp_max_reordering).
const MOST_REORDERING: u64 = 300;

/// State of the sender towards congestion (`ca_state`), in ascending order of gravity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    /// No sign of a loss.
    Open,
    /// Segments are SACKed beyond a hole, or the last state is not certain to be over.
    Disorder,
    /// The window is being reduced without a loss: after an ECN echo or a repaired tail.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a timeout.
    Loss,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Open => "Open",
            State::Disorder => "Disorder",
            State::Cwr => "CWR",
            State::Recovery => "Recovery",
            State::Loss => "Loss",
        }
    }
}

/// Segments that may be sent after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Permit {
    Nothing,
    /// New segments.
    New,
    /// Lost segments, then new ones.
    Lost,
    /// Lost segments, after the reordering timer.
    LostOnly,
    /// New segments, and lost ones only if no new one can be sent (RFC 5682, section 2.1, step 2b).
    NewFirst,
    /// The first unacknowledged segment, regardless of the window, after a timeout.
    Head,
    /// A tail loss probe, regardless of the window (RFC 8985, section 7.3).
    Probe,
}

/// Features that can be switched off.
#[derive(Clone, Copy, Debug)]
struct Features {
    /// Whether the receiver sends SACK blocks.
    sack: bool,
    frto: bool,
    tail_loss_probe: bool,
    /// Whether the reordering window stays at a quarter of the minimum round trip.
    static_window: bool,
    /// Whether the reordering window applies even after `reordering` segments were SACKed.
    no_threshold: bool,
    restart_after_idle: bool,
    /// Proportional rate reduction.
    reduction: Rule,
    /// Segments after which a hole counts as lost if no reordering was seen (`tcp_reordering`).
    reordering: u64,
}

/// Evidence that the acknowledgement in hand gives.
#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    /// SND.UNA advanced.
    advanced: bool,
    /// ECE was set, and reduces the window.
    echo: bool,
    /// ECE was set, for the law.
    marked: bool,
    /// Segments were acknowledged cumulatively.
    acked: bool,
    /// Segments were SACKed.
    sacked: bool,
    /// Data sent before the state began was acknowledged by its first transmission.
    original: bool,
    /// A duplicate was reported (RFC 2883).
    duplicate: bool,
    /// The duplicate reported is the tail loss probe.
    duplicate_probe: bool,
    /// A retransmission was found to be lost.
    lost_again: bool,
    /// The timer is to be set anew.
    timer: bool,
}

/// Loss recovery of one connection.
#[derive(Clone)]
pub struct RackTlp {
    features: Features,
    board: Board,
    state: State,
    /// End of the data sent when the state began.
    high_seq: u64,
    /// Number of successive timeouts (`icsk_retransmits`).
    retransmits: u64,
    /// Reordering metric in segments.
    reordering: u64,
    /// Segments delivered and lost so far.
    delivered: u64,
    lost: u64,
    /// Part of `lost` that [`LossRecovery::newly_lost`] has told.
    told: u64,
    frto: bool,
    evidence: Evidence,
    undo: Undo,
    prr: Prr,
    probe: ProbeState,
    timer: TimerState,
    usage: Usage,
    pacing: Pacing,
    /// Whether the law wants samples of the round trip.
    samples: bool,
    /// `None` unless the law wants rates, and so sets the window.
    rates: Option<Box<Rates>>,
    flags: Flags,
    /// Whether the next acknowledgement updates the receive window: that of the first segment after
    /// the SYN counts as an update (`tcp_may_update_window`).
    updates_window: bool,
    permit: Permit,
    /// Whether the acknowledgement in hand permits lost segments, or new ones first.
    rexmit: Option<Permit>,
    /// Whether a recovery, and whether a reduction began since the last report to the sender.
    entered: bool,
    reduced: bool,
    scoreboard: Scoreboard,
    /// Bytes that the application has written so far.
    written: u64,
    mss: u64,
    /// A window in bytes and in segments.
    divided: (u64, u64),
}

impl RackTlp {
    pub fn new(parameters: &Parameters) -> RackTlp {
        let features = Features {
            sack: parameters.is("sack"),
            frto: parameters.is("frto"),
            tail_loss_probe: parameters.is("tail_loss_probe"),
            static_window: parameters.is("static_reordering_window"),
            no_threshold: !parameters.is("reordering_threshold"),
            restart_after_idle: parameters.is("restart_after_idle"),
            reduction: Rule::called(parameters.word("reduction", Rule::NAMES)),
            reordering: parameters.get("duplicate_threshold", super::THRESHOLD) as u64,
        };
        RackTlp {
            features,
            board: Board::default(),
            state: State::Open,
            high_seq: 0,
            retransmits: 0,
            reordering: features.reordering,
            delivered: 1,
            lost: 0,
            told: 0,
            frto: false,
            evidence: Evidence::default(),
            undo: Undo::default(),
            prr: Prr::default(),
            probe: ProbeState::default(),
            timer: TimerState::new(Duration::ZERO),
            usage: Usage::default(),
            pacing: Pacing::new(parameters.is("pacing")),
            samples: false,
            rates: None,
            flags: Flags::default(),
            updates_window: true,
            permit: Permit::New,
            rexmit: None,
            entered: false,
            reduced: false,
            scoreboard: Scoreboard::default(),
            written: u64::MAX,
            mss: 1,
            divided: (0, 1),
        }
    }

    /// Returns whether the window is being reduced.
    fn reducing(&self) -> bool {
        matches!(self.state, State::Cwr | State::Recovery)
    }

    /// Returns the congestion window in whole segments.
    fn cwnd(&mut self, sender: &SenderState<'_>) -> u64 {
        self.whole_window(sender.congestion.cwnd())
    }

    /// Returns a window of `bytes` in whole segments. The last division is remembered, since most
    /// events leave the window as it is.
    fn whole_window(&mut self, bytes: u64) -> u64 {
        if self.divided.0 != bytes {
            self.divided = (bytes, (bytes / self.mss).max(1));
        }
        self.divided.1
    }

    fn set_cwnd(&self, segments: u64, sender: &mut SenderState<'_>) {
        sender.congestion.set_cwnd((segments * self.mss) as f64);
    }

    /// Returns ssthresh in whole segments.
    fn ssthresh(&self, sender: &SenderState<'_>) -> u64 {
        let bytes = sender.congestion.window().ssthresh;
        ((bytes / self.mss as f64) as u64).min(INFINITE)
    }

    /// Returns an ssthresh of `segments` in bytes.
    fn threshold(&self, segments: u64) -> f64 {
        match segments {
            INFINITE => f64::INFINITY,
            _ => (segments * self.mss) as f64,
        }
    }

    /// Notes the first transmission of the next segment.
    #[inline]
    fn on_new(&mut self, now: u64) {
        let first = self.board.is_empty();
        if first {
            self.evidence.first_sent = now;
        }
        self.stamp(self.board.end(), now);
        self.board.send(now, self.delivered);
        self.usage.sent(first, now);
        self.prr.out += u64::from(self.reducing());
    }

    /// Notes a retransmission or a tail loss probe; `una` is the first unacknowledged byte.
    #[inline(never)]
    fn on_special(&mut self, candidate: Candidate, now_us: u64, una: u64) {
        let number = candidate.sequence / self.mss;
        let is_new = number == self.board.end();
        if is_new {
            self.on_new(now_us);
        } else {
            self.stamp(number, now_us);
            self.board.send_again(number, now_us, self.delivered);
            self.evidence.retransmissions += 1;
        }
        if !is_new && candidate.reason != Reason::Probe {
            self.board.retransmit(number);
            self.undo.retransmit(now_us);
            if matches!(self.permit, Permit::Lost | Permit::LostOnly) {
                self.prr.out += u64::from(self.reducing());
                let is_head = candidate.sequence == una;
                self.timer.rearm |= is_head && self.timer.pending != Some(Pending::Reordering);
            }
        }
        match candidate.reason {
            Reason::Probe => {
                self.probe.sent = true;
                self.probe.retransmitted = !is_new;
                self.permit = Permit::Nothing;
            }
            _ if self.permit == Permit::Head => self.permit = Permit::Nothing,
            _ => {}
        }
    }

    /// Returns whether an unacknowledged segment may have been retransmitted.
    fn any_retransmission(&self) -> bool {
        self.board.retransmitted > 0 || self.board.head().is_some_and(|head| head.ever())
    }

    /// Returns the time since the simulation began, in microseconds.
    fn microseconds(now: Time) -> u64 {
        now.0 / MICROSECOND
    }
}

impl LossRecovery for RackTlp {
    fn on_ack(&mut self, _ack: &Ack, _news: bool, _sender: &mut SenderState<'_>) -> Reaction {
        unreachable!("a timed recovery hears each acknowledgement whole")
    }

    fn on_duplicate(&mut self, _news: bool, _sender: &mut SenderState<'_>) -> Reaction {
        unreachable!("a timed recovery hears each acknowledgement whole")
    }

    fn on_timeout(&mut self, _flight: &Flight) {}

    /// Takes the segments for lost that were not sent a moment ago, and has the first sent again
    /// (`tcp_enter_loss`, `tcp_retransmit_timer`).
    fn on_expiry(&mut self, _repeated: bool, sender: &mut SenderState<'_>) {
        self.enter_loss(sender);
        self.retransmits += 1;
        self.timer.after_timeout = true;
        self.permit = Permit::Head;
    }

    fn candidate(&mut self, flight: &Flight, window: u64) -> Option<Candidate> {
        self.choose(flight, window)
    }

    fn on_sent(&mut self, candidate: Candidate, now: Time, flight: &mut Flight) {
        let now_us = Self::microseconds(now);
        if candidate.reason == Reason::Next {
            self.on_new(now_us);
            return;
        }
        self.on_special(candidate, now_us, flight.snd_una);
    }

    fn pacing(&self) -> Option<u64> {
        self.pacing.is_on().then(|| self.pacing.present_rate())
    }

    fn reordering_window(&self, smoothed: Option<Duration>) -> Option<Duration> {
        Some(Duration(self.width(smoothed) * MICROSECOND))
    }

    fn undone(&self) -> u32 {
        self.undo.count
    }

    fn scoreboard(&self) -> Option<&Scoreboard> {
        Some(&self.scoreboard)
    }

    fn newly_lost(&mut self, _flight: &Flight) -> u64 {
        (self.lost - std::mem::replace(&mut self.told, self.lost)) * self.mss
    }

    fn in_flight(&self, _flight: &Flight) -> u64 {
        self.board.in_flight() * self.mss
    }

    fn phase(&self, _flight: &Flight) -> Phase {
        match self.state {
            State::Recovery => Phase::Recovery,
            State::Loss => Phase::Loss,
            State::Open | State::Disorder | State::Cwr => Phase::Open,
        }
    }

    fn timed(&mut self) -> Option<&mut dyn Timed> {
        Some(self)
    }
}

impl Timed for RackTlp {
    fn on_established(&mut self, rtt: Option<Duration>, sender: &mut SenderState<'_>) {
        self.mss = u64::from(sender.flight.mss);
        let now = Self::microseconds(sender.now);
        self.timer = TimerState::new(sender.timeout.tick());
        self.timer.start(now);
        let initial = self.cwnd(sender);
        self.usage = Usage::new(initial, now);
        if let Some(rtt) = rtt {
            self.evidence
                .min_rtt
                .update(now, rtt.0 / MICROSECOND, MIN_RTT_WINDOW);
        }
        self.samples = sender.congestion.wants().samples;
        self.start_rates(rtt, sender);
        self.update_rate(sender);
    }

    fn expect_window(&mut self, updates: bool) {
        self.updates_window = updates;
    }

    fn on_acknowledgement(&mut self, arrival: &Arrival<'_>, sender: &mut SenderState<'_>) -> Heard {
        self.flags = Flags::default();
        self.evidence.begin();
        self.rexmit = None;
        (self.entered, self.reduced) = (false, false);
        match arrival.acknowledgement < sender.flight.snd_una {
            true => self.on_old(arrival, sender),
            false => self.on_current(arrival, sender),
        }
        self.permit = self.rexmit.unwrap_or(Permit::New);
        Heard {
            rtt: self.evidence.sample(),
            entered: self.entered,
            reduced: self.reduced,
        }
    }

    fn on_look(&mut self, sender: &mut SenderState<'_>) -> Option<Heard> {
        (self.entered, self.reduced) = (false, false);
        match self.timer.pending.take()? {
            Pending::Timeout => return None,
            Pending::Reordering => self.on_reordering_timer(sender),
            Pending::Probe => {
                // Stays pending until the probe is sent.
                self.timer.pending = Some(Pending::Probe);
                self.permit = match self.probe.end {
                    None => Permit::Probe,
                    Some(_) => Permit::Nothing,
                };
                self.probe.due = true;
            }
        }
        Some(Heard {
            rtt: None,
            entered: self.entered,
            reduced: self.reduced,
        })
    }

    fn on_room(&mut self) {
        if self.permit != Permit::Head {
            self.permit = match self.board.lost > self.board.retransmitted {
                true => Permit::Lost,
                false => Permit::New,
            };
        }
    }

    fn on_write(&mut self, written: u64, sender: &mut SenderState<'_>) {
        self.note_limit(sender);
        self.written = written;
        // A timeout's segment, which the interface holds back, comes first.
        if self.permit != Permit::Head {
            self.permit = Permit::New;
        }
        self.restart_after_idle(sender);
    }

    fn after_sending(&mut self, sender: &mut SenderState<'_>) -> Time {
        self.end_sending(sender);
        self.timer.deadline()
    }

    fn paces(&self) -> bool {
        self.pacing.is_on()
    }

    fn release(&mut self, payload: u32, wire: u64, sender: &mut SenderState<'_>) -> Time {
        self.tell_restart(sender);
        let bytes = self.paced_bytes(payload, wire);
        self.pacing.release(bytes, sender.now)
    }

    fn counts(&self) -> Counts {
        self.present_counts()
    }
}
