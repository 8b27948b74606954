//! Trimming to headers: a packet that finds the queue of data full loses its payload, and its header
//! overtakes the data (NDP: M. Handley et al., "Re-architecting datacenter networks and stacks for
//! low latency and high performance", SIGCOMM 2017, section 3.1).

use super::{Discipline, DisciplineSettings, Port, QUEUE_FULL};
use crate::output::Output;
use lightburst_des::{Stream, Time};
use lightburst_net::{Chain, Unit};
use serde::Deserialize;
use std::num::NonZeroU32;

/// Settings of a queue that trims.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trim {
    /// Number of units with data that may wait.
    packets: NonZeroU32,
    /// Largest size of a packet without its payload.
    header_bytes: NonZeroU32,
    /// Bytes of packets without data that may wait.
    header_queue_bytes: u64,
    /// Packets without data that leave for each unit with data, while both wait.
    weight: NonZeroU32,
    /// Probability that the last packet that waits is trimmed, in place of the arriving one.
    tail: f64,
    /// Whether a header without room returns to the sender of its packet.
    #[serde(default)]
    return_to_sender: bool,
}

impl DisciplineSettings for Trim {
    fn build(&self, port: &Port) -> Box<dyn Discipline> {
        Box::new(Queues {
            settings: *self,
            draw: port.draw(),
            data: Chain::default(),
            units: 0,
            headers: Chain::default(),
            bytes: 0,
            in_a_row: 0,
        })
    }
}

struct Queues {
    settings: Trim,
    draw: Stream,
    /// Units with data, and their number.
    data: Chain,
    units: u32,
    /// Packets without data, and their bytes.
    headers: Chain,
    bytes: u64,
    /// Packets without data that have left since the last unit with data, while both waited.
    in_a_row: u32,
}

impl Queues {
    /// Queues a packet without data, returns it to its sender, or drops it.
    fn enqueue_header(&mut self, unit: Unit, output: &mut Output<'_, '_>) {
        let bytes = u64::from(output.bytes(unit));
        let backlog = output.backlog();
        let fits = self.bytes + bytes <= self.settings.header_queue_bytes;
        if !fits || !output.fits(unit, backlog) {
            return self.overflow(unit, output);
        }
        self.bytes += bytes;
        output.push(&mut self.headers, unit, backlog);
    }

    /// Returns a packet without data that finds no room to its sender, or drops it.
    #[cold]
    fn overflow(&mut self, unit: Unit, output: &mut Output<'_, '_>) {
        match self.settings.return_to_sender {
            // Section 3.2.4.
            true => output.return_to_sender(unit),
            false => output.drop(unit, QUEUE_FULL),
        }
    }

    /// Takes the last unit with data out of its queue, if it is to be trimmed in place of an arriving
    /// one.
    fn take_tail(&mut self, output: &mut Output<'_, '_>) -> Option<Unit> {
        let last = self.data.last()?;
        // Section 3.1: one of both by chance, so that no flow is always the one that is trimmed.
        if !output.is_trimmable(last) || self.draw.uniform() >= self.settings.tail {
            return None;
        }
        output.pop_last(&mut self.data)
    }

    /// Trims a packet for which there is no room, or the last one that waits; or drops it.
    #[cold]
    fn trim(&mut self, unit: Unit, output: &mut Output<'_, '_>) {
        if !output.is_trimmable(unit) {
            return output.drop(unit, QUEUE_FULL);
        }
        let bytes = self.settings.header_bytes.get();
        let tail = match output.lacks_room(unit) {
            true => None,
            false => self.take_tail(output),
        };
        if let Some(tail) = tail {
            let backlog = output.backlog();
            output.push(&mut self.data, unit, backlog);
            output.trim(tail, bytes);
            return self.keep_tail(tail, output);
        }
        output.trim(unit, bytes);
        self.enqueue_header(unit, output);
    }

    /// Queues the header of a packet that waited, returns it to its sender, or drops it.
    fn keep_tail(&mut self, unit: Unit, output: &mut Output<'_, '_>) {
        let bytes = u64::from(output.bytes(unit));
        let fits = self.bytes + bytes <= self.settings.header_queue_bytes;
        if !fits || output.lacks_room(unit) {
            return self.overflow(unit, output);
        }
        self.bytes += bytes;
        output.push_again(&mut self.headers, unit);
    }
}

impl Discipline for Queues {
    #[inline]
    fn enqueue(&mut self, unit: Unit, output: &mut Output<'_, '_>) {
        if output.is_control(unit) {
            return self.enqueue_header(unit, output);
        }
        if self.units >= self.settings.packets.get() || output.lacks_room(unit) {
            return self.trim(unit, output);
        }
        self.units += 1;
        let backlog = output.backlog();
        output.push(&mut self.data, unit, backlog);
    }

    /// Section 3.1: weighted round robin, so many headers to a packet, so that headers cannot use up
    /// the link.
    #[inline]
    fn dequeue(&mut self, output: &mut Output<'_, '_>) -> Option<(Unit, Time)> {
        let both = !self.headers.is_empty() && !self.data.is_empty();
        let is_turn_of_data = both && self.in_a_row >= self.settings.weight.get();
        if is_turn_of_data || self.headers.is_empty() {
            let sent = output.pop(&mut self.data)?;
            self.units -= 1;
            self.in_a_row = if both { 0 } else { self.in_a_row };
            return Some(sent);
        }
        let (unit, since) = output.pop(&mut self.headers)?;
        self.bytes -= u64::from(output.bytes(unit));
        self.in_a_row += u32::from(both);
        Some((unit, since))
    }

    /// The headers first.
    fn flush(&mut self, output: &mut Output<'_, '_>) -> Vec<Unit> {
        (self.units, self.bytes) = (0, 0);
        let mut units = output.pop_all(&mut self.headers);
        units.append(&mut output.pop_all(&mut self.data));
        units
    }
}
