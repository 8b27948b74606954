//! What a responder tells besides acknowledgements (transport `rdma`).

use super::{Sender, State};
use crate::measure::told::Told;
use crate::measure::Beside;
use crate::wire::host_timer::HostTimer;
use crate::wire::segment::{Endpoint, ACK, ECE, PULL, SYN};
use lightburst_net::{Block, Header, Options, PathNews};

impl Sender {
    /// Handles a pull, a congestion notification, a returned header, or a negative
    /// acknowledgement: all data before its
    /// number has arrived, and the packet at its number has not.
    #[cold]
    pub(super) fn on_notice(
        &mut self,
        header: &Header,
        options: Option<&Options>,
        end: &mut Endpoint<'_, '_>,
    ) {
        if self.state != State::Established {
            return;
        }
        if header.flags & SYN != 0 {
            return self.on_returned(header.sequence, end);
        }
        if header.flags & (ACK | PULL) == PULL {
            return self.on_pull(header.sequence, end);
        }
        if header.flags & ACK == 0 {
            self.congestion.on_notification(end.now());
            if let Some(repaths) = end.ctx.repaths() {
                repaths.on_notification(end.id);
            }
            return self.tell_window(end);
        }
        if end.ctx.repaths().is_some() {
            self.judge_path(header, options, end);
        }
        if header.acknowledgement >= self.flight.snd_una {
            self.recovery.on_nak();
            self.on_ack(header, options, end);
        } else {
            self.on_overtaken_nak(options, end);
        }
    }

    /// Handles a negative acknowledgement that a later answer overtook: no other one names its packet.
    #[cold]
    fn on_overtaken_nak(&mut self, options: Option<&Options>, end: &mut Endpoint<'_, '_>) {
        let blocks = options.map_or(&[][..], Options::blocks);
        if !blocks.is_empty() {
            self.recovery.on_blocks(blocks, &self.flight);
            self.send_allowed(end);
            self.tell_window(end);
        }
    }

    /// Handles the header of a trimmed packet that found no room at a switch, and came back (Handley et
    /// al. 2017, section 3.2.4).
    #[cold]
    fn on_returned(&mut self, packet: u64, end: &mut Endpoint<'_, '_>) {
        let (flow, acknowledged) = (end.id, self.flight.snd_una);
        if let Some(repaths) = end.ctx.repaths() {
            let news = PathNews {
                bytes: 0,
                marked: false,
                acknowledged,
                sent: self.flight.snd_max,
                count: None,
                trimmed: Some(packet),
            };
            repaths.on_ack(flow, &news);
        }
        let block = Block {
            start: packet,
            end: packet,
        };
        self.recovery.on_blocks(&[block], &self.flight);
        if self.measure.beside == Beside::Pulls {
            self.congestion.on_return();
            self.wait_for_pull();
        }
        if packet >= acknowledged {
            let value = self.timeout.value();
            self.timer.set(end.now() + value, HostTimer::Sender, end);
        }
        self.send_allowed(end);
        self.tell_window(end);
    }

    /// Lets an acknowledgement decide on the path, before anything else.
    #[cold]
    pub(super) fn judge_path(
        &self,
        header: &Header,
        options: Option<&Options>,
        end: &mut Endpoint<'_, '_>,
    ) {
        let trimmed = match options.map_or(&[][..], Options::blocks) {
            [block] if block.start == block.end => Some(block.start),
            _ => None,
        };
        let news = PathNews {
            bytes: header.acknowledgement.saturating_sub(self.flight.snd_una),
            marked: header.flags & ECE != 0,
            acknowledged: header.acknowledgement,
            sent: self.flight.snd_max,
            count: self.measure.accurate.then_some(header.ace),
            trimmed,
        };
        let flow = end.id;
        if let Some(repaths) = end.ctx.repaths() {
            repaths.on_ack(flow, &news);
        }
    }

    /// Passes the telemetry of an acknowledgement to the law.
    #[cold]
    pub(super) fn hear_telemetry(
        &mut self,
        acknowledged: u64,
        is_new: bool,
        end: &mut Endpoint<'_, '_>,
    ) {
        let answers = acknowledged == self.flight.snd_una && !self.flight.is_acknowledged();
        if !is_new && !answers {
            return;
        }
        self.congestion.on_told(&Told {
            readings: end.ctx.telemetry(),
            acknowledged,
            sent: self.flight.snd_nxt,
        });
    }
}
