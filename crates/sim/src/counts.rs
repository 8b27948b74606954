//! Counters of links, switches and bursts as tables.

use crate::kinds::{counted, names};
use crate::state::State;
use lightburst_des::Time;
use lightburst_net::column::{Column, Table};
use lightburst_net::link::Carried;
use lightburst_net::{BurstCount, Copies, Counted, Fabric};
use std::ops::Add;

/// Named single numbers.
pub type Totals = Vec<(&'static str, u64)>;

/// Counters of links, switches and bursts up to a given time.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    /// One row per link.
    pub links: Table,
    /// One row per switch.
    pub switches: Vec<(String, Column)>,
    /// One row per class of bursts.
    pub classes: Table,
    /// Totals of the whole network.
    pub totals: Totals,
}

impl Counts {
    /// Reads all counters up to `end`.
    pub fn of(state: &dyn State, end: Time) -> Counts {
        let fabric = state.fabric();
        let bursts = |of: fn(&BurstCount) -> u64| fabric.bursts.iter().map(of).sum();
        let counted = state
            .switches()
            .map(|(node, switch)| switch.counted(end).and(fabric.tails_cut(node, end)));
        let copies = fabric.copies.as_deref();
        let copies_in_flight = copies.map_or(0, Copies::in_flight);
        let of_copies = copies.map(|copies| {
            [
                ("copies_created", copies.created),
                ("copies_in_flight", copies_in_flight),
                ("copies_unselected", copies.unselected),
            ]
        });
        let totals = [
            ("delivered_bytes", state.delivered()),
            ("units_created", fabric.created),
            ("units_delivered", fabric.delivered),
            ("units_dropped", fabric.dropped.column().sum()),
            (
                "units_in_flight",
                fabric.units.packets.len() as u64 - copies_in_flight,
            ),
            ("bursts_created", bursts(|class| class.created)),
            ("bursts_lost", bursts(|class| class.lost)),
            ("bursts_delivered", bursts(|class| class.delivered)),
        ];
        Counts {
            links: links(fabric, end),
            switches: switches(counted),
            classes: classes(fabric),
            totals: totals
                .into_iter()
                .chain(of_copies.into_iter().flatten())
                .collect(),
        }
    }
}

/// Makes the table of links at the time `end`.
fn links(fabric: &Fabric, end: Time) -> Table {
    let links = &fabric.links;
    let mut lost = vec![0; links.units().len()];
    let at_random = fabric.loss.as_ref().map(|loss| &loss.lost);
    let by_outages = fabric.outages.as_ref().map(|outages| &outages.lost);
    for more in [at_random, by_outages].into_iter().flatten() {
        lost.iter_mut().zip(more).for_each(|(sum, one)| *sum += one);
    }
    let carried: Vec<_> = fabric.carried(end).collect();
    let each = |value: fn(&Carried) -> u64| Column::U64(carried.iter().map(value).collect());
    let pauses = fabric.pauses.as_ref().map(|pauses| {
        let (numbers, times): (Vec<u64>, Vec<u64>) = pauses.counted(end).into_iter().unzip();
        [
            ("pauses", Column::U64(numbers)),
            ("paused_ps", Column::U64(times)),
        ]
    });
    let columns = [
        ("units", Column::U64(links.units().collect())),
        ("bytes", each(|c| c.bytes)),
        ("waiting_bytes", each(|c| c.waiting)),
        ("busy_ps", each(|c| c.busy.0)),
        ("lost", Column::U64(lost)),
        ("dropped", Column::U64(fabric.dropped_at.clone())),
    ];
    columns
        .into_iter()
        .chain(pauses.into_iter().flatten())
        .collect()
}

/// Makes the table of burst classes.
fn classes(fabric: &Fabric) -> Table {
    let each =
        |value: fn(&BurstCount) -> u64| Column::U64(fabric.bursts.iter().map(value).collect());
    vec![
        ("bursts", each(|class| class.created)),
        ("bursts_lost", each(|class| class.lost)),
        ("bursts_delivered", each(|class| class.delivered)),
    ]
}

/// Makes the table of switches from their counters: it has a column for each counter of any kind of
/// switch, which is zero where a switch does not have it.
fn switches(rows: impl Iterator<Item = Counted>) -> Vec<(String, Column)> {
    let rows: Vec<Counted> = rows.collect();
    let named = counted();
    let counts = names(&named.counts).into_iter().map(|name| {
        let values = rows.iter().map(|row| sum(&row.counts, name));
        (name.to_string(), Column::U64(values.collect()))
    });
    let sums = names(&named.sums).into_iter().map(|name| {
        let values = rows.iter().map(|row| sum(&row.sums, name));
        (name.to_string(), Column::U128(values.collect()))
    });
    let drops = names(&named.drops).into_iter().map(|reason| {
        let values = rows.iter().map(|row| sum(&row.drops, reason));
        let name = format!("dropped_{}", reason.name.replace('-', "_"));
        (name, Column::U64(values.collect()))
    });
    counts.chain(drops).chain(sums).collect()
}

/// Returns the total of all counters called `name`; several parts of a node may use one name.
fn sum<N: PartialEq, T: Copy + Default + Add<Output = T>>(counts: &[(N, T)], name: N) -> T {
    let named = counts.iter().filter(|(of, _)| *of == name);
    named.fold(T::default(), |sum, (_, value)| sum + *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_parts_count_under_one_name_is_one_count_and_what_nobody_counts_is_zero() {
        let counts = [("a", 1), ("b", 2), ("a", 4)];
        assert_eq!((sum(&counts, "a"), sum(&counts, "c")), (5, 0));
    }

    #[test]
    fn no_two_columns_of_switches_have_one_name() {
        let columns = switches(std::iter::empty());
        let names: std::collections::BTreeSet<_> = columns.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), columns.len());
        assert!(names.contains(&"dropped_no_input_port".to_string()));
    }
}
