//! How long outages stop flows, and the data that arrives in bins of time.

use super::{require, Kind, Measurement, Meter, Scope};
use lightburst_des::Time;
use lightburst_net::column::{Column, Outputs};
use lightburst_net::link::outages::LINK_DOWN;
use lightburst_net::unit::arena::Handle;
use lightburst_net::{Happening, Interest, LinkId, Observer, PacketId, Unit, View};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The measurement of a plan.
pub const KIND: Kind = Kind {
    keys: &["recovery_bin_ps"],
    ..Kind::of::<Settings>()
};

/// Length of the bins of time.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Settings {
    recovery_bin_ps: u64,
}

impl Measurement for Settings {
    fn check(&self, scope: &Scope<'_>) -> Result<(), String> {
        let words = || "bins of recovery without time".to_string();
        require(self.recovery_bin_ps > 0, words)?;
        let words = || "recovery without outages".to_string();
        require(scope.outages.is_some(), words)
    }

    fn build(&self, scope: &Scope<'_>) -> Meter {
        let mut down: BTreeMap<LinkId, Vec<(Time, Time)>> = BTreeMap::new();
        for &(link, begin, end) in scope.outages.unwrap_or_default() {
            let spans = down.entry(LinkId(link)).or_default();
            spans.push((Time(begin), Time(end)));
        }
        Meter::Observer(Box::new(Recovery {
            bin: self.recovery_bin_ps,
            down,
            made: 0,
            numbers: Vec::new(),
            flows: vec![Hit::default(); scope.flows],
            bytes: Vec::new(),
        }))
    }
}

/// Wait of a flow for a packet with data that left its host after the first lost one.
#[derive(Clone, Copy, Debug)]
struct Stop {
    since: Time,
    /// Number of the lost packet.
    number: u64,
}

/// Losses of a flow by outages.
#[derive(Clone, Copy, Debug, Default)]
struct Hit {
    packets: u64,
    stop: Option<Stop>,
    /// Longest of its stops that are over, in picoseconds; 0 if there was none.
    longest: u64,
}

/// Stops of flows, and bytes that arrived.
#[derive(Clone, Debug)]
struct Recovery {
    bin: u64,
    down: BTreeMap<LinkId, Vec<(Time, Time)>>,
    /// Number of packets so far.
    made: u64,
    /// Number of each packet in the network, in the order in which they were made, by handle.
    numbers: Vec<u64>,
    flows: Vec<Hit>,
    /// Bytes of data that reached hosts in each bin.
    bytes: Vec<u64>,
}

impl Recovery {
    fn number(&mut self, packet: PacketId, number: u64) {
        let least = packet.place() + 1;
        if self.numbers.len() < least {
            self.numbers.resize(least, 0);
        }
        self.numbers[packet.place()] = number;
    }

    fn number_of(&self, packet: PacketId) -> u64 {
        self.numbers[packet.place()]
    }

    /// Returns when the outage began, or if that is later the transmission, by which a link lost a
    /// unit: the first outage that ended after `from`.
    fn since(&self, link: LinkId, from: Time) -> Time {
        let spans = self.down.get(&link).map_or(&[][..], Vec::as_slice);
        let found = spans.iter().find(|(_, end)| *end > from);
        found.map_or(from, |&(begin, _)| begin.max(from))
    }

    fn lose(&mut self, flow: usize, since: Time, number: u64) {
        let hit = &mut self.flows[flow];
        hit.packets += 1;
        let stop = hit.stop.get_or_insert(Stop { since, number });
        stop.since = stop.since.min(since);
        stop.number = stop.number.min(number);
    }

    fn arrive(&mut self, flow: usize, (number, payload): (u64, u32), now: Time) {
        let bin = (now.0 / self.bin) as usize;
        if self.bytes.len() <= bin {
            self.bytes.resize(bin + 1, 0);
        }
        self.bytes[bin] += u64::from(payload);
        let hit = &mut self.flows[flow];
        let over = |stop: &Stop| stop.number < number && stop.since < now;
        if let Some(stop) = hit.stop.filter(over) {
            hit.stop = None;
            hit.longest = hit.longest.max(now.since(stop.since).0);
        }
    }
}

impl Observer for Recovery {
    fn interest(&self) -> Interest {
        Interest::CREATED | Interest::COPIED | Interest::DROPPED | Interest::DELIVERED
    }

    fn on(&mut self, happening: &Happening<'_>, view: &View<'_>) {
        match happening {
            Happening::Created { packet, .. } => {
                self.made += 1;
                self.number(*packet, self.made);
            }
            Happening::Copied { packet, copy } => self.number(*copy, self.number_of(*packet)),
            Happening::Dropped {
                unit,
                place,
                reason,
                start,
                ..
            } if *reason == LINK_DOWN => {
                // A header is on its link before its burst is.
                let from = match unit {
                    Unit::BurstHeader(_) => view.now,
                    _ => start.unwrap_or(view.now),
                };
                let since = self.since(place.link, from);
                for (packet, it) in view.units.packets_of(*unit) {
                    if it.header.payload > 0 {
                        let number = self.number_of(packet);
                        self.lose(it.envelope.flow.index(), since, number);
                    }
                }
            }
            Happening::Delivered { packet, .. } => {
                let it = &view.units.packets[*packet];
                if it.header.payload > 0 {
                    let number = self.number_of(*packet);
                    let what = (number, it.header.payload);
                    self.arrive(it.envelope.flow.index(), what, view.now);
                }
            }
            _ => {}
        }
    }

    fn load(&self) -> Option<(&'static str, u64)> {
        Some(("recovery_bins", self.bytes.len() as u64))
    }

    /// Returns a table with a row for each flow, and one with a row for each bin.
    fn tables(self: Box<Self>) -> Outputs {
        let each = |value: fn(&Hit) -> u64| Column::U64(self.flows.iter().map(value).collect());
        let stopped = |hit: &Hit| hit.stop.map_or(Time::NEVER, |stop| stop.since).0;
        let flows = vec![
            ("cut_packets", each(|hit| hit.packets)),
            ("longest_ps", each(|hit| hit.longest)),
            ("stopped_ps", each(stopped)),
        ];
        let bins = vec![("bytes", Column::U64(self.bytes))];
        vec![("recovery_flows", flows.into()), ("recovery", bins.into())]
    }
}
