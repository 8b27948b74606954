//! Outcomes of all flows, stored in columns. After the end of a flow its row here is the only state
//! kept of it.

use crate::Outcome;
use lightburst_des::Time;
use lightburst_net::{FlowId, Narrow};

/// Outcomes of all flows.
#[derive(Clone, Debug)]
pub struct Outcomes {
    /// Columns in the order of [`Outcome::NUMBERS`].
    columns: [Narrow; Outcome::NUMBERS.len()],
    /// Reinjections of each flow, if some have them.
    reinjections: Option<Narrow>,
    /// Start of each flow, if some wait for others.
    started: Option<Narrow>,
    /// Begin of each join, if joins have processors.
    begun: Option<Narrow>,
    /// Join of the receive that took each flow, if some are matched in the run.
    taken: Option<Narrow>,
}

impl Outcomes {
    /// Creates columns for `flows` flows, filled with zeros.
    pub fn new(flows: usize) -> Outcomes {
        Outcomes {
            columns: std::array::from_fn(|_| Narrow::zeros(flows)),
            reinjections: None,
            started: None,
            begun: None,
            taken: None,
        }
    }

    /// Writes the row of a flow.
    pub fn set(&mut self, flow: FlowId, outcome: &Outcome) {
        for (column, (_, number)) in self.columns.iter_mut().zip(Outcome::NUMBERS) {
            column.set(flow.index(), number(outcome));
        }
        if let Some(reinjections) = &mut self.reinjections {
            reinjections.set(flow.index(), outcome.reinjections);
        }
    }

    /// Adds a column of reinjections for `flows` flows.
    pub fn count_reinjections(&mut self, flows: usize) {
        self.reinjections = Some(Narrow::zeros(flows));
    }

    /// Sets the rows of all `flows`: `value` returns a number, given the name of its column, the same
    /// column of all `parts`, and the row.
    pub fn join(
        &mut self,
        parts: &[Outcomes],
        flows: usize,
        value: impl Fn(&str, &[&Narrow], usize) -> u64,
    ) {
        for (at, (name, _)) in Outcome::NUMBERS.iter().enumerate() {
            let columns: Vec<&Narrow> = parts.iter().map(|part| &part.columns[at]).collect();
            for row in 0..flows {
                self.columns[at].set(row, value(name, &columns, row));
            }
        }
    }

    /// Sets the starts of all flows.
    pub fn started(&mut self, times: impl ExactSizeIterator<Item = Time>) {
        self.started = Some(column(times));
    }

    /// Sets the begins of all joins.
    pub fn begun(&mut self, times: &[Time]) {
        self.begun = (!times.is_empty()).then(|| column(times.iter().copied()));
    }

    /// Sets the joins of the receives that took the flows, if some are matched in the run.
    pub fn taken(&mut self, joins: Option<&[u32]>) {
        self.taken = joins.map(|joins| column(joins.iter().map(|&join| Time(join.into()))));
    }

    /// Takes the begins of all joins out; `None` if joins have no processors.
    pub fn take_begun(&mut self) -> Option<Narrow> {
        self.begun.take()
    }

    /// Returns the columns with their names.
    pub fn columns(self) -> impl Iterator<Item = (&'static str, Narrow)> {
        let names = Outcome::NUMBERS.map(|(name, _)| name);
        let reinjections = self.reinjections.map(|column| ("reinjections", column));
        let started = self.started.map(|column| ("started_ps", column));
        let taken = self.taken.map(|column| ("taken_join", column));
        let own = names.into_iter().zip(self.columns);
        own.chain(reinjections).chain(started).chain(taken)
    }

    /// Returns the value of a flow in the column `name`; panics if there is no such column.
    pub fn get(&self, name: &str, flow: FlowId) -> u64 {
        let mut columns = Outcome::NUMBERS.iter().zip(&self.columns);
        let named = columns.find(|((known, _), _)| *known == name);
        let Some((_, column)) = named else {
            panic!("no outcome has the name {name}");
        };
        column.get(flow.index())
    }
}

/// Returns a column of times.
fn column(times: impl ExactSizeIterator<Item = Time>) -> Narrow {
    let mut column = Narrow::zeros(times.len());
    for (row, time) in times.enumerate() {
        column.set(row, time.0);
    }
    column
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_outcome_is_found_by_its_name() {
        let outcomes = Outcomes::new(1);
        for (name, _) in Outcome::NUMBERS {
            assert_eq!(outcomes.get(name, FlowId(0)), 0);
        }
    }

    #[test]
    #[should_panic(expected = "no outcome has the name delivered_byte")]
    fn a_misspelt_name_of_an_outcome_is_an_error() {
        Outcomes::new(1).get("delivered_byte", FlowId(0));
    }
}
