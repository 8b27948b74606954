//! The end of a flow that has the data.

use crate::cc::{Ack, DeliveryRate, Sent, Timeout, Transport};
use crate::segment::{Endpoint, ACK, FIN, FIN_ACKNOWLEDGED, FORWARD, SYN, SYN_ACKNOWLEDGED};
use crate::timer::Timer;
use lightburst_des::{Agenda, Duration, Time};
use lightburst_net::{Bytes, Effects, Event, Header};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    SynSent,
    Established,
    FinWait,
    Closed,
}

/// A segment in flight.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    /// The byte after its last.
    end: u64,
    /// Beginning of its transmission on the network interface.
    start: Time,
    retransmission: bool,
    /// Useful bytes delivered when it was sent, and when the last of them was.
    delivered: u64,
    delivered_at: Time,
    /// Sending time of the segment whose acknowledgement came last before it was sent.
    first_sent: Time,
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
    size: u64,
    /// First byte not acknowledged (SND.UNA), next byte to send (SND.NXT), and
    /// the byte after the last one ever sent.
    unacknowledged: u64,
    next: u64,
    highest: u64,
    in_flight: VecDeque<InFlight>,
    transport: Transport,
    timer: Timer,
    pacing: Timer,
    /// When pacing lets the next segment leave.
    release: Time,
    /// Beginning of the transmission of the SYN; none once it was sent again.
    syn_start: Option<Time>,
    delivered_at: Time,
    first_sent: Time,
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
    /// A sender of `size` useful bytes, with room for `window` segments in flight.
    pub fn new(size: u64, transport: Transport, window: usize) -> Sender {
        Sender {
            state: State::Idle,
            size,
            unacknowledged: 0,
            next: 0,
            highest: 0,
            in_flight: VecDeque::with_capacity(window),
            transport,
            timer: Timer::default(),
            pacing: Timer::default(),
            release: Time::ZERO,
            syn_start: None,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
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
        end: Endpoint<'_>,
        tokens: Tokens,
        fx: &mut Effects<'_, A>,
    ) {
        if header.flags & SYN != 0 {
            self.on_syn_ack(end, tokens, fx);
        } else if header.flags & FIN != 0 {
            self.on_fin_ack(end, fx);
        } else if self.state == State::Established && header.acknowledgement > self.unacknowledged {
            self.on_new_ack(header.acknowledgement, end, tokens, fx);
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
        if let Some(start) = self.syn_start {
            self.transport.timeout.on_sample(now.since(start));
        }
        self.delivered_at = now;
        self.first_sent = now;
        self.send_window(end, tokens, fx);
    }

    fn on_fin_ack<A: Agenda<Event>>(&mut self, end: Endpoint<'_>, fx: &mut Effects<'_, A>) {
        if matches!(self.state, State::FinWait | State::Closed) {
            self.state = State::Closed;
            self.timer.clear();
            acknowledge(FIN_ACKNOWLEDGED, end, fx);
        }
    }

    #[inline]
    fn on_new_ack<A: Agenda<Event>>(
        &mut self,
        acknowledgement: u64,
        end: Endpoint<'_>,
        tokens: Tokens,
        fx: &mut Effects<'_, A>,
    ) {
        let now = fx.now();
        let bytes = acknowledgement - self.unacknowledged;
        self.unacknowledged = acknowledgement;
        self.next = self.next.max(acknowledgement);
        self.delivered_at = now;
        let mut newest = None;
        while self
            .in_flight
            .front()
            .is_some_and(|segment| segment.end <= acknowledgement)
        {
            newest = self.in_flight.pop_front();
        }
        // Karn: no sample from a segment that was sent more than once.
        let rtt = newest
            .filter(|s| !s.retransmission)
            .map(|s| now.since(s.start));
        if let Some(rtt) = rtt {
            self.transport.timeout.on_sample(rtt);
        }
        let delivery_rate = newest.map(|segment| self.delivery_rate(&segment, now));
        let in_flight = self.next - self.unacknowledged;
        let ack = Ack {
            at: now,
            bytes,
            in_flight,
            rtt,
            delivery_rate,
        };
        self.transport.congestion.on_ack(&ack);
        // RFC 6298, section 5: (5.2) all acknowledged: off; (5.3) otherwise restarted.
        self.timer.clear();
        if in_flight > 0 {
            self.timer.set(
                now + self.transport.timeout.value(),
                tokens.retransmission,
                fx,
            );
        }
        if acknowledgement == self.size {
            self.end = now;
            self.state = State::FinWait;
            self.control(FIN, end, tokens, fx);
        } else {
            self.send_window(end, tokens, fx);
        }
    }

    /// draft-ietf-ccwg-bbr, section 4.1.2: the interval is the longer of the
    /// one in which the data was sent and the one in which it was acknowledged.
    fn delivery_rate(&mut self, segment: &InFlight, now: Time) -> DeliveryRate {
        self.first_sent = segment.start;
        let sending = segment.start.0.saturating_sub(segment.first_sent.0);
        let acknowledging = now.since(segment.delivered_at).0;
        DeliveryRate {
            delivered: self.unacknowledged - segment.delivered,
            interval: Duration(sending.max(acknowledging)),
        }
    }

    /// Sends what the window and the pacing allow.
    #[inline]
    fn send_window<A: Agenda<Event>>(
        &mut self,
        end: Endpoint<'_>,
        tokens: Tokens,
        fx: &mut Effects<'_, A>,
    ) {
        while self.next < self.size {
            let payload = (self.size - self.next).min(u64::from(end.sizes.payload()));
            let in_flight = self.next - self.unacknowledged + payload;
            let first = self.next == self.unacknowledged;
            if !first && in_flight > self.transport.congestion.window() {
                return;
            }
            if self.release > fx.now() {
                self.pacing.set(self.release, tokens.pacing, fx);
                return;
            }
            self.send_segment(payload as u32, end, tokens, fx);
        }
    }

    #[inline]
    fn send_segment<A: Agenda<Event>>(
        &mut self,
        payload: u32,
        end: Endpoint<'_>,
        tokens: Tokens,
        fx: &mut Effects<'_, A>,
    ) {
        let header = Header {
            sequence: self.next,
            payload,
            flags: FORWARD | ACK,
            ..Header::default()
        };
        let start = end.send(header, fx);
        let retransmission = self.next < self.highest;
        self.next += u64::from(payload);
        self.highest = self.highest.max(self.next);
        self.transmissions += 1;
        self.retransmissions += u32::from(retransmission);
        self.in_flight.push_back(InFlight {
            end: self.next,
            start,
            retransmission,
            delivered: self.unacknowledged,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
        });
        let bytes = u64::from(payload);
        let in_flight = self.next - self.unacknowledged;
        self.transport.congestion.on_sent(&Sent {
            at: start,
            bytes,
            in_flight,
            retransmission,
        });
        if let Some(rate) = self.transport.congestion.pacing_rate() {
            let wire = Bytes(u64::from(end.sizes.wire(payload)));
            self.release = start + rate.transmission_time(wire);
        }
        // RFC 6298, section 5: (5.1) started if it is not running.
        if !self.timer.is_set() {
            self.timer.set(
                start + self.transport.timeout.value(),
                tokens.retransmission,
                fx,
            );
        }
    }

    /// Sends a SYN or a FIN and waits for the answer.
    fn control<A: Agenda<Event>>(
        &mut self,
        flag: u8,
        end: Endpoint<'_>,
        tokens: Tokens,
        fx: &mut Effects<'_, A>,
    ) -> Time {
        let start = end.send(
            Header {
                flags: FORWARD | flag,
                ..Header::default()
            },
            fx,
        );
        self.timer.set(
            start + self.transport.timeout.value(),
            tokens.retransmission,
            fx,
        );
        start
    }

    /// The pacing timer's event fires.
    pub fn on_pacing<A: Agenda<Event>>(
        &mut self,
        end: Endpoint<'_>,
        tokens: Tokens,
        fx: &mut Effects<'_, A>,
    ) {
        if self.pacing.expired(tokens.pacing, fx) && self.state == State::Established {
            self.send_window(end, tokens, fx);
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
                let in_flight = self.next - self.unacknowledged;
                let timeout = Timeout {
                    at: fx.now(),
                    in_flight,
                };
                self.transport.congestion.on_timeout(&timeout);
                // Everything in flight is taken for lost and sent again (go-back-N).
                self.in_flight.clear();
                self.next = self.unacknowledged;
                self.send_window(end, tokens, fx);
            }
            State::Idle | State::Closed => unreachable!("no timer runs in this state"),
        }
    }
}

fn acknowledge<A: Agenda<Event>>(acknowledgement: u64, end: Endpoint<'_>, fx: &mut Effects<'_, A>) {
    end.send(
        Header {
            acknowledgement,
            flags: FORWARD | ACK,
            ..Header::default()
        },
        fx,
    );
}
