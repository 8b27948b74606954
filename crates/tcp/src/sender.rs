//! The end of a flow that has the data.

use crate::cc::{Ack, Sent, Timeout};
use crate::flight::{Covered, Flight};
use crate::measure::Measure;
use crate::recovery::{Candidate, Context, Phase, Reaction, TimerAction};
use crate::segment::{Endpoint, ACK, FIN, FIN_ACKNOWLEDGED, FORWARD, SYN, SYN_ACKNOWLEDGED};
use crate::timer::Timer;
use crate::transport::Transport;
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
}

/// The timers of a sender, told apart by their tokens.
#[derive(Clone, Copy)]
pub struct Tokens {
    /// Retransmission.
    pub retransmission: u64,
    /// Pacing.
    pub pacing: u64,
}

/// The sending end of one flow.
pub struct Sender {
    state: State,
    flight: Flight,
    transport: Transport,
    timer: Timer,
    pacing: Timer,
    /// When pacing lets the next segment leave.
    release: Time,
    /// When the SYN was sent; none once it was sent again.
    syn_start: Option<Time>,
    measure: Measure,
    /// First byte not acknowledged when the timer expired last.
    timed_out_at: Option<u64>,
    /// Arrival of the acknowledgement of the last byte.
    pub end: Time,
    /// Data segments sent.
    pub transmissions: u32,
    /// Data segments sent again.
    pub retransmissions: u32,
    /// Expirations of the retransmission timer.
    pub timeouts: u32,
}

impl Sender {
    /// A sender of `size` useful bytes in segments of `full`.
    pub fn new(size: u64, full: u32, transport: Transport) -> Sender {
        Sender {
            state: State::Idle,
            flight: Flight::new(size, full, transport.advertised),
            measure: Measure::new(transport.clock),
            transport,
            timer: Timer::default(),
            pacing: Timer::default(),
            release: Time::ZERO,
            syn_start: None,
            timed_out_at: None,
            end: Time::NEVER,
            transmissions: 0,
            retransmissions: 0,
            timeouts: 0,
        }
    }

    /// Whether it was started.
    pub fn started(&self) -> bool {
        self.state != State::Idle
    }

