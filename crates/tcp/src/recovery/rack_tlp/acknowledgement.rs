//! Order of the operations at an acknowledgement.

use super::pacing::Basis;
use super::{Arrival, RackTlp, SenderState, State};
use crate::cc::Ack;

impl RackTlp {
    /// Handles an acknowledgement below SND.UNA: only its SACK blocks count.
    pub(super) fn on_old(&mut self, arrival: &Arrival<'_>, sender: &mut SenderState<'_>) {
        if !arrival.blocks.is_empty() && self.features.sack {
            self.tag_sacked(arrival, sender);
            self.on_alert(arrival, 0, sender);
            self.tell_lost(sender);
        }
    }

    /// Handles an acknowledgement at or beyond SND.UNA (`tcp_ack`).
    pub(super) fn on_current(&mut self, arrival: &Arrival<'_>, sender: &mut SenderState<'_>) {
        let advanced = arrival.acknowledgement > arrival.before;
        let updates_window = std::mem::take(&mut self.updates_window);
        let (delivered, lost) = (self.delivered, self.lost);
        self.flags.advanced = advanced;
        self.begin_rate();
        if advanced {
            self.retransmits = 0;
        }
        self.evidence.prior_fack = self.highest_sacked(self.board.first());
        if !arrival.blocks.is_empty() && self.features.sack {
            self.tag_sacked(arrival, sender);
        }
        self.flags.echo = arrival.echo && arrival.reduces;
        self.flags.marked = arrival.echo;
        if self.board.is_empty() {
            if self.flags.duplicate {
                self.on_alert(arrival, 0, sender);
            }
            self.end_probe(sender);
            return;
        }
        self.clean(arrival, sender);
        self.adapt_reordering_window();
        self.end_probe(sender);
        let flags = self.flags;
        // RFC 5681, section 2: a duplicate has the window of the acknowledgement before.
        let is_duplicate = !flags.acked && !flags.advanced && !updates_window;
        let alert = flags.sacked || flags.echo || flags.duplicate;
        if is_duplicate || alert || self.state != State::Open {
            let duplicates = u64::from(is_duplicate && !flags.duplicate);
            self.on_alert(arrival, duplicates, sender);
        }
        if self.flags.timer {
            self.set_timer_anew(sender);
        }
        let (delivered, lost) = (self.delivered - delivered, self.lost - lost);
        self.control(delivered, lost, sender);
    }

    /// Changes the window: by PRR while it is being reduced, otherwise by the law
    /// (`tcp_cong_control`).
    fn control(&mut self, delivered: u64, lost: u64, sender: &mut SenderState<'_>) {
        if self.rates.is_some() {
            self.control_by_rates(delivered, lost, sender);
        } else if self.reducing() {
            self.reduce(delivered, lost, self.flags.advanced, sender);
        } else {
            let reorders = self.reordering > self.features.reordering;
            let progress = self.flags.acked || (reorders && self.flags.sacked);
            let cwnd = self.cwnd(sender);
            // RFC 7661: no growth unless the window limits the sender.
            if delivered > 0 && progress && self.usage.is_limited(cwnd, sender.congestion.window())
            {
                sender.congestion.on_limited_ack(&Ack {
                    at: sender.now,
                    bytes: delivered * self.mss,
                    in_flight: sender.flight.flight_size(),
                    rtt: self.evidence.rtt_of_law(),
                    ecn_echo: self.flags.marked,
                    delivery_rate: None,
                    marks: None,
                });
            }
        }
        self.update_rate(sender);
    }

    /// Has the pacing rate follow the window and SRTT, or the rate of the law.
    pub(super) fn update_rate(&mut self, sender: &SenderState<'_>) {
        if self.rates.is_some() {
            if let Some(rate) = sender.congestion.pacing_rate() {
                self.pacing.set_rate(rate.bps() / 8);
            }
            return;
        }
        if self.pacing.is_on() || self.samples {
            let basis = Basis {
                mss: self.mss,
                outstanding: self.cwnd(sender).max(self.board.len()),
                window: *sender.congestion.window(),
                smoothed: sender.timeout.smoothed(),
            };
            self.pacing.update(basis);
        }
    }
}
