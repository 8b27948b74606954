//! Samples of the delivery rate for laws that want them (`net/ipv4/tcp_rate.c`;
//! draft-ietf-ccwg-bbr, section 4.1): of segments delivered by SACK blocks as well.

use super::board::Segment;
use super::{RackTlp, SenderState, MICROSECOND};
use crate::flight::Flight;
use crate::measure::rates::{Established, Lost, RateSample, Rated};
use crate::recovery::LossRecovery;
use lightburst_des::{Duration, Time};
use std::collections::VecDeque;

/// State of the connection when a segment was last sent; times in microseconds. The number of
/// segments delivered is that of [`Segment`].
#[derive(Clone, Copy, Debug)]
struct Stamp {
    /// Send time of the newest segment delivered, or of the first in flight.
    first_sent: u64,
    delivered_at: u64,
    /// Segments in the network, with this one (P.tx_in_flight), and segments lost so far (P.lost).
    in_flight: u64,
    lost: u64,
    limited: bool,
}

/// The sampler, with a stamp for each unacknowledged segment.
#[derive(Clone, Debug)]
pub struct Rates {
    /// Number of the segment of the first stamp.
    first: u64,
    stamps: VecDeque<Stamp>,
    /// Time of the last delivery in microseconds.
    delivered_at: u64,
    /// Number of segments delivered up to which the application limits the rate; 0 if it does not
    /// (C.app_limited).
    limited: u64,
    /// Whether the last segment was sent into an empty network.
    restarts: bool,
    // The acknowledgement in hand.
    /// Stamp and send time of the newest segment that it delivers.
    newest: Option<(Stamp, u64)>,
    prior_in_flight: u64,
    may_be_delayed: bool,
    /// Segments marked lost in the event in hand.
    lost: Vec<Lost>,
}

impl Rates {
    fn new(now: u64) -> Rates {
        Rates {
            first: 0,
            stamps: VecDeque::new(),
            delivered_at: now,
            limited: 0,
            restarts: false,
            newest: None,
            prior_in_flight: 0,
            may_be_delayed: false,
            lost: Vec::new(),
        }
    }

    fn stamp(&mut self, number: u64, stamp: Stamp) {
        match self.stamps.get_mut((number - self.first) as usize) {
            Some(before) => *before = stamp,
            None => self.stamps.push_back(stamp),
        }
    }

    fn take(&mut self, number: u64, sent: u64) {
        self.newest = Some((self.stamps[(number - self.first) as usize], sent));
    }
}

impl RackTlp {
    /// Starts to sample, if the law wants rates.
    pub(super) fn start_rates(&mut self, rtt: Option<Duration>, sender: &mut SenderState<'_>) {
        if sender.congestion.wants().rates {
            self.rates = Some(Box::new(Rates::new(Self::microseconds(sender.now))));
            // The application writes its data now.
            self.note_application_limit();
            sender.congestion.on_established(&Established {
                at: sender.now,
                rtt,
                selective: self.features.sack,
            });
        }
    }

    /// Notes that the application had less than a segment to send when it writes, although window
    /// and losses would have permitted more (`tcp_rate_check_app_limited`).
    pub(super) fn note_limit(&mut self, sender: &SenderState<'_>) {
        if self.rates.is_none() {
            return;
        }
        let Flight { size, snd_max, .. } = *sender.flight;
        let unsent = self.written.min(size).saturating_sub(snd_max);
        let has_room = self.board.in_flight() < self.cwnd(sender);
        if unsent < self.mss && has_room && self.board.lost <= self.board.retransmitted {
            self.note_application_limit();
        }
    }

    /// C.app_limited = (C.delivered + C.inflight) ? : 1
    fn note_application_limit(&mut self) {
        let limited = (self.delivered + self.board.in_flight()).max(1);
        if let Some(rates) = &mut self.rates {
            rates.limited = limited;
        }
    }

    /// Stamps a segment before it is sent at `now` (`tcp_rate_skb_sent`).
    #[inline]
    pub(super) fn stamp(&mut self, number: u64, now: u64) {
        if self.rates.is_some() {
            self.stamp_for_rates(number, now);
        }
    }

    #[inline(never)]
    fn stamp_for_rates(&mut self, number: u64, now: u64) {
        if let Some(rates) = &mut self.rates {
            if self.board.is_empty() {
                rates.delivered_at = now;
                rates.first = number;
                rates.stamps.clear();
            }
            let in_flight = self.board.in_flight();
            rates.restarts = in_flight == 0;
            let stamp = Stamp {
                first_sent: self.evidence.first_sent,
                delivered_at: rates.delivered_at,
                in_flight: in_flight + 1,
                lost: self.lost,
                limited: rates.limited > 0,
            };
            rates.stamp(number, stamp);
        }
    }

    /// Returns the bytes of a segment for which the next one waits: the rate of a law is of delivered
    /// data, without headers (`tcp_update_skb_after_send`).
    pub(super) fn paced_bytes(&self, payload: u32, wire: u64) -> u64 {
        match self.rates {
            Some(_) => u64::from(payload),
            None => wire,
        }
    }

