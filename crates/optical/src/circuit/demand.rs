//! Circuits by demand: a scheduler looks at the bytes that wait in the racks, and computes matchings
//! from them.
//!
//! Racks tell what waits, and read the circuits that were granted, both as before the present
//! instant: so the order of events of different nodes at one instant has no effect.

use super::schedule::Open;
use super::scheduler::{self, Held, Scheduler, SchedulerKind, Weights};
use super::timetable::Timetable;
use super::{Closures, Layout};
use crate::settings::{duration, named, positive_duration};
use lightburst_des::{Duration, Time};
use lightburst_net::{Context, NodeId, TimerId};
use serde::{Deserialize, Deserializer};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

/// Kind of the timer at which the scheduler looks at the demand, at the first circuit switch.
const DEMAND: u8 = 0;
/// Kind of the timer of a rack at which a circuit opens that its demand was granted; its subject is
/// the number of the switch.
pub const GRANTED: u8 = 1;

/// Settings of a scheduler.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchedulerSettings {
    #[serde(deserialize_with = "kind")]
    kind: SchedulerKind,
    /// Time of a slot.
    #[serde(rename = "slot_ps", deserialize_with = "positive_duration")]
    pub slot: Duration,
    /// Time at the start of a matching in which nothing passes.
    #[serde(rename = "guard_ps", deserialize_with = "duration")]
    pub guard: Duration,
    /// Time from a look at the demand to the start of its first slot.
    #[serde(rename = "delay_ps", deserialize_with = "duration")]
    pub delay: Duration,
    /// Bytes that a circuit of each switch carries in a slot.
    pub slot_bytes: Vec<u64>,
    /// Rounds of an iterative match.
    #[serde(default)]
    pub iterations: u32,
    /// Most slots for which one look decides.
    #[serde(default)]
    pub frame: u64,
}

fn kind<'de, D: Deserializer<'de>>(given: D) -> Result<SchedulerKind, D::Error> {
    named("schedulers", scheduler::REGISTRY, |kind| kind.name, given)
}

impl SchedulerSettings {
    /// Whether it can leave out circuits that lead nowhere.
    pub fn takes_outages(&self) -> bool {
        self.kind.by_switch
    }

    /// Returns what is wrong with a scheduler for these racks and circuit switches, if anything is.
    pub fn fault(&self, layout: &Layout) -> Option<String> {
        if self.guard >= self.slot {
            return Some("slots that are guard times as a whole".to_string());
        }
        if self.slot_bytes.len() != layout.switches || self.slot_bytes.contains(&0) {
            return Some("slots without bytes for a circuit switch".to_string());
        }
        let links = (0..layout.racks).flat_map(|rack| layout.uplinks(rack));
        let longest = links.map(|link| link.delay).max()?;
        let late = longest.0 >= self.delay.0 + self.guard.0;
        late.then(|| "a circuit that opens before a rack can know of it".to_string())
    }
}

/// Bytes that wait at one rack for another.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    bytes: u64,
    /// Bytes before the instant of the last change.
    before: u64,
    changed: Time,
}

impl Waiting {
    fn change(&mut self, now: Time) -> &mut u64 {
        if self.changed != now {
            self.before = self.bytes;
            self.changed = now;
        }
        &mut self.bytes
    }

    /// Returns the bytes as before an instant that is not over.
    fn before(&self, now: Time) -> u64 {
        match self.changed == now {
            true => self.before,
            false => self.bytes,
        }
    }
}

/// A matching of a circuit switch, and the time for which it lasts.
#[derive(Debug)]
struct Grant {
    /// Instant of its decision. Racks know of it afterwards.
    decided: Time,
    begin: u64,
    end: u64,
    /// For each rack, the rack to which its circuit leads.
    peers: Vec<Option<u16>>,
}

struct State {
    waiting: Vec<Waiting>,
    /// Matchings of each switch that are not over, in order.
    grants: Vec<VecDeque<Grant>>,
    scheduler: Box<dyn Scheduler>,
    /// Whether a look is to come.
    armed: bool,
    /// Last time at which bytes came.
    joined: Time,
}

/// Circuits that follow the demand.
pub struct Demand {
    settings: SchedulerSettings,
    racks: usize,
    /// First circuit switch, which has the timer.
    node: NodeId,
    /// Node of each rack, and the delay of its link to each circuit switch.
    nodes: Vec<NodeId>,
    delays: Vec<Duration>,
    /// Circuits that lead nowhere for a time.
    closures: Option<Arc<Closures>>,
    state: Mutex<State>,
}

