//! The end of a flow that has the data.

use crate::cc::{Ack, CongestionControl, Sent, Timeout};
use crate::flight::{Covered, Flight};
use crate::measure::Measure;
use crate::recovery::{Candidate, Context, LossRecovery, Phase, Reaction, TimerAction};
use crate::segment::{Endpoint, ACK, FIN, FIN_ACKNOWLEDGED, FORWARD, SYN, SYN_ACKNOWLEDGED};
use crate::timer::Timer;
use crate::transport::Transport;
use crate::{Flow, TimeoutPolicy};
use lightburst_des::{Agenda, Duration, Time};
use lightburst_net::trace::{State as TraceState, Window as TraceWindow};
use lightburst_net::{Bytes, Effects, Event, Header, Options};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    SynSent,
    Established,
    FinWait,
    Closed,
    /// It repeated something as often as it may.
    GaveUp,
}

/// The timers of a sender, told apart by their tokens.
#[derive(Clone, Copy)]
pub struct Tokens {
    /// Retransmission.
    pub retransmission: u64,
    /// Pacing.
    pub pacing: u64,
}

/// The sending end of one flow. What every segment and acknowledgement needs
/// stands together at the front: with many flows each line of memory counts.
#[repr(C, align(64))]
pub struct Sender {
    flight: Flight,
    congestion: Box<dyn CongestionControl>,
    recovery: Box<dyn LossRecovery>,
    timeout: Box<dyn TimeoutPolicy>,
    timer: Timer,
    measure: Measure,
    /// When pacing lets the next segment leave.
    release: Time,
    /// Data segments sent.
    pub transmissions: u64,
    /// Data segments sent again.
    pub retransmissions: u64,
    state: State,
    /// Whether the last segment of the data carries the FIN.
    fin_with_data: bool,
    /// The group of its flow.
    pub group: u16,
    /// Expirations of the retransmission timer since something new was acknowledged.
    attempts: u32,
    /// Expirations of the retransmission timer.
    pub timeouts: u64,
    pacing: Timer,
    /// When the SYN was sent; [`Time::NEVER`] once it was sent again.
    syn_sent: Time,
    /// First byte not acknowledged when the timer expired last; `u64::MAX` before.
    timed_out_at: u64,
    /// Arrival of the acknowledgement of the last byte.
    pub acknowledged: Time,
}

impl Sender {
    /// A sender of the data of `flow` in segments of `full` to a receiver that has room
    /// for `advertised` bytes; `fin_with_data` as in [`crate::transport::Entry`].
    pub fn new(
        flow: &Flow,
        full: u32,
        advertised: u64,
        fin_with_data: bool,
        transport: Transport,
    ) -> Sender {
        Sender {
            flight: Flight::new(flow.size, full, advertised),
            group: flow.group,
            congestion: transport.congestion,
            recovery: transport.recovery,
            timeout: transport.timeout,
            timer: Timer::default(),
            measure: Measure::new(transport.clock),
            release: Time::ZERO,
            transmissions: 0,
            retransmissions: 0,
            state: State::Idle,
            fin_with_data,
            attempts: 0,
            timeouts: 0,
            pacing: Timer::default(),
            syn_sent: Time::NEVER,
            timed_out_at: u64::MAX,
            acknowledged: Time::NEVER,
        }
    }

    /// Whether it was started.
    pub fn started(&self) -> bool {
        self.state != State::Idle
    }

    /// Whether it gave up.
    pub fn gave_up(&self) -> bool {
        self.state == State::GaveUp
    }

    /// Sends the SYN.
    pub fn start<A: Agenda<Event>>(
        &mut self,
        end: Endpoint<'_>,
        tokens: Tokens,
        fx: &mut Effects<'_, A>,
    ) {
        self.state = State::SynSent;
        self.syn_sent = self.control(SYN, end, tokens, fx);
    }

