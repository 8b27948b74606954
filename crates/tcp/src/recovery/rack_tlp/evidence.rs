//! Evidence of an acknowledgement: deliveries, reordering, and losses by the time of sending (RFC
//! 8985, section 6.2).

use super::board::Segment;
use super::timer::Pending;
use super::{Arrival, RackTlp, SenderState, State, MICROSECOND, MOST_REORDERING};
use crate::measure::windowed::WindowedMinimum;
use lightburst_des::{Duration, Time};

/// Recoveries for which the reordering window stays wide after a duplicate (RFC 8985, section 6.2,
/// step 4).
pub const PERSIST: u64 = 16;
/// Time for which a minimum of the round trip counts, in microseconds (net.ipv4.tcp_min_rtt_wlen).
pub const MIN_RTT_WINDOW: u64 = 300_000_000;
/// Margin of the reordering timer in microseconds (TCP_TIMEOUT_MIN_US).
pub const LEAST_TIMEOUT: u64 = 2_000;

/// State from which losses are inferred; times in microseconds, ends as numbers of segments.
#[derive(Clone, Debug)]
pub struct Evidence {
    pub min_rtt: WindowedMinimum,
    /// Segments retransmitted, probes included.
    pub retransmissions: u64,
    /// Send time and end of the segment sent last among those delivered (RACK.segment), and its
    /// round trip (RACK.rtt).
    rack: (u64, u64),
    pub rack_rtt: u64,
    pub rack_advanced: bool,
    /// Number of times that reordering was seen.
    pub reordering_seen: u64,
    /// Segments reported as duplicates.
    pub duplicates: u64,
    /// Width of the reordering window in quarters of the minimum round trip, and the recoveries for
    /// which it stays.
    steps: u64,
    pub persist: u64,
    pub duplicate_seen: bool,
    /// `delivered` when the width last grew.
    widened_at: u64,
    /// Send time of the newest segment delivered, or of the first in flight.
    pub first_sent: u64,
    /// End of the highest SACKed segment before the acknowledgement in hand.
    pub prior_fack: u64,
    // The acknowledgement in hand.
    pub lowest_reordered: u64,
    pub sack_delivered: u64,
    /// Segments newly SACKed, and newly acknowledged without having been SACKed.
    pub newly_sacked: u64,
    newly_acked: u64,
    /// `delivered` at the transmission of the newest segment delivered, and that segment.
    pub prior_delivered: u64,
    newest: u64,
    pub first_sacked: Option<u64>,
    pub last_sacked: Option<u64>,
    sample: Option<u64>,
    of_law: Option<u64>,
}

impl Default for Evidence {
    fn default() -> Self {
        Evidence {
            min_rtt: WindowedMinimum::default(),
            retransmissions: 0,
            rack: (0, 0),
            rack_rtt: 0,
            rack_advanced: false,
            reordering_seen: 0,
            duplicates: 0,
            steps: 1,
            persist: 0,
            duplicate_seen: false,
            widened_at: 0,
            first_sent: 0,
            prior_fack: 0,
            lowest_reordered: 0,
            sack_delivered: 0,
            newly_sacked: 0,
            newly_acked: 0,
            prior_delivered: 0,
            newest: 0,
            first_sacked: None,
            last_sacked: None,
            sample: None,
            of_law: None,
        }
    }
}

impl Evidence {
    /// Prepares for an acknowledgement.
    pub fn begin(&mut self) {
        self.prior_delivered = 0;
        self.newest = 0;
        self.sack_delivered = 0;
        (self.newly_sacked, self.newly_acked) = (0, 0);
        (self.first_sacked, self.last_sacked) = (None, None);
        (self.sample, self.of_law) = (None, None);
    }

    /// Returns the segments newly delivered by the acknowledgement in hand.
    pub fn delivered_now(&self) -> u64 {
        self.newly_sacked + self.newly_acked
    }

    /// Returns the sample of the timeout at the acknowledgement in hand.
    pub fn sample(&self) -> Option<Duration> {
        self.sample.map(|rtt| Duration(rtt * MICROSECOND))
    }

