//! Sending endpoint of a flow.

mod ahead;
mod application;
mod control;
mod departures;
mod echo;
mod expiry;
mod notices;
mod observed;
mod pulled;
mod subflow;
pub mod timed;

pub use self::application::Writes;

use self::application::Application;
use self::echo::{Feedback, Reductions};
use crate::cc::{Ack, Congestion, Sent};
use crate::flight::audit::{Cause, RetransmissionAudit};
use crate::flight::{Covered, Flight};
use crate::measure::{Beside, Measure};
use crate::recovery::{Candidate, LossRecovery, Reaction, SenderState, TimerAction};
use crate::transport::Transport;
use crate::wire::ace;
use crate::wire::host_timer::HostTimer;
use crate::wire::segment::{Endpoint, ACK, ECE, FIN, FIN_ACKNOWLEDGED, FORWARD, NOTICE, SYN};
use crate::wire::timer::Timer;
use crate::{Flow, TimeoutPolicy};
use lightburst_des::{Duration, Time};
use lightburst_net::{Bytes, Header, NodeId, Options};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    SynSent,
    Established,
    FinWait,
    Closed,
    /// A segment was repeated as often as permitted.
    GaveUp,
}

/// Sending endpoint of one flow. The fields are grouped by cache line, since with many flows cache
/// misses dominate: the first four lines serve every segment and acknowledgement, the fourth serves
/// timers as well, and the fifth serves timeouts.
#[repr(C, align(64))]
pub struct Sender {
    flight: Flight,
    congestion: Congestion,
    recovery: Box<dyn LossRecovery>,
    timeout: Box<dyn TimeoutPolicy>,
    measure: Measure,
    /// Earliest time at which pacing permits the next segment.
    release: Time,
    /// First byte of a segment whose immediate retransmission is held back by pacing or by the
    /// interface; `u64::MAX` if there is none.
    owed: u64,
    /// Number of data segments sent.
    pub transmissions: u64,
    timer: Timer,
    state: State,
    /// Whether some retransmission or loss decision is not yet known to be justified. If not,
    /// acknowledgements need not consult `audit`.
    audit_open: bool,
    /// Index of the flow's group.
    pub group: u16,
    /// Host of the receiver.
    pub peer: NodeId,
    /// Consecutive expiries of the retransmission timer without new data acknowledged.
    attempts: u32,
    /// Number of data segments retransmitted.
    pub retransmissions: u64,
    /// Number of expiries of the retransmission timer.
    pub timeouts: u64,
    /// First unacknowledged byte at the last expiry of the timer; `u64::MAX` before the first
    /// expiry.
    timed_out_at: u64,
    audit: RetransmissionAudit,
    pacing: Timer,
    /// Reductions of the window, as the receiver hears of them with ECN.
    reductions: Reductions,
    /// Feedback of counts of marks; `None` unless it is accurate.
    feedback: Option<Box<Feedback>>,
    /// Time from which the round trip of the SYN is counted; [`Time::NEVER`] after the SYN was
    /// repeated.
    syn_sent: Time,
    /// Arrival time of the acknowledgement of the last byte; [`Time::NEVER`] before.
    pub acknowledged: Time,
    /// Application that writes in parts; `None` if it writes all data at once.
    application: Option<Box<Application>>,
}

// The layout holds for 64-bit pointers.
#[cfg(target_pointer_width = "64")]
const _: () = {
    const LINE: usize = 64;
    assert!(std::mem::offset_of!(Sender, attempts) == 4 * LINE);
    assert!(std::mem::offset_of!(Sender, pacing) == 5 * LINE);
    assert!(std::mem::size_of::<Sender>() == 6 * LINE);
};

