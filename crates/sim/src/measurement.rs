//! Measurements that a plan may request. Each has a file of its own and a line in [`REGISTRY`].
//!
//! A measurement has no effect on the network. It records events ([`Observer`]), or reads the state
//! of the run at times of its choice ([`Look`]).

mod contents;
mod recovery;
mod reordering;
mod samples;
mod synchronisation;
mod trace;
mod window;

use crate::counts::Counts as Counters;
use crate::state::State;
use lightburst_des::Time;
use lightburst_net::column::Outputs;
use lightburst_net::{Numbering, Observer, Observers};
use serde::de::DeserializeOwned;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

/// All measurements, in the order of their tables. To add one, create a file and add a line here.
pub const REGISTRY: &[Kind] = &[
    trace::KIND,
    samples::KIND,
    reordering::KIND,
    synchronisation::KIND,
    contents::KIND,
    recovery::KIND,
    window::KIND,
];

/// Registry entry of a measurement.
pub struct Kind {
    /// Keys of the plan that request the measurement and hold its settings.
    pub keys: &'static [&'static str],
    /// Names of the codes in its tables, by topic.
    pub codes: &'static [(&'static str, &'static [&'static str])],
    /// Reads the settings from a table of these keys.
    read: fn(Value) -> serde_json::Result<Arc<dyn Measurement>>,
}

impl Kind {
    /// Makes the entry of a measurement with the settings `S`, whose fields are its keys.
    const fn of<S: Measurement + DeserializeOwned + 'static>() -> Kind {
        Kind {
            keys: &[],
            codes: &[],
            read: |table| Ok(Arc::new(S::deserialize(table)?)),
        }
    }
}

/// Settings of a requested measurement.
pub trait Measurement: Debug + Send + Sync {
    /// Rejects settings that are impossible in a network.
    fn check(&self, scope: &Scope<'_>) -> Result<(), String>;

    /// Creates the measurement, before the first event.
    fn build(&self, scope: &Scope<'_>) -> Meter;

    /// Whether the sums of the tables of all parts of a network are those of the whole network.
    fn runs_in_parts(&self) -> bool {
        false
    }

    /// Returns the times before the end of the run at which the measurement reads the counters of
    /// switches; [`Time::NEVER`] in place of a time that is not used.
    fn counters_read(&self) -> Option<[Time; 2]> {
        None
    }
}

/// Network and flows of a measurement.
pub struct Scope<'p> {
    /// Number of flow numbers: those of the flows, and then those of further subflows.
    pub flows: usize,
    /// Number of flows: subflow `j` of one has its number + `j` times this.
    pub whole: usize,
    /// Number of links.
    pub links: usize,
    /// Events after this time are not handled.
    pub time_limit: Time,
    /// Whether any flow has a connection.
    pub connections: bool,
    /// Whether bursts are divided into classes.
    pub classes: bool,
    /// Whether packets travel in two copies.
    pub copies: bool,
    /// Outages of links: link, first instant at which it is down, and first at which it is up again;
    /// by link and time. `None` if nothing fails.
    pub outages: Option<&'p [(u32, u64, u64)]>,
    /// Returns the numbering of the packets of a flow.
    pub numbering: Box<dyn Fn(usize) -> Numbering + 'p>,
}

/// Measurement in progress.
pub enum Meter {
    /// Measurement of events.
    Observer(Box<dyn Observer>),
    /// Measurement of state.
    Look(Box<dyn Look>),
}

/// Readings of the state of a run. A reading is not an event: the run is advanced up to its time and
/// then continues.
pub trait Look: Send {
    /// Prepares the run, before the first event.
    fn begin(&mut self, _state: &mut dyn State) {}

    /// Returns the time of the next reading; [`Time::NEVER`] if there is none.
    fn next(&self) -> Time;

    /// Makes the reading that is due; all events up to `time` have been handled.
    fn take(&mut self, time: Time, state: &mut dyn State);

    /// Makes the last reading, if one is needed at the end of the run.
    fn end(&mut self, _time: Time, _state: &mut dyn State) {}

    /// Returns the number of rows stored so far, see [`Observer::load`].
    fn load(&self) -> Option<(&'static str, u64)> {
        None
    }

    /// Returns the tables at the end of the run, by name. `whole` are the counters of the whole run.
    fn tables(self: Box<Self>, whole: &mut Counters) -> Outputs;
}

/// Measurements of a run in progress.
pub struct Meters {
    /// Measurements of events.
    pub observers: Observers,
    /// Measurements of state.
    pub looks: Vec<Box<dyn Look>>,
}

impl Meters {
    /// Creates the measurements of a plan.
    pub fn new(requested: &[Arc<dyn Measurement>], scope: &Scope<'_>) -> Meters {
        let (mut observers, mut looks) = (Vec::new(), Vec::new());
        for measurement in requested {
            match measurement.build(scope) {
                Meter::Observer(observer) => observers.push(observer),
                Meter::Look(look) => looks.push(look),
            }
        }
        Meters {
            observers: Observers::new(observers),
            looks,
        }
    }
}

/// Removes the keys of all measurements from the settings of a plan, and reads them. A key whose
/// value is null requests nothing.
pub fn read(settings: &mut Map<String, Value>) -> serde_json::Result<Vec<Arc<dyn Measurement>>> {
    let mut requested = Vec::new();
    for kind in REGISTRY {
        let keys = kind
            .keys
            .iter()
            .filter_map(|&key| settings.remove_entry(key));
        let table: Map<_, _> = keys.filter(|(_, value)| !value.is_null()).collect();
        if !table.is_empty() {
            requested.push((kind.read)(Value::Object(table))?);
        }
    }
    Ok(requested)
}

/// Returns an error with these words unless a condition holds.
fn require(holds: bool, words: impl FnOnce() -> String) -> Result<(), String> {
    match holds {
        true => Ok(()),
        false => Err(words()),
    }
}

/// Period of time.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Span {
    /// Start of the period.
    from_ps: u64,
    /// End of the period, not included.
    until_ps: u64,
}

impl Span {
    /// Rejects an empty period, in which nothing of this kind would be measured.
    fn check(&self, what: &str) -> Result<(), String> {
        let words = || format!("{what} without any time");
        require(self.from_ps < self.until_ps, words)
    }
}

/// Histogram: number of occurrences of each value.
type Counts = BTreeMap<i64, u64>;

/// Increments the count of a value.
fn count(counts: &mut Counts, value: i64) {
    *counts.entry(value).or_default() += 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn table(value: Value) -> Map<String, Value> {
        value.as_object().expect("a table").clone()
    }

    #[test]
    fn no_key_belongs_to_two_measurements() {
        let mut keys: Vec<_> = REGISTRY.iter().flat_map(|kind| kind.keys).collect();
        let number = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), number);
    }

    #[test]
    fn a_key_without_a_value_requests_nothing_and_other_keys_are_left() {
        let mut settings = table(json!({"sample_ps": null, "trace": [], "hosts": 2}));
        let requested = read(&mut settings).unwrap();
        assert_eq!(requested.len(), 1);
        assert_eq!(settings, table(json!({"hosts": 2})));
    }

    #[test]
    fn settings_with_an_unknown_key_are_refused() {
        let span = json!({"from_ps": 0, "until_ps": 9, "to_ps": 9});
        let error = read(&mut table(json!({ "window": span }))).unwrap_err();
        let words = "unknown field `to_ps`, expected `from_ps` or `until_ps`";
        assert_eq!(error.to_string(), words);
    }
}