    /// Returns the sample of the law at the acknowledgement in hand, at least a microsecond.
    pub fn rtt_of_law(&self) -> Option<Duration> {
        self.of_law.map(|rtt| Duration(rtt.max(1) * MICROSECOND))
    }

    /// Notes the delivery of a segment, for RACK.segment and RACK.rtt (RFC 8985, section 6.2, steps
    /// 1 and 2).
    pub fn advance(&mut self, number: u64, segment: &Segment, now: u64) {
        let rtt = now - segment.sent;
        // A retransmission that is acknowledged sooner than any other segment was not needed.
        if rtt < self.min_rtt.value() && (segment.ever() || segment.retransmitted()) {
            return;
        }
        (self.rack_advanced, self.rack_rtt) = (true, rtt);
        self.rack = self.rack.max((segment.sent, number + 1));
    }

    /// Notes the delivery of a segment for the delivery rate (`tcp_rate_skb_delivered`).
    /// Returns whether the segment was sent last among those delivered by the acknowledgement.
    pub fn rate(&mut self, number: u64, segment: &Segment) -> bool {
        if segment.counted() {
            return false;
        }
        let newest = (self.first_sent, self.newest);
        let is_newest = self.prior_delivered == 0 || (segment.sent, number) > newest;
        if is_newest {
            self.prior_delivered = segment.delivered;
            (self.first_sent, self.newest) = (segment.sent, number);
        }
        is_newest
    }
}

impl RackTlp {
    /// Returns the end of the highest SACKed segment; the first unacknowledged one, `una`, if there
    /// is none.
    pub(super) fn highest_sacked(&self, una: u64) -> u64 {
        match self.features.sack {
            true => self.board.highest_sacked().unwrap_or(una),
            false => una,
        }
    }

    /// Raises the reordering metric if a segment below the highest SACKed one arrived late.
    pub(super) fn check_reordering(&mut self, low: u64, sender: &SenderState<'_>) {
        let fack = self.highest_sacked(sender.flight.snd_una / self.mss);
        if low >= fack {
            return;
        }
        self.reordering = self.reordering.max((fack - low).min(MOST_REORDERING));
        self.evidence.reordering_seen += 1;
    }

    /// Removes the acknowledged segments and samples the round trip (`tcp_clean_rtx_queue`).
    pub(super) fn clean(&mut self, arrival: &Arrival<'_>, sender: &mut SenderState<'_>) {
        let now = Self::microseconds(sender.now);
        let mut covered = arrival.before;
        let sacked = self.board.sacked;
        let (mut acked, mut retransmitted, mut fresh) = (0, false, None::<(u64, u64, u64)>);
        if self.features.sack && self.rates.is_none() && self.board.is_plain() {
            (acked, fresh) = self.clean_plain(covered, sender.flight.snd_una, now);
            covered = sender.flight.snd_una;
        }
        while covered < sender.flight.snd_una {
            let number = self.board.first();
            let segment = self.board.acknowledge();
            covered += self.mss;
            acked += 1;
            if self.features.sack && !segment.sacked() {
                self.delivered += 1;
                self.evidence.newly_acked += 1;
                if !is_spurious(&segment, arrival) {
                    self.evidence.advance(number, &segment, now);
                }
            }
            self.rate_acknowledged(number, &segment);
            retransmitted |= segment.ever();
            if !segment.ever() && !segment.sacked() {
                let (first, sent, _) = fresh.unwrap_or((number, segment.sent, 0));
                fresh = Some((first, sent, segment.sent));
                self.flags.original |= number * self.mss < self.high_seq;
            }
        }
        if acked > 0 && !self.scoreboard.is_empty() {
            self.scoreboard.acknowledge(sender.flight.snd_una);
        }
        if acked > 0 {
            self.board.tidy();
        }
        self.flags.acked = acked > 0;
        self.note_delay(acked, sacked, sender.flight.snd_una - arrival.before);
        let times = fresh.filter(|_| !retransmitted);
        let times = times.map(|(_, first, last)| (first, last));
        let sampled = self.take_sample(times, arrival, now, sender);
        if acked > 0 {
            self.flags.timer = true;
            if !self.features.sack {
                self.remove_duplicates(acked);
                self.flags.original &= !retransmitted;
            } else if let Some((first, ..)) = fresh.filter(|f| f.0 < self.evidence.prior_fack) {
                self.check_reordering(first, sender);
            }
        } else if let Some(head) = self.board.head().filter(|_| sampled) {
            // Data sent before the first segment was SACKed: the timer may move.
            let earlier = self.evidence.first_sacked.is_some_and(|it| it < head.sent);
            self.flags.timer |= earlier;
        }
    }