impl Sender {
    /// Creates the sender of `flow`, with segments of `mss` payload bytes and a receive window of
    /// `advertised` bytes. For `fin_with_data` see [`crate::transport::TransportKind`].
    pub fn new(
        flow: &Flow,
        mss: u32,
        advertised: u64,
        fin_with_data: bool,
        mut transport: Transport,
    ) -> Sender {
        let mut flight = Flight::new(flow.size, mss, advertised);
        flight.fin_with_data = fin_with_data;
        let timed = transport.recovery.timed().is_some();
        transport.congestion.on_flow(flow.id);
        Sender {
            flight,
            group: flow.group,
            peer: flow.destination,
            congestion: transport.congestion,
            recovery: transport.recovery,
            timeout: transport.timeout,
            timer: Timer::default(),
            measure: Measure::new(transport.clock, timed, transport.ecn, transport.accurate),
            feedback: transport.accurate.then(Box::default),
            reductions: Reductions::default(),
            release: Time::ZERO,
            transmissions: 0,
            retransmissions: 0,
            state: State::Idle,
            audit_open: false,
            attempts: 0,
            timeouts: 0,
            pacing: Timer::default(),
            owed: u64::MAX,
            syn_sent: Time::NEVER,
            timed_out_at: u64::MAX,
            acknowledged: Time::NEVER,
            application: None,
            audit: RetransmissionAudit::default(),
        }
    }

    /// Returns whether the sender gave up.
    pub fn gave_up(&self) -> bool {
        self.state == State::GaveUp
    }

    /// Returns whether the sender is finished: it acts again only if a segment arrives.
    pub fn is_done(&self) -> bool {
        let over = matches!(self.state, State::FinWait | State::Closed | State::GaveUp);
        over && !self.timer.is_set() && !self.pacing.is_set()
    }

    /// Sends the SYN, or the first data if there is no `handshake`.
    pub fn start(&mut self, handshake: bool, end: &mut Endpoint<'_, '_>) {
        if !handshake {
            self.establish(end);
            return;
        }
        self.state = State::SynSent;
        self.syn_sent = self.control(SYN, 1, end);
    }

    /// Handles a segment from the receiver.
    #[inline]
    pub fn on_segment(
        &mut self,
        header: &Header,
        options: Option<&Options>,
        end: &mut Endpoint<'_, '_>,
    ) {
        if header.flags & (SYN | NOTICE) != 0 {
            if header.flags & NOTICE != 0 {
                self.on_notice(header, options, end);
            } else if self.state != State::GaveUp {
                self.on_syn_ack(options, end);
            }
            return;
        }
        if self.state == State::Established {
            if end.ctx.repaths().is_some() {
                self.judge_path(header, options, end);
            }
            self.on_ack(header, options, end);
        }
        // A segment with a FIN may also acknowledge the last data.
        if header.flags & FIN != 0 {
            self.on_fin_ack(end);
        }
    }

    /// Begins to send the data.
    fn establish(&mut self, end: &mut Endpoint<'_, '_>) {
        self.state = State::Established;
        if self.application.is_some() {
            self.write_part(end);
        }
        let wants = self.congestion.wants();
        self.measure.want(wants, end.now());
        if wants.path {
            self.congestion.on_path(end.switches());
        }
        if wants.pulls {
            let packets = self.flight.size.div_ceil(u64::from(self.flight.mss));
            self.congestion.on_message(packets);
        }
        if self.measure.by_recovery {
            self.start_timed(end);
        }
        self.resume(end);
        self.tell_window(end);
    }

    fn on_fin_ack(&mut self, end: &mut Endpoint<'_, '_>) {
        if matches!(self.state, State::FinWait | State::Closed) {
            self.audit_acknowledged(self.flight.size, end);
            self.state = State::Closed;
            self.timer.clear();
            self.acknowledge(FIN_ACKNOWLEDGED, end);
        }
    }

