//! Settings of a transport by name.
//!
//! The reader of a setting states its valid values: a range, or a list of words. So two laws may
//! have settings of the same name with different values.

use lightburst_des::{Duration, LONGEST_PS};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Range of a time in picoseconds: those of the clock.
pub const TIME: RangeInclusive<f64> = 0.0..=LONGEST_PS as f64;
/// Range of a time in picoseconds that must not be zero.
pub const POSITIVE_TIME: RangeInclusive<f64> = 1.0..=LONGEST_PS as f64;
/// Range of a number of segments, acknowledgements or repetitions.
pub const COUNT: RangeInclusive<f64> = 1.0..=(1u64 << 31) as f64;
/// Range of a window in bytes.
pub const WINDOW: RangeInclusive<f64> = 1.0..=(1u64 << 62) as f64;
/// Range of a fraction.
pub const FRACTION: RangeInclusive<f64> = 0.0..=1.0;

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
/// that is missing, or whose value is not valid, is recorded as a fault.
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

    /// Describes the first invalid setting that was read, from this table or from a table in it;
    /// names the setting by its path, and the kind of the policy that it belongs to.
    pub fn fault(&self) -> Option<String> {
        self.fault_at("transport")
    }

    fn fault_at(&self, path: &str) -> Option<String> {
        let own = self.fault.borrow().clone();
        let own = own.map(|fault| match self.own_kind() {
            "" => format!("{path}.{fault}"),
            kind => format!("{kind}: {path}.{fault}"),
        });
        let inner = |(name, value): (&String, &Value)| match value {
            Value::Table(table) => table.fault_at(&format!("{path}.{name}")),
            _ => None,
        };
        own.or_else(|| self.values.iter().find_map(inner))
    }

    fn note(&self, name: &str, wanted: &str) {
        let given = self.values.get(name);
        let words = match given {
            None => format!("{name} is missing"),
            Some(given) => format!("{name} must be {wanted}, not {given:?}"),
        };
        self.fault.borrow_mut().get_or_insert(words);
    }

    /// Returns a number. Records a fault if it is missing, not a number or outside `range`.
    pub fn get(&self, name: &str, range: RangeInclusive<f64>) -> f64 {
        match self.values.get(name) {
            Some(Value::Number(number)) if range.contains(number) => *number,
            _ => {
                let (least, most) = range.into_inner();
                self.note(name, &format!("a number from {least} to {most}"));
                least.max(0.0)
            }
        }
    }

    /// Returns a duration in `range`, which is in picoseconds like the setting.
    pub fn duration(&self, name: &str, range: RangeInclusive<f64>) -> Duration {
        Duration(self.get(name, range) as u64)
    }

    /// Returns a number that may be absent.
    pub fn optional(&self, name: &str, range: RangeInclusive<f64>) -> Option<f64> {
        self.values
            .contains_key(name)
            .then(|| self.get(name, range))
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

    /// Returns whether a setting is given.
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Returns whether a switch is on or absent.
    pub fn is_or_absent(&self, name: &str) -> bool {
        !self.has(name) || self.is(name)
    }

    /// Returns one of the `words`; records a fault and returns the first of them if the setting is
    /// none of them.
    pub fn word<'a>(&self, name: &str, words: &[&'a str]) -> &'a str {
        let given = match self.values.get(name) {
            Some(Value::Word(given)) => words.iter().find(|word| *word == given),
            _ => None,
        };
        given.unwrap_or_else(|| {
            self.note(name, &format!("one of {}", words.join(", ")));
            &words[0]
        })
    }

    /// Returns one of the `words`, or `None` if the setting is absent.
    pub fn optional_word<'a>(&self, name: &str, words: &[&'a str]) -> Option<&'a str> {
        self.values
            .contains_key(name)
            .then(|| self.word(name, words))
    }

    /// Returns the kind of the policy in the table `name`, if there is such a table.
    pub fn kind(&self, name: &str) -> Option<&str> {
        match self.values.get(name) {
            Some(Value::Table(table)) => Some(table.own_kind()),
            _ => None,
        }
    }

    /// Returns the kind of the policy in this table; an empty string if the table has none.
    fn own_kind(&self) -> &str {
        match self.values.get("kind") {
            Some(Value::Word(kind)) => kind,
            _ => "",
        }
    }

    /// Returns the table with the settings of a policy, or `None` if the setting is absent; records a
    /// fault and returns `None` if it is no table.
    pub fn optional_table(&self, name: &str) -> Option<&Parameters> {
        match self.values.get(name)? {
            Value::Table(table) => Some(table),
            _ => {
                self.note(name, "a table");
                None
            }
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

    fn of_kind(kind: &str, alpha: f64) -> Value {
        Value::Table(Parameters::new([
            ("kind".into(), Value::Word(kind.into())),
            ("alpha".into(), Value::Number(alpha)),
        ]))
    }

    #[test]
    fn a_missing_or_invalid_setting_is_a_fault() {
        let all = Parameters::new([
            ("p".into(), Value::Number(1.5)),
            ("beta".into(), Value::Switch(true)),
            ("halving".into(), Value::Word("window".into())),
        ]);
        assert_eq!(all.get("p", 0.0..=2.0), 1.5);
        assert_eq!(all.word("halving", &["flight-size", "window"]), "window");
        assert_eq!((all.optional("most", COUNT), all.fault()), (None, None));
        all.word("halving", &["flight-size", "half"]);
        let words =
            r#"transport.halving must be one of flight-size, half, not Word("window")"#.to_string();
        assert_eq!(all.fault().as_ref(), Some(&words));
        // The first fault remains.
        all.get("beta", FRACTION);
        assert_eq!(all.fault(), Some(words));
    }

    #[test]
    fn a_table_may_be_absent_but_is_nothing_else() {
        let all = Parameters::new([("slow_start".into(), Value::Number(1.0))]);
        assert!(all.optional_table("hystart").is_none());
        assert_eq!(all.fault(), None);
        assert!(all.optional_table("slow_start").is_none());
        let words = "transport.slow_start must be a table, not Number(1.0)".to_string();
        assert_eq!(all.fault(), Some(words));
    }

    #[test]
    fn each_policy_has_its_own_range_of_a_setting_called_alike() {
        let all = Parameters::new([
            ("congestion_control".into(), of_kind("vegas", 0.5)),
            ("recovery".into(), of_kind("eager", 0.5)),
        ]);
        let law = all.table("congestion_control");
        assert_eq!(law.get("alpha", FRACTION), 0.5);
        assert_eq!(all.fault(), None);
        all.table("recovery").get("alpha", 1.0..=4.0);
        let words = "eager: transport.recovery.alpha must be a number from 1 to 4, not Number(0.5)";
        assert_eq!(all.fault().as_deref(), Some(words));
    }
}
