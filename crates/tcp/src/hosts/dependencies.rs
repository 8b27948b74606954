//! Flows that wait for others, through joins: a join is at one host, and opens when all data of all
//! flows that lead to it has arrived there, and all joins that lead to it have begun or ended. It
//! begins then, or when its processor is free; the flows that wait for it start at this host.

use crate::hosts::matching::{Matching, Receives};
use crate::wire::host_timer::HostTimer;
use crate::Flows;
use lightburst_des::{Duration, Time};
use lightburst_net::{NodeId, Shared, TimerId};
use std::ops::Range;

/// Stands for no join, no processor or no interface.
pub const NO_JOIN: u32 = u32::MAX;

/// Joins of the flows, as columns. Flows lead to a join where they end and wait for one where they
/// start, so that no state is shared between hosts.
#[derive(Clone, Debug, Default)]
pub struct Joins {
    /// Join for which each flow waits, or [`NO_JOIN`]; empty if no flow waits.
    pub after: Shared<u32>,
    /// Join to which each flow leads, or [`NO_JOIN`].
    pub towards: Shared<u32>,
    /// Time from the begin of each join to the start of the flows that wait for it, in picoseconds.
    pub delay_ps: Shared<u64>,
    /// Joins to which the joins lead, join by join: first those to which it leads when it begins,
    /// then those to which it leads when it ends.
    pub leads: Shared<u32>,
    /// Index in `leads` of the first of each of the two kinds of each join, and their number.
    pub lead_offsets: Shared<u32>,
    /// Processor of each join, or [`NO_JOIN`]; empty if none has one.
    pub cpu: Shared<u32>,
    /// Time from the begin to the end of each join, in picoseconds; empty without processors.
    pub busy_ps: Shared<u64>,
    /// Host of each processor.
    pub cpu_host: Shared<u32>,
    /// Interface to which each join hands its flows, or [`NO_JOIN`]; empty if none has one.
    pub nic: Shared<u32>,
    /// Least time between the starts of two flows of each interface, in picoseconds.
    pub nic_gap_ps: Shared<u64>,
    /// Receives that are matched in the run.
    pub receives: Receives,
}

impl Joins {
    /// Returns the joins to which a join leads when it begins.
    pub fn at_begin(&self, join: usize) -> &[u32] {
        self.leading(2 * join)
    }

    /// Returns the joins to which a join leads when it ends.
    pub fn at_end(&self, join: usize) -> &[u32] {
        self.leading(2 * join + 1)
    }

    fn leading(&self, row: usize) -> &[u32] {
        let offsets = &self.lead_offsets;
        &self.leads[offsets[row] as usize..offsets[row + 1] as usize]
    }
}

/// Flows that wait, by join.
pub struct Waiting {
    flows: Vec<u32>,
    /// Index in `flows` of the first flow of each join, followed by their number.
    offsets: Vec<u32>,
}

impl Waiting {
    /// Sorts the flows by the join for which they wait, by counting.
    pub fn new(joins: &Joins) -> Waiting {
        let number = joins.delay_ps.len();
        let mut offsets = vec![0; number + 1];
        let waits = || {
            (0..)
                .zip(joins.after.iter())
                .filter(|(_, &join)| join != NO_JOIN)
        };
        for (_, &join) in waits() {
            offsets[join as usize + 1] += 1;
        }
        for join in 0..number {
            offsets[join + 1] += offsets[join];
        }
        let mut next = offsets.clone();
        let mut flows = vec![0; offsets[number] as usize];
        for (flow, &join) in waits() {
            let place = &mut next[join as usize];
            flows[*place as usize] = flow;
            *place += 1;
        }
        Waiting { flows, offsets }
    }

    /// Returns the flows that wait for a join.
    pub fn of(&self, join: usize) -> &[u32] {
        &self.flows[self.offsets[join] as usize..self.offsets[join + 1] as usize]
    }
}

/// Timers that progress sets: node, time and timer.
pub(super) type Set<'a> = &'a mut dyn FnMut(NodeId, Time, TimerId);

/// A join in a run. The numbers that each opening reads lie together.
struct Join {
    /// Flows and joins that lead to it and have not arrived, begun or ended.
    awaited: u32,
    /// Processor, or [`NO_JOIN`].
    cpu: u32,
    /// Index of its first flow among those that wait.
    flows: u32,
    /// Index of the first join to which it leads when it begins, and when it ends.
    leads: [u32; 2],
}

/// Progress of the flows that wait.
pub(super) struct Dependencies {
    joins: Joins,
    /// The joins, and one after the last.
    rows: Vec<Join>,
    /// Flows that wait, by join.
    waiting: Vec<u32>,
    /// Start of each flow; [`Time::NEVER`] before.
    started: Vec<Time>,
    /// Begin of each join; [`Time::NEVER`] before it is known. Empty without processors.
    begun: Vec<Time>,
    /// Time from which each processor is free.
    free: Vec<Time>,
    /// Earliest start of the next flow of each interface.
    next: Vec<Time>,
    /// Joins that open at present, in the order in which they do.
    opening: Vec<u32>,
    /// Receives that are matched in the run; `None` if there are none.
    matching: Option<Box<Matching>>,
}

