//! Lines of an output: the flows of a class wait in a line of their own.

use crate::output::Output;
use crate::queue::Port;
use lightburst_des::Time;
use lightburst_net::{Chain, Unit};
use serde::Deserialize;
use std::sync::Arc;

/// Units that a limit on bytes is about.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Room {
    /// Those of a line: each has a limit of its own.
    Own,
    /// Those of all lines together.
    Shared,
}

/// Line of a class.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Line {
    chain: Chain,
    /// Bytes that wait.
    bytes: u64,
}

/// Lines of an output.
pub(crate) struct Lines {
    /// Group of each flow.
    groups: Arc<[u16]>,
    /// Line of each group.
    places: Arc<[u16]>,
    number: usize,
    /// Empty before the first unit: most outputs of a large network are hardly used.
    lines: Vec<Line>,
    room: Room,
    ecn_threshold_bytes: u64,
    departure_threshold_bytes: u64,
    /// Line from which the last unit was sent.
    sent: usize,
}

impl Lines {
    /// Creates `number` empty lines; `places` has the line of each group of flows.
    pub fn new(port: &Port, places: &Arc<[u16]>, number: usize, room: Room) -> Lines {
        Lines {
            groups: Arc::clone(&port.groups),
            places: Arc::clone(places),
            number,
            lines: Vec::new(),
            room,
            ecn_threshold_bytes: port.ecn_threshold_bytes,
            departure_threshold_bytes: port.departure_threshold_bytes,
            sent: 0,
        }
    }

    /// Returns the line of a unit.
    #[inline]
    pub fn place(&mut self, unit: Unit, output: &Output<'_, '_>) -> usize {
        if self.lines.is_empty() {
            self.lines = vec![Line::default(); self.number];
        }
        let group = self.groups[output.flow_of_first(unit).index()];
        usize::from(self.places[usize::from(group)])
    }

    /// Returns the bytes of a line that the output, with `backlog` bytes, has not sent yet. What the
    /// link still has to send is of the line that was the last to send.
    #[inline]
    fn backlog(&self, place: usize, backlog: u64, output: &Output<'_, '_>) -> u64 {
        let line = self.lines[place].bytes;
        if place != self.sent {
            return line;
        }
        (backlog + line).saturating_sub(output.waiting().bytes)
    }

    /// Queues a unit in its line, or drops it; returns whether it is queued.
    #[inline]
    pub fn enqueue(&mut self, place: usize, unit: Unit, output: &mut Output<'_, '_>) -> bool {
        let backlog = output.backlog();
        let own = self.backlog(place, backlog, output);
        let ahead = match self.room {
            Room::Own => own,
            Room::Shared => backlog,
        };
        if !output.admit(unit, ahead) {
            return false;
        }
        if own >= self.ecn_threshold_bytes {
            output.mark(unit);
        }
        let line = &mut self.lines[place];
        output.push(&mut line.chain, unit, backlog);
        line.bytes += u64::from(output.bytes(unit));
        true
    }

    /// Returns the first unit of a line.
    #[inline]
    pub fn first(&self, place: usize) -> Option<Unit> {
        self.lines[place].chain.first()
    }

    /// Returns the first line in which a unit waits, and that does not pause.
    #[inline]
    pub fn first_open_line(&self, output: &Output<'_, '_>) -> Option<usize> {
        let mut lines = self.lines.iter().enumerate();
        lines.position(|(place, line)| line.bytes > 0 && output.is_open(place))
    }

    /// Returns the line with the most waiting bytes, of equals the first; `arriving` more bytes in
    /// the line `place`.
    pub fn longest(&self, place: usize, arriving: u64) -> usize {
        let bytes = |at: usize| self.lines[at].bytes + if at == place { arriving } else { 0 };
        let most = |best: usize, at: usize| if bytes(at) > bytes(best) { at } else { best };
        (1..self.lines.len()).fold(0, most)
    }

    /// Takes the first unit out of a line, with the time since which it has waited.
    #[inline]
    pub fn take(&mut self, place: usize, output: &mut Output<'_, '_>) -> Option<(Unit, Time)> {
        let line = &mut self.lines[place];
        let (unit, since) = output.pop(&mut line.chain)?;
        line.bytes -= u64::from(output.bytes(unit));
        Some((unit, since))
    }

    /// Takes out the first unit of a line, to be sent.
    #[inline]
    pub fn send(&mut self, place: usize, output: &mut Output<'_, '_>) -> Option<(Unit, Time)> {
        self.sent = place;
        let (unit, since) = self.take(place, output)?;
        if self.lines[place].bytes >= self.departure_threshold_bytes {
            output.mark(unit);
        }
        Some((unit, since))
    }

    /// Takes out all units, line by line.
    pub fn flush(&mut self, output: &mut Output<'_, '_>) -> Vec<Unit> {
        let mut units = Vec::new();
        for line in &mut self.lines {
            line.bytes = 0;
            units.append(&mut output.pop_all(&mut line.chain));
        }
        units
    }
}
