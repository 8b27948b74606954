//! Labels: which of the paths between two switches a unit takes. The host chooses for a packet, the
//! ingress for a burst.

use crate::{Envelope, NodeId};
use lightburst_des::{mix, Stream};

/// The label of a unit that was turned off its path: shortest paths lead it from where it is.
pub const SHORTEST: u8 = u8::MAX;

/// How the label of a unit is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// The first path, always.
    First,
    /// Uniformly at random, for each unit.
    Random,
    /// By a hash of the flow, of a burst by one of its edges: always the same one.
    Hash,
    /// By what was offered to the paths: see [`crate::balance`].
    Load,
}

impl Label {
    /// The names by which a choice of labels can be asked for.
    pub const NAMES: [&'static str; 4] = ["first", "random", "hash", "load"];

    /// The choice called `name`.
    pub fn from_name(name: &str) -> Option<Label> {
        match name {
            "first" => Some(Label::First),
            "random" => Some(Label::Random),
            "hash" => Some(Label::Hash),
            "load" => Some(Label::Load),
            _ => None,
        }
    }
}

/// What gives units their labels.
pub struct Labels {
    label: Label,
    salt: u64,
    /// A random stream for each node that units come from.
    draws: Vec<Stream>,
}

impl Labels {
    /// Labels for the units of `nodes` nodes.
    pub fn new(label: Label, seed: u64, nodes: u32) -> Labels {
        let draw = |node: u32| Stream::new(seed, &format!("label/{node}"));
        Labels {
            label,
            // Not that of `Choice`: the two would choose alike.
            salt: mix(mix(seed)),
            draws: (0..nodes).map(draw).collect(),
        }
    }

    /// The label of a new unit that may take any of `choices` paths.
    pub(crate) fn choose(&mut self, unit: &Envelope, choices: u32) -> u8 {
        let NodeId(source) = unit.source;
        let label = match self.label {
            // By load only bursts are labelled, see `Fabric::label_burst`.
            Label::First | Label::Load => 0,
            _ if choices < 2 => 0,
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
        let mut labels = Labels::new(Label::Random, 1, 3);
        let unit = Envelope::new(FlowId(0), NodeId(2), NodeId(0), 64);
        let mut draw = Stream::new(1, "label/2");
        for choices in [0, 1, 5, 1, 5] {
            let drawn = if choices < 2 { 0 } else { draw.below(choices) };
            assert_eq!(u32::from(labels.choose(&unit, choices)), drawn);
        }
    }
}