    /// Tells the law that the segment just sent ends an idle time of the application
    /// (`CA_EVENT_TX_START`).
    pub(super) fn tell_restart(&mut self, sender: &mut SenderState<'_>) {
        let restarts = |rates: &Rates| rates.restarts && rates.limited > 0;
        if self.rates.as_deref().is_some_and(restarts) {
            sender.congestion.on_restart(sender.now);
            self.update_rate(sender);
        }
    }

    /// Prepares for an acknowledgement.
    pub(super) fn begin_rate(&mut self) {
        if let Some(rates) = &mut self.rates {
            rates.prior_in_flight = self.board.in_flight();
            (rates.newest, rates.may_be_delayed) = (None, false);
        }
    }

    /// Notes the delivery of a segment by a SACK block (`tcp_rate_skb_delivered`).
    pub(super) fn rate_sacked(&mut self, number: u64, segment: &Segment) {
        if self.evidence.rate(number, segment) {
            if let Some(rates) = &mut self.rates {
                rates.take(number, segment.sent);
            }
        }
    }

    /// Notes the cumulative acknowledgement of the first segment.
    #[inline]
    pub(super) fn rate_acknowledged(&mut self, number: u64, segment: &Segment) {
        let is_newest = self.evidence.rate(number, segment);
        if let Some(rates) = &mut self.rates {
            if is_newest {
                rates.take(number, segment.sent);
            }
            rates.stamps.pop_front();
            rates.first += 1;
        }
    }

    /// Notes whether the receiver may have delayed the acknowledgement: it is of one segment of less
    /// than full size, the only one delivered since it was sent (FLAG_ACK_MAYBE_DELAYED). `sacked`:
    /// the segments SACKed before those acknowledged were removed.
    pub(super) fn note_delay(&mut self, acked: u64, sacked: u64, bytes: u64) {
        if let Some(rates) = &mut self.rates {
            let flags = &self.flags;
            let alert = flags.sacked || flags.echo || flags.duplicate;
            let alone = self.evidence.prior_delivered + 1 == self.delivered;
            rates.may_be_delayed = acked == 1 && sacked == 0 && bytes < self.mss && alone && !alert;
        }
    }

    /// Notes that a segment was marked lost, for [`tell_lost`](RackTlp::tell_lost).
    pub(super) fn note_lost(&mut self, number: u64, now: Time) {
        if let Some(rates) = &mut self.rates {
            let stamp = rates.stamps[(number - rates.first) as usize];
            rates.lost.push(Lost {
                at: now,
                number,
                delivered: self.delivered,
                in_flight: stamp.in_flight,
                lost: self.lost - stamp.lost,
                application_limited: stamp.limited,
            });
        }
    }

    /// Tells the law of the segments marked lost in the event in hand (`skb_marked_lost`), after
    /// the state that they begin.
    pub(super) fn tell_lost(&mut self, sender: &mut SenderState<'_>) {
        if let Some(rates) = &mut self.rates {
            for lost in rates.lost.drain(..) {
                sender.congestion.on_lost(&lost);
            }
        }
    }

    /// Has the law set window and pace (`tcp_rate_gen`, `tcp_cong_control`).
    pub(super) fn control_by_rates(
        &mut self,
        delivered: u64,
        lost: u64,
        sender: &mut SenderState<'_>,
    ) {
        self.tell_lost(sender);
        let now = Self::microseconds(sender.now);
        let phase = self.phase(sender.flight);
        let window_limited = self.usage.is_used_up();
        let Some(rates) = &mut self.rates else {
            return;
        };
        if self.delivered > rates.limited {
            rates.limited = 0;
        }
        if delivered > 0 {
            rates.delivered_at = now;
        }
        let least = self.evidence.min_rtt.value();
        let prior_delivered = self.evidence.prior_delivered;
        let rate = rates.newest.take().map(|(stamp, sent)| {
            // Section 4.1.2.2: the longer of the times in which the data was sent and acknowledged,
            // since the data may leave the network in bunches.
            let interval = (sent - stamp.first_sent).max(now - stamp.delivered_at);
            Rated {
                prior_delivered,
                delivered: self.delivered - prior_delivered,
                // Section 4.1.2.3: nothing is delivered sooner than in the least round trip.
                interval: (interval > 0 && interval >= least)
                    .then_some(Duration(interval * MICROSECOND)),
                application_limited: stamp.limited,
                in_flight: stamp.in_flight,
                lost: self.lost - stamp.lost,
            }
        });
        let sample = RateSample {
            at: sender.now,
            delivered: self.delivered,
            delivered_at: Time(rates.delivered_at * MICROSECOND),
            lost: self.lost,
            newly_delivered: delivered,
            newly_lost: lost,
            prior_in_flight: rates.prior_in_flight,
            in_flight: self.board.in_flight(),
            window_limited,
            rate,
            rtt: self.evidence.rtt_of_law(),
            smoothed: sender.timeout.smoothed(),
            may_be_delayed: rates.may_be_delayed,
            phase,
            ahead: self.pacing.ahead(sender.now),
        };
        if sender.congestion.on_rate(&sample) {
            self.note_application_limit();
        }
    }
}
