//! The columns of a result.

use crate::ideal::Paths;
use crate::registry::{counted, names};
use lightburst_des::Time;
use lightburst_net::contents::Tally;
use lightburst_net::link::Carried;
use lightburst_net::{ArrivalOrders, BurstCount, Contents, Counted, Fabric, Narrow};
use lightburst_tcp::Outcomes;
use std::ops::Add;

/// A column of numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Small whole numbers.
    U8(Vec<u8>),
    /// Whole numbers.
    U16(Vec<u16>),
    /// Whole numbers.
    U32(Vec<u32>),
    /// Large whole numbers, times in picoseconds.
    U64(Vec<u64>),
    /// Whole numbers, some below 0.
    I64(Vec<i64>),
    /// Exact sums that are doubles where they leave.
    U128(Vec<u128>),
    /// Windows.
    F64(Vec<f64>),
}

/// Named columns of one table.
pub type Table = Vec<(&'static str, Column)>;

/// Single numbers by their names.
pub type Totals = Vec<(&'static str, u64)>;

/// What links, switches and bursts have counted up to a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    /// A row for each link.
    pub links: Table,
    /// A row for each switch.
    pub switches: Vec<(String, Column)>,
    /// A row for each class of bursts.
    pub classes: Table,
    /// Of the whole network.
    pub totals: Totals,
}

/// A result: one table for each kind of thing, and totals.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    /// A row for each flow.
    pub flows: Table,
    /// A row for each link.
    pub links: Table,
    /// A row for each switch.
    pub switches: Vec<(String, Column)>,
    /// A row for each scripted drop.
    pub drops: Table,
    /// A row for each class of bursts, if they are told apart.
    pub classes: Option<Table>,
    /// What happened to the traced flows and on the traced links: tables by their names.
    pub trace: Vec<(&'static str, Table)>,
    /// How far the data of each flow comes out of order, if that is asked for.
    pub reordering: Option<Table>,
    /// What is in bursts, and how many bursts each flow is in, if that is asked for.
    pub bursts: Option<[Table; 2]>,
    /// The state at regular times: the times, then for each of them all links and all switches.
    pub samples: Option<[Table; 3]>,
    /// How connections move together, if that is asked for: sums over bins of time.
    pub synchronisation: Option<Vec<(&'static str, u128)>>,
    /// What each of these bins had, if that is kept.
    pub bins: Option<Table>,
    /// The counts of the window, if there is one.
    pub window: Option<Counts>,
    /// Single numbers.
    pub totals: Totals,
}

impl From<Narrow> for Column {
    fn from(narrow: Narrow) -> Column {
        match narrow {
            Narrow::U8(values) => Column::U8(values),
            Narrow::U16(values) => Column::U16(values),
            Narrow::U32(values) => Column::U32(values),
            Narrow::U64(values) => Column::U64(values),
        }
    }
}

/// The table of flows, its columns as narrow as what is in them: there may be very many rows.
pub fn flows(outcomes: Outcomes, drops: Narrow, paths: Paths) -> Table {
    let columns = outcomes.columns();
    let mut table: Table = columns
        .map(|(name, narrow)| (name, narrow.into()))
        .collect();
    table.push(("drops", drops.into()));
    table.push(("path_links", Column::U16(paths.links)));
    table.push(("ideal_ps", Column::U64(paths.ideal_ps)));
    table
}

/// The table of links at the time `end`.
pub fn links(fabric: &Fabric, end: Time) -> Table {
    let links = &fabric.links;
    let lost = match &fabric.loss {
        Some(loss) => loss.lost.clone(),
        None => vec![0; links.units().len()],
    };
    let carried: Vec<_> = fabric.carried(end).collect();
    let each = |value: fn(&Carried) -> u64| Column::U64(carried.iter().map(value).collect());
    vec![
        ("units", Column::U64(links.units().collect())),
        ("bytes", each(|c| c.bytes)),
        ("waiting_bytes", each(|c| c.waiting)),
        ("busy_ps", each(|c| c.busy.0)),
        ("lost", Column::U64(lost)),
        ("dropped", Column::U64(fabric.dropped_at.clone())),
    ]
}

/// The table of scripted drops.
pub fn drops(fabric: &Fabric) -> Table {
    let drops = fabric.loss.as_ref().map_or(&[][..], |loss| &loss.drops);
    vec![
        (
            "time_ps",
            Column::U64(drops.iter().map(|d| d.time.0).collect()),
        ),
        (
            "units",
            Column::U64(drops.iter().map(|d| d.units).collect()),
        ),
    ]
}

/// The table of what comes out of order: a row for each flow, metric and value that there is.
pub fn reordering(orders: &ArrivalOrders) -> Table {
    let (mut flows, mut metrics) = (Vec::new(), Vec::new());
    let (mut values, mut packets) = (Vec::new(), Vec::new());
    for (flow, densities) in (0..).zip(orders.densities()) {
        for (metric, counts) in (0..).zip(densities.each()) {
            for (&value, &number) in counts {
                flows.push(flow);
                metrics.push(metric);
                values.push(value);
                packets.push(number);
            }
        }
    }
    vec![
        ("flow", Column::U32(flows)),
        ("metric", Column::U8(metrics)),
        ("value", Column::I64(values)),
        ("packets", Column::U64(packets)),
    ]
}

/// The tables of what is in bursts: a row for each fate, what is counted and its number that there
/// is; and a row for each flow.
pub fn bursts(contents: &Contents) -> [Table; 2] {
    let (mut fates, mut counted) = (Vec::new(), Vec::new());
    let (mut numbers, mut bursts) = (Vec::new(), Vec::new());
    for (fate, tally) in (0..).zip(&contents.tallies) {
        for (what, counts) in (0..).zip([&tally.segments, &tally.flows]) {
            for (&number, &of) in counts {
                fates.push(fate);
                counted.push(what);
                numbers.push(number);
                bursts.push(of);
            }
        }
    }
    let names = ["bursts", "bursts_lost", "bursts_cut"];
    let each = names.into_iter().zip(&contents.tallies);
    let of_flow = |(name, tally): (_, &Tally)| (name, tally.of_flow.clone().into());
    [
        vec![
            ("fate", Column::U8(fates)),
            ("counted", Column::U8(counted)),
            ("number", Column::I64(numbers)),
            ("bursts", Column::U64(bursts)),
        ],
        each.map(of_flow).collect(),
    ]
}

/// The table of classes.
pub fn classes(fabric: &Fabric) -> Table {
    let each =
        |value: fn(&BurstCount) -> u64| Column::U64(fabric.bursts.iter().map(value).collect());
    vec![
        ("bursts", each(|class| class.created)),
        ("bursts_lost", each(|class| class.lost)),
        ("bursts_delivered", each(|class| class.delivered)),
    ]
}

/// The table of switches, given what each has counted: all that any kind counts, zero where a switch
/// does not count it.
pub fn switches(rows: impl Iterator<Item = Counted>) -> Vec<(String, Column)> {
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

/// What is counted under a name, by the parts of a node together.
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
