//! Strict priorities: the flows of a band wait in a line of their own, and a unit is sent only if no
//! unit of a band before it waits.

use super::{Discipline, DisciplineSettings, Port};
use crate::lines::{Lines, Room};
use crate::output::Output;
use crate::settings::shared;
use lightburst_des::Time;
use lightburst_net::Unit;
use serde::Deserialize;
use std::sync::Arc;

/// Settings of strict priorities.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prio {
    /// Band of each group of flows; band 0 comes first.
    #[serde(deserialize_with = "shared")]
    bands: Arc<[u16]>,
    /// Units that the limit of a queue is about.
    buffer: Room,
}

impl DisciplineSettings for Prio {
    fn build(&self, port: &Port) -> Box<dyn Discipline> {
        let number = self
            .bands
            .iter()
            .max()
            .map_or(1, |&last| usize::from(last) + 1);
        Box::new(Bands {
            lines: Lines::new(port, &self.bands, number, self.buffer),
        })
    }

    fn lines(&self) -> Option<Arc<[u16]>> {
        Some(Arc::clone(&self.bands))
    }
}

struct Bands {
    lines: Lines,
}

impl Discipline for Bands {
    #[inline]
    fn enqueue(&mut self, unit: Unit, output: &mut Output<'_, '_>) {
        let band = self.lines.place(unit, output);
        self.lines.enqueue(band, unit, output);
    }

    #[inline]
    fn dequeue(&mut self, output: &mut Output<'_, '_>) -> Option<(Unit, Time)> {
        let band = self.lines.first_open_line(output)?;
        self.lines.send(band, output)
    }

    /// In the order of the bands.
    fn flush(&mut self, output: &mut Output<'_, '_>) -> Vec<Unit> {
        self.lines.flush(output)
    }
}