impl Demand {
    /// Creates the circuits of a network in which nothing waits.
    pub fn new(
        settings: &SchedulerSettings,
        layout: &Layout,
        closures: Option<Arc<Closures>>,
    ) -> Demand {
        let racks = layout.racks;
        let delays = (0..racks).flat_map(|rack| layout.uplinks(rack).iter().map(|it| it.delay));
        Demand {
            node: layout.node(false, 0),
            nodes: (0..racks).map(|rack| layout.node(true, rack)).collect(),
            delays: delays.collect(),
            closures,
            state: Mutex::new(State {
                waiting: vec![Waiting::default(); racks * racks],
                grants: (0..layout.switches).map(|_| VecDeque::new()).collect(),
                scheduler: (settings.kind.build)(settings, racks, layout.switches),
                armed: false,
                joined: Time::NEVER,
            }),
            settings: settings.clone(),
            racks,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic while it was held")
    }

    /// Sets the timer of the first look after the present whose slots begin on the grid, `from` or
    /// later.
    fn arm(&self, from: u64, ctx: &mut Context<'_>) {
        let (slot, delay) = (self.settings.slot.0, self.settings.delay.0);
        let begin = ((ctx.now().0 + delay) / slot + 1).max(from.div_ceil(slot)) * slot;
        let timer_id = TimerId {
            kind: DEMAND,
            subject: 0,
        };
        ctx.timer_at(self.node, Time(begin - delay), timer_id);
    }

    /// Keeps the matchings of a switch, and wakes the racks that have something for their circuits.
    /// Returns the end of the last one.
    fn grant(
        &self,
        (switch, begin): (usize, u64),
        held: Vec<Held>,
        state: &mut State,
        ctx: &mut Context<'_>,
    ) -> u64 {
        let (now, mut begin) = (ctx.now(), begin);
        for Held { peers, slots } in held {
            for (rack, to) in peers.iter().enumerate() {
                let waits = |to: &u16| state.waiting[rack * self.racks + usize::from(*to)];
                if to.as_ref().is_some_and(|to| waits(to).before(now) > 0) {
                    let delay = self.delays[rack * state.grants.len() + switch];
                    let at = Time(begin + self.settings.guard.0 - delay.0);
                    let timer_id = TimerId {
                        kind: GRANTED,
                        subject: switch as u32,
                    };
                    ctx.timer_at(self.nodes[rack], at, timer_id);
                }
            }
            let end = begin + slots * self.settings.slot.0;
            if peers.iter().any(Option::is_some) {
                state.grants[switch].push_back(Grant {
                    decided: now,
                    begin,
                    end,
                    peers,
                });
            }
            begin = end;
        }
        begin
    }
}

impl Timetable for Demand {
    type Circuits<'a> = (usize, usize);

    fn open(&self, switch: usize, rack: usize, at: u64, now: Time) -> Option<(usize, Open)> {
        let state = self.state();
        let of_switch = &state.grants[switch];
        let grant = of_switch.iter().find(|it| it.begin <= at && at < it.end)?;
        let opens = grant.begin + self.settings.guard.0;
        let peer = grant.peers[rack].filter(|_| grant.decided < now && opens <= at)?;
        let open = Open {
            start: at,
            end: grant.end,
        };
        Some((usize::from(peer), open))
    }

    fn find(
        &self,
        switch: usize,
        rack: usize,
        (at, now): (u64, Time),
        _by_graph: bool,
        is_wanted: impl Fn(usize, Open) -> bool,
    ) -> Option<u64> {
        let state = self.state();
        let to_come = |it: &&Grant| at < it.end && it.decided < now;
        let mut grants = state.grants[switch].iter().filter(to_come);
        grants.find_map(|grant| {
            let open = Open {
                start: at.max(grant.begin + self.settings.guard.0),
                end: grant.end,
            };
            let peer = usize::from(grant.peers[rack]?);
            is_wanted(peer, open).then_some(open.start)
        })
    }

    fn circuits(
        &self,
        from: usize,
        to: usize,
    ) -> impl Iterator<Item = (usize, Self::Circuits<'_>)> + '_ {
        let switches = self.settings.slot_bytes.len();
        (0..switches).map(move |switch| (switch, (from, to)))
    }

    fn next(
        &self,
        switch: usize,
        &(from, to): &Self::Circuits<'_>,
        at: u64,
        time: u64,
        now: Time,
    ) -> Option<u64> {
        let fits = |peer, open: Open| peer == to && open.start + time <= open.end;
        self.find(switch, from, (at, now), false, fits)
    }

    fn joined(&self, from: usize, to: usize, bytes: u64, ctx: &mut Context<'_>) {
        let now = ctx.now();
        let mut state = self.state();
        *state.waiting[from * self.racks + to].change(now) += bytes;
        state.joined = now;
        if !state.armed {
            state.armed = true;
            self.arm(0, ctx);
        }
    }

    fn left(&self, from: usize, to: usize, bytes: u64, now: Time) {
        *self.state().waiting[from * self.racks + to].change(now) -= bytes;
    }

    fn look(&self, node: NodeId, ctx: &mut Context<'_>) {
        debug_assert_eq!(node, self.node, "the timer of the scheduler");
        let now = ctx.now();
        let mut guard = self.state();
        let state = &mut *guard;
        for grants in &mut state.grants {
            grants.retain(|grant| grant.end > now.0);
        }
        let weights = state.waiting.iter().map(|it| it.before(now)).collect();
        let mut weights = Weights::new(self.racks, weights);
        let begin = now.0 + self.settings.delay.0;
        let mut in_vain = weights.is_zero();
        if let Some(closures) = &self.closures {
            let switches = state.grants.len();
            weights.close(switches, |switch, from, to| {
                closures.reopens(switch, from, to, begin).is_some()
            });
            in_vain |= weights.is_shut() && closures.next_change(begin).is_none();
        }
        if in_vain {
            // Bytes that come at this instant wait for the next look.
            state.armed = state.joined == now;
            if state.armed {
                self.arm(0, ctx);
            }
            return;
        }
        let turns = state.scheduler.decide(&mut weights);
        let mut end = begin;
        for (switch, held) in turns.into_iter().enumerate() {
            end = end.max(self.grant((switch, begin), held, state, ctx));
        }
        self.arm(end, ctx);
    }
}
