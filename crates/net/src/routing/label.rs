//! Labels: each label selects one of the given paths between two switches. The label of a packet is
//! chosen when the host creates it, that of a burst at the ingress.

use crate::{Envelope, NodeId};
use lightburst_des::{mix, Stream};

/// Label of a deflected unit: it follows shortest paths from its present node.
pub const SHORTEST: u8 = u8::MAX;

/// Rule for the choice of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// Always the first path.
    First,
    /// A path drawn uniformly at random for each unit.
    Random,
    /// A path chosen by a hash of the flow and the source, for a burst of ingress and egress. It
    /// never changes during a run.
    Hash,
    /// The path with the number of the subflow, of a connection that has several.
    Subflow,
    /// By load: a path is left when its load exceeds a threshold, see [`crate::routing::balance`].
    Load,
}

impl Label {
    /// Names of the rules in a plan.
    pub const NAMES: [&'static str; 5] = ["first", "random", "hash", Label::SUBFLOW, "load"];
    /// Name of [`Label::Subflow`].
    pub const SUBFLOW: &'static str = "subflow";

    /// Returns the rule called `name`.
    pub fn from_name(name: &str) -> Option<Label> {
        match name {
            "first" => Some(Label::First),
            "random" => Some(Label::Random),
            "hash" => Some(Label::Hash),
            Label::SUBFLOW => Some(Label::Subflow),
            "load" => Some(Label::Load),
            _ => None,
        }
    }
}

/// Chooses the labels of new units.
pub struct Labels {
    label: Label,
    /// Number of flows: flow numbers from there on are further subflows.
    flows: u32,
    salt: u64,
    /// Random stream of each node.
    draws: Vec<Stream>,
}

impl Labels {
    /// Creates the chooser for units of `nodes` nodes and `flows` flows.
    pub fn new(label: Label, seed: u64, nodes: u32, flows: u32) -> Labels {
        let draw = |node: u32| Stream::new(seed, &format!("label/{node}"));
        Labels {
            label,
            flows,
            // Differs from the salt of `Choice`; with the same salt both would choose alike.
            salt: mix(mix(seed)),
            draws: (0..nodes).map(draw).collect(),
        }
    }

    /// Returns whether bursts are assembled for each subflow, whose number is the class of a burst.
    pub(crate) fn are_of_subflows(&self) -> bool {
        self.label == Label::Subflow
    }

    /// Chooses the label of a new unit with `choices` possible paths.
    pub(crate) fn choose(&mut self, unit: &Envelope, choices: u32) -> u8 {
        let NodeId(source) = unit.source;
        let label = match self.label {
            // Labels by load apply to bursts only, in `Fabric::label_burst`.
            Label::First | Label::Load => 0,
            _ if choices < 2 => 0,
            Label::Subflow => (unit.flow.0 / self.flows) % choices,
            Label::Random => self.draws[unit.source.index()].below(choices),
            Label::Hash => {
                let key = u64::from(unit.flow.0) << 32 | u64::from(source);
                ((u128::from(mix(self.salt ^ key)) * u128::from(choices)) >> 64) as u32
            }
        };
        label as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FlowId;

    #[test]
    fn a_label_is_drawn_only_where_there_is_a_choice() {
        let mut labels = Labels::new(Label::Random, 1, 3, 1);
        let unit = Envelope::new(FlowId(0), NodeId(2), NodeId(0), 64);
        let mut draw = Stream::new(1, "label/2");
        for choices in [0, 1, 5, 1, 5] {
            let drawn = if choices < 2 { 0 } else { draw.below(choices) };
            assert_eq!(u32::from(labels.choose(&unit, choices)), drawn);
        }
    }
}
