//! Selective acknowledgements (RFC 6675): a scoreboard, an estimate of the data in the network (the
//! pipe), and rules that select the next segment.

#[cfg(test)]
mod tests;

use super::{
    in_window, Candidate, LossRecovery, Phase, Reaction, Reason, SenderState, TimerAction,
    THRESHOLD,
};
use crate::cc::{Ack, Loss};
use crate::flight::scoreboard::Scoreboard;
use crate::flight::Flight;
use crate::Parameters;
use lightburst_des::Time;
use lightburst_net::Block;

/// Values computed from the scoreboard (RFC 6675, section 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Scores {
    /// Estimated bytes in the network (SetPipe).
    pipe: u64,
    /// Data before this byte is lost unless it is SACKed (IsLost).
    lost_before: u64,
    /// End of the highest SACKed block.
    sacked_before: u64,
}

/// Computes the scores. `high_rxt` is HighRxt: all unSACKed data before it was retransmitted.
fn scores(scoreboard: &Scoreboard, flight: &Flight, high_rxt: u64, threshold: u64) -> Scores {
    let first = flight.snd_una;
    let (mut lost_before, mut bytes) = (0, 0);
    for held in scoreboard.blocks().iter().rev() {
        bytes += held.end - held.start;
        // IsLost (SeqNum): more than (DupThresh - 1) * SMSS bytes above it are SACKed. This
        // includes the condition of DupThresh SACKed sequences, since all segments of a flow but
        // the last are full.
        if bytes > (threshold - 1) * u64::from(flight.mss) {
            lost_before = held.start;
            break;
        }
    }
    Scores {
        // SetPipe (): (a) data not lost, and (b) data retransmitted.
        pipe: scoreboard.unsacked(first.max(lost_before), flight.snd_max)
            + scoreboard.unsacked(first, high_rxt),
        lost_before,
        sacked_before: scoreboard.end(),
    }
}

#[derive(Clone)]
pub struct Sack {
    /// Duplicate threshold (DupThresh).
    pub(super) threshold: u64,
    limited_transmit: bool,
    rescue: bool,
    growth_on_exit: bool,
    /// Number of duplicate acknowledgements (DupAcks).
    duplicates: u64,
    pub(super) recovering: bool,
    after_timeout: bool,
    /// No new recovery starts before the data up to here is acknowledged (RecoveryPoint).
    recovery_point: u64,
    /// End of the highest retransmitted data (HighRxt + 1).
    high_rxt: u64,
    /// A rescue retransmission requires a cumulative acknowledgement beyond this byte (RescueRxt +
    /// 1).
    rescue_rxt: u64,
    pub(super) scoreboard: Scoreboard,
    scores: Scores,
    /// Bytes before SND.NXT that exceed the window: sent, or skipped as SACKed, after other SACKed
    /// data had left the network.
    beyond: u64,
    /// End of the segment that was retransmitted when the recovery started.
    first_lost: u64,
    /// Losses before this byte were returned by `newly_lost` or reported by a timeout.
    told: u64,
}

impl Sack {
    pub fn new(parameters: &Parameters) -> Sack {
        Sack {
            threshold: parameters.get("duplicate_threshold", THRESHOLD) as u64,
            limited_transmit: parameters.is("limited_transmit"),
            rescue: parameters.is("rescue_retransmission"),
            growth_on_exit: parameters.is("window_growth_on_exit"),
            duplicates: 0,
            recovering: false,
            after_timeout: false,
            recovery_point: 0,
            high_rxt: 0,
            rescue_rxt: 0,
            scoreboard: Scoreboard::default(),
            scores: Scores::default(),
            beyond: 0,
            first_lost: 0,
            told: 0,
        }
    }

    fn update(&mut self, flight: &Flight) {
        // Section 5, step 3.1: outside of a recovery HighRxt is HighACK.
        if !self.recovering {
            self.high_rxt = flight.snd_una;
        }
        // Without SACKed data nothing is lost, and the window limits the outstanding data instead
        // of the pipe.
        self.scores = match self.recovering || !self.scoreboard.blocks().is_empty() {
            true => scores(&self.scoreboard, flight, self.high_rxt, self.threshold),
            false => Scores::default(),
        };
    }

