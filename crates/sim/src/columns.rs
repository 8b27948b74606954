//! The columns of a result.

use lightburst_des::Time;
use lightburst_net::link::Carried;
use lightburst_net::{DropReason, Fabric, NodeId, Switch};
use lightburst_tcp::Outcome;

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
    /// Integrals.
    F64(Vec<f64>),
}

/// Named columns of one table.
pub type Table = Vec<(&'static str, Column)>;

/// A result: one table for each kind of thing, and totals.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    /// A row for each flow.
    pub flows: Table,
    /// A row for each link.
    pub links: Table,
    /// A row for each switch.
    pub switches: Table,
    /// A row for each scripted drop.
    pub drops: Table,
    /// What happened to the traced flows: packets, windows, bursts, hops.
    pub trace: Option<[Table; 4]>,
    /// The state at regular times: the times, then for each of them all links and all switches.
    pub samples: Option<[Table; 3]>,
    /// Single numbers.
    pub totals: Vec<(&'static str, u64)>,
}

/// What is known of each flow before it starts.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// Number of links of one shortest path.
    pub links: Vec<u16>,
    /// See [`crate::ideal`].
    pub ideal_ps: Vec<u64>,
}

/// The table of flows.
pub fn flows(outcomes: impl Iterator<Item = Outcome>, dropped: &[u64], paths: Paths) -> Table {
    let outcomes: Vec<Outcome> = outcomes.collect();
    fn each<T>(outcomes: &[Outcome], value: impl Fn(&Outcome) -> T) -> Vec<T> {
        outcomes.iter().map(value).collect()
    }
    vec![
        (
            "received_ps",
            Column::U64(each(&outcomes, |o| o.received.0)),
        ),
        (
            "acknowledged_ps",
            Column::U64(each(&outcomes, |o| o.acknowledged.0)),
        ),
        (
            "delivered_bytes",
            Column::U64(each(&outcomes, |o| o.delivered)),
        ),
        (
            "transmissions",
            Column::U64(each(&outcomes, |o| o.transmissions)),
        ),
        (
            "retransmissions",
            Column::U64(each(&outcomes, |o| o.retransmissions)),
        ),
        ("timeouts", Column::U64(each(&outcomes, |o| o.timeouts))),
        ("duplicates", Column::U64(each(&outcomes, |o| o.duplicates))),
        ("drops", Column::U64(dropped.to_vec())),
        ("status", Column::U8(each(&outcomes, |o| o.status as u8))),
        ("path_links", Column::U16(paths.links)),
        ("ideal_ps", Column::U64(paths.ideal_ps)),
    ]
}

/// The table of links at the time `end`.
pub fn links(fabric: &Fabric, end: Time) -> Table {
    let links = &fabric.links;
    let lost = match &fabric.loss {
        Some(loss) => loss.lost.clone(),
        None => vec![0; links.units().len()],
    };
    let carried: Vec<_> = links.carried(end).collect();
    let each = |value: fn(&Carried) -> u64| Column::U64(carried.iter().map(value).collect());
    vec![
        ("units", Column::U64(links.units().collect())),
        ("bytes", each(|c| c.bytes)),
        ("waiting_bytes", each(|c| c.waiting)),
        ("busy_ps", each(|c| c.busy.0)),
        ("lost", Column::U64(lost)),
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

/// The table of switches at the time `end`.
pub fn switches<'a>(switches: impl Iterator<Item = (NodeId, &'a dyn Switch)>, end: Time) -> Table {
    let counters: Vec<_> = switches.map(|(_, switch)| switch.counters()).collect();
    let each = |value: &dyn Fn(&lightburst_net::SwitchCounters) -> u64| {
        Column::U64(counters.iter().map(|c| value(c)).collect())
    };
    let dropped = |reason: DropReason| each(&|c| c.dropped[reason as usize]);
    vec![
        ("arrived", each(&|c| c.arrived)),
        ("forwarded", each(&|c| c.forwarded)),
        ("buffered", each(&|c| c.buffered)),
        ("marked", each(&|c| c.marked)),
        ("dropped_contention", dropped(DropReason::Contention)),
        ("dropped_no_input_port", dropped(DropReason::NoInputPort)),
        ("dropped_buffer_full", dropped(DropReason::BufferFull)),
        ("dropped_queue_full", dropped(DropReason::QueueFull)),
        ("oe_bytes", each(&|c| c.oe_bytes)),
        ("eo_bytes", each(&|c| c.eo_bytes)),
        ("bursts", each(&|c| c.bursts)),
        ("burst_packets", each(&|c| c.burst_packets)),
        ("burst_bytes", each(&|c| c.burst_bytes)),
        (
            "assembly_wait_ps",
            Column::F64(counters.iter().map(|c| c.assembly_wait as f64).collect()),
        ),
        ("buffer_max_bytes", each(&|c| c.occupancy.maximum())),
        (
            "buffer_byte_ps",
            Column::F64(counters.iter().map(|c| c.occupancy.integral(end)).collect()),
        ),
    ]
}
