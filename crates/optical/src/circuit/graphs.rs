//! Graphs of the circuits that are open at one time, and the distances of racks in them.

use super::schedule::{Open, Schedule};
use super::timetable::Timetable;
use super::Closures;
use lightburst_des::Time;
use lightburst_net::{Context, Unit};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

/// Circuits after which a unit waits for one to its own rack. The graph may change while it is on its
/// way, so that it could go back and forth without end.
const MOST_CIRCUITS: u8 = 8;
/// Distance of racks that no circuits join.
const FAR: u8 = u8::MAX;

/// Distances at all times. They change where a slot begins and where its guard time ends.
#[derive(Debug)]
pub struct Graphs {
    racks: usize,
    /// Time after which the graphs repeat.
    period: u64,
    /// Length of a slot, and number of graphs that begin in each.
    slot: u64,
    each: usize,
    /// Begins of the graphs in a period, and the period itself.
    begins: Vec<u64>,
    /// Number of the graph that was asked for last. The next question is mostly for the same one or
    /// the one after it.
    last: AtomicUsize,
    /// Times from which on other links are known to be down, and the distances then: the number of
    /// hops from rack to rack, graph by graph.
    epochs: Vec<(u64, Vec<u8>)>,
}

/// Distances at one time.
#[derive(Clone, Copy)]
pub struct Graph<'a> {
    racks: usize,
    hops: &'a [u8],
}

impl Graph<'_> {
    /// Returns the number of circuits from one rack to another, or the largest number if there is no
    /// way.
    #[inline]
    fn distance(&self, from: usize, to: usize) -> u8 {
        self.hops[from * self.racks + to]
    }

    /// Returns whether a rack is nearer to `one` than to `other`.
    #[inline]
    pub fn is_nearer(&self, rack: usize, one: usize, other: usize) -> bool {
        self.distance(one, rack) < self.distance(other, rack)
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

impl Graphs {
    /// Finds the distances of a schedule, whose circuits may be closed for a time.
    pub fn new(schedule: &Schedule, closures: Option<&Closures>) -> Graphs {
        let (slot, guard) = schedule.slot_and_guard();
        let switches = 0..schedule.switches();
        let lengths = switches.clone().map(|switch| schedule.length(switch));
        let length = lengths.fold(1, |a, b| a / greatest_common_divisor(a, b) * b);
        let changes = switches.flat_map(|switch| {
            let begin = schedule.begin(switch);
            [begin % slot, (begin + guard) % slot]
        });
        let mut changes: Vec<u64> = changes.collect();
        changes.push(0);
        changes.sort_unstable();
        changes.dedup();
        let slots = (0..length).flat_map(|number| {
            let begin = number * slot;
            changes.iter().map(move |change| begin + change)
        });
        let period = length * slot;
        let mut graphs = Graphs {
            racks: schedule.racks(),
            period,
            slot,
            each: changes.len(),
            begins: slots.chain([period]).collect(),
            last: AtomicUsize::new(0),
            epochs: Vec::new(),
        };
        let changes = closures.map_or(&[][..], Closures::changes);
        for &from in [0].iter().chain(changes) {
            let is_open = |switch, from_rack, to| {
                closures.map_or(true, |it| it.reopens(switch, from_rack, to, from).is_none())
            };
            let mut hops = Vec::new();
            for &begin in &graphs.begins[..graphs.begins.len() - 1] {
                add_distances(schedule, begin, is_open, &mut hops);
            }
            graphs.epochs.push((from, hops));
        }
        graphs
    }

    /// Returns the number of the graph at a time within a period.
    #[inline]
    fn number(&self, at: u64) -> usize {
        let last = self.last.load(Ordering::Relaxed);
        if let Some([begin, end]) = self.begins.get(last..last + 2) {
            if *begin <= at && at < *end {
                return last;
            }
        }
        let number = match self.begins.get(last + 1..last + 3) {
            Some([begin, end]) if *begin <= at && at < *end => last + 1,
            _ => {
                // As many graphs begin in each slot.
                let slot = (at / self.slot) as usize;
                let first = slot * self.each;
                let graphs = &self.begins[first..first + self.each];
                first + graphs.partition_point(|&begin| begin <= at) - 1
            }
        };
        self.last.store(number, Ordering::Relaxed);
        number
    }

    /// Returns the number of the last epoch that has begun at a time.
    #[inline]
    fn epoch(&self, at: u64) -> usize {
        match self.epochs.len() {
            1 => 0,
            _ => self.epochs.partition_point(|&(from, _)| from <= at) - 1,
        }
    }

    /// Returns the distances at a time.
    pub fn at(&self, at: u64) -> Graph<'_> {
        let size = self.racks * self.racks;
        let (_, hops) = &self.epochs[self.epoch(at)];
        Graph {
            racks: self.racks,
            hops: &hops[self.number(at % self.period) * size..][..size],
        }
    }

    /// Returns the begin of the next graph after a time.
    pub fn next(&self, at: u64) -> u64 {
        let within = at % self.period;
        let next = at - within + self.begins[self.number(within) + 1];
        self.epochs
            .get(self.epoch(at) + 1)
            .map_or(next, |&(from, _)| next.min(from))
    }
}

