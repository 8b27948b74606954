//! Measurements of a sender: round-trip times, and the optional inputs of its window law.

pub mod bbr;
pub(crate) mod delivery_rate;
pub mod rates;
pub mod report;
pub mod told;
pub mod windowed;

use crate::cc::{DeliveryRate, Wants};
use crate::flight::{Covered, Flight};
use crate::measure::delivery_rate::DeliveryRates;
use crate::measure::report::Reports;
use crate::transport::Clock;
use lightburst_des::{Duration, Time};
use lightburst_net::Options;

/// What a law hears beside acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// Nothing.
    Nothing,
    /// Telemetry of the outputs on the path.
    Telemetry,
    /// Pulls of the receiver, for which packets wait.
    Pulls,
}

/// The measurements of one sender.
pub struct Measure {
    clock: Clock,
    /// End of the segment that is timed, and the time from which it is timed; [`Time::NEVER`] if
    /// none is.
    timed: u64,
    timed_at: Time,
    /// Whether the recovery goes by times of sending: it then takes the samples and keeps the timer of
    /// the sender.
    pub by_recovery: bool,
    /// Whether an echo of a congestion mark reduces the window (RFC 3168).
    pub ecn: bool,
    /// Whether acknowledgements count marked segments (RFC 9768).
    pub accurate: bool,
    /// Whether the recovery paces, too.
    pub paced_by_recovery: bool,
    /// Whether the law hears of each transmission.
    pub by_transmission: bool,
    /// What the law hears beside acknowledgements.
    pub beside: Beside,
    /// Whether the law requests a round-trip time with each acknowledgement.
    round_trips: bool,
    /// `None` unless the law requests delivery rates.
    delivery_rates: Option<Box<DeliveryRates>>,
    /// `None` unless the law requests reports.
    pub reports: Option<Box<Reports>>,
}

impl Measure {
    /// Creates the state before the first measurement; `by_recovery`: the recovery takes the samples.
    pub fn new(clock: Clock, by_recovery: bool, ecn: bool, accurate: bool) -> Measure {
        Measure {
            clock,
            timed: 0,
            timed_at: Time::NEVER,
            by_recovery,
            ecn,
            accurate,
            paced_by_recovery: false,
            by_transmission: false,
            beside: Beside::Nothing,
            round_trips: false,
            delivery_rates: None,
            reports: None,
        }
    }

    /// Starts the optional measurements that a law requests, for segments sent from `now` on.
    pub fn want(&mut self, wants: Wants, now: Time) {
        self.round_trips = wants.round_trips;
        self.by_transmission = wants.transmissions;
        self.beside = match wants {
            Wants {
                telemetry: true, ..
            } => Beside::Telemetry,
            Wants { pulls: true, .. } => Beside::Pulls,
            _ => Beside::Nothing,
        };
        self.delivery_rates = wants
            .delivery_rates
            .then(|| Box::new(DeliveryRates::new(now)));
        self.reports = wants
            .reports
            .then(|| Box::new(Reports::new(wants.round_trips)));
    }

    /// Returns the time from which the timer and the round trip of a segment are counted: its
    /// hand-over to the interface or the start of its transmission. [`Time::NEVER`] if the
    /// transmission counts and has not started.
    #[inline]
    pub fn counted_from(&self, transmission: Option<Time>, hand_over: Time) -> Time {
        match self.counts_transmissions() {
            true => transmission.unwrap_or(Time::NEVER),
            false => hand_over,
        }
    }

    /// Returns whether times are counted from the start of the transmission.
    #[inline]
    pub fn counts_transmissions(&self) -> bool {
        self.clock == Clock::Transmission
    }

    /// Returns the options of a segment: a timestamp in every segment (RFC 7323, section 3.2), if
    /// timestamps are used.
    #[inline]
    pub fn options(&self, now: Time) -> Option<Options> {
        (self.clock == Clock::Timestamps).then(|| Options::stamped(now))
    }

    /// Returns the field of a segment for counts of marks, `field` if there are counts.
    #[inline]
    pub fn ace(&self, field: u8) -> u8 {
        if self.accurate {
            field
        } else {
            0
        }
    }

    /// Records the transmission of a segment, `again` if it was sent before; called after `flight`
    /// was updated.
    #[inline]
    pub fn on_sent(&mut self, sequence: u64, sent: Time, again: bool, flight: &Flight) {
        if let Some(rates) = &mut self.delivery_rates {
            rates.on_sent(sequence, sent, flight);
        }
        if again {
            // Karn's algorithm: the timed segment may be the one sent again, and its
            // acknowledgement would then be ambiguous.
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

    /// Returns the round-trip time that the timeout samples at an acknowledgement of new data.
    #[inline]
    pub fn round_trip(
        &mut self,
        covered: &Covered,
        options: Option<&Options>,
        flight: &Flight,
        now: Time,
    ) -> Option<Duration> {
        match self.clock {
            // Karn's algorithm: no sample from a segment that was sent more than once.
            Clock::Transmission | Clock::EveryAcknowledgement => covered.round_trip(now),
            Clock::OneAtATime => {
                let sent = self.timed_at;
                if sent == Time::NEVER || self.timed > flight.snd_una {
                    return None;
                }
                self.stop();
                Some(now.since(sent))
            }
            // RFC 7323, section 4.1: only acknowledgements of new data give samples.
            Clock::Timestamps => options
                .filter(|options| options.echo != Time::NEVER)
                .map(|options| now.since(options.echo)),
        }
    }

    /// Returns the round-trip time for the window law at the same acknowledgement; `sample` is that
    /// for the timeout.
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

    /// Returns the delivery rate at an acknowledgement of new data, if the law requests it.
    #[inline]
    pub fn delivery_rate(&mut self, flight: &Flight, now: Time) -> Option<DeliveryRate> {
        self.delivery_rates.as_mut()?.on_ack(flight, now)
    }
}
