//! Deficit round robin (Shreedhar and Varghese 1995) over the groups of flows: each has a line of its
//! own, and in its turn sends what its quantum and the deficit of its earlier turns allow.

use super::{Discipline, DisciplineSettings, Port, QUEUE_FULL};
use crate::lines::{Lines, Room};
use crate::output::Output;
use crate::settings::shared;
use lightburst_des::Time;
use lightburst_net::Unit;
use serde::Deserialize;
use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::Arc;

/// Settings of deficit round robin.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drr {
    /// Bytes that each group of flows may send in its turn.
    #[serde(rename = "quanta_bytes", deserialize_with = "shared")]
    quanta: Arc<[NonZeroU32]>,
    /// Units that the limit of a queue is about.
    buffer: Room,
}

impl DisciplineSettings for Drr {
    fn build(&self, port: &Port) -> Box<dyn Discipline> {
        let places: Arc<[u16]> = (0..self.quanta.len() as u16).collect();
        Box::new(Turns {
            lines: Lines::new(port, &places, self.quanta.len(), self.buffer),
            room: self.buffer,
            quanta: Arc::clone(&self.quanta),
            deficits: Vec::new(),
            active: VecDeque::new(),
            has_quantum: false,
        })
    }

    fn lines(&self) -> Option<Arc<[u16]>> {
        Some((0..self.quanta.len() as u16).collect())
    }
}

struct Turns {
    lines: Lines,
    room: Room,
    quanta: Arc<[NonZeroU32]>,
    /// Bytes that each line may still send, DC_i of the paper. Empty before the first unit.
    deficits: Vec<u64>,
    /// Lines in which units wait, in the order of their turns: ActiveList of the paper.
    active: VecDeque<u16>,
    /// Whether the first of these has its quantum for this turn.
    has_quantum: bool,
}

impl Turns {
    /// Ends the turn of the first line, which comes again after the others, or is empty.
    fn end_turn(&mut self, is_empty: bool) {
        let line = self.active.pop_front().expect("a line whose turn it is");
        self.has_quantum = false;
        match is_empty {
            // If (Empty(Queue_i)) Then DC_i = 0 Else InsertActiveList(i)
            true => self.deficits[usize::from(line)] = 0,
            false => self.active.push_back(line),
        }
    }

    /// Ends the turns of lines that pause, up to one that does not. Returns whether there is one.
    #[cold]
    fn pass_over_paused(&mut self, output: &Output<'_, '_>) -> bool {
        let is_open = |line: &u16| output.is_open(usize::from(*line));
        if !self.active.iter().any(is_open) {
            return false;
        }
        while !is_open(&self.active[0]) {
            let line = usize::from(self.active[0]);
            if self.has_quantum {
                let rest = self.deficits[line].saturating_sub(u64::from(self.quanta[line].get()));
                self.deficits[line] = rest;
            }
            self.end_turn(false);
        }
        true
    }

    /// Takes a line in which no unit waits any more out of the turns.
    fn leave(&mut self, line: usize) {
        match self.active.iter().position(|&at| usize::from(at) == line) {
            Some(0) => self.end_turn(true),
            Some(at) => {
                self.active.remove(at);
                self.deficits[line] = 0;
            }
            None => unreachable!("a line in which units wait has a turn"),
        }
    }

    /// Makes room for a unit of the line `place` (buffer stealing): while there is none, the first
    /// unit of the line with the most bytes is dropped. Returns whether the unit itself was not.
    #[cold]
    fn make_room(&mut self, place: usize, unit: Unit, output: &mut Output<'_, '_>) -> bool {
        let bytes = u64::from(output.bytes(unit));
        while output.lacks_room(unit) {
            let longest = self.lines.longest(place, bytes);
            let Some((first, _)) = self.lines.take(longest, output) else {
                output.drop(unit, QUEUE_FULL);
                return false;
            };
            output.drop_for_room(first);
            if self.lines.first(longest).is_none() {
                self.leave(longest);
            }
        }
        true
    }
}

impl Discipline for Turns {
    #[inline]
    fn enqueue(&mut self, unit: Unit, output: &mut Output<'_, '_>) {
        let line = self.lines.place(unit, output);
        if self.deficits.is_empty() {
            self.deficits = vec![0; self.quanta.len()];
        }
        if self.room == Room::Shared
            && output.lacks_room(unit)
            && !self.make_room(line, unit, output)
        {
            return;
        }
        let is_active = self.lines.first(line).is_some();
        if self.lines.enqueue(line, unit, output) && !is_active {
            self.active.push_back(line as u16);
        }
    }

    #[inline]
    fn dequeue(&mut self, output: &mut Output<'_, '_>) -> Option<(Unit, Time)> {
        loop {
            if output.has_pauses() && !self.pass_over_paused(output) {
                return None;
            }
            let line = usize::from(*self.active.front()?);
            let deficit = &mut self.deficits[line];
            if !self.has_quantum {
                // DC_i = Q_i + DC_i
                *deficit += u64::from(self.quanta[line].get());
                self.has_quantum = true;
            }
            let first = self.lines.first(line).expect("a unit of an active line");
            let bytes = u64::from(output.bytes(first));
            // If (PacketSize <= DC_i)
            if bytes > *deficit {
                self.end_turn(false);
                continue;
            }
            *deficit -= bytes;
            let sent = self.lines.send(line, output);
            if self.lines.first(line).is_none() {
                self.end_turn(true);
            }
            return sent;
        }
    }

    /// In the order of the groups.
    fn flush(&mut self, output: &mut Output<'_, '_>) -> Vec<Unit> {
        self.deficits.fill(0);
        self.active.clear();
        self.has_quantum = false;
        self.lines.flush(output)
    }
}
