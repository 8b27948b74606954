//! What a sender measures: round-trip times and delivery rates.

use crate::cc::DeliveryRate;
use crate::delivery_rate::DeliveryRates;
use crate::flight::{Covered, Flight};
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
    /// None: the law does not ask for them.
    delivery_rates: Option<Box<DeliveryRates>>,
}

impl Measure {
    /// Nothing measured yet.
    pub fn new(clock: Clock) -> Measure {
        Measure {
            clock,
            timed: 0,
            timed_at: Time::NEVER,
            delivery_rates: None,
        }
    }

    /// Delivery rates are wanted, too, of what is sent from now on.
    pub fn want_delivery_rates(&mut self, now: Time) {
        self.delivery_rates = Some(Box::new(DeliveryRates::new(now)));
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

    /// A segment was sent, perhaps again; the flight knows already.
    #[inline]
    pub fn on_sent(&mut self, sequence: u64, sent: Time, again: bool, flight: &Flight) {
        if let Some(rates) = &mut self.delivery_rates {
            rates.on_sent(sequence, sent, flight);
        }
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

    /// The delivery rate that an acknowledgement of new data tells, if one is wanted.
    #[inline]
    pub fn delivery_rate(&mut self, flight: &Flight, now: Time) -> Option<DeliveryRate> {
        self.delivery_rates.as_mut()?.on_ack(flight, now)
    }
}
