//! What a sender measures: round-trip times, and what else its law wants to know.

use crate::cc::{DeliveryRate, Wants};
use crate::delivery_rate::DeliveryRates;
use crate::flight::{Covered, Flight};
use crate::report::Reports;
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
    /// Whether the law wants a round-trip time with each acknowledgement.
    round_trips: bool,
    /// None: the law does not ask for them.
    delivery_rates: Option<Box<DeliveryRates>>,
    /// None: the law does not ask for them.
    pub reports: Option<Box<Reports>>,
}

impl Measure {
    /// Nothing measured yet.
    pub fn new(clock: Clock) -> Measure {
        Measure {
            clock,
            timed: 0,
            timed_at: Time::NEVER,
            round_trips: false,
            delivery_rates: None,
            reports: None,
        }
    }

    /// A law wants this to be measured, too, of what is sent from now on.
    pub fn want(&mut self, wants: Wants, now: Time) {
        self.round_trips = wants.round_trips;
        self.delivery_rates = wants
            .delivery_rates
            .then(|| Box::new(DeliveryRates::new(now)));
        self.reports = wants
            .reports
            .then(|| Box::new(Reports::new(wants.round_trips)));
    }

    /// From when on the timer and the round trip of a segment count; [`Time::NEVER`] as long as its
    /// transmission has not begun, if they count from there.
    #[inline]
    pub fn counted_from(&self, transmission: Option<Time>, hand_over: Time) -> Time {
        match self.counts_transmissions() {
            true => transmission.unwrap_or(Time::NEVER),
            false => hand_over,
        }
    }

    /// Whether times count from the beginning of the transmission.
    #[inline]
    pub fn counts_transmissions(&self) -> bool {
        self.clock == Clock::Transmission
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

    /// The round-trip time that an acknowledgement of new data tells the timeout.
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
            Clock::Transmission | Clock::EveryAcknowledgement => covered.round_trip(now),
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

    /// The one that it tells the law, if it told the timeout `sample`.
    #[inline]
    pub fn round_trip_of_law(
        &self,
        sample: Option<Duration>,
        covered: &Covered,
        now: Time,
    ) -> Option<Duration> {
        match self.clock {
            Clock::OneAtATime if self.round_trips => covered.round_trip(now),
            _ => sample,
        }
    }

    /// The delivery rate that an acknowledgement of new data tells, if one is wanted.
    #[inline]
    pub fn delivery_rate(&mut self, flight: &Flight, now: Time) -> Option<DeliveryRate> {
        self.delivery_rates.as_mut()?.on_ack(flight, now)
    }
}
