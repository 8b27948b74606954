//! The end of a flow that wants the data.

use crate::segment::{Endpoint, ACK, FIN, FIN_ACKNOWLEDGED, SYN};
use crate::timer::Timer;
use crate::TimeoutPolicy;
use lightburst_des::Agenda;
use lightburst_net::{Effects, Event, Header};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Listen,
    SynReceived,
    Established,
    LastAck,
    Closed,
}

/// The receiving end of one flow.
pub struct Receiver {
    state: State,
    /// Next byte expected (RCV.NXT).
    expected: u64,
    timer: Timer,
    /// None: only the sender retransmits, and this end answers.
    timeout: Option<Box<dyn TimeoutPolicy>>,
}

impl Receiver {
    /// A receiver that waits for a SYN.
    pub fn new(timeout: Option<Box<dyn TimeoutPolicy>>) -> Receiver {
        Receiver {
            state: State::Listen,
            expected: 0,
            timer: Timer::default(),
            timeout,
        }
    }

    /// Useful bytes received in order.
    pub fn received(&self) -> u64 {
        self.expected
    }

    /// A segment from the sender arrives.
    #[inline]
    pub fn on_segment<A: Agenda<Event>>(
        &mut self,
        header: &Header,
        end: Endpoint<'_>,
        token: u64,
        fx: &mut Effects<'_, A>,
    ) {
        if self.state == State::Closed {
            return;
        }
        if header.flags & SYN != 0 {
            self.on_syn(end, token, fx);
        } else if header.flags & FIN != 0 {
            self.state = State::LastAck;
            self.answer(FIN, end, token, fx);
        } else if header.payload > 0 {
            self.on_data(header, end, fx);
        } else {
            self.on_ack(header.acknowledgement);
        }
    }

    fn on_syn<A: Agenda<Event>>(&mut self, end: Endpoint<'_>, token: u64, fx: &mut Effects<'_, A>) {
        if matches!(self.state, State::Listen | State::SynReceived) {
            self.state = State::SynReceived;
            self.answer(SYN, end, token, fx);
        } else {
            // RFC 9293, section 3.10.7.4: a SYN in a synchronised state is answered with an ACK.
            self.acknowledge(0, end, fx);
        }
    }

    #[inline]
    fn on_data<A: Agenda<Event>>(
        &mut self,
        header: &Header,
        end: Endpoint<'_>,
        fx: &mut Effects<'_, A>,
    ) {
        if self.state == State::SynReceived {
            self.state = State::Established;
            self.timer.clear();
        }
        if header.sequence == self.expected {
            self.expected += u64::from(header.payload);
        }
        self.acknowledge(0, end, fx);
    }

    fn on_ack(&mut self, acknowledgement: u64) {
        match self.state {
            State::SynReceived => self.state = State::Established,
            // An ACK of a duplicate SYN+ACK may still be under way: it closes nothing.
            State::LastAck if acknowledgement == FIN_ACKNOWLEDGED => self.state = State::Closed,
            _ => return,
        }
        self.timer.clear();
    }

    /// Sends a SYN or FIN with an acknowledgement; waits for the answer if it has a timer.
    fn answer<A: Agenda<Event>>(
        &mut self,
        flag: u8,
        end: Endpoint<'_>,
        token: u64,
        fx: &mut Effects<'_, A>,
    ) {
        let start = self.acknowledge(flag, end, fx);
        if let Some(timeout) = &self.timeout {
            self.timer.set(start + timeout.value(), token, fx);
        }
    }

    #[inline]
    fn acknowledge<A: Agenda<Event>>(
        &self,
        flag: u8,
        end: Endpoint<'_>,
        fx: &mut Effects<'_, A>,
    ) -> lightburst_des::Time {
        let header = Header {
            acknowledgement: self.expected,
            flags: flag | ACK,
            ..Header::default()
        };
        end.send(header, fx)
    }

    /// The timer's event fires: SYN+ACK or FIN+ACK is sent again.
    pub fn on_timer<A: Agenda<Event>>(
        &mut self,
        end: Endpoint<'_>,
        token: u64,
        fx: &mut Effects<'_, A>,
    ) {
        if !self.timer.expired(token, fx) {
            return;
        }
        if let Some(timeout) = &mut self.timeout {
            timeout.on_timeout();
        }
        let flag = if self.state == State::SynReceived {
            SYN
        } else {
            FIN
        };
        self.answer(flag, end, token, fx);
    }
}
