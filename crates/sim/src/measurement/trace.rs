//! Trace of chosen flows and of bursts on chosen links, event by event.

mod bookings;
mod rows;
mod tables;

use super::{require, Kind, Measurement, Meter, Scope};
use bookings::OnLinks;
use lightburst_des::{Duration, Time};
use lightburst_net as net;
use lightburst_net::column::Outputs;
use lightburst_net::observe::{CutOff, Holder, Passage, PathSwitch, Piece, WindowState};
use lightburst_net::{
    Bundle, BurstId, FlowId, Happening, Identity, Interest, LinkId, NodeId, Observer, PacketId,
    Sendable, Unit, Units, View, CUT,
};
use rows::{Burst, Hop, Lost, Packet, What, Window};
use serde::Deserialize;
use std::ops::Range;

/// The measurement of a plan.
pub const KIND: Kind = Kind {
    keys: &["trace", "bookings"],
    ..Kind::of::<Settings>()
};

/// Flows and links that are traced.
#[derive(Clone, Debug, Deserialize)]
pub struct Settings {
    /// Numbers of the flows.
    #[serde(default)]
    trace: Vec<u32>,
    /// Links whose bursts are traced.
    #[serde(default)]
    bookings: Option<Bookings>,
}

/// Selection of the bursts to be traced on links.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bookings {
    /// Numbers of the links.
    links: Vec<u32>,
    /// Bursts that end by this time are left out.
    from_ps: u64,
    /// Bursts that begin at this time or later are left out.
    until_ps: u64,
}

impl Measurement for Settings {
    fn check(&self, scope: &Scope<'_>) -> Result<(), String> {
        let words = || "a trace of packets that travel twice".to_string();
        require(!scope.copies, words)?;
        for &flow in &self.trace {
            let words = || format!("a trace of flow {flow}, which there is not");
            require((flow as usize) < scope.whole, words)?;
        }
        let Some(bookings) = &self.bookings else {
            return Ok(());
        };
        for &link in &bookings.links {
            let words = || format!("a trace of link {link}, which there is not");
            require((link as usize) < scope.links, words)?;
        }
        let words = || "a trace of links without any time".to_string();
        require(bookings.from_ps < bookings.until_ps, words)
    }

    fn build(&self, scope: &Scope<'_>) -> Meter {
        let parts = |&flow: &u32| (flow as usize..scope.flows).step_by(scope.whole);
        let mut trace = Trace::new(scope.flows, scope.links, self.trace.iter().flat_map(parts));
        trace.bookings = self.bookings.as_ref().map(|given| {
            let (from, until) = (Time(given.from_ps), Time(given.until_ps));
            OnLinks::new(scope.links, &given.links, from, until)
        });
        Meter::Observer(Box::new(trace))
    }
}

/// Trace data of a packet in the network.
#[derive(Clone, Copy, Debug, Default)]
struct PacketTrace {
    identity: Identity,
    again: bool,
    /// Time at which the packet became available at its present or next node, see [`Hop`].
    came: Time,
}

/// Rows of the traced flows and links.
#[derive(Debug, Default)]
struct Trace {
    wanted: Vec<bool>,
    /// Latest round-trip time sample of each flow.
    samples: Vec<Option<Duration>>,
    /// Data of the packets in the network, by handle.
    in_network: Vec<PacketTrace>,
    /// Number of packets created by each node.
    made: Vec<u32>,
    /// Unit last handed to each link.
    holders: Vec<Option<Holder>>,
    /// Rows of packet events, in the order of their creation.
    packets: Vec<Packet>,
    /// Rows of senders.
    windows: Vec<Window>,
    /// Identities of all bursts, in order of time.
    identities: Vec<Identity>,
    /// Rows of bursts with a packet of a traced flow; of all bursts if links are traced.
    bursts: Vec<Burst>,
    /// Bursts on the traced links.
    bookings: Option<OnLinks>,
    /// Rows of packets handed to links.
    hops: Vec<Hop>,
    /// All changes of path caused by the load.
    path_switches: Vec<PathSwitch>,
}