impl Dependencies {
    /// Returns `None` if no flow waits.
    pub fn new(joins: Joins, flows: usize) -> Option<Box<Dependencies>> {
        if joins.after.is_empty() {
            return None;
        }
        let waiting = Waiting::new(&joins);
        let (cpus, offsets) = (&*joins.cpu, &*joins.lead_offsets);
        let row = |join: usize| Join {
            awaited: 0,
            cpu: cpus.get(join).copied().unwrap_or(NO_JOIN),
            flows: waiting.offsets[join],
            leads: [0, 1].map(|kind| {
                let place = (2 * join + kind).min(offsets.len() - 1);
                offsets[place]
            }),
        };
        let mut rows: Vec<Join> = (0..=joins.delay_ps.len()).map(row).collect();
        let leads = joins.towards.iter().chain(joins.leads.iter());
        let matching = Matching::new(&joins, flows);
        let matched = matching.iter().flat_map(|it| it.awaiting());
        for &join in leads.chain(matched).filter(|&&join| join != NO_JOIN) {
            rows[join as usize].awaited += 1;
        }
        // The one after the last does not open.
        rows[joins.delay_ps.len()].awaited = u32::MAX;
        Some(Box::new(Dependencies {
            rows,
            waiting: waiting.flows,
            started: vec![Time::NEVER; flows],
            begun: vec![Time::NEVER; joins.cpu.len()],
            free: vec![Time::ZERO; joins.cpu_host.len()],
            next: vec![Time::ZERO; joins.nic_gap_ps.len()],
            opening: Vec::new(),
            matching: matching.map(Box::new),
            joins,
        }))
    }

    /// Returns whether the flow at `index` waits for others.
    pub fn waits(&self, index: usize) -> bool {
        self.joins.after[index] != NO_JOIN
    }

    /// Notes the start of a flow.
    pub fn start(&mut self, index: usize, now: Time) {
        self.started[index] = now;
    }

    /// Returns the start of a flow; [`Time::NEVER`] before.
    pub fn started(&self, index: usize) -> Time {
        self.started[index]
    }

    /// Returns the begin of each join; empty without processors.
    pub fn begun(&self) -> &[Time] {
        &self.begun
    }

    /// Returns the join of the receive that took each flow; `None` if none is matched in the run.
    pub fn taken(&self) -> Option<&[u32]> {
        self.matching.as_ref().map(|matching| matching.taken())
    }

    /// Opens the joins to which nothing leads, at the begin of the run.
    pub fn open_first(&mut self, flows: &Flows, set: Set<'_>) {
        let first = (0..).zip(&self.rows).filter(|(_, row)| row.awaited == 0);
        self.opening = first.map(|(join, _)| join).collect();
        self.open(Time::ZERO, flows, set);
    }

    /// Notes that all data of the flow at `index` has arrived.
    pub fn arrive(&mut self, index: usize, now: Time, flows: &Flows, set: Set<'_>) {
        let join = self.joins.towards[index];
        if join != NO_JOIN {
            reach(&mut self.rows, &mut self.opening, join);
            self.open(now, flows, set);
        } else if let Some(matching) = &mut self.matching {
            let flow = index as u32;
            if let Some(join) = matching.arrive(flow, flows) {
                self.receive(join, flow, now, flows, set);
                self.open(now, flows, set);
            }
        }
    }

    /// Lets the receive at a join take a message, and tells its sender, where a send waits for that.
    ///
    /// LogGOPSim tells it at the same instant. The notice takes 1 ps here, as the least that a link
    /// takes: no event has an effect at another host at its own instant.
    fn receive(&mut self, join: u32, flow: u32, now: Time, flows: &Flows, set: Set<'_>) {
        reach(&mut self.rows, &mut self.opening, join);
        let sent = self.matching.as_ref().and_then(|it| it.sent(flow));
        if let Some(sent) = sent {
            let (_, source, _) = flows.origin(flow as usize);
            set(source, now + Duration(1), HostTimer::Taken.of_join(sent));
        }
    }

    /// Handles the expiry of a timer of a join.
    pub fn on_timer(
        &mut self,
        timer: HostTimer,
        join: u32,
        now: Time,
        flows: &Flows,
        set: Set<'_>,
    ) {
        match timer {
            HostTimer::JoinBegin => self.lead(self.at_begin(join)),
            HostTimer::JoinEnd => self.lead(self.at_end(join)),
            HostTimer::Taken => reach(&mut self.rows, &mut self.opening, join),
            _ => self.hand_over(join as usize, now, flows, set),
        }
        self.open(now, flows, set);
    }

    /// Returns the places of the joins to which a join leads when it begins.
    fn at_begin(&self, join: u32) -> Range<usize> {
        let [begin, end] = self.rows[join as usize].leads;
        begin as usize..end as usize
    }