    /// A segment from the receiver arrives.
    #[inline]
    pub fn on_segment<A: Agenda<Event>>(
        &mut self,
        header: &Header,
        options: Option<&Options>,
        end: Endpoint<'_>,
        tokens: Tokens,
        fx: &mut Effects<'_, A>,
    ) {
        if header.flags & SYN != 0 {
            if self.state != State::GaveUp {
                self.on_syn_ack(end, tokens, fx);
            }
            return;
        }
        if self.state == State::Established {
            self.on_ack(header.acknowledgement, options, end, tokens, fx);
        }
        // It may be the acknowledgement of the last data as well.
        if header.flags & FIN != 0 {
            self.on_fin_ack(end, fx);
        }
    }

    fn on_syn_ack<A: Agenda<Event>>(
        &mut self,
        end: Endpoint<'_>,
        tokens: Tokens,
        fx: &mut Effects<'_, A>,
    ) {
        self.acknowledge(SYN_ACKNOWLEDGED, end, fx);
        if self.state != State::SynSent {
            return;
        }
        self.state = State::Established;
        self.timer.clear();
        let now = fx.now();
        self.timeout.on_established(self.syn_sent == Time::NEVER);
        if self.syn_sent != Time::NEVER {
            self.sample(now.since(self.syn_sent), end, fx);
        } else {
            // RFC 5681, section 3.1: one segment after a SYN or SYN+ACK that was lost.
            self.congestion.limit(u64::from(self.flight.full));
        }
        self.measure.begin(now);
        self.send_allowed(end, tokens, fx);
        self.trace(end, fx);
    }

    fn on_fin_ack<A: Agenda<Event>>(&mut self, end: Endpoint<'_>, fx: &mut Effects<'_, A>) {
        if matches!(self.state, State::FinWait | State::Closed) {
            self.state = State::Closed;
            self.timer.clear();
            self.acknowledge(FIN_ACKNOWLEDGED, end, fx);
        }
    }

    #[inline]
    fn on_ack<A: Agenda<Event>>(
        &mut self,
        acknowledgement: u64,
        options: Option<&Options>,
        end: Endpoint<'_>,
        tokens: Tokens,
        fx: &mut Effects<'_, A>,
    ) {
        let is_new = acknowledgement > self.flight.unacknowledged;
        let blocks = options.map_or(&[][..], Options::blocks);
        let mut covered = None;
        if is_new {
            covered = Some(self.flight.acknowledge(acknowledgement));
        }
        let news = !blocks.is_empty() && self.recovery.on_blocks(blocks, &self.flight);
        match covered {
            Some(covered) => self.on_new_ack(covered, news, options, end, tokens, fx),
            // RFC 5681, section 2: a duplicate, since data is outstanding.
            None if acknowledgement == self.flight.unacknowledged
                && !self.flight.is_acknowledged() =>
            {
                let lent = &mut Context::new(&mut self.flight, &mut *self.congestion, fx.now());
                let reaction = self.recovery.on_duplicate(news, lent);
                self.react(reaction, end, tokens, fx);
                self.send_allowed(end, tokens, fx);
            }
            None => return,
        }
        self.trace(end, fx);
    }

    #[inline]
    fn on_new_ack<A: Agenda<Event>>(
        &mut self,
        covered: Covered,
        news: bool,
        options: Option<&Options>,
        end: Endpoint<'_>,
        tokens: Tokens,
        fx: &mut Effects<'_, A>,
    ) {
        let now = fx.now();
        let rtt = self
            .measure
            .round_trip(&covered, options, &self.flight, now);
        if let Some(rtt) = rtt {
            self.sample(rtt, end, fx);
        }
        let ack = Ack {
            at: now,
            bytes: covered.bytes,
            in_flight: self.flight.outstanding(),
            rtt,
            delivery_rate: covered
                .newest
                .map(|segment| self.measure.delivery_rate(&segment, &self.flight, now)),
        };
        let lent = &mut Context::new(&mut self.flight, &mut *self.congestion, now);
        let reaction = self.recovery.on_ack(&ack, news, lent);
        if self.flight.unacknowledged == self.flight.size {
            self.timer.clear();
            self.acknowledged = now;
            self.state = State::FinWait;
            // A FIN that went with the data is acknowledged with it.
            if !self.fin_with_data {
                self.control(FIN, end, tokens, fx);
            }
            return;
        }
        // RFC 6298, section 5: (5.2) all that was ever sent is acknowledged: off.
        if self.flight.is_acknowledged() {
            self.timer.clear();
        }
        self.react(reaction, end, tokens, fx);
        self.send_allowed(end, tokens, fx);
    }

