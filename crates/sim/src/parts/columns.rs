//! Tables of a run in parts. The counters of a node or link are zero in all parts but its own, so a
//! table is the sum of those of the parts.

use super::{Parts, Piece};
use crate::columns;
use crate::counts::Counts;
use crate::run::counted;
use lightburst_des::Time;
use lightburst_net::column::{Column, Output, Outputs};
use lightburst_net::Narrow;
use lightburst_tcp::Outcomes;

/// Totals of which the whole network has the greatest of all parts, and not the sum.
const GREATEST: [&str; 2] = ["end_ps", "transmitted_until_ps"];

/// Largest quantities of the state of a run, by name.
type Load = Vec<(&'static str, u64)>;
/// Quantities that add up over the parts; of the others the whole network has the greatest.
const SUMS: [&str; 3] = ["events", "pending", "units"];
/// Objects that have the greatest of a quantity.
const OBJECTS: [(&str, &str); 3] = [
    ("link", "waiting_bytes"),
    ("switch", "held_bytes"),
    ("flow", "retransmissions"),
];

/// Returns the tables of the whole network.
pub fn joined(run: Parts) -> Outputs {
    let Parts {
        pieces,
        of_node,
        end,
        paths,
        ends: [sources, destinations],
        ..
    } = run;
    let flows = sources.len();
    let mut lost = Narrow::zeros(flows);
    for piece in &pieces {
        let dropped = piece.simulator.model.fabric.dropped.column();
        for flow in (0..flows).filter(|&flow| dropped.get(flow) > 0) {
            lost.set(flow, lost.get(flow) + dropped.get(flow));
        }
    }
    let (outcomes, tables): (Vec<_>, Vec<_>) =
        pieces.into_iter().map(|piece| tables(piece, end)).unzip();
    let outcomes = Outcomes::joined(&outcomes, [&sources, &destinations], &of_node);
    let table = columns::flows(outcomes, lost, paths);
    let sums = tables.into_iter().reduce(|sum, more| {
        let pairs = sum.into_iter().zip(more);
        let added = pairs.map(|((name, one), (_, other))| (name, added(one, other)));
        added.collect()
    });
    let flows = [("flows", table.into())];
    flows.into_iter().chain(sums.expect("a part")).collect()
}

/// Returns the outcomes of a part, and its other tables.
fn tables(piece: Piece, end: Time) -> (Outcomes, Outputs) {
    let Piece {
        simulator, looks, ..
    } = piece;
    let events = simulator.events();
    let network = simulator.model;
    let mut counts = Counts::of(&network, end);
    let looks = looks.into_iter();
    let looked: Vec<_> = looks.flat_map(|look| look.tables(&mut counts)).collect();
    let fabric = &network.fabric;
    let mut tables = counted(fabric, (end, events), counts, false);
    tables.extend(looked);
    (network.hosts.outcomes(&fabric.dropped), tables)
}

fn added(one: Output, other: Output) -> Output {
    match (one, other) {
        (Output::Columns(one), Output::Columns(other)) => {
            let pairs = one.into_iter().zip(other);
            let sums = pairs.map(|((name, one), (_, other))| (name, sum(one, other)));
            Output::Columns(sums.collect())
        }
        (Output::Numbers(one), Output::Numbers(other)) => {
            let pairs = one.into_iter().zip(other);
            let sums = pairs.map(|((name, one), (_, other))| {
                let greatest = GREATEST.contains(&name);
                (
                    name,
                    if greatest {
                        one.max(other)
                    } else {
                        one + other
                    },
                )
            });
            Output::Numbers(sums.collect())
        }
        _ => unreachable!("a table is of one kind in all parts"),
    }
}

fn sum(one: Column, other: Column) -> Column {
    match (one, other) {
        (Column::U64(one), Column::U64(other)) => {
            let pairs = one.into_iter().zip(other);
            Column::U64(pairs.map(|(one, other)| one + other).collect())
        }
        (Column::U128(one), Column::U128(other)) => {
            let pairs = one.into_iter().zip(other);
            Column::U128(pairs.map(|(one, other)| one + other).collect())
        }
        _ => unreachable!("counts are whole numbers, or integrals"),
    }
}

/// Returns the load of the whole network from those of its parts.
pub fn joined_loads(loads: &[Load]) -> Load {
    let value = |load: &Load, name| {
        let found = load.iter().find(|(of, _)| *of == name);
        found.map_or(0, |(_, value)| *value)
    };
    let joined = |&(name, _): &(&'static str, u64)| {
        if SUMS.contains(&name) {
            return (name, loads.iter().map(|load| value(load, name)).sum());
        }
        let objects = OBJECTS.iter().find(|(object, _)| *object == name);
        let by = objects.map_or(name, |(_, quantity)| *quantity);
        // Of equal ones the first.
        let greatest = loads.iter().rev().max_by_key(|load| value(load, by));
        (name, greatest.map_or(0, |load| value(load, name)))
    };
    loads[0].iter().map(joined).collect()
}
