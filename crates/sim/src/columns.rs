//! Columns of a result.

use crate::ideal::Paths;
use lightburst_des::Time;
use lightburst_net::link::pause::{Lane, Locked, Span};
use lightburst_net::{Fabric, Narrow, Pauses, Units};
use lightburst_tcp::Outcomes;

pub use lightburst_net::column::{Column, Output, Outputs, Table};

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

/// Returns a column by flow from one that has `numbers` rows, with further ones for further subflows.
pub fn folded(column: Narrow, numbers: usize, flows: usize) -> Narrow {
    if numbers == flows {
        return column;
    }
    let mut sums = Narrow::zeros(flows);
    for flow in 0..flows {
        let rows = (flow..numbers).step_by(flows);
        sums.set(flow, rows.map(|row| column.get(row)).sum());
    }
    sums
}

/// Makes the table of scripts, with drops first.
pub fn drops(fabric: &Fabric) -> Table {
    let scripts = fabric.loss.as_ref().map_or(&[][..], |loss| &loss.scripts);
    let times = scripts.iter().map(|script| script.time.0).collect();
    let units = scripts.iter().map(|script| script.units).collect();
    vec![
        ("time_ps", Column::U64(times)),
        ("units", Column::U64(units)),
    ]
}

/// Makes the table of pauses that cannot end: of each lane, the bytes that wait for another one.
pub fn locked(pauses: &Pauses, units: &Units) -> Table {
    let rows = pauses.locked(units);
    let links = |of: fn(&Locked) -> u32| Column::U32(rows.iter().map(of).collect());
    vec![
        ("link", links(|(lane, ..)| lane.link.0)),
        ("class", links(|(lane, ..)| u32::from(lane.class))),
        ("behind", links(|(_, behind, _)| behind.link.0)),
        ("bytes", Column::U64(rows.iter().map(|row| row.2).collect())),
    ]
}

/// Makes the table of recorded pauses.
pub fn pauses(spans: &[Span]) -> Table {
    let times = |of: fn(&Span) -> Time| Column::U64(spans.iter().map(|span| of(span).0).collect());
    let lanes = |of: fn(Lane) -> u32| Column::U32(spans.iter().map(|span| of(span.lane)).collect());
    vec![
        ("link", lanes(|lane| lane.link.0)),
        ("class", lanes(|lane| u32::from(lane.class))),
        ("begin_ps", times(|span| span.begin)),
        ("end_ps", times(|span| span.end)),
    ]
}