    #[inline]
    fn sample<A: Agenda<Event>>(
        &mut self,
        rtt: Duration,
        end: Endpoint<'_>,
        fx: &mut Effects<'_, A>,
    ) {
        self.timeout.on_sample(rtt);
        if let Some(trace) = fx.trace(end.id) {
            trace.sample(end.id, rtt);
        }
    }

    /// Does what the recovery wants done at once.
    #[inline]
    fn react<A: Agenda<Event>>(
        &mut self,
        reaction: Reaction,
        end: Endpoint<'_>,
        tokens: Tokens,
        fx: &mut Effects<'_, A>,
    ) {
        let restart = reaction.timer == TimerAction::Restart;
        if reaction.retransmit {
            if restart {
                self.timer.clear();
            }
            let candidate = Candidate::hole(self.flight.unacknowledged);
            self.send_segment(candidate, end, tokens, fx);
        } else if restart && !self.flight.is_acknowledged() {
            // RFC 6298, section 5: (5.3) new data acknowledged: restarted.
            let value = self.timeout.value();
            self.timer.set(fx.now() + value, tokens.retransmission, fx);
        }
    }

    /// Sends what the recovery, the window and the pacing allow.
    #[inline]
    fn send_allowed<A: Agenda<Event>>(
        &mut self,
        end: Endpoint<'_>,
        tokens: Tokens,
        fx: &mut Effects<'_, A>,
    ) {
        loop {
            let congestion = &*self.congestion;
            let candidate = self.recovery.candidate(&self.flight, congestion);
            let Some(candidate) = candidate else {
                return;
            };
            if self.release > fx.now() {
                self.pacing.set(self.release, tokens.pacing, fx);
                return;
            }
            self.send_segment(candidate, end, tokens, fx);
        }
    }

    #[inline]
    fn send_segment<A: Agenda<Event>>(
        &mut self,
        candidate: Candidate,
        end: Endpoint<'_>,
        tokens: Tokens,
        fx: &mut Effects<'_, A>,
    ) {
        let sequence = candidate.sequence;
        let payload = self.flight.payload(sequence);
        let window = self.congestion.window() / u64::from(self.flight.full);
        // RFC 9293, section 3.10.4: the FIN goes with the last segment of the data.
        let last = self.fin_with_data && sequence + payload == self.flight.size;
        let header = Header {
            sequence,
            payload: payload as u32,
            flags: FORWARD | ACK | if last { FIN } else { 0 },
            window: window.min(u64::from(u16::MAX)) as u16,
            ..Header::default()
        };
        let begin = end.send(
            header,
            self.measure.options(fx.now()),
            sequence < self.flight.highest,
            fx,
        );
        let sent = self.measure.counted_from(begin, fx.now());
        let segment = self.measure.segment(sent, &self.flight);
        let again = self.flight.send(sequence, segment);
        self.measure.on_sent(sent, again, &self.flight);
        self.recovery.on_sent(candidate, &mut self.flight);
        self.transmissions += 1;
        self.retransmissions += u64::from(again);
        self.congestion.on_sent(&Sent {
            at: sent,
            bytes: payload,
            in_flight: self.flight.outstanding(),
            retransmission: again,
        });
        if let Some(rate) = self.congestion.pacing_rate() {
            let wire = Bytes(u64::from(end.sizes.wire(payload as u32)));
            self.release = begin + rate.transmission_time(wire);
        }
        // RFC 6298, section 5: (5.1) started if it is not running.
        if !self.timer.is_set() {
            let value = self.timeout.value();
            self.timer.set(sent + value, tokens.retransmission, fx);
        }
    }

