//! Columns of a result.

use crate::ideal::Paths;
use crate::registry::{counted, names};
use lightburst_des::Time;
use lightburst_net::contents::Tally;
use lightburst_net::link::Carried;
use lightburst_net::{ArrivalOrders, BurstCount, Contents, Counted, Fabric, Narrow};
use lightburst_tcp::Outcomes;
use std::ops::Add;

/// Column of numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// 8-bit numbers, such as codes and flags.
    U8(Vec<u8>),
    /// 16-bit numbers.
    U16(Vec<u16>),
    /// 32-bit numbers.
    U32(Vec<u32>),
    /// 64-bit numbers, such as counts and times in picoseconds.
    U64(Vec<u64>),
    /// Signed numbers.
    I64(Vec<i64>),
    /// Exact sums; they become doubles when they are exported.
    U128(Vec<u128>),
    /// Fractional numbers, such as congestion windows.
    F64(Vec<f64>),
}

/// Named columns of one table.
pub type Table = Vec<(&'static str, Column)>;

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

/// Result of a run: its tables and totals.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    /// One row per flow.
    pub flows: Table,
    /// One row per link.
    pub links: Table,
    /// One row per switch.
    pub switches: Vec<(String, Column)>,
    /// One row per scripted drop.
    pub drops: Table,
    /// One row per class of bursts; `None` if bursts are not divided into classes.
    pub classes: Option<Table>,
    /// Traces of flows and links: tables by name.
    pub trace: Vec<(&'static str, Table)>,
    /// Reordering metrics of each flow, if requested.
    pub reordering: Option<Table>,
    /// Contents of bursts, and the number of bursts of each flow, if requested.
    pub bursts: Option<[Table; 2]>,
    /// State at regular times, if requested: the times, then one row per time and link, and one row
    /// per time and switch.
    pub samples: Option<[Table; 3]>,
    /// Synchronisation of connections, if requested: sums over bins of time.
    pub synchronisation: Option<Vec<(&'static str, u128)>>,
    /// Synchronisation of connections: values of each bin of time, if requested.
    pub bins: Option<Table>,
    /// Counters of the measurement window, if there is one.
    pub window: Option<Counts>,
    /// Totals of the run.
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

/// Makes the table of flows. Its columns use the narrowest type for their values, because the
/// number of rows may be very large.
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

/// Makes the table of links at the time `end`.
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

/// Makes the table of scripted drops.
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

/// Makes the table of reordering metrics: one row per flow, metric and occurring value.
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

/// Makes the tables of burst contents. The first has one row per fate of bursts, counted quantity
/// and occurring number; the second has one row per flow.
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

/// Makes the table of burst classes.
pub fn classes(fabric: &Fabric) -> Table {
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
