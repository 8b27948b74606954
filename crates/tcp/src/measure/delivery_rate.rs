//! Delivery rate samples (draft-ietf-ccwg-bbr, section 4.1), for laws that request them.

use crate::cc::DeliveryRate;
use crate::flight::Flight;
use lightburst_des::{Duration, Time};
use std::collections::VecDeque;

/// State of the connection at the transmission of a segment.
#[derive(Clone, Copy, Debug)]
struct Record {
    sent: Time,
    /// Payload bytes acknowledged when the segment was sent, and the time of their last
    /// acknowledgement.
    delivered: u64,
    delivered_at: Time,
    /// Send time of the newest segment that was acknowledged when this one was sent.
    first_sent: Time,
}

/// Delivery rate estimator of one sender.
#[derive(Debug)]
pub struct DeliveryRates {
    /// Records of the segments in flight, in sequence order.
    records: VecDeque<Record>,
    /// Time of the last acknowledgement of new data.
    delivered_at: Time,
    /// Send time of the newest acknowledged segment.
    first_sent: Time,
}

impl DeliveryRates {
    /// Creates the estimator at time `now`, before the first segment is sent.
    pub fn new(now: Time) -> DeliveryRates {
        DeliveryRates {
            records: VecDeque::new(),
            delivered_at: now,
            first_sent: now,
        }
    }

    /// Records the transmission or retransmission of the segment at `sequence`; called after
    /// `flight` was updated.
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

    /// Returns the sample for an acknowledgement of new data; called after `flight` was updated.
    /// The interval is the longer of the send and the acknowledgement interval (section 4.1.2).
    pub fn on_ack(&mut self, flight: &Flight, now: Time) -> Option<DeliveryRate> {
        let covered = self.records.len() - flight.segments();
        let newest = self.records.drain(..covered).next_back()?;
        self.first_sent = newest.sent;
        self.delivered_at = now;
        let send_elapsed = newest.sent.0.saturating_sub(newest.first_sent.0);
        let ack_elapsed = now.since(newest.delivered_at).0;
        Some(DeliveryRate {
            delivered: flight.snd_una - newest.delivered,
            interval: Duration(send_elapsed.max(ack_elapsed)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of one byte. Segments 0 to 2 leave one after another at the start; segment 1 is
    /// sent again after the acknowledgement of 0, and segment 3 is sent after the acknowledgement
    /// of 1. The last acknowledgement covers 2 and 3.
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
        // Segment 1 was sent again at 160; by then one byte was acknowledged, at 150, and had been
        // sent at 100.
        assert_eq!(rates.on_ack(&flight, Time(210)), rate(1, 60));
        send(3, 220, &mut flight, &mut rates);
        flight.acknowledge(4);
        // The sample belongs to segment 3: it starts at 210, the acknowledgement of 1, and at 160,
        // the transmission of 1.
        assert_eq!(rates.on_ack(&flight, Time(230)), rate(2, 60));
    }
}
