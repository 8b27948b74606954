//! Selective repeat of IRN: R. Mittal et al., "Revisiting network support for RDMA", SIGCOMM 2018,
//! section 3.1. The receiver keeps packets out of order, and answers each with a negative
//! acknowledgement that names it.

use super::{in_window, Candidate, LossRecovery, Phase, Reaction, Reason, SenderState};
use super::{Block, Timeout, TimerAction};
use crate::cc::{Ack, Loss};
use crate::flight::scoreboard::Scoreboard;
use crate::flight::Flight;
use lightburst_des::Time;
use std::collections::BTreeSet;

/// Loss recovery that sends only missing packets again.
#[derive(Clone, Default)]
pub struct SelectiveRepeat {
    /// Packets that arrived out of order.
    arrived: Scoreboard,
    /// End of the data that was sent before the recovery; `None` outside of a recovery.
    until: Option<u64>,
    /// All packets that begin before this byte and have not arrived are taken for lost, whatever has
    /// arrived behind them.
    lost: u64,
    /// All missing packets before this byte were sent again in this recovery.
    repeated: u64,
    /// Whether the acknowledgement that is handled next is negative.
    nak: bool,
    /// Whether it is about a packet that was trimmed.
    is_trim: bool,
    /// Trimmed packets that are to be sent again.
    trimmed: BTreeSet<u64>,
    /// Those that were sent again, and are not acknowledged.
    again: BTreeSet<u64>,
    /// Number of packets by which one may be overtaken before it is taken for lost.
    reordering: u64,
}

impl SelectiveRepeat {
    /// Creates the recovery; a packet that was overtaken by more than `reordering` packets is lost.
    pub fn new(reordering: u64) -> SelectiveRepeat {
        SelectiveRepeat {
            reordering,
            ..SelectiveRepeat::default()
        }
    }

    fn enter(&mut self, lost: u64, flight: &Flight) {
        self.until = Some(flight.snd_max);
        self.lost = lost;
        self.repeated = flight.snd_una;
    }

    /// Notes that a packet was trimmed: it is sent again before all others, outside of a repair, too.
    #[cold]
    fn note_trimmed(&mut self, packet: u64, flight: &Flight) {
        self.is_trim = self.nak;
        if packet >= flight.snd_una && self.arrived.next_hole(packet) == packet {
            self.trimmed.insert(packet);
        }
    }

    /// Forgets the trimmed packets that are acknowledged.
    #[cold]
    fn forget_trimmed(&mut self, acknowledged: u64) {
        self.trimmed = self.trimmed.split_off(&acknowledged);
        self.again = self.again.split_off(&acknowledged);
    }

    /// Ends the recovery, or begins one, after an acknowledgement; `usual` is the reaction to one
    /// that does neither.
    fn follow(&mut self, usual: Reaction, sender: &mut SenderState<'_>) -> Reaction {
        let flight = &*sender.flight;
        self.arrived.acknowledge(flight.snd_una);
        if !self.trimmed.is_empty() || !self.again.is_empty() {
            self.forget_trimmed(flight.snd_una);
        }
        // "It exits loss recovery when a cumulative acknowledgement greater than the recovery
        // sequence is received."
        if self.until.is_some_and(|until| flight.snd_una >= until) {
            self.until = None;
        }
        let is_nak = std::mem::take(&mut self.nak);
        if std::mem::take(&mut self.is_trim) {
            return Reaction::default();
        }
        if !is_nak || self.until.is_some() {
            return usual;
        }
        // "The first packet that is retransmitted corresponds to the cumulative acknowledgement
        // value." Section 7: it waits for more negative acknowledgements where packets overtake.
        self.enter(flight.snd_una + u64::from(self.reordering == 0), flight);
        if self.hole(flight).is_none() {
            // All that is missing was trimmed, and is sent again anyway, or is only late.
            self.until = None;
            return usual;
        }
        sender.congestion.on_loss(&Loss {
            at: sender.now,
            in_flight: sender.flight.flight_size(),
            echo: false,
        });
        Reaction {
            retransmit: false,
            fast: true,
            timer: TimerAction::Restart,
        }
    }

    /// Returns the next packet that is taken for lost: "any subsequent packet is considered lost only
    /// if another packet with a higher sequence number has been selectively acked".
    fn hole(&self, flight: &Flight) -> Option<u64> {
        self.until?;
        let first = self.repeated.max(flight.snd_una);
        let mut hole = self.arrived.next_hole(first);
        while self.again.contains(&hole) || self.trimmed.contains(&hole) {
            hole = self.arrived.next_hole(hole + flight.payload(hole));
        }
        (hole < self.overtaken(flight).max(self.lost)).then_some(hole)
    }

    /// Returns the byte before which a missing packet was overtaken by too many others.
    #[inline]
    fn overtaken(&self, flight: &Flight) -> u64 {
        let end = self.arrived.end();
        if self.reordering == 0 || end == 0 {
            return end;
        }
        let mss = u64::from(flight.mss);
        // The last packet that arrived begins at a multiple of a full payload.
        ((end - 1) / mss * mss).saturating_sub(self.reordering * mss)
    }
}

impl LossRecovery for SelectiveRepeat {
    fn on_blocks(&mut self, blocks: &[Block], flight: &Flight) -> bool {
        if let [Block { start, end }] = *blocks {
            if start == end {
                self.note_trimmed(start, flight);
                return false;
            }
        }
        let news = self.arrived.update(blocks, flight.snd_una);
        if !self.trimmed.is_empty() {
            let arrived = &self.arrived;
            self.trimmed
                .retain(|&packet| arrived.next_hole(packet) == packet);
        }
        news
    }

    fn on_nak(&mut self) {
        self.nak = true;
    }

    fn on_ack(&mut self, ack: &Ack, _news: bool, sender: &mut SenderState<'_>) -> Reaction {
        sender.congestion.on_ack(ack);
        self.follow(Reaction::default(), sender)
    }

    fn on_duplicate(&mut self, _news: bool, sender: &mut SenderState<'_>) -> Reaction {
        self.follow(Reaction::KEEP, sender)
    }

    fn on_timeout(&mut self, _flight: &Flight) {}

    /// Begins a recovery anew. All that is not known to have arrived is taken for lost: no packet
    /// behind it would tell of the loss of a tail.
    fn on_expiry(&mut self, repeated: bool, sender: &mut SenderState<'_>) {
        sender.congestion.on_timeout(&Timeout {
            at: sender.now,
            in_flight: sender.flight.flight_size(),
            repeated,
            sent: sender.flight.snd_max,
            lost: 0,
        });
        self.trimmed.clear();
        self.again.clear();
        self.enter(sender.flight.snd_max, sender.flight);
    }

    fn candidate(&mut self, flight: &Flight, window: u64) -> Option<Candidate> {
        let trimmed = self.trimmed.first().copied();
        match trimmed.or_else(|| self.hole(flight)) {
            Some(hole) => Some(Candidate::hole(hole)),
            None => in_window(flight, flight.flight_size(), window),
        }
    }

    fn on_sent(&mut self, candidate: Candidate, _now: Time, flight: &mut Flight) {
        if self.trimmed.remove(&candidate.sequence) {
            self.again.insert(candidate.sequence);
        } else if candidate.reason == Reason::Hole {
            self.repeated = candidate.sequence + flight.payload(candidate.sequence);
        }
    }

    fn phase(&self, _flight: &Flight) -> Phase {
        match self.until {
            Some(_) => Phase::Recovery,
            None => Phase::Open,
        }
    }
}