    /// Advances SND.NXT over data that is already SACKed.
    fn skip_sacked(&mut self, flight: &mut Flight) {
        let hole = self.scoreboard.next_hole(flight.snd_nxt);
        self.beyond += hole - flight.snd_nxt;
        flight.snd_nxt = hole;
    }

    /// Returns the next segment in order, if data is left and it fits into the receive window.
    fn new_data(&self, flight: &Flight, window: u64) -> Option<Candidate> {
        let next = flight.snd_nxt;
        let sendable = next < flight.size && flight.is_advertised(next + flight.payload(next));
        sendable.then(|| Candidate::in_order(next, flight, window))
    }

    /// Starts a recovery (section 5, step 4).
    fn enter(&mut self, sender: &mut SenderState<'_>) -> Reaction {
        // (4.1) RecoveryPoint is the end of the data sent so far.
        self.recovery_point = sender.flight.snd_max;
        // (4.2) The window law reduces the window.
        let in_flight = self.flight_size(sender.flight);
        sender.congestion.on_loss(&Loss {
            at: sender.now,
            in_flight,
            echo: false,
        });
        self.recovering = true;
        // (4.3) Retransmits the first segment. A rescue retransmission requires an acknowledgement
        // beyond it.
        let first = sender.flight.snd_una;
        self.high_rxt = first;
        self.rescue_rxt = first + sender.flight.payload(first);
        self.first_lost = self.rescue_rxt;
        // (4.4) Computes the pipe.
        self.update(sender.flight);
        Reaction::RETRANSMIT
    }

    /// Returns whether limited transmit applies (section 5, step 3).
    fn in_limited_transmit(&self) -> bool {
        let waiting = !self.recovering && !self.after_timeout;
        self.limited_transmit && waiting && self.duplicates > 0
    }

    /// Returns the segment to send next (NextSeg, section 4).
    fn next_segment(&self, flight: &Flight, window: u64) -> Option<Candidate> {
        let Scores {
            lost_before,
            sacked_before,
            ..
        } = self.scores;
        let hole = self.scoreboard.next_hole(self.high_rxt);
        let hole = (hole < sacked_before).then_some(hole);
        // Rule (1): a lost hole.
        if let Some(sequence) = hole.filter(|sequence| *sequence < lost_before) {
            return Some(Candidate::hole(sequence));
        }
        // Rule (2): new data.
        if let Some(candidate) = self.new_data(flight, window) {
            return Some(candidate);
        }
        // Rule (3): a hole that is not known to be lost.
        if let Some(sequence) = hole {
            return Some(Candidate::hole(sequence));
        }
        // Rule (4): the last segment that is not SACKed, once per recovery.
        if !self.rescue || flight.snd_una <= self.rescue_rxt {
            return None;
        }
        Some(Candidate {
            sequence: flight.last_before(self.scoreboard.end_of_last_hole(flight.snd_max))?,
            reason: Reason::Rescue,
        })
    }
}

impl LossRecovery for Sack {
    fn on_blocks(&mut self, blocks: &[Block], flight: &Flight) -> bool {
        self.scoreboard.update(blocks, flight.snd_una)
    }

    fn on_ack(&mut self, ack: &Ack, news: bool, sender: &mut SenderState<'_>) -> Reaction {
        self.scoreboard.acknowledge(sender.flight.snd_una);
        self.duplicates = 0;
        self.beyond = sender.still_beyond(self.beyond);
        let covered = sender.flight.snd_una >= self.recovery_point;
        self.after_timeout &= !covered;
        // Section 5, (A): a cumulative acknowledgement beyond RecoveryPoint ends the recovery.
        let recovered = self.recovering && covered;
        self.recovering &= !covered;
        if !self.recovering && (!recovered || self.growth_on_exit) {
            sender.congestion.on_ack(ack);
        }
        self.high_rxt = self.high_rxt.max(sender.flight.snd_una);
        if news && !self.recovering {
            // Section 2: this acknowledgement also counts as a duplicate, "regardless of its status
            // as a cumulative acknowledgment". RFC 6298, section 5, (5.3): the timer restarts in
            // any case.
            let reaction = self.on_duplicate(news, sender);
            return Reaction {
                timer: TimerAction::Restart,
                ..reaction
            };
        }
        self.skip_sacked(sender.flight);
        self.update(sender.flight);
        Reaction::default()
    }