    /// Removes the segments from the byte `covered` up to `una` where no segment outstanding is
    /// SACKed, lost or repeated, by far the most frequent case: the last one then stands for all.
    /// Returns their number, and the number and time of the first and the time of the last.
    #[inline]
    fn clean_plain(
        &mut self,
        mut covered: u64,
        una: u64,
        now: u64,
    ) -> (u64, Option<(u64, u64, u64)>) {
        let first = self.board.first();
        let (mut earliest, mut last) = (None, None);
        while covered < una {
            covered += self.mss;
            last = Some(self.board.acknowledge_plain());
            earliest = earliest.or(last);
        }
        let Some((earliest, last)) = earliest.zip(last) else {
            return (0, None);
        };
        let acked = self.board.first() - first;
        self.delivered += acked;
        self.evidence.newly_acked += acked;
        let number = self.board.first() - 1;
        self.evidence.advance(number, &last, now);
        self.evidence.rate(number, &last);
        self.flags.original |= first * self.mss < self.high_seq;
        (acked, Some((first, earliest.sent, last.sent)))
    }

    /// Samples the round trip by segments that were sent once, or by the timestamp; returns whether
    /// there is a sample (`tcp_ack_update_rtt`).
    fn take_sample(
        &mut self,
        fresh: Option<(u64, u64)>,
        arrival: &Arrival<'_>,
        now: u64,
        sender: &mut SenderState<'_>,
    ) -> bool {
        let mut rtt = fresh.map(|(first, _)| now - first);
        let mut of_law = fresh.map(|(_, last)| now - last);
        if let Some((first, last)) = self.evidence.first_sacked.zip(self.evidence.last_sacked) {
            of_law = Some(now - last);
            rtt = rtt.or(Some(now - first));
        }
        if rtt.is_none() && self.flags.acked {
            // The clock of timestamps has milliseconds.
            let echoed = arrival.timestamp.map(milliseconds);
            rtt = echoed.map(|at| ((now / 1000 - at) * 1000).max(1000));
            of_law = rtt;
        }
        let Some(sample) = rtt else {
            return false;
        };
        self.evidence.sample = rtt;
        self.evidence.of_law = of_law;
        let of_law = of_law.unwrap_or(sample);
        self.evidence
            .min_rtt
            .update(now, of_law.max(1), MIN_RTT_WINDOW);
        sender
            .timeout
            .on_sample(Duration(sample * MICROSECOND), sender.flight);
        if self.samples {
            sender.congestion.on_sample(&crate::cc::Sample {
                at: sender.now,
                rtt: Duration(of_law * MICROSECOND),
                acknowledged: sender.flight.snd_una,
                sent: sender.flight.snd_max,
                pacing_rate: match sender.congestion.window().in_slow_start() {
                    true => self.pacing.rate(),
                    false => 0,
                },
                paced: self.pacing.is_on(),
            });
        }
        true
    }

    /// Returns the reordering window in microseconds (RFC 8985, section 6.2, step 4).
    pub(super) fn width(&self, smoothed: Option<Duration>) -> u64 {
        if self.evidence.reordering_seen == 0 {
            if self.state >= State::Recovery {
                return 0;
            }
            if self.board.sacked >= self.reordering && !self.features.no_threshold {
                return 0;
            }
        }
        let srtt = smoothed.unwrap_or_default();
        let window = (self.evidence.min_rtt.value() >> 2).saturating_mul(self.evidence.steps);
        window.min(srtt.0 / MICROSECOND)
    }