    /// Sends a SYN or a FIN and waits for the answer; returns when that was.
    fn control<A: Agenda<Event>>(
        &mut self,
        flag: u8,
        end: Endpoint<'_>,
        tokens: Tokens,
        fx: &mut Effects<'_, A>,
    ) -> Time {
        let header = Header {
            flags: FORWARD | flag,
            ..Header::default()
        };
        let begin = end.send(header, self.measure.options(fx.now()), false, fx);
        let sent = self.measure.counted_from(begin, fx.now());
        let value = self.timeout.value();
        self.timer.set(sent + value, tokens.retransmission, fx);
        sent
    }

    fn acknowledge<A: Agenda<Event>>(
        &self,
        acknowledgement: u64,
        end: Endpoint<'_>,
        fx: &mut Effects<'_, A>,
    ) {
        let header = Header {
            acknowledgement,
            flags: FORWARD | ACK,
            ..Header::default()
        };
        end.send(header, self.measure.options(fx.now()), false, fx);
    }

    /// The pacing timer's event fires.
    pub fn on_pacing<A: Agenda<Event>>(
        &mut self,
        end: Endpoint<'_>,
        tokens: Tokens,
        fx: &mut Effects<'_, A>,
    ) {
        if self.pacing.expired(tokens.pacing, fx) {
            self.send_allowed(end, tokens, fx);
        }
    }

    /// Counts an expiration of the retransmission timer; says whether nothing new was
    /// acknowledged since the last one of data or of the FIN.
    fn count_timeout(&mut self) -> bool {
        self.timeouts += 1;
        if self.state == State::SynSent {
            self.attempts += 1;
            return false;
        }
        let first = self.flight.unacknowledged;
        let repeated = std::mem::replace(&mut self.timed_out_at, first) == first;
        self.attempts = if repeated { self.attempts + 1 } else { 1 };
        repeated
    }

    /// The retransmission timer's event fires; `most` is how often it may repeat something.
    pub fn on_timer<A: Agenda<Event>>(
        &mut self,
        most: u32,
        end: Endpoint<'_>,
        tokens: Tokens,
        fx: &mut Effects<'_, A>,
    ) {
        if !self.timer.expired(tokens.retransmission, fx) {
            return;
        }
        let repeated = self.count_timeout();
        // RFC 9293, section 3.8.3, (b): the connection is closed at R2 retransmissions.
        if self.attempts > most {
            self.state = State::GaveUp;
            self.pacing.clear();
            return;
        }
        self.timeout.on_timeout();
        match self.state {
            State::SynSent => {
                self.syn_sent = Time::NEVER;
                self.control(SYN, end, tokens, fx);
            }
            State::FinWait => {
                self.control(FIN, end, tokens, fx);
            }
            State::Established => {
                self.congestion.on_timeout(&Timeout {
                    at: fx.now(),
                    in_flight: self.flight.outstanding(),
                    repeated,
                });
                self.recovery.on_timeout(&self.flight);
                // RFC 6298, section 5, (5.4) to (5.6): the earliest segment again, the timer anew.
                // Everything in flight is taken for lost and sent again (go-back-N).
                self.flight.rewind();
                self.send_allowed(end, tokens, fx);
                self.trace(end, fx);
            }
            State::Idle | State::Closed | State::GaveUp => {
                unreachable!("no timer runs in this state")
            }
        }
    }

    /// Notes the window, if the flow is traced.
    #[inline]
    fn trace<A: Agenda<Event>>(&self, end: Endpoint<'_>, fx: &mut Effects<'_, A>) {
        let now = fx.now();
        let Some(trace) = fx.trace(end.id) else {
            return;
        };
        let congestion = &*self.congestion;
        let (window, threshold) = (congestion.exact_window(), congestion.slow_start_threshold());
        trace.windows.push(TraceWindow {
            time: now,
            flow: end.id,
            window,
            inflation: self.recovery.inflation(),
            threshold,
            in_flight: self.flight.outstanding(),
            rtt: trace.newest_sample(end.id),
            rto: self.timeout.value(),
            state: match self.recovery.phase(&self.flight) {
                Phase::Recovery => TraceState::Recovery,
                Phase::Loss => TraceState::Loss,
                Phase::Open if window < threshold => TraceState::SlowStart,
                Phase::Open => TraceState::Avoidance,
            },
        });
    }
}
