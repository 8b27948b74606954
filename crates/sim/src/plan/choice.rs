//! Choice among equal-cost next hops in a plan: a name, or a table for a rule with settings.

use lightburst_des::Duration;
use lightburst_net::routing::choice::{Flowlets, LeastQueue};
use lightburst_net::{ChangeSettings, EntropySettings, RepathSettings};
use serde::Deserialize;

/// Choice among equal-cost next hops.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Choice {
    /// Rule without settings.
    Named(String),
    /// Rule with settings.
    Table(Table),
}

/// Rule with settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Table {
    /// The next hop of the flow's hash, which its sender changes.
    Adaptive {
        /// Least share of marked bytes in a congested round trip.
        threshold: f64,
        /// Congested round trips in a row after which the path changes.
        rounds: u32,
        /// The same where no data is in flight.
        idle_rounds: u32,
    },
    /// The next hop of the packet's entropy value, of which each packet takes the next.
    EntropySpray {
        /// Number of entropy values.
        entropies: u8,
        /// Penalty of a value at a mark.
        mark_penalty: u8,
        /// Penalty of a value at a trimmed packet.
        trim_penalty: u8,
        /// Penalty of a value at a loss.
        loss_penalty: u8,
        /// Number of values of good acknowledgements that are remembered.
        recycled: u32,
    },
    /// A random next hop for each flowlet.
    Flowlet {
        /// Idle time of a flow that ends its flowlet if it is exceeded.
        gap_ps: u64,
    },
    /// The output with the fewest bytes to send.
    LeastQueue {
        /// Number of outputs that are sampled; `None`: all.
        samples: Option<u32>,
        /// Number of outputs that are remembered.
        memory: u32,
    },
}

impl Choice {
    /// Returns the name of the rule.
    pub fn name(&self) -> &str {
        match self {
            Choice::Named(name) => name,
            Choice::Table(Table::Adaptive { .. }) => "adaptive",
            Choice::Table(Table::EntropySpray { .. }) => "entropy-spray",
            Choice::Table(Table::Flowlet { .. }) => "flowlet",
            Choice::Table(Table::LeastQueue { .. }) => "least-queue",
        }
    }

    /// Returns the initial state of the rule at a node, for a run with this `seed`. The rule must
    /// have passed [`Choice::check`].
    pub fn build(&self, seed: u64) -> lightburst_net::Choice {
        use lightburst_net::Choice as Rule;
        match self {
            Choice::Table(Table::Adaptive { .. } | Table::EntropySpray { .. }) => {
                Rule::adaptive(seed)
            }
            Choice::Table(Table::Flowlet { gap_ps }) => {
                Rule::Flowlet(Box::new(Flowlets::new(Duration(*gap_ps))))
            }
            Choice::Table(Table::LeastQueue { samples, memory }) => {
                Rule::LeastQueue(Box::new(LeastQueue::new(*samples, *memory)))
            }
            Choice::Named(name) => match name.as_str() {
                "free" => Rule::Free,
                "random" => Rule::Random,
                "flow-hash" => Rule::flow_hash(seed),
                _ => unreachable!("a checked choice"),
            },
        }
    }

    /// Returns how senders choose their paths; `None` if they do not.
    pub fn repaths(&self) -> Option<RepathSettings> {
        match *self {
            Choice::Table(Table::Adaptive {
                threshold,
                rounds,
                idle_rounds,
            }) => Some(RepathSettings::Changes(ChangeSettings {
                threshold,
                rounds,
                idle_rounds,
            })),
            Choice::Table(Table::EntropySpray {
                entropies,
                mark_penalty,
                trim_penalty,
                loss_penalty,
                recycled,
            }) => Some(RepathSettings::Entropies(EntropySettings {
                entropies,
                mark_penalty,
                trim_penalty,
                loss_penalty,
                recycled,
            })),
            _ => None,
        }
    }

    /// Returns what is wrong with the rule, if anything.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Choice::Named(name)
                if ["adaptive", "entropy-spray", "flowlet", "least-queue"]
                    .contains(&name.as_str()) =>
            {
                Err(format!("the choice {name:?} needs a table of its settings"))
            }
            Choice::Table(Table::Adaptive {
                threshold,
                rounds,
                idle_rounds,
            }) if !(0.0..=1.0).contains(threshold) || rounds.min(idle_rounds) < &1 => Err(
                "an adaptive choice needs a threshold from 0 to 1 and at least one round".into(),
            ),
            Choice::Table(Table::EntropySpray { entropies: 0, .. }) => {
                Err("a choice by entropy needs at least one entropy value".into())
            }
            Choice::Table(Table::LeastQueue {
                samples: Some(0), ..
            }) => Err("a choice of the least queue needs at least one sample".into()),
            _ => Ok(()),
        }
    }
}