    /// Sends the SYN.
    pub fn start<A: Agenda<Event>>(
        &mut self,
        end: Endpoint<'_>,
        tokens: Tokens,
        fx: &mut Effects<'_, A>,
    ) {
        self.state = State::SynSent;
        self.syn_start = Some(self.control(SYN, end, tokens, fx));
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
            self.on_syn_ack(end, tokens, fx);
        } else if header.flags & FIN != 0 {
            self.on_fin_ack(end, fx);
        } else if self.state == State::Established {
            self.on_ack(header.acknowledgement, options, end, tokens, fx);
        }
    }

    fn on_syn_ack<A: Agenda<Event>>(
        &mut self,
        end: Endpoint<'_>,
        tokens: Tokens,
        fx: &mut Effects<'_, A>,
    ) {
        acknowledge(SYN_ACKNOWLEDGED, end, fx);
        if self.state != State::SynSent {
            return;
        }
        self.state = State::Established;
        self.timer.clear();
        let now = fx.now();
        self.transport
            .timeout
            .on_established(self.syn_start.is_none());
        if let Some(start) = self.syn_start {
            self.sample(now.since(start));
        }
        self.measure.begin(now);
        self.send_allowed(end, tokens, fx);
        self.trace(end, fx);
    }

    fn on_fin_ack<A: Agenda<Event>>(&mut self, end: Endpoint<'_>, fx: &mut Effects<'_, A>) {
        if matches!(self.state, State::FinWait | State::Closed) {
            self.state = State::Closed;
            self.timer.clear();
            acknowledge(FIN_ACKNOWLEDGED, end, fx);
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
        let news =
            !blocks.is_empty() && self.transport.recovery.on_blocks(blocks, &mut self.flight);
        match covered {
            Some(covered) => self.on_new_ack(covered, options, end, tokens, fx),
            // RFC 5681, section 2: a duplicate, since data is outstanding.
            None if acknowledgement == self.flight.unacknowledged
                && self.flight.highest > acknowledgement =>
            {
                let reaction = self.transport.recovery.on_duplicate(
                    news,
                    &mut context(&mut self.flight, &mut *self.transport.congestion, fx),
                );
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
            self.sample(rtt);
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
        let reaction = self.transport.recovery.on_ack(
            &ack,
            &mut context(&mut self.flight, &mut *self.transport.congestion, fx),
        );
        if self.flight.unacknowledged == self.flight.size {
            self.timer.clear();
            self.end = now;
            self.state = State::FinWait;
            self.control(FIN, end, tokens, fx);
            return;
        }
        // RFC 6298, section 5: (5.2) all acknowledged: off.
        if self.flight.outstanding() == 0 {
            self.timer.clear();
        }
        self.react(reaction, end, tokens, fx);
        self.send_allowed(end, tokens, fx);
    }

    fn sample(&mut self, rtt: Duration) {
        self.measure.rtt = Some(rtt);
        self.transport.timeout.on_sample(rtt);
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
        } else if restart && self.flight.outstanding() > 0 {
            // RFC 6298, section 5: (5.3) new data acknowledged: restarted.
            let value = self.transport.timeout.value();
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
            let congestion = &*self.transport.congestion;
            let candidate = self.transport.recovery.candidate(&self.flight, congestion);
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
        let window = self.transport.congestion.window() / u64::from(self.flight.full);
        let header = Header {
            sequence,
            payload: payload as u32,
            flags: FORWARD | ACK,
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
        self.transport.recovery.on_sent(candidate, &mut self.flight);
        self.transmissions += 1;
        self.retransmissions += u32::from(again);
        self.transport.congestion.on_sent(&Sent {
            at: sent,
            bytes: payload,
            in_flight: self.flight.outstanding(),
            retransmission: again,
        });
        if let Some(rate) = self.transport.congestion.pacing_rate() {
            let wire = Bytes(u64::from(end.sizes.wire(payload as u32)));
            self.release = begin + rate.transmission_time(wire);
        }
        // RFC 6298, section 5: (5.1) started if it is not running.
        if !self.timer.is_set() {
            let value = self.transport.timeout.value();
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
        let begin = end.send(header, None, false, fx);
        let sent = self.measure.counted_from(begin, fx.now());
        let value = self.transport.timeout.value();
        self.timer.set(sent + value, tokens.retransmission, fx);
        sent
    }

    /// The pacing timer's event fires.
    pub fn on_pacing<A: Agenda<Event>>(
        &mut self,
        end: Endpoint<'_>,
        tokens: Tokens,
        fx: &mut Effects<'_, A>,
    ) {
        if self.pacing.expired(tokens.pacing, fx) && self.state == State::Established {
            self.send_allowed(end, tokens, fx);
        }
    }

    /// The retransmission timer's event fires.
    pub fn on_timer<A: Agenda<Event>>(
        &mut self,
        end: Endpoint<'_>,
        tokens: Tokens,
        fx: &mut Effects<'_, A>,
    ) {
        if !self.timer.expired(tokens.retransmission, fx) {
            return;
        }
        self.timeouts += 1;
        self.transport.timeout.on_timeout();
        match self.state {
            State::SynSent => {
                self.syn_start = None;
                self.control(SYN, end, tokens, fx);
            }
            State::FinWait => {
                self.control(FIN, end, tokens, fx);
            }
            State::Established => {
                let first = self.flight.unacknowledged;
                let repeated = self.timed_out_at.replace(first) == Some(first);
                self.transport.congestion.on_timeout(&Timeout {
                    at: fx.now(),
                    in_flight: self.flight.outstanding(),
                    repeated,
                });
                self.transport.recovery.on_timeout(&mut self.flight);
                // Everything in flight is taken for lost and sent again (go-back-N).
                self.flight.rewind();
                self.measure.stop();
                self.send_allowed(end, tokens, fx);
                self.trace(end, fx);
            }
            State::Idle | State::Closed => unreachable!("no timer runs in this state"),
        }
    }

    /// Notes the window, if the flow is traced.
    #[inline]
    fn trace<A: Agenda<Event>>(&self, end: Endpoint<'_>, fx: &mut Effects<'_, A>) {
        let now = fx.now();
        let Some(trace) = fx.trace(end.id) else {
            return;
        };
        let congestion = &*self.transport.congestion;
        let (window, threshold) = (congestion.exact_window(), congestion.slow_start_threshold());
        trace.windows.push(TraceWindow {
            time: now,
            flow: end.id,
            window,
            inflation: self.transport.recovery.inflation(),
            threshold,
            in_flight: self.flight.outstanding(),
            rtt: self.measure.rtt,
            rto: self.transport.timeout.value(),
            state: match self.transport.recovery.phase(&self.flight) {
                Phase::Recovery => TraceState::Recovery,
                Phase::Loss => TraceState::Loss,
                Phase::Open if window < threshold => TraceState::SlowStart,
                Phase::Open => TraceState::Avoidance,
            },
        });
    }
}

/// What the recovery works with.
fn context<'a, A: Agenda<Event>>(
    flight: &'a mut Flight,
    congestion: &'a mut dyn crate::CongestionControl,
    fx: &Effects<'_, A>,
) -> Context<'a> {
    Context {
        flight,
        congestion,
        now: fx.now(),
    }
}

fn acknowledge<A: Agenda<Event>>(acknowledgement: u64, end: Endpoint<'_>, fx: &mut Effects<'_, A>) {
    let header = Header {
        acknowledgement,
        flags: FORWARD | ACK,
        ..Header::default()
    };
    end.send(header, None, false, fx);
}
