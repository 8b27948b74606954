//! Circuit switches and the racks around them. Which of both a node is follows from its hosts.

use super::{Build, SwitchSettings};
use crate::circuit::core::Core;
use crate::circuit::demand::{Demand, SchedulerSettings};
use crate::circuit::edge::{Edge, EdgeSettings, PacketLink};
use crate::circuit::forwarding::{self, ForwardingKind, Place};
use crate::circuit::graphs::{Expander, Graphs};
use crate::circuit::interrupted::{Interrupted, Planned};
use crate::circuit::packet::PacketSettings;
use crate::circuit::schedule::ScheduleSettings;
use crate::circuit::{Closures, Layout, Schedule, Timetable};
use crate::queue::QUEUE_FULL;
use crate::settings::named;
use lightburst_des::Time;
use lightburst_net::{Counted, Counters, Occupancy, Switch, PEAK};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Settings of the switches in a network of circuits.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CircuitSettings {
    /// Capacity of each queue of a rack in bytes; `None`: unlimited.
    queue_bytes: Option<u64>,
    /// Forwarding policy of the racks.
    #[serde(deserialize_with = "policy")]
    forwarding: ForwardingKind,
    /// Most bytes of a short flow, for a policy that knows such flows.
    short_bytes: Option<u64>,
    /// Matchings over time.
    schedule: Option<ScheduleSettings>,
    /// Matchings from demand, in place of a schedule.
    scheduler: Option<SchedulerSettings>,
    /// Packet network beside the circuits.
    packet: Option<PacketSettings>,
    /// Circuits that all switches share.
    #[serde(skip)]
    shared: OnceLock<Shared>,
}

/// Circuits that all switches share.
#[derive(Clone)]
enum Shared {
    Schedule(Arc<Schedule>),
    InterruptedSchedule(Arc<Interrupted<Schedule>>),
    Expander(Arc<Expander>),
    InterruptedExpander(Arc<Interrupted<Expander>>),
    Demand(Arc<Demand>),
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("circuits")
    }
}

impl CircuitSettings {
    /// Whether a packet network is beside the circuits.
    pub fn has_packet_network(&self) -> bool {
        self.packet.is_some()
    }

    /// Returns what is wrong with the circuits of these racks and circuit switches, if anything is.
    pub fn fault(&self, layout: &Layout) -> Option<String> {
        if self.forwarding.by_distance != self.short_bytes.is_some() {
            return Some("a size of short flows without a policy for them".to_string());
        }
        match (&self.schedule, &self.scheduler) {
            (Some(schedule), None) => schedule.fault(layout.racks, layout.switches),
            (None, Some(_)) if !self.forwarding.by_rack => {
                Some("a scheduler, and queues that are not for a rack".to_string())
            }
            (None, Some(scheduler)) => scheduler.fault(layout),
            _ => Some("neither a schedule nor a scheduler, or both".to_string()),
        }
    }

    fn shared(&self, build: &Build) -> Shared {
        let layout = build.layout.as_ref().expect("racks and circuit switches");
        let closures = build.closures.clone();
        if let Some(scheduler) = &self.scheduler {
            return Shared::Demand(Arc::new(Demand::new(scheduler, layout, closures)));
        }
        let schedule = self.schedule.as_ref().expect("a schedule");
        let schedule = Schedule::new(schedule, layout.racks);
        let Some(most) = self.short_bytes else {
            return match closures {
                None => Shared::Schedule(Arc::new(schedule)),
                Some(closures) => Shared::InterruptedSchedule(interrupted(schedule, closures)),
            };
        };
        let expander = Expander {
            graphs: Arc::new(Graphs::new(&schedule, closures.as_deref())),
            schedule,
            short: build.sizes.iter().map(|&bytes| bytes <= most).collect(),
        };
        match closures {
            None => Shared::Expander(Arc::new(expander)),
            Some(closures) => Shared::InterruptedExpander(interrupted(expander, closures)),
        }
    }

    fn switch<T: Timetable>(
        &self,
        timetable: Arc<T>,
        graphs: Option<&Arc<Graphs>>,
        build: Build,
    ) -> Box<dyn Switch> {
        let layout = build.layout.expect("racks and circuit switches");
        if !layout.is_rack(build.node) {
            return Box::new(Core::new(timetable, &layout, build.node));
        }
        let settings = EdgeSettings {
            limit: self.queue_bytes.unwrap_or(u64::MAX),
            packet: self.packet.as_ref().map(|packet| PacketLink {
                rule: packet.rule(&build.sizes),
                port: layout
                    .packet_port(layout.number(build.node))
                    .expect("a link to the packet network"),
                limit: packet.queue_bytes.unwrap_or(u64::MAX),
                threshold: packet.ecn_threshold_bytes.unwrap_or(u64::MAX),
                closures: build.closures.clone(),
            }),
            forwarding: (self.forwarding.build)(Place {
                rack: layout.number(build.node),
                racks: layout.racks,
                graphs,
            }),
            time_limit: build.time_limit,
            looks: build.looks,
        };
        Box::new(Edge::new(settings, timetable, layout, build.node))
    }
}

