//! New-Reno (RFC 6582): a recovery lasts until all data sent before it is acknowledged; each
//! partial acknowledgement causes the retransmission of the next hole.

use super::{Candidate, Duplicates, LossRecovery, Phase, Reaction, SenderState, TimerAction};
use crate::cc::Ack;
use crate::flight::Flight;
use crate::Parameters;
use lightburst_des::Time;

#[derive(Clone)]
struct Recovering {
    /// Inflation of the window in bytes.
    inflation: i64,
    /// Whether a partial acknowledgement was received in this recovery.
    partial: bool,
}

#[derive(Clone)]
pub struct NewReno {
    duplicates: Duplicates,
    recovering: Option<Recovering>,
    growth_on_exit: bool,
    slow_but_steady: bool,
    exit_at_flight: bool,
}

impl NewReno {
    pub fn new(parameters: &Parameters) -> NewReno {
        NewReno {
            duplicates: Duplicates::new(parameters),
            recovering: None,
            growth_on_exit: parameters.is("window_growth_on_exit"),
            slow_but_steady: parameters
                .word("partial_acknowledgement", &["impatient", "slow-but-steady"])
                == "slow-but-steady",
            exit_at_flight: parameters.word("full_acknowledgement", &["flight-size", "ssthresh"])
                == "flight-size",
        }
    }

    /// Handles a partial acknowledgement (RFC 6582, section 3.2, step 3).
    fn on_partial(&mut self, ack: &Ack, flight: &Flight) -> Reaction {
        self.duplicates.lose(flight);
        let mss = i64::from(flight.mss);
        let recovering = self.recovering.as_mut().expect("a recovery");
        let acknowledged = ack.bytes as i64;
        // "deflate the congestion window by the amount of new data acknowledged"; if that is at
        // least SMSS, "add back SMSS bytes".
        recovering.inflation -= acknowledged;
        if acknowledged >= mss {
            recovering.inflation += mss;
        }
        // Section 4: in the impatient variant only the first partial acknowledgement restarts the
        // timer.
        let first = !std::mem::replace(&mut recovering.partial, true);
        Reaction {
            retransmit: true,
            fast: false,
            timer: match first || self.slow_but_steady {
                true => TimerAction::Restart,
                false => TimerAction::Keep,
            },
        }
    }

    /// Handles a full acknowledgement (RFC 6582, section 3.2, step 3).
    fn on_full(&mut self, ack: &Ack, sender: &mut SenderState<'_>) {
        self.recovering = None;
        if self.exit_at_flight {
            // Option (1): cwnd = min (ssthresh, max (FlightSize, SMSS) + SMSS). Option (2): cwnd =
            // ssthresh.
            let mss = u64::from(sender.flight.mss);
            sender
                .congestion
                .limit(sender.flight.flight_size().max(mss) + mss);
        }
        if self.growth_on_exit {
            sender.congestion.on_ack(ack);
        }
    }
}

impl LossRecovery for NewReno {
    fn on_ack(&mut self, ack: &Ack, _news: bool, sender: &mut SenderState<'_>) -> Reaction {
        let partial = sender.flight.snd_una < self.duplicates.recover;
        self.duplicates.clear(sender);
        match self.recovering {
            Some(_) if partial => return self.on_partial(ack, sender.flight),
            Some(_) => self.on_full(ack, sender),
            None => sender.congestion.on_ack(ack),
        }
        Reaction::default()
    }

    fn on_duplicate(&mut self, _news: bool, sender: &mut SenderState<'_>) -> Reaction {
        if let Some(recovering) = &mut self.recovering {
            recovering.inflation += i64::from(sender.flight.mss);
            return Reaction::KEEP;
        }
        if !self.duplicates.count(sender.flight) {
            return Reaction::KEEP;
        }
        self.recovering = Some(Recovering {
            inflation: self.duplicates.enter(sender),
            partial: false,
        });
        Reaction::RETRANSMIT
    }

    fn flight_size(&self, flight: &Flight) -> u64 {
        self.duplicates.flight_size(flight)
    }

    fn on_timeout(&mut self, flight: &Flight) {
        self.recovering = None;
        self.duplicates.timeout(flight);
    }

    fn candidate(&mut self, flight: &Flight, window: u64) -> Option<Candidate> {
        let inflation = self.recovering.as_ref().map(|r| r.inflation);
        self.duplicates.candidate(inflation, flight, window)
    }

    fn on_sent(&mut self, candidate: Candidate, _now: Time, flight: &mut Flight) {
        self.duplicates.sent(candidate, flight);
    }

    fn inflation(&self) -> i64 {
        self.recovering.as_ref().map_or(0, |r| r.inflation)
    }

    fn newly_lost(&mut self, _flight: &Flight) -> u64 {
        std::mem::take(&mut self.duplicates.lost)
    }

    fn phase(&self, _flight: &Flight) -> Phase {
        self.duplicates.phase(self.recovering.is_some())
    }
}
