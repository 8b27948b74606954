//! Settings of a transport by name, and their valid ranges.

use lightburst_des::LONGEST_PS;
use std::cell::RefCell;
use std::collections::BTreeMap;

const TIME: (f64, f64) = (0.0, LONGEST_PS as f64);
const TIMEOUT: (f64, f64) = (1.0, LONGEST_PS as f64);
const FACTOR: (f64, f64) = (1.0, 1e9);
const WINDOW: (f64, f64) = (1.0, (1u64 << 62) as f64);
const COUNT: (f64, f64) = (1.0, (1u64 << 31) as f64);

/// Range of a number of queued segments.
const BACKLOG: (f64, f64) = (0.0, 1e9);
const SHARE: (f64, f64) = (0.0, 1.0);

/// Ranges (minimum, maximum) of settings whose meaning depends on the kind of the policy.
const OWN_RANGES: &[(&str, &str, (f64, f64))] = &[
    ("fast", "alpha", BACKLOG),
    ("fast", "beta", BACKLOG),
    ("fast", "gamma", SHARE),
    ("vegas", "alpha", BACKLOG),
    ("vegas", "beta", BACKLOG),
    ("vegas", "gamma", BACKLOG),
];

/// Ranges of the other settings. A setting in neither list may have any value.
const RANGES: &[(&str, (f64, f64))] = &[
    ("acknowledge_every", COUNT),
    ("acknowledgement_delay_ps", TIME),
    ("advertised_window_bytes", WINDOW),
    ("alpha", FACTOR),
    ("avoidance_ratio", SHARE),
    ("backoff", FACTOR),
    ("beta", SHARE),
    ("byte_counting", (1.0, 2.0)),
    ("c", (1e-9, 1e9)),
    ("clock_granularity_ps", TIME),
    ("decrease", SHARE),
    ("duplicate_threshold", COUNT),
    ("g", SHARE),
    ("increase", (0.0, 1e9)),
    ("initial_timeout_ps", TIMEOUT),
    ("initial_window_bytes", WINDOW),
    ("legacy_window", (0.0, 1e9)),
    ("max_retransmissions", COUNT),
    ("max_timeout_ps", TIMEOUT),
    ("mi_threshold_ps", TIME),
    ("min_timeout_ps", TIME),
    ("p", (0.0, 1e6)),
    ("remembered_events", (1.0, 1e6)),
    ("sack_blocks", (1.0, 4.0)),
];

/// Value of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number; times are in picoseconds.
    Number(f64),
    /// A choice between on and off.
    Switch(bool),
    /// A choice by name.
    Word(String),
    /// Settings of a policy, in a table of their own.
    Table(Parameters),
}

/// Settings of a transport by name. Readers request a number, a switch or a word. The first setting
/// that is missing or has another type is recorded as a fault.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    pub(crate) values: BTreeMap<String, Value>,
    fault: RefCell<Option<String>>,
}

impl Parameters {
    /// Creates a table of named settings.
    pub fn new(settings: impl IntoIterator<Item = (String, Value)>) -> Parameters {
        Parameters {
            values: settings.into_iter().collect(),
            fault: RefCell::default(),
        }
    }

    /// Describes the first invalid setting that was read, from this table or from a table in it.
    pub fn fault(&self) -> Option<String> {
        let inner = || {
            self.values.values().find_map(|value| match value {
                Value::Table(table) => table.fault(),
                _ => None,
            })
        };
        self.fault.borrow().clone().or_else(inner)
    }

    fn note(&self, name: &str, wanted: &str) {
        let given = self.values.get(name);
        let words = match given {
            None => format!("transport.{name} is missing"),
            Some(given) => format!("transport.{name} must be {wanted}, not {given:?}"),
        };
        self.fault.borrow_mut().get_or_insert(words);
    }

    /// Returns the minimum and the maximum of a number.
    fn range(&self, name: &str) -> (f64, f64) {
        let of_any = RANGES.iter().find(|(known, _)| *known == name);
        let of_any = of_any.map_or((f64::MIN, f64::MAX), |(_, range)| *range);
        let Some(Value::Word(kind)) = self.values.get("kind") else {
            return of_any;
        };
        let mut own = OWN_RANGES.iter();
        let own = own.find(|(of, known, _)| of == kind && *known == name);
        own.map_or(of_any, |(_, _, range)| *range)
    }

    /// Returns a number. Records a fault if it is missing, not a number or out of range.
    pub fn get(&self, name: &str) -> f64 {
        let (least, most) = self.range(name);
        match self.values.get(name) {
            Some(Value::Number(number)) if (least..=most).contains(number) => *number,
            _ => {
                self.note(name, &format!("a number from {least} to {most}"));
                least.max(0.0)
            }
        }
    }

    /// Returns a number that may be absent.
    pub fn optional(&self, name: &str) -> Option<f64> {
        self.values.contains_key(name).then(|| self.get(name))
    }

    /// Returns whether a switch is on; records a fault if the setting is not a switch.
    pub fn is(&self, name: &str) -> bool {
        match self.values.get(name) {
            Some(Value::Switch(on)) => *on,
            _ => {
                self.note(name, "true or false");
                false
            }
        }
    }

    /// Returns a word; records a fault and returns an empty string if the setting is not a word.
    pub fn word(&self, name: &str) -> &str {
        match self.values.get(name) {
            Some(Value::Word(word)) => word,
            _ => {
                self.note(name, "a name");
                ""
            }
        }
    }

    /// Returns the kind of the policy in the table `name`, if there is such a table.
    pub fn kind(&self, name: &str) -> Option<&str> {
        match self.values.get(name) {
            Some(Value::Table(table)) => Some(table.word("kind")),
            _ => None,
        }
    }

    /// Returns the table with the settings of a policy; panics if there is none.
    pub fn table(&self, name: &str) -> &Parameters {
        match self.values.get(name) {
            Some(Value::Table(table)) => table,
            other => panic!("transport.{name} must be a table, not {other:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_and_cannot_be_is_a_fault() {
        let table = Parameters::new([("sack_blocks".into(), Value::Number(5.0))]);
        let all = Parameters::new([
            ("alpha".into(), Value::Number(1.5)),
            ("beta".into(), Value::Switch(true)),
            ("recovery".into(), Value::Table(table)),
        ]);
        assert_eq!((all.get("alpha"), all.fault()), (1.5, None));
        all.table("recovery").get("sack_blocks");
        let words = "transport.sack_blocks must be a number from 1 to 4, not Number(5.0)";
        assert_eq!(all.fault().as_deref(), Some(words));
        all.get("beta");
        assert!(all
            .fault()
            .unwrap()
            .contains("transport.beta must be a number"));
        assert_eq!(all.optional("max_retransmissions"), None);
        assert!(Parameters::default().word("halving").is_empty());
    }
}
