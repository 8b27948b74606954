//! Drop-tail: first in, first out, and a unit without room is dropped. An output on which nothing is
//! decided at a departure does the same without a queue.

use super::{Discipline, DisciplineSettings, Port};
use crate::output::Output;
use lightburst_des::Time;
use lightburst_net::{Chain, Unit};
use serde::Deserialize;

/// Settings of drop-tail.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DropTail {}

impl DisciplineSettings for DropTail {
    fn build(&self, port: &Port) -> Box<dyn Discipline> {
        Box::new(Tail {
            ecn_threshold_bytes: port.ecn_threshold_bytes,
            departure_threshold_bytes: port.departure_threshold_bytes,
            chain: Chain::default(),
        })
    }
}

struct Tail {
    ecn_threshold_bytes: u64,
    departure_threshold_bytes: u64,
    chain: Chain,
}

impl Discipline for Tail {
    #[inline]
    fn enqueue(&mut self, unit: Unit, output: &mut Output<'_, '_>) {
        let backlog = output.backlog();
        if !output.admit(unit, backlog) {
            return;
        }
        if backlog >= self.ecn_threshold_bytes {
            output.mark(unit);
        }
        output.push(&mut self.chain, unit, backlog);
    }

    #[inline]
    fn dequeue(&mut self, output: &mut Output<'_, '_>) -> Option<(Unit, Time)> {
        let (unit, since) = output.pop(&mut self.chain)?;
        if output.waiting().bytes >= self.departure_threshold_bytes {
            output.mark(unit);
        }
        Some((unit, since))
    }

    fn flush(&mut self, output: &mut Output<'_, '_>) -> Vec<Unit> {
        output.pop_all(&mut self.chain)
    }
}