    /// Marks the segments lost that were sent long enough before the newest delivered one; returns
    /// the time in microseconds until a further look is due, or 0 (RFC 8985, section 6.2, step 5).
    pub(super) fn detect_loss(&mut self, sender: &SenderState<'_>) -> u64 {
        let now = Self::microseconds(sender.now);
        let window = self.width(sender.timeout.smoothed());
        let mut timeout = 0;
        let mut position = self.board.by_time();
        while let Some((number, segment)) = self.board.next_by_time(&mut position) {
            if segment.lost() && !segment.retransmitted() {
                continue;
            }
            if self.evidence.rack <= (segment.sent, number + 1) {
                break;
            }
            let due = segment.sent + self.evidence.rack_rtt + window;
            if due <= now {
                self.lose(number, sender.now);
                self.board.leave_order(number);
            } else {
                timeout = timeout.max(due - now);
            }
        }
        timeout
    }

    /// Marks a segment or its retransmission lost.
    pub(super) fn lose(&mut self, number: u64, now: Time) {
        if self.board.lose(number) {
            self.lost += 1;
            self.note_lost(number, now);
        }
    }

    /// Looks for losses, and sets the reordering timer if some segments are not late enough yet
    /// (`tcp_identify_packet_loss`).
    pub(super) fn identify_loss(&mut self, sender: &SenderState<'_>) {
        let Some(head) = self.board.head().copied() else {
            return;
        };
        if !self.features.sack {
            let enough = self.state < State::Recovery && self.board.sacked >= self.reordering;
            let partial = self.state == State::Recovery && self.flags.advanced;
            if (enough || partial) && !head.lost() {
                let first = self.board.first();
                self.lose(first, sender.now);
            }
            return;
        }
        let before = self.board.retransmitted;
        if std::mem::take(&mut self.evidence.rack_advanced) {
            let timeout = self.detect_loss(sender);
            if timeout > 0 {
                let now = Self::microseconds(sender.now);
                self.timer
                    .set(Pending::Reordering, timeout + LEAST_TIMEOUT, now);
                self.flags.timer = false;
            }
        }
        self.flags.lost_again |= before > self.board.retransmitted;
    }

    /// Widens the reordering window after a duplicate, at most once per round trip (RFC 8985,
    /// section 6.2, step 4).
    pub(super) fn adapt_reordering_window(&mut self) {
        let evidence = &mut self.evidence;
        if self.features.static_window || evidence.prior_delivered == 0 {
            return;
        }
        if evidence.prior_delivered < evidence.widened_at {
            evidence.duplicate_seen = false;
        }
        if std::mem::take(&mut evidence.duplicate_seen) {
            evidence.steps = (evidence.steps + 1).min(255);
            evidence.widened_at = self.delivered;
            evidence.persist = PERSIST;
        } else if evidence.persist == 0 {
            evidence.steps = 1;
        }
    }

    /// Without SACK each duplicate acknowledgement stands for a delivered segment.
    pub(super) fn add_duplicates(&mut self, duplicates: u64) {
        if duplicates > 0 {
            let before = self.board.sacked;
            self.board.sacked += duplicates;
            self.limit_duplicates(0);
            self.delivered += self.board.sacked.saturating_sub(before);
        }
    }

    fn remove_duplicates(&mut self, acked: u64) {
        self.delivered += acked.saturating_sub(self.board.sacked).max(1);
        self.board.sacked = self.board.sacked.saturating_sub(acked - 1);
        self.limit_duplicates(acked);
    }

    /// More duplicates than segments outstanding show reordering (`tcp_check_reno_reordering`).
    fn limit_duplicates(&mut self, addend: u64) {
        let outstanding = self.board.len();
        let holes = self.board.lost.max(1).min(outstanding);
        if self.board.sacked + holes > outstanding {
            self.board.sacked = outstanding - holes;
            self.reordering = (outstanding + addend).min(MOST_REORDERING);
            self.evidence.reordering_seen += 1;
        }
    }
}

/// Returns whether the timestamp shows that an earlier transmission was delivered (RFC 3522).
fn is_spurious(segment: &Segment, arrival: &Arrival<'_>) -> bool {
    let echoed = arrival.timestamp.map(milliseconds);
    segment.ever() && echoed.is_some_and(|at| at < segment.sent / 1000)
}

/// Returns a time in milliseconds, the unit of timestamps.
pub fn milliseconds(at: Time) -> u64 {
    at.0 / (1000 * MICROSECOND)
}