fn interrupted<T: Planned>(planned: T, closures: Arc<Closures>) -> Arc<Interrupted<T>> {
    Arc::new(Interrupted { planned, closures })
}

fn policy<'de, D: Deserializer<'de>>(given: D) -> Result<ForwardingKind, D::Error> {
    named("forwarding", forwarding::REGISTRY, |kind| kind.name, given)
}

impl SwitchSettings for CircuitSettings {
    fn build(&self, build: Build) -> Box<dyn Switch> {
        match self.shared.get_or_init(|| self.shared(&build)).clone() {
            Shared::Schedule(schedule) => self.switch(schedule, None, build),
            Shared::InterruptedSchedule(schedule) => self.switch(schedule, None, build),
            Shared::Demand(demand) => self.switch(demand, None, build),
            Shared::Expander(expander) => {
                let graphs = Arc::clone(&expander.graphs);
                self.switch(expander, Some(&graphs), build)
            }
            Shared::InterruptedExpander(expander) => {
                let graphs = Arc::clone(&expander.planned.graphs);
                self.switch(expander, Some(&graphs), build)
            }
        }
    }

    fn takes_outages(&self) -> bool {
        let scheduler = self.scheduler.as_ref();
        scheduler.map_or(true, SchedulerSettings::takes_outages)
    }

    fn wants_sizes(&self) -> bool {
        let packet = self.packet.as_ref();
        self.short_bytes.is_some() || packet.is_some_and(PacketSettings::wants_sizes)
    }

    fn circuits(&self) -> Option<&CircuitSettings> {
        Some(self)
    }
}

/// Counters of a circuit switch, and of the switch of a rack.
#[derive(Debug, Default)]
pub struct CircuitCounters {
    pub(crate) arrived: u64,
    pub(crate) forwarded: u64,
    /// Units that waited in a queue.
    pub(crate) buffered: u64,
    /// Units that a circuit has brought to a rack other than theirs.
    pub(crate) relayed: u64,
    pub(crate) queue_full: u64,
    /// Units marked (ECN) on their way into the packet network.
    pub(crate) marked: u64,
    /// Bytes of the hosts of a rack that it gave to the packet network, and those that it kept for
    /// circuits beside a packet network.
    pub(crate) packet_bytes: u64,
    pub(crate) circuit_bytes: u64,
    /// Bytes converted from optical to electronic, and from electronic to optical.
    pub(crate) oe_bytes: u64,
    pub(crate) eo_bytes: u64,
    /// Bytes that wait for hosts; the maximum is that of a single queue.
    occupancy: Occupancy,
    /// For each time at which the counters are read early: the part of the occupancy integral that
    /// lies after it.
    ahead: [(Time, u128); 2],
}

impl CircuitCounters {
    /// Creates counters that are read at these times and at the end of the run.
    pub fn new(looks: [Time; 2]) -> CircuitCounters {
        CircuitCounters {
            ahead: looks.map(|look| (look, 0)),
            ..CircuitCounters::default()
        }
    }

    /// Counts `bytes` that wait from `now` to `end` for a host, in a queue whose backlog, including
    /// them, is `backlog` bytes.
    pub(crate) fn wait(&mut self, bytes: u32, (now, end): (Time, Time), backlog: u64) {
        let area = |from: Time| u128::from(bytes) * u128::from(end.since(from).0);
        self.occupancy.queue(backlog, area(now));
        for (look, ahead) in &mut self.ahead {
            if *look < end && now < *look {
                *ahead += area(*look);
            }
        }
    }

    /// Returns the integral up to `end` of the bytes that wait for hosts, in byte-picoseconds.
    pub(crate) fn area(&self, end: Time) -> u128 {
        let known = self.ahead.iter().find(|(look, _)| *look == end);
        let ahead = known.map_or(0, |(_, area)| *area);
        self.occupancy.counted(end, ahead).sums[0].1
    }

    /// Returns the largest backlog of a link to a host, in bytes.
    pub(crate) fn peak(&self) -> u64 {
        self.occupancy.maximum()
    }

    pub(crate) fn begin_window(&mut self) {
        self.occupancy.begin_window();
    }

    /// Returns the counts of units.
    pub(crate) fn units(&self) -> Counted {
        Counted::default()
            .count("arrived", self.arrived)
            .count("forwarded", self.forwarded)
            .count("buffered", self.buffered)
            .count("relayed", self.relayed)
            .count("marked", self.marked)
            .count("packet_bytes", self.packet_bytes)
            .count("circuit_bytes", self.circuit_bytes)
            .dropped(QUEUE_FULL, self.queue_full)
            .count("oe_bytes", self.oe_bytes)
            .count("eo_bytes", self.eo_bytes)
    }
}

impl Counters for CircuitCounters {
    fn counted(&self, end: Time) -> Counted {
        self.units()
            .count(PEAK, self.peak())
            .sum("buffer_byte_ps", self.area(end))
    }
}
