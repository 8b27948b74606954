//! How fast data is delivered (draft-ietf-ccwg-bbr, section 4.1), for a law that asks.

use crate::cc::DeliveryRate;
use crate::flight::Flight;
use lightburst_des::{Duration, Time};
use std::collections::VecDeque;

/// What was known when a segment was sent.
#[derive(Clone, Copy, Debug)]
struct Record {
    sent: Time,
    /// Useful bytes acknowledged by then, and when the last of them was.
    delivered: u64,
    delivered_at: Time,
    /// When the segment was sent whose acknowledgement came last before.
    first_sent: Time,
}

/// The samples of one sender.
#[derive(Debug)]
pub struct DeliveryRates {
    /// Of the segments in flight, in their order.
    records: VecDeque<Record>,
    /// When data was acknowledged last.
    delivered_at: Time,
    /// When the newest segment was sent that is acknowledged.
    first_sent: Time,
}

impl DeliveryRates {
    /// Before the first segment, which may be sent `now`.
    pub fn new(now: Time) -> DeliveryRates {
        DeliveryRates {
            records: VecDeque::new(),
            delivered_at: now,
            first_sent: now,
        }
    }

    /// The segment at `sequence` was sent, perhaps again; the flight knows already.
    pub fn on_sent(&mut self, sequence: u64, sent: Time, flight: &Flight) {
        let record = Record {
            sent,
            delivered: flight.snd_una,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
        };
        match self.records.get_mut(flight.place(sequence)) {
            Some(before) => *before = record,
            None => self.records.push_back(record),
        }
    }

    /// New data was acknowledged; the flight knows already. Section 4.1.2: the interval is the
    /// longer of the one in which the data was sent and the one in which it was acknowledged.
    pub fn on_ack(&mut self, flight: &Flight, now: Time) -> Option<DeliveryRate> {
        let covered = self.records.len() - flight.segments();
        let newest = self.records.drain(..covered).next_back()?;
        self.first_sent = newest.sent;
        self.delivered_at = now;
        let sending = newest.sent.0.saturating_sub(newest.first_sent.0);
        let acknowledging = now.since(newest.delivered_at).0;
        Some(DeliveryRate {
            delivered: flight.snd_una - newest.delivered,
            interval: Duration(sending.max(acknowledging)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of one byte: 0 to 2 leave at the beginning, one after another, 1 again after the
    /// acknowledgement of 0, and 3 after that of 1 and 2 together.
    #[test]
    fn a_rate_is_of_the_newest_segment_that_is_acknowledged_and_of_its_last_transmission() {
        let mut flight = Flight::new(10, 1, u64::MAX);
        let mut rates = DeliveryRates::new(Time(100));
        let send = |sequence, at, flight: &mut Flight, rates: &mut DeliveryRates| {
            flight.send(sequence, Time(at));
            rates.on_sent(sequence, Time(at), flight);
        };
        let rate = |delivered, interval| {
            let interval = Duration(interval);
            Some(DeliveryRate {
                delivered,
                interval,
            })
        };
        (0..3).for_each(|i| send(i, 100 + 10 * i, &mut flight, &mut rates));
        flight.acknowledge(1);
        assert_eq!(rates.on_ack(&flight, Time(150)), rate(1, 50));
        send(1, 160, &mut flight, &mut rates);
        flight.acknowledge(2);
        // What was sent again at 160 knows of the one byte acknowledged at 150, sent at 100.
        assert_eq!(rates.on_ack(&flight, Time(210)), rate(1, 60));
        send(3, 220, &mut flight, &mut rates);
        flight.acknowledge(4);
        // Of 3, and not of 2: from the acknowledgement of 1 at 210, and its sending at 160, on.
        assert_eq!(rates.on_ack(&flight, Time(230)), rate(2, 60));
    }
}