    #[inline]
    fn on_ack(&mut self, header: &Header, options: Option<&Options>, end: &mut Endpoint<'_, '_>) {
        if self.measure.by_recovery {
            return self.on_timed_ack(header, options, end);
        }
        let acknowledgement = header.acknowledgement;
        let is_new = acknowledgement > self.flight.snd_una;
        let blocks = options.map_or(&[][..], Options::blocks);
        let mut covered = None;
        if is_new {
            self.audit_acknowledged(acknowledgement, end);
            covered = Some(self.flight.acknowledge(acknowledgement));
        }
        if self.measure.beside == Beside::Telemetry {
            self.hear_telemetry(acknowledgement, is_new, end);
        }
        let news = !blocks.is_empty() && self.recovery.on_blocks(blocks, &self.flight);
        let reaction = match covered {
            Some(covered) => self.on_new_ack(covered, news, header, options, end),
            // RFC 5681, section 2: data is outstanding, so this is a duplicate.
            None if acknowledgement == self.flight.snd_una && !self.flight.is_acknowledged() => {
                let mut ack = Ack {
                    at: end.now(),
                    in_flight: self.flight.flight_size(),
                    ecn_echo: header.flags & ECE != 0,
                    ..Ack::default()
                };
                self.hear_marks(&mut ack, header, options);
                let state = &mut SenderState::new(
                    &mut self.flight,
                    &mut self.congestion,
                    &mut *self.timeout,
                    end.now(),
                );
                let before = state.congestion.window().cwnd;
                let reaction = self.recovery.on_duplicate(news, state);
                self.answer_echo(&ack, before, reaction.fast);
                self.report(&ack);
                Some(reaction)
            }
            None => return,
        };
        if let Some(reaction) = reaction {
            self.react(reaction, end);
            self.send_allowed(end);
        }
        self.tell_window(end);
    }

    /// Handles an acknowledgement of new data. Returns the reaction of the loss recovery, or `None` if
    /// all data is acknowledged.
    #[inline]
    fn on_new_ack(
        &mut self,
        covered: Covered,
        news: bool,
        header: &Header,
        options: Option<&Options>,
        end: &mut Endpoint<'_, '_>,
    ) -> Option<Reaction> {
        let now = end.now();
        let rtt = self
            .measure
            .round_trip(&covered, options, &self.flight, now);
        if let Some(rtt) = rtt {
            self.sample(rtt, end);
        }
        let mut ack = Ack {
            at: now,
            bytes: covered.bytes,
            in_flight: self.flight.flight_size(),
            rtt: self.measure.round_trip_of_law(rtt, &covered, now),
            ecn_echo: header.flags & ECE != 0,
            delivery_rate: self.measure.delivery_rate(&self.flight, now),
            marks: None,
        };
        self.hear_marks(&mut ack, header, options);
        let state = &mut SenderState::new(
            &mut self.flight,
            &mut self.congestion,
            &mut *self.timeout,
            now,
        );
        let before = state.congestion.window().cwnd;
        let reaction = self.recovery.on_ack(&ack, news, state);
        self.answer_echo(&ack, before, reaction.fast);
        self.report(&ack);
        if self.finish(end) {
            return None;
        }
        // RFC 6298, section 5, (5.2): the timer is turned off when all outstanding data is
        // acknowledged.
        if self.flight.is_acknowledged() {
            self.timer.clear();
        }
        Some(reaction)
    }

    /// Ends the transfer if all data is acknowledged; returns whether it is.
    #[inline]
    fn finish(&mut self, end: &mut Endpoint<'_, '_>) -> bool {
        if self.flight.snd_una < self.flight.size || self.flight.more {
            return false;
        }
        self.timer.clear();
        self.acknowledged = end.now();
        self.state = State::FinWait;
        // A FIN sent with the last data is acknowledged together with it.
        if !self.flight.fin_with_data {
            self.control(FIN, 1, end);
        }
        true
    }

    /// Passes a report of an acknowledgement to the window law, if the law requests reports.
    #[inline]
    fn report(&mut self, ack: &Ack) {
        if let Some(reports) = &mut self.measure.reports {
            let cwnd = self.congestion.cwnd();
            let report = reports.of(*ack, &mut *self.recovery, &self.flight, cwnd);
            self.congestion.on_report(&report);
        }
    }

    #[inline]
    fn sample(&mut self, rtt: Duration, end: &mut Endpoint<'_, '_>) {
        self.timeout.on_sample(rtt, &self.flight);
        self.tell_round_trip(rtt, end);
    }

