//! Deserialisation of settings: each kind reads its own type from a table of the plan. Unknown keys
//! are errors.

use lightburst_des::{Duration, LONGEST_PS};
use lightburst_net::{Rate, LARGEST_UNIT};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Table of the plan.
pub type Table = Map<String, Value>;

/// Removes `kind` from a table and returns the entry with that name. The error for an unknown name
/// lists the known ones.
pub(crate) fn of_kind<'k, K>(
    topic: &str,
    kinds: &'k [K],
    name: fn(&K) -> &'static str,
    table: &mut Table,
) -> Result<&'k K, String> {
    let Some(Value::String(given)) = table.remove("kind") else {
        return Err(format!("a table of {topic} without a kind"));
    };
    find(topic, kinds, name, &given)
}

fn find<'k, K>(
    topic: &str,
    kinds: &'k [K],
    name: fn(&K) -> &'static str,
    given: &str,
) -> Result<&'k K, String> {
    let found = kinds.iter().find(|kind| name(kind) == given);
    found.ok_or_else(|| {
        let known: Vec<_> = kinds.iter().map(name).collect();
        format!("no {given:?} in {topic}; known: {}", known.join(", "))
    })
}

/// Reads a list that many have a part in.
pub(crate) fn shared<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    list: D,
) -> Result<Arc<[T]>, D::Error> {
    Vec::<T>::deserialize(list).map(Arc::from)
}

/// Reads a duration in whole picoseconds.
pub(crate) fn duration<'de, D: Deserializer<'de>>(value: D) -> Result<Duration, D::Error> {
    u64::deserialize(value).and_then(checked)
}

/// Reads an optional duration.
pub(crate) fn optional_duration<'de, D: Deserializer<'de>>(
    value: D,
) -> Result<Option<Duration>, D::Error> {
    Option::<u64>::deserialize(value)?.map(checked).transpose()
}

/// Reads a list of durations.
pub(crate) fn durations<'de, D: Deserializer<'de>>(value: D) -> Result<Vec<Duration>, D::Error> {
    let times = Vec::<u64>::deserialize(value)?;
    times.into_iter().map(checked).collect()
}

fn checked<E: Error>(time: u64) -> Result<Duration, E> {
    match time <= LONGEST_PS {
        true => Ok(Duration(time)),
        false => Err(E::custom(format!("a time of {time} ps"))),
    }
}

/// Reads a duration that must not be zero.
pub(crate) fn positive_duration<'de, D: Deserializer<'de>>(value: D) -> Result<Duration, D::Error> {
    match duration(value)? {
        Duration::ZERO => Err(Error::custom("no time")),
        time => Ok(time),
    }
}

/// Reads an optional rate in bits per second, which must not be zero.
pub(crate) fn optional_rate<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Rate>, D::Error> {
    match Option::deserialize(value)? {
        Some(0) => Err(Error::custom("a rate of 0 b/s")),
        bps => Ok(bps.map(Rate::from_bps)),
    }
}

/// Reads an optional minimum size of bursts, in bytes, up to the largest size of a unit.
pub(crate) fn least_bytes<'de, D: Deserializer<'de>>(value: D) -> Result<Option<u32>, D::Error> {
    match Option::deserialize(value)? {
        Some(bytes) if bytes > LARGEST_UNIT => {
            Err(Error::custom(format!("units of at least {bytes} bytes")))
        }
        bytes => Ok(bytes),
    }
}

/// Reads a name and returns the entry that has it.
pub(crate) fn named<'de, K: Copy, D: Deserializer<'de>>(
    topic: &str,
    known: &[K],
    name: fn(&K) -> &'static str,
    given: D,
) -> Result<K, D::Error> {
    let given = String::deserialize(given)?;
    find(topic, known, name, &given)
        .copied()
        .map_err(Error::custom)
}