impl Trace {
    /// Creates a trace of the flows `wanted`, in a network of `flows` flows and `links` links.
    fn new(flows: usize, links: usize, wanted: impl Iterator<Item = usize>) -> Trace {
        let mut trace = Trace {
            wanted: vec![false; flows],
            samples: vec![None; flows],
            holders: vec![None; links],
            ..Trace::default()
        };
        for flow in wanted {
            trace.wanted[flow] = true;
        }
        trace
    }

    /// Returns whether a flow is traced.
    #[inline]
    fn wants(&self, flow: FlowId) -> bool {
        self.wanted[flow.index()]
    }

    /// Registers a new packet.
    fn register(&mut self, packet: PacketId, node: NodeId, again: bool, now: Time) {
        if node.index() >= self.made.len() {
            self.made.resize(node.index() + 1, 0);
        }
        self.made[node.index()] += 1;
        if packet.index() >= self.in_network.len() {
            self.in_network
                .resize(packet.index() + 1, PacketTrace::default());
        }
        let identity = Identity {
            at: now,
            node: node.0,
            nth: self.made[node.index()],
        };
        self.in_network[packet.index()] = PacketTrace {
            identity,
            again,
            came: now,
        };
    }

    /// Sets the time at which a packet becomes available at its node: when the tail of its burst
    /// arrives, or the rest of its burst after a cut.
    fn comes(&mut self, packet: PacketId, at: Time) {
        self.in_network[packet.index()].came = at;
    }

    /// Adds the row of a burst whose departure is decided: if it has a packet of a traced flow, or if
    /// links are traced and it may use them in the interval.
    fn depart(&mut self, burst: BurstId, bundle: &Bundle, departure: Time, units: &Units) {
        let it = &units.bursts[burst];
        let packets = units.packets_of(Unit::Burst(burst));
        let mut packets = packets.map(|(_, packet)| packet);
        let kept = self.bookings.as_ref();
        let on_links = kept.is_some_and(|kept| kept.tell(it.identity.at));
        let of_flow = |packet: &net::Packet| self.wants(packet.envelope.flow);
        if on_links || packets.clone().any(of_flow) {
            self.add_burst(Burst {
                identity: it.identity,
                opened: bundle.opened,
                departure,
                egress: bundle.egress,
                label: it.envelope.label,
                packets: bundle.packets,
                bytes: bundle.bytes,
                data: packets.any(|packet| packet.header.payload > 0),
                arrival: Time::NEVER,
                lost: None,
            });
        }
    }

    /// Sets the departure of a burst to the time at which it left: a script may have delayed it.
    fn depart_at(&mut self, burst: Identity, start: Time) {
        let newest = self.bursts.last_mut().filter(|row| row.identity == burst);
        let row = match newest {
            Some(row) => Some(row),
            None => self.row(burst),
        };
        if let Some(row) = row {
            row.departure = start;
        }
    }

    /// Records the hand-over of a unit to a link, and adds the rows of its traced packets.
    fn hop(&mut self, unit: Unit, units: &Units, passage: &Passage) {
        let Passage { place, now, .. } = *passage;
        let burst = units
            .burst_of(unit)
            .map(|burst| units.bursts[burst].identity);
        let packet = Holder::Packet(unit.envelope(units).flow);
        self.holders[place.link.index()] = Some(burst.map_or(packet, Holder::Burst));
        if let (Unit::Burst(_), Some(identity)) = (unit, burst) {
            if identity.node == place.node.0 {
                self.depart_at(identity, passage.start);
            }
        }
        if let (Some(burst), Some(bookings)) = (burst, &mut self.bookings) {
            bookings.add(burst, unit.envelope(units).bytes, passage);
        }
        for (at, packet) in units.packets_of(unit) {
            let traced = &mut self.in_network[at.index()];
            let came = std::mem::replace(&mut traced.came, passage.arrival);
            // A packet of this host: the time in its fair interface counts as waiting for the link.
            let of_host = burst.is_none() && traced.identity.node == place.node.0;
            let (held_until, ready) = match of_host {
                true => (came, came),
                // A wait in an explicit queue is one for the link.
                false => (now.min(passage.ready), passage.ready),
            };
            if self.wanted[packet.envelope.flow.index()] {
                self.hops.push(Hop {
                    flow: packet.envelope.flow,
                    identity: traced.identity,
                    burst,
                    place,
                    came,
                    // A header is handed over before its burst arrives.
                    held: held_until.max(came).since(came),
                    queued: passage.start.since(ready),
                    start: passage.start,
                    arrival: passage.arrival,
                    cut: false,
                });
            }
        }
    }

