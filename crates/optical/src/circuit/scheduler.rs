//! Schedulers: matchings computed from the bytes that wait. Each has a file of its own and a line in
//! [`REGISTRY`].

mod birkhoff;
mod greedy;
mod hungarian;
mod islip;

use super::demand::SchedulerSettings;

/// For each rack the rack to which its circuit leads, if it has one.
pub type Matching = Vec<Option<u16>>;

/// A matching and the slots for which it lasts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// For each rack the rack to which its circuit leads.
    pub peers: Matching,
    /// Number of slots.
    pub slots: u64,
}

/// Bytes that wait in each rack for each other.
#[derive(Clone, Debug)]
pub struct Weights {
    racks: usize,
    bytes: Vec<u64>,
    /// For each circuit switch the pairs of racks that it cannot join now.
    closed: Vec<Vec<usize>>,
}

impl Weights {
    /// Takes the bytes of each pair of racks, source by source.
    pub fn new(racks: usize, bytes: Vec<u64>) -> Weights {
        Weights {
            racks,
            bytes,
            closed: Vec::new(),
        }
    }

    /// Returns the number of racks.
    pub fn racks(&self) -> usize {
        self.racks
    }

    /// Whether nothing waits.
    pub fn is_zero(&self) -> bool {
        self.bytes.iter().all(|&bytes| bytes == 0)
    }

    /// Notes the circuits of so many switches that lead nowhere.
    pub fn close(&mut self, switches: usize, is_closed: impl Fn(usize, usize, usize) -> bool) {
        let of_switch = |switch| {
            let pairs = 0..self.bytes.len();
            let closed = |pair: &usize| is_closed(switch, pair / self.racks, pair % self.racks);
            pairs.filter(closed).collect()
        };
        self.closed = (0..switches).map(of_switch).collect();
    }

    /// Whether what waits, which is not nothing, is for circuits that lead nowhere.
    pub fn is_shut(&self) -> bool {
        let switches = 0..self.closed.len();
        switches.into_iter().all(|switch| {
            let open = self.open_at(switch);
            open.is_some_and(|open| open.is_zero())
        })
    }

    /// Returns what a switch can serve, if that is not all.
    fn open_at(&self, switch: usize) -> Option<Weights> {
        let closed = self
            .closed
            .get(switch)
            .filter(|closed| !closed.is_empty())?;
        let mut bytes = self.bytes.clone();
        closed.iter().for_each(|&pair| bytes[pair] = 0);
        Some(Weights::new(self.racks, bytes))
    }

    /// Returns the bytes that wait in a rack for another.
    #[inline]
    pub fn get(&self, from: usize, to: usize) -> u64 {
        self.bytes[from * self.racks + to]
    }

    /// Takes off what the circuits of a matching can carry.
    pub fn serve(&mut self, matching: &Matching, carried: u64) {
        for (from, to) in matching.iter().enumerate() {
            if let Some(to) = *to {
                let bytes = &mut self.bytes[from * self.racks + usize::from(to)];
                *bytes = bytes.saturating_sub(carried);
            }
        }
    }
}

/// Scheduler of all circuit switches.
pub trait Scheduler: Send {
    /// Returns for each circuit switch the matchings that follow one another, from what waits, which
    /// is not nothing. The sequence of at least one switch is not empty.
    fn decide(&mut self, weights: &mut Weights) -> Vec<Vec<Held>>;
}

/// A scheduler that gives each switch one matching, for one slot.
trait Matcher: Send {
    /// Returns the matching of a switch from what waits.
    fn matching(&mut self, switch: usize, weights: &Weights) -> Matching;
}

/// Gives each switch its matching in order; each sees what those before it leave.
struct Slotted<M> {
    matcher: M,
    slot_bytes: Vec<u64>,
}

impl<M: Matcher> Scheduler for Slotted<M> {
    fn decide(&mut self, weights: &mut Weights) -> Vec<Vec<Held>> {
        let mut turns = Vec::new();
        for (switch, &carried) in self.slot_bytes.iter().enumerate() {
            let open = weights.open_at(switch);
            let served = open.as_ref().unwrap_or(weights);
            let peers = self.matcher.matching(switch, served);
            weights.serve(&peers, carried);
            turns.push(vec![Held { peers, slots: 1 }]);
        }
        turns
    }
}

fn slotted<M: Matcher + 'static>(settings: &SchedulerSettings, matcher: M) -> Box<dyn Scheduler> {
    Box::new(Slotted {
        matcher,
        slot_bytes: settings.slot_bytes.clone(),
    })
}

/// Registry entry of a scheduler.
#[derive(Clone, Copy, Debug)]
pub struct SchedulerKind {
    /// Name in the scenario.
    pub name: &'static str,
    /// Whether it decides for each circuit switch by itself.
    pub by_switch: bool,
    /// Creates the scheduler of so many racks and circuit switches.
    pub build: fn(&SchedulerSettings, usize, usize) -> Box<dyn Scheduler>,
}

/// All schedulers. To add one, create a file and add a line here.
pub const REGISTRY: &[SchedulerKind] = &[
    SchedulerKind {
        name: "greedy",
        by_switch: true,
        build: |s, _, _| slotted(s, greedy::Greedy),
    },
    SchedulerKind {
        name: "hungarian",
        by_switch: true,
        build: |s, _, _| slotted(s, hungarian::Hungarian),
    },
    SchedulerKind {
        name: "islip",
        by_switch: true,
        build: |s, racks, switches| slotted(s, islip::Islip::new(s.iterations, racks, switches)),
    },
    SchedulerKind {
        name: "birkhoff",
        by_switch: false,
        build: |s, _, switches| Box::new(birkhoff::Birkhoff::new(s, switches)),
    },
];