    fn on_duplicate(&mut self, news: bool, sender: &mut SenderState<'_>) -> Reaction {
        // Section 2: only an acknowledgement with new SACK information counts as a duplicate.
        if !news {
            return Reaction::KEEP;
        }
        self.duplicates += 1;
        self.skip_sacked(sender.flight);
        self.update(sender.flight);
        let may_enter = !self.recovering && sender.flight.snd_una >= self.recovery_point;
        // Section 5, steps 1 and 2: DupAcks >= DupThresh, or the first unacknowledged segment is
        // lost.
        let first_lost = self.scores.lost_before > sender.flight.snd_una;
        if may_enter && (self.duplicates >= self.threshold || first_lost) {
            return self.enter(sender);
        }
        Reaction::KEEP
    }

    fn flight_size(&self, flight: &Flight) -> u64 {
        flight.flight_size() - self.beyond
    }

    fn on_timeout(&mut self, flight: &Flight) {
        self.beyond = 0;
        // Section 5.1. The next acknowledgement of new data resets DupAcks and the scores.
        self.recovery_point = flight.snd_max;
        self.recovering = false;
        self.after_timeout = true;
        self.scoreboard.clear();
        // The timeout itself reports these losses to the window law.
        self.told = self.recovery_point;
    }

    fn candidate(&mut self, flight: &Flight, window: u64) -> Option<Candidate> {
        // Section 5, (C), and step 3 of limited transmit: a segment may be sent while cwnd - pipe
        // >= 1 SMSS.
        let room = self.scores.pipe + u64::from(flight.mss) <= window;
        if self.recovering {
            return match room {
                true => self.next_segment(flight, window),
                false => None,
            };
        }
        if !self.in_limited_transmit() {
            let outstanding = match self.duplicates == 0 || self.after_timeout {
                true => self.scoreboard.unsacked(flight.snd_una, flight.snd_nxt),
                false => flight.flight_size(),
            };
            let candidate = in_window(flight, outstanding, window)?;
            return Some(Candidate::in_order(candidate.sequence, flight, window));
        }
        // (3.3) Only previously unsent data.
        self.new_data(flight, window).filter(|_| room)
    }

    fn on_sent(&mut self, candidate: Candidate, _now: Time, flight: &mut Flight) {
        let payload = flight.payload(candidate.sequence);
        match candidate.reason {
            // (C.2) HighRxt advances with retransmissions ...
            Reason::Hole => self.high_rxt = candidate.sequence + payload,
            // ... but not with rule (4), which sets RescueRxt to RecoveryPoint.
            Reason::Rescue => self.rescue_rxt = self.recovery_point,
            Reason::Beyond => self.beyond += payload,
            Reason::Next | Reason::Probe => {}
        }
        if self.after_timeout {
            self.skip_sacked(flight);
        }
        // (C.4) The segment sent adds to the pipe.
        self.scores.pipe += payload;
    }

    fn scoreboard(&self) -> Option<&Scoreboard> {
        Some(&self.scoreboard)
    }

    fn newly_lost(&mut self, flight: &Flight) -> u64 {
        let from = self.told.max(flight.snd_una);
        self.told = from.max(self.scores.lost_before).max(self.first_lost);
        self.scoreboard.unsacked(from, self.told)
    }

    fn phase(&self, _flight: &Flight) -> Phase {
        if self.recovering {
            Phase::Recovery
        } else if self.after_timeout {
            Phase::Loss
        } else {
            Phase::Open
        }
    }
}