    /// Returns the places of the joins to which a join leads when it ends.
    fn at_end(&self, join: u32) -> Range<usize> {
        let first = self.rows[join as usize].leads[1];
        first as usize..self.rows[join as usize + 1].leads[0] as usize
    }

    /// Returns the places of the flows that wait for a join.
    fn flows_of(&self, join: usize) -> Range<usize> {
        self.rows[join].flows as usize..self.rows[join + 1].flows as usize
    }

    /// Lets joins be reached that lie at these places among those to which others lead.
    fn lead(&mut self, places: Range<usize>) {
        if !places.is_empty() {
            for &next in &self.joins.leads[places] {
                reach(&mut self.rows, &mut self.opening, next);
            }
        }
    }

    /// Opens joins one after the other, those that an opened one leads to at once after the others.
    fn open(&mut self, now: Time, flows: &Flows, set: Set<'_>) {
        let mut place = 0;
        while let Some(&join) = self.opening.get(place) {
            place += 1;
            match self.rows[join as usize].cpu {
                NO_JOIN => self.begin(join, now, flows, set),
                cpu => self.take_turn(join, cpu as usize, now, flows, set),
            }
        }
        self.opening.clear();
    }

    /// Begins a join without a processor: it ends at once.
    fn begin(&mut self, join: u32, now: Time, flows: &Flows, set: Set<'_>) {
        let at = join as usize;
        if let Some(begun) = self.begun.get_mut(at) {
            *begun = now;
        }
        self.start_all(at, now, flows, set);
        self.lead(self.at_begin(join).start..self.at_end(join).end);
        if let Some(matching) = &mut self.matching {
            if let Some((join, flow)) = matching.post(join) {
                self.receive(join, flow, now, flows, set);
            }
        }
    }

    /// Starts the flows that wait for a join which begins.
    fn start_all(&self, join: usize, begin: Time, flows: &Flows, set: Set<'_>) {
        let places = self.flows_of(join);
        if !places.is_empty() {
            let ready = begin + Duration(self.joins.delay_ps[join]);
            for &flow in &self.waiting[places] {
                start(flow, ready, flows, set);
            }
        }
    }

    /// Gives a join its turn at its processor, which takes joins in the order in which they open.
    fn take_turn(&mut self, join: u32, cpu: usize, now: Time, flows: &Flows, set: Set<'_>) {
        let at = join as usize;
        let begin = now.max(self.free[cpu]);
        let end = begin + Duration(self.busy(at));
        self.free[cpu] = end;
        self.begun[at] = begin;
        if self.next.is_empty() || self.joins.nic[at] == NO_JOIN {
            self.start_all(at, begin, flows, set);
        } else if !self.flows_of(at).is_empty() {
            let ready = begin + Duration(self.joins.delay_ps[at]);
            match ready == now {
                true => self.hand_over(at, now, flows, set),
                false => self.set_timer(HostTimer::HandOver, join, ready, set),
            }
        }
        if end == now {
            return self.lead(self.at_begin(join).start..self.at_end(join).end);
        }
        if begin == now {
            self.lead(self.at_begin(join));
        } else if !self.at_begin(join).is_empty() {
            self.set_timer(HostTimer::JoinBegin, join, begin, set);
        }
        // The end of the last work of a host has a timer, too: the run lasts as long.
        self.set_timer(HostTimer::JoinEnd, join, end, set);
    }

    /// Returns the work of a join.
    fn busy(&self, join: usize) -> u64 {
        match &self.matching {
            None => self.joins.busy_ps[join],
            Some(matching) => matching.busy(join),
        }
    }

    /// Sets a timer of a join, at the host of its processor.
    fn set_timer(&self, timer: HostTimer, join: u32, at: Time, set: Set<'_>) {
        let cpu = self.rows[join as usize].cpu as usize;
        set(NodeId(self.joins.cpu_host[cpu]), at, timer.of_join(join));
    }

    /// Hands the flows of a join to its interface, which starts them with gaps between them.
    fn hand_over(&mut self, join: usize, now: Time, flows: &Flows, set: Set<'_>) {
        let nic = self.joins.nic[join] as usize;
        let gap = Duration(self.joins.nic_gap_ps[nic]);
        for &flow in &self.waiting[self.flows_of(join)] {
            let ready = now.max(self.next[nic]);
            self.next[nic] = ready + gap;
            start(flow, ready, flows, set);
        }
    }
}

/// Notes that a join has been reached once more, and lets it open if nothing is missing.
fn reach(rows: &mut [Join], opening: &mut Vec<u32>, join: u32) {
    let awaited = &mut rows[join as usize].awaited;
    *awaited -= 1;
    if *awaited == 0 {
        opening.push(join);
    }
}

/// Sets the timer for the start of the flow at `index`, no earlier than its own start.
fn start(index: u32, ready: Time, flows: &Flows, set: Set<'_>) {
    let (flow, source, own) = flows.origin(index as usize);
    set(source, ready.max(own), HostTimer::Start.id(flow));
}