    /// Carries out the immediate actions of the loss recovery.
    #[inline]
    fn react(&mut self, reaction: Reaction, end: &mut Endpoint<'_, '_>) {
        let restart = reaction.timer == TimerAction::Restart;
        if reaction.fast {
            self.decide(Cause::FastRetransmit, end);
        }
        let held_back = reaction.retransmit && (self.release > end.now() || !end.has_room());
        if held_back {
            // Retransmitted as soon as pacing and the interface permit; the timer restarts now.
            self.owed = self.flight.snd_una;
        }
        if reaction.retransmit && !held_back {
            if restart {
                self.timer.clear();
            }
            let candidate = Candidate::hole(self.flight.snd_una);
            self.send_segment(candidate, end);
        } else if restart && !self.flight.is_acknowledged() {
            // RFC 6298, section 5, (5.3): an acknowledgement of new data restarts the timer.
            let value = self.timeout.value();
            self.timer.set(end.now() + value, HostTimer::Sender, end);
        }
    }

    /// Sends all segments that recovery, window, pacing and interface permit, after an event other
    /// than an acknowledgement.
    #[inline(never)]
    fn resume(&mut self, end: &mut Endpoint<'_, '_>) {
        self.send_allowed(end);
        if self.measure.by_recovery {
            self.end_timed_event(end);
        }
    }

    /// Sends all segments that recovery, window, pacing and interface permit.
    // Inlined for acknowledgements, which are by far the most frequent cause.
    #[inline(always)]
    fn send_allowed(&mut self, end: &mut Endpoint<'_, '_>) {
        loop {
            let window = self.congestion.cwnd();
            let candidate = match self.owed == self.flight.snd_una {
                true => Some(Candidate::hole(self.owed)),
                false => self.recovery.candidate(&self.flight, window),
            };
            let Some(candidate) = candidate else {
                return;
            };
            if self.release > end.now() {
                if self.release == Time::NEVER {
                    return self.guard_pull(end);
                }
                self.pacing.set(self.release, HostTimer::Pacing, end);
                return;
            }
            if !end.has_room() {
                return;
            }
            self.send_segment(candidate, end);
        }
    }

    #[inline]
    fn send_segment(&mut self, candidate: Candidate, end: &mut Endpoint<'_, '_>) {
        let sequence = candidate.sequence;
        let payload = self.flight.payload(sequence);
        self.owed = u64::MAX;
        let window = self.congestion.cwnd() / u64::from(self.flight.mss);
        // RFC 9293, section 3.10.4: the FIN is sent with the last segment of the data.
        let last = self.flight.fin_with_data
            && sequence + payload == self.flight.size
            && !self.flight.more;
        let header = Header {
            sequence,
            payload: payload as u32,
            flags: FORWARD | ACK | if last { FIN } else { 0 },
            window: window.min(u64::from(u16::MAX)) as u16,
            ace: self.measure.ace(ace::FIRST),
            ..Header::default()
        };
        let transmission = self.flight.transmissions(sequence) + 1;
        let again = transmission > 1;
        let header = match self.measure.ecn && !again {
            true => self.with_news(header),
            false => header,
        };
        let header = end.numbered(header);
        let begin = end.send(header, self.measure.options(end.now()), transmission);
        let sent = self.measure.counted_from(begin, end.now());
        self.flight.send(sequence, sent);
        if again {
            self.retransmissions += 1;
            self.count_retransmission(transmission, end);
        }
        self.measure.on_sent(sequence, sent, again, &self.flight);
        self.recovery
            .on_sent(candidate, end.now(), &mut self.flight);
        self.transmissions += 1;
        if self.measure.by_transmission {
            self.congestion.on_sent(&Sent {
                at: sent,
                bytes: payload,
                in_flight: match self.measure.by_recovery {
                    true => self.recovery.in_flight(&self.flight),
                    false => self.flight.flight_size(),
                },
                retransmission: again,
            });
            if self.measure.beside == Beside::Pulls {
                self.wait_for_pull();
            }
        }
        if let Some(rate) = self.congestion.pacing_rate() {
            let wire = Bytes(u64::from(end.sizes.wire(payload as u32)));
            self.release = begin.unwrap_or(end.now()) + rate.transmission_time(wire);
        }
        if self.measure.by_recovery {
            if self.measure.paced_by_recovery {
                self.pace(payload as u32, end);
            }
            return;
        }
        // RFC 6298, section 5, (5.1): a transmission starts the timer if it is off.
        if !self.timer.is_set() {
            let value = self.timeout.value();
            self.timer.set(sent + value, HostTimer::Sender, end);
        }
    }
}
