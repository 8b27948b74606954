//! A sender whose recovery goes by times of sending: the recovery hears each acknowledgement whole
//! and keeps the sender's one timer.

use super::echo::Feedback;
use super::{Sender, State};
use crate::cc::Ack;
use crate::flight::audit::Cause;
use crate::measure::rates::PathModel;
use crate::recovery::timed::{Arrival, Counts, Heard, Timed};
use crate::recovery::SenderState;
use crate::wire::host_timer::HostTimer;
use crate::wire::segment::{Endpoint, ECE};
use lightburst_des::{Duration, Time};
use lightburst_net::{Bytes, Header, Options};

/// Least round trip of a recovery that counts microseconds.
const LEAST_ROUND_TRIP: Duration = Duration(1_000_000);

/// State of a sender at one instant.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot {
    /// Congestion window in bytes.
    pub cwnd: f64,
    /// Slow-start threshold in bytes.
    pub ssthresh: f64,
    /// Retransmission timeout.
    pub timeout: Duration,
    /// Smoothed round-trip time; `None` before the first sample.
    pub round_trip: Option<Duration>,
    /// Segments retransmitted so far.
    pub retransmissions: u64,
    /// Marked segments of which the receiver has told, if it counts them; otherwise 0.
    pub marks: u64,
    /// Counts of the recovery.
    pub counts: Counts,
    /// Model of the path, if the law has one.
    pub model: Option<PathModel>,
}

