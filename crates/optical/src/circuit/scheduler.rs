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
}

impl Weights {
    /// Takes the bytes of each pair of racks, source by source.
    pub fn new(racks: usize, bytes: Vec<u64>) -> Weights {
        Weights { racks, bytes }
    }

    /// Returns the number of racks.
    pub fn racks(&self) -> usize {
        self.racks
    }

    /// Whether nothing waits.
    pub fn is_zero(&self) -> bool {
        self.bytes.iter().all(|&bytes| bytes == 0)
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
            let peers = self.matcher.matching(switch, weights);
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
    /// Creates the scheduler of so many racks and circuit switches.
    pub build: fn(&SchedulerSettings, usize, usize) -> Box<dyn Scheduler>,
}

/// All schedulers. To add one, create a file and add a line here.
pub const REGISTRY: &[SchedulerKind] = &[
    SchedulerKind {
        name: "greedy",
        build: |s, _, _| slotted(s, greedy::Greedy),
    },
    SchedulerKind {
        name: "hungarian",
        build: |s, _, _| slotted(s, hungarian::Hungarian),
    },
    SchedulerKind {
        name: "islip",
        build: |s, racks, switches| slotted(s, islip::Islip::new(s.iterations, racks, switches)),
    },
    SchedulerKind {
        name: "birkhoff",
        build: |s, _, switches| Box::new(birkhoff::Birkhoff::new(s, switches)),
    },
];