    /// Marks the hops of a packet in a burst as cut, from the transmission on a link that began at
    /// `start`.
    fn cut_hops(&mut self, packet: PacketId, burst: Identity, link: LinkId, start: Time) {
        let of = (self.in_network[packet.index()].identity, Some(burst));
        let is_it = |hop: &Hop| (hop.identity, hop.burst) == of;
        let began = |hop: &Hop| is_it(hop) && hop.place.link == link && hop.start == start;
        if let Some(first) = self.hops.iter().rposition(began) {
            for hop in &mut self.hops[first..] {
                hop.cut |= is_it(hop);
            }
        }
    }

    /// Returns the unit last handed to a link.
    fn holder(&self, link: LinkId) -> Option<Holder> {
        self.holders[link.index()]
    }

    /// Adds the row of a packet event at `time`, noted at node `noted`, if the packet's flow is
    /// traced.
    fn note(&mut self, id: PacketId, what: What, at: (Time, NodeId), view: &View<'_>) {
        let packet = &view.units.packets[id];
        if !self.wants(packet.envelope.flow) {
            return;
        }
        let PacketTrace {
            identity, again, ..
        } = self.in_network[id.index()];
        let (time, noted) = at;
        self.packets.push(Packet {
            time,
            what,
            noted,
            flow: packet.envelope.flow,
            identity,
            header: packet.header,
            options: view.options(id).copied(),
            again,
        });
    }

    /// Inserts the row of a burst in order of creation. A burst that was held may leave after later
    /// ones.
    fn add_burst(&mut self, row: Burst) {
        let at = self
            .bursts
            .partition_point(|other| other.identity.at <= row.identity.at);
        self.bursts.insert(at, row);
    }

    /// Returns the row of a burst, if it has one.
    fn row(&mut self, burst: Identity) -> Option<&mut Burst> {
        // Rows are sorted by creation time.
        let first = self
            .bursts
            .partition_point(|row| row.identity.at < burst.at);
        let mut since = self.bursts[first..].iter_mut();
        since.find(|row| row.identity == burst)
    }

    /// Records the drop of a burst.
    fn lose(&mut self, burst: Identity, lost: Lost) {
        if let Some(row) = self.row(burst) {
            row.lost = Some(lost);
        }
    }

    /// Records the arrival of a burst at its egress.
    fn end(&mut self, burst: Identity, now: Time) {
        if let Some(row) = self.row(burst) {
            row.arrival = now;
        }
    }

    /// Adds the rows of a dropped unit.
    fn drop(&mut self, unit: Unit, lost: Lost, holder: Option<Holder>, view: &View<'_>) {
        let Lost { reason, place, .. } = lost;
        let last = || self.holder(place.link).filter(|_| reason.busy);
        let holder = holder.or_else(last);
        let burst = view.units.burst_of(unit);
        let burst = burst.map(|burst| view.units.bursts[burst].identity);
        let due = match unit {
            Unit::BurstHeader(header) => view.units.burst_headers[header].due(),
            Unit::Packet(_) | Unit::Burst(_) => Some(view.now),
        };
        if let Some(burst) = burst {
            let by = match holder {
                Some(Holder::Burst(burst)) => Some(burst),
                _ => None,
            };
            let start = lost.start.or(due);
            self.lose(
                burst,
                Lost {
                    start,
                    holder: by,
                    ..lost
                },
            );
        }
        let what = What::Lost {
            place,
            reason,
            burst,
            holder,
        };
        for (packet, _) in view.units.packets_of(unit) {
            self.note(packet, what, (view.now, place.node), view);
        }
    }