impl Sender {
    /// Calls the recovery with the state of the sender.
    fn ask<T>(
        &mut self,
        end: &Endpoint<'_, '_>,
        question: impl FnOnce(&mut dyn Timed, &mut SenderState<'_>) -> T,
    ) -> T {
        let state = &mut SenderState::new(
            &mut self.flight,
            &mut self.congestion,
            &mut *self.timeout,
            end.now(),
        );
        question(self.recovery.timed().expect("a timed recovery"), state)
    }

    /// Notes the end of the handshake.
    pub(super) fn start_timed(&mut self, end: &mut Endpoint<'_, '_>) {
        let sent = Some(self.syn_sent).filter(|sent| *sent != Time::NEVER);
        let rtt = sent.map(|sent| end.now().since(sent));
        self.measure.paced_by_recovery = self.ask(end, |recovery, state| {
            recovery.on_established(rtt, state);
            recovery.paces()
        });
    }

    /// Handles an acknowledgement.
    pub(super) fn on_timed_ack(
        &mut self,
        header: &Header,
        options: Option<&Options>,
        end: &mut Endpoint<'_, '_>,
    ) {
        let acknowledgement = header.acknowledgement;
        let before = self.flight.snd_una;
        let mut ack = Ack {
            at: end.now(),
            ecn_echo: header.flags & ECE != 0,
            ..Ack::default()
        };
        if acknowledgement > before {
            self.audit_acknowledged(acknowledgement, end);
            ack.bytes = self.flight.acknowledge(acknowledgement).bytes;
            ack.delivery_rate = self.measure.delivery_rate(&self.flight, end.now());
        }
        if acknowledgement > before || (acknowledgement == before && !self.flight.is_acknowledged())
        {
            self.hear_marks(&mut ack, header, options);
        }
        let echoed = options.map(|options| options.echo);
        let arrival = Arrival {
            acknowledgement,
            before,
            blocks: options.map_or(&[][..], Options::blocks),
            echo: ack.ecn_echo,
            reduces: self.measure.ecn,
            timestamp: echoed.filter(|echoed| *echoed != Time::NEVER),
        };
        let heard = self.ask(end, |recovery, state| {
            recovery.on_acknowledgement(&arrival, state)
        });
        // No law divides by a round trip of 0.
        ack.rtt = heard.rtt.map(|rtt| rtt.max(LEAST_ROUND_TRIP));
        ack.in_flight = self.flight.flight_size();
        self.report(&ack);
        self.note(&heard, end);
        if !self.finish(end) {
            self.send_allowed(end);
            self.end_timed_event(end);
        }
        self.tell_window(end);
    }

    /// Reports the findings of the recovery.
    fn note(&mut self, heard: &Heard, end: &mut Endpoint<'_, '_>) {
        if let Some(rtt) = heard.rtt {
            self.tell_round_trip(rtt, end);
        }
        if heard.reduced {
            self.note_reduction();
        }
        if heard.entered {
            self.decide(Cause::FastRetransmit, end);
        }
    }

    /// Handles an expiry of the timer that is no timeout; returns whether it is none.
    pub(super) fn on_look(&mut self, end: &mut Endpoint<'_, '_>) -> bool {
        let Some(heard) = self.ask(end, |recovery, state| recovery.on_look(state)) else {
            return false;
        };
        self.note(&heard, end);
        self.resume(end);
        self.tell_window(end);
        true
    }

    /// Continues to send where pacing or the interface had held segments back.
    pub(super) fn on_room(&mut self, end: &mut Endpoint<'_, '_>) {
        if self.measure.by_recovery {
            self.ask(end, |recovery, _| recovery.on_room());
        }
        self.resume(end);
    }

    /// Delays the next segment as the recovery paces.
    pub(super) fn pace(&mut self, payload: u32, end: &Endpoint<'_, '_>) {
        let wire = Bytes(u64::from(end.sizes.wire(payload)));
        self.release = self.ask(end, |recovery, state| {
            recovery.release(payload, wire.0, state)
        });
    }

    /// Sets the timer as the recovery has it, after all was sent that may be sent.
    pub(super) fn end_timed_event(&mut self, end: &mut Endpoint<'_, '_>) {
        if self.state != State::Established {
            return;
        }
        let deadline = self.ask(end, |recovery, state| recovery.after_sending(state));
        match deadline {
            Time::NEVER => self.timer.clear(),
            _ => self
                .timer
                .set(deadline.max(end.now()), HostTimer::Sender, end),
        }
    }

    /// Tells a timed recovery that the application writes, before the data is there.
    pub(super) fn tell_of_write(&mut self, end: &Endpoint<'_, '_>) {
        if self.measure.by_recovery {
            self.ask(end, |recovery, state| recovery.on_write(u64::MAX, state));
        }
    }

    /// Has the application write up to `bytes` in all; the recovery must be timed.
    pub fn write(&mut self, bytes: u64, end: &mut Endpoint<'_, '_>) {
        self.ask(end, |recovery, state| recovery.on_write(bytes, state));
        if self.state == State::Established {
            self.resume(end);
        }
    }

    /// Notes the receive window in bytes of an acknowledgement that is handled next. One that is
    /// older than the newest tells nothing.
    pub fn hear_window(&mut self, acknowledgement: u64, window: u64) {
        if acknowledgement >= self.flight.snd_una {
            let grows = self.flight.advertise(window);
            if let Some(recovery) = self.recovery.timed().filter(|_| grows) {
                recovery.expect_window(true);
            }
        }
    }

    /// Notes that the sender answered the SYN of its peer: the acknowledgement of its answer told the
    /// window. Called before the connection begins.
    pub fn accept(&mut self) {
        if let Some(recovery) = self.recovery.timed() {
            recovery.expect_window(false);
        }
    }

    /// Returns the end of the data ever sent.
    pub fn sent(&self) -> u64 {
        self.flight.snd_max
    }

    /// Returns the present state of a timed recovery and of its window and timeout.
    pub fn snapshot(&mut self) -> Option<Snapshot> {
        let counts = self.recovery.timed()?.counts();
        let window = *self.congestion.window();
        Some(Snapshot {
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            timeout: self.timeout.value(),
            round_trip: self.timeout.smoothed(),
            retransmissions: self.retransmissions,
            marks: self.feedback.as_deref().map_or(0, Feedback::marked),
            counts,
            model: self.congestion.model(),
        })
    }
}
