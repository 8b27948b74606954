//! What became of the flows, in columns: a flow that is over is its row here, and nothing else.

use crate::Outcome;
use lightburst_net::{FlowId, Narrow};

/// What became of each flow.
#[derive(Clone, Debug)]
pub struct Outcomes {
    /// In the order of [`Outcome::NUMBERS`].
    columns: [Narrow; Outcome::NUMBERS.len()],
}

impl Outcomes {
    /// Room for so many flows.
    pub fn new(flows: usize) -> Outcomes {
        Outcomes {
            columns: std::array::from_fn(|_| Narrow::zeros(flows)),
        }
    }

    /// Writes the row of a flow.
    pub fn set(&mut self, flow: FlowId, outcome: &Outcome) {
        for (column, (_, number)) in self.columns.iter_mut().zip(Outcome::NUMBERS) {
            column.set(flow.index(), number(outcome));
        }
    }

    /// The columns by their names.
    pub fn columns(self) -> impl Iterator<Item = (&'static str, Narrow)> {
        let names = Outcome::NUMBERS.map(|(name, _)| name);
        names.into_iter().zip(self.columns)
    }

    /// A number of a flow by its name.
    pub fn get(&self, name: &str, flow: FlowId) -> u64 {
        let mut columns = Outcome::NUMBERS.iter().zip(&self.columns);
        let named = columns.find(|((known, _), _)| *known == name);
        named.map_or(0, |(_, column)| column.get(flow.index()))
    }
}
