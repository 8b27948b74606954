//! What a sender measures: round-trip times and delivery rates.

use crate::cc::DeliveryRate;
use crate::flight::{Covered, Flight, Segment};
use crate::transport::Clock;
use lightburst_des::{Duration, Time};
use lightburst_net::Options;

/// The measurements of one sender.
pub struct Measure {
    clock: Clock,
    /// The byte after the one segment that is timed, and when it was sent;
    /// [`Time::NEVER`]: none is.
    timed: u64,
    timed_at: Time,
    /// When data was acknowledged last.
    delivered_at: Time,
    /// Sending time of the newest segment acknowledged.
    first_sent: Time,
}

impl Measure {
    /// Nothing measured yet.
    pub fn new(clock: Clock) -> Measure {
        Measure {
            clock,
            timed: 0,
            timed_at: Time::NEVER,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
        }
    }

    /// Data may be sent.
    pub fn begin(&mut self, now: Time) {
        self.delivered_at = now;
        self.first_sent = now;
    }

    /// From when on the timer and the round trip of a segment count.
    #[inline]
    pub fn counted_from(&self, transmission: Time, hand_over: Time) -> Time {
        match self.clock {
            Clock::Transmission => transmission,
            _ => hand_over,
        }
    }

    /// The options of a segment: RFC 7323, section 3.2, wants them in every one.
    #[inline]
    pub fn options(&self, now: Time) -> Option<Options> {
        (self.clock == Clock::Timestamps).then(|| Options::stamped(now))
    }

    /// The record of a segment that is sent now.
    #[inline]
    pub fn segment(&self, sent: Time, flight: &Flight) -> Segment {
        Segment {
            sent,
            delivered: flight.snd_una,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            retransmitted: false,
        }
    }

    /// A segment was sent, perhaps again; the flight knows already.
    #[inline]
    pub fn on_sent(&mut self, sent: Time, again: bool, flight: &Flight) {
        if again {
            // Karn: it may be the one that is timed, which tells nothing then.
            self.stop();
        } else if self.clock == Clock::OneAtATime && self.timed_at == Time::NEVER {
            self.timed = flight.snd_max;
            self.timed_at = sent;
        }
    }

    #[inline]
    fn stop(&mut self) {
        self.timed_at = Time::NEVER;
    }

    /// The round-trip time that an acknowledgement of new data tells.
    #[inline]
    pub fn round_trip(
        &mut self,
        covered: &Covered,
        options: Option<&Options>,
        flight: &Flight,
        now: Time,
    ) -> Option<Duration> {
        self.delivered_at = now;
        match self.clock {
            // Karn: no sample from a segment that was sent more than once.
            Clock::Transmission | Clock::EveryAcknowledgement => covered
                .newest
                .filter(|_| !covered.retransmitted)
                .map(|segment| now.since(segment.sent)),
            Clock::OneAtATime => {
                let sent = self.timed_at;
                if sent == Time::NEVER || self.timed > flight.snd_una {
                    return None;
                }
                self.stop();
                Some(now.since(sent))
            }
            // RFC 7323, section 4.1: from an acknowledgement of new data.
            Clock::Timestamps => options
                .filter(|options| options.echo != Time::NEVER)
                .map(|options| now.since(options.echo)),
        }
    }

    /// draft-ietf-ccwg-bbr, section 4.1.2: the interval is the longer of the
    /// one in which the data was sent and the one in which it was acknowledged.
    #[inline]
    pub fn delivery_rate(&mut self, newest: &Segment, flight: &Flight, now: Time) -> DeliveryRate {
        self.first_sent = newest.sent;
        let sending = newest.sent.0.saturating_sub(newest.first_sent.0);
        let acknowledging = now.since(newest.delivered_at).0;
        DeliveryRate {
            delivered: flight.snd_una - newest.delivered,
            interval: Duration(sending.max(acknowledging)),
        }
    }
}