    /// Adds the rows of packets that are cut off from a burst.
    fn cut(&mut self, burst: BurstId, cut: &Range<usize>, by: (&Piece, CutOff), view: &View<'_>) {
        let (piece, part) = by;
        if let Some(kept) = &mut self.bookings {
            let link = piece.place.link;
            let takes = view.links.transmission_time(link, piece.bytes);
            kept.lose(*piece, piece.start + takes);
        }
        let what = What::Lost {
            place: piece.place,
            reason: CUT,
            burst: Some(piece.burst),
            holder: piece.by.map(Holder::Burst),
        };
        let packets = view.units.packets_of(Unit::Burst(burst));
        for (nth, (packet, it)) in packets.enumerate() {
            match part {
                _ if cut.contains(&nth) => {
                    self.note(packet, what, (piece.time, piece.noted), view);
                    if let (CutOff::Tail { departure }, true) = (part, self.wants(it.envelope.flow))
                    {
                        self.cut_hops(packet, piece.burst, piece.place.link, departure);
                    }
                }
                CutOff::Head { rest: Some(rest) } => self.comes(packet, rest),
                _ => {}
            }
        }
    }

    /// Records the arrival of a burst's tail at its egress.
    fn tail_arrived(&mut self, burst: BurstId, view: &View<'_>) {
        self.end(view.units.bursts[burst].identity, view.now);
        for (packet, _) in view.units.packets_of(Unit::Burst(burst)) {
            self.comes(packet, view.now);
        }
    }

    /// Adds the row of a sender, if its flow is traced.
    fn window(&mut self, flow: FlowId, window: WindowState, time: Time) {
        if self.wants(flow) {
            self.windows.push(Window {
                time,
                flow,
                window,
                rtt: self.samples[flow.index()],
            });
        }
    }
}

impl Observer for Trace {
    fn interest(&self) -> Interest {
        Interest::ALL
    }

    fn on(&mut self, happening: &Happening<'_>, view: &View<'_>) {
        let now = view.now;
        match *happening {
            Happening::Created {
                packet,
                node,
                again,
            } => self.register(packet, node, again, now),
            Happening::Sent {
                packet,
                place,
                start,
            } => self.note(packet, What::Sent(place), (start, place.node), view),
            Happening::Assembled { burst } => {
                self.identities.push(view.units.bursts[burst].identity)
            }
            Happening::Departing {
                burst,
                bundle,
                departure,
            } => self.depart(burst, bundle, departure, view.units),
            Happening::Transmitted { unit, ref passage } => self.hop(unit, view.units, passage),
            Happening::Shortened {
                link,
                burst,
                start,
                end,
                bytes,
            } => {
                if let Some(kept) = &mut self.bookings {
                    kept.shorten((link, burst), start, end, bytes);
                }
            }
            Happening::Cut {
                burst,
                ref packets,
                ref piece,
                part,
            } => self.cut(burst, packets, (piece, part), view),
            Happening::Dropped {
                unit,
                place,
                reason,
                holder,
                start,
            } => {
                let lost = Lost {
                    reason,
                    place,
                    time: now,
                    start,
                    holder: None,
                };
                self.drop(unit, lost, holder, view);
            }
            Happening::TailArrived { burst } => self.tail_arrived(burst, view),
            Happening::Delivered { packet, host } => {
                self.note(packet, What::Arrived(host), (now, host), view);
            }
            Happening::Trimmed { packet, place } => {
                self.note(packet, What::Trimmed(place), (now, place.node), view);
            }
            Happening::Returned { packet, place } => {
                self.note(packet, What::Returned(place), (now, place.node), view);
            }
            Happening::PathSwitched(switch) => self.path_switches.push(switch),
            Happening::RoundTrip { flow, rtt } => self.samples[flow.index()] = Some(rtt),
            Happening::WindowMoved { flow, window } => self.window(flow, window, now),
            // Refused beside a trace.
            Happening::Disassembled { .. } | Happening::Copied { .. } => {}
        }
    }

    fn load(&self) -> Option<(&'static str, u64)> {
        let of_flows = self.packets.len() + self.windows.len() + self.hops.len();
        let of_bursts = self.identities.len() + self.bursts.len();
        let booked = self.bookings.as_ref().map_or(0, |kept| kept.rows.len());
        Some(("trace_rows", (of_flows + of_bursts + booked) as u64))
    }

    fn tables(self: Box<Self>) -> Outputs {
        tables::tables(&self)
    }
}

#[cfg(test)]
mod tests;
