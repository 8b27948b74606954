//! The responder of a queue pair (transport `rdma`).

use super::{Receiver, State};
use crate::transport::{Echo, Reception};
use crate::wire::host_timer::HostTimer;
use crate::wire::segment::{Endpoint, ACK, ECE, FIN, NOTICE};
use crate::Flow;
use lightburst_des::Duration;
use lightburst_net::{Block, Header, Options};
use std::cmp::Ordering;

impl Receiver {
    /// Creates the responder of a flow.
    pub fn responder(flow: &Flow) -> Receiver {
        Receiver {
            state: State::Responding,
            ..Receiver::new(flow, None)
        }
    }

    /// Handles a packet of a message (InfiniBand Architecture Specification, volume 1, section
    /// 9.7.5); `first` is true at its first transmission.
    #[cold]
    pub(super) fn on_packet(
        &mut self,
        header: &Header,
        first: bool,
        reception: &Reception,
        end: &mut Endpoint<'_, '_>,
    ) {
        if let Some(interval) = reception
            .notify
            .filter(|_| header.flags & Header::MARKED != 0)
        {
            self.on_mark(interval, end);
        }
        self.marked = header.flags & Header::MARKED != 0 && reception.echo == Echo::Each;
        if header.payload == 0 {
            return self.on_trimmed(header.sequence, end);
        }
        let packet = Block {
            start: header.sequence,
            end: header.sequence + u64::from(header.payload),
        };
        match packet.start.cmp(&self.rcv_nxt) {
            Ordering::Equal => {
                self.advanced = end.now();
                self.refused = false;
                self.waiting += 1;
                let fills = !self.held.is_empty();
                if fills {
                    self.note_order(packet, first, end);
                }
                self.rcv_nxt = self.held.advance(packet.end);
                // The last packet of a message requests an acknowledgement, and one that is sent
                // again, since the sender waits for it.
                let requested = header.flags & FIN != 0 || !first;
                if requested || fills || self.waiting >= reception.acknowledge_every {
                    self.respond(ACK, None, end);
                }
            }
            // A duplicate is acknowledged, since its acknowledgement may be lost.
            Ordering::Less => {
                self.duplicates += 1;
                self.respond(ACK, None, end);
            }
            // Mittal et al. 2018, section 3.1: it is kept, and the answer names it.
            Ordering::Greater if reception.blocks > 0 => {
                match self.held.holds(packet) {
                    true => self.duplicates += 1,
                    false => self.note_order(packet, first, end),
                }
                self.held.insert(packet);
                let mut options = Options::default();
                options.push(packet);
                self.respond(ACK | NOTICE, Some(options), end);
            }
            // One NAK for each sequence error: none again until the packet arrives.
            Ordering::Greater => {
                if !std::mem::replace(&mut self.refused, true) {
                    self.respond(ACK | NOTICE, None, end);
                }
            }
        }
    }

    /// Answers the header of a packet that was trimmed (Handley et al. 2017, section 3.2): a negative
    /// acknowledgement names its first byte, by an empty block. If the data came by another
    /// transmission, it is acknowledged.
    fn on_trimmed(&mut self, sequence: u64, end: &mut Endpoint<'_, '_>) {
        let byte = Block {
            start: sequence,
            end: sequence + 1,
        };
        if sequence < self.rcv_nxt || self.held.holds(byte) {
            return self.respond(ACK, None, end);
        }
        let mut options = Options::default();
        options.push(Block {
            start: sequence,
            end: sequence,
        });
        self.respond(ACK | NOTICE, Some(options), end);
    }

    fn respond(&mut self, flags: u8, options: Option<Options>, end: &mut Endpoint<'_, '_>) {
        self.waiting = 0;
        let header = Header {
            acknowledgement: self.rcv_nxt,
            flags: if self.marked { flags | ECE } else { flags },
            ..Header::default()
        };
        end.send(header, options, 0);
    }

    /// Handles a congestion mark (Zhu et al. 2015, section 3.1): the first is notified at once, and
    /// then at most one of each interval.
    fn on_mark(&mut self, interval: Duration, end: &mut Endpoint<'_, '_>) {
        if end.now() >= self.notify_at {
            self.notify(interval, end);
        } else if !self.delay.is_set() {
            let at = self.notify_at;
            self.delay.set(at, HostTimer::Delay, end);
        }
    }

    /// Sends a congestion notification packet (CNP).
    pub(super) fn notify(&mut self, interval: Duration, end: &mut Endpoint<'_, '_>) {
        self.delay.clear();
        self.notify_at = end.now() + interval;
        let header = Header {
            flags: NOTICE,
            ..Header::default()
        };
        end.send(header, None, 0);
    }
}