/// Appends the distances over the circuits that are open at a time of the schedule, by a search in
/// breadth from each rack.
fn add_distances(
    schedule: &Schedule,
    at: u64,
    is_open: impl Fn(usize, usize, usize) -> bool,
    hops: &mut Vec<u8>,
) {
    let racks = schedule.racks();
    let peers = |rack: usize| -> Vec<usize> {
        let open = |switch| {
            let (peer, _) = schedule.open(switch, rack, at)?;
            is_open(switch, rack, peer).then_some(peer)
        };
        (0..schedule.switches()).filter_map(open).collect()
    };
    let peers: Vec<Vec<usize>> = (0..racks).map(peers).collect();
    for source in 0..racks {
        let first = hops.len();
        hops.resize(first + racks, FAR);
        let hops = &mut hops[first..];
        hops[source] = 0;
        let mut reached = vec![source];
        let mut next = 0;
        while let Some(&rack) = reached.get(next) {
            next += 1;
            for &peer in &peers[rack] {
                if hops[peer] == FAR {
                    // Ways of more hops than fit are none.
                    hops[peer] = hops[rack].saturating_add(1).min(FAR - 1);
                    reached.push(peer);
                }
            }
        }
    }
}

/// A schedule over whose present circuits short flows go.
pub struct Expander {
    /// The schedule.
    pub schedule: Schedule,
    /// Its distances.
    pub graphs: Arc<Graphs>,
    /// Whether each flow is short.
    pub short: Vec<bool>,
}

impl Expander {
    /// Whether a unit has taken so many circuits that it waits for one to its own rack.
    pub fn is_far(&self, unit: Unit, ctx: &Context<'_>) -> bool {
        ctx.envelope(unit).circuits >= MOST_CIRCUITS
    }
}

impl Timetable for Expander {
    type Circuits<'a> = &'a [(u16, u16)];

    fn open(&self, switch: usize, rack: usize, at: u64, _now: Time) -> Option<(usize, Open)> {
        self.schedule.open(switch, rack, at)
    }

    fn find(
        &self,
        switch: usize,
        rack: usize,
        (at, _): (u64, Time),
        by_graph: bool,
        is_wanted: impl Fn(usize, Open) -> bool,
    ) -> Option<u64> {
        let mut slots = self.schedule.slots(switch, rack, at);
        slots.find_map(|(peer, Open { start, end })| {
            // A circuit serves other queues where the graph changes.
            let later = |&start: &u64| by_graph.then(|| self.graphs.next(start));
            let mut starts = std::iter::successors(Some(start), later);
            let mut starts = starts.by_ref().take_while(|&start| start < end);
            starts.find(|&start| is_wanted(peer, Open { start, end }))
        })
    }

    fn circuits(
        &self,
        from: usize,
        to: usize,
    ) -> impl Iterator<Item = (usize, Self::Circuits<'_>)> + '_ {
        Timetable::circuits(&self.schedule, from, to)
    }

    fn next(
        &self,
        switch: usize,
        circuits: &Self::Circuits<'_>,
        at: u64,
        time: u64,
        now: Time,
    ) -> Option<u64> {
        Timetable::next(&self.schedule, switch, circuits, at, time, now)
    }

    fn is_short(&self, unit: Unit, _ends: (usize, usize), ctx: &Context<'_>) -> bool {
        let without_data = |packet| ctx.packet(packet).header.payload == 0;
        !self.is_far(unit, ctx)
            && (self.short[ctx.envelope(unit).flow.index()]
                || matches!(unit, Unit::Packet(packet) if without_data(packet)))
    }

    fn takes(&self, unit: Unit, ctx: &mut Context<'_>) {
        ctx.count_circuit(unit);
    }
}
