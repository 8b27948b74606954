//! Schedule of circuit switches: the matching of racks that each switch has in each slot. All times
//! are those at a circuit switch, in picoseconds.
//!
//! No event changes a slot. Everything follows from the time: slot `k` lasts from `k s` to
//! `(k + 1) s`, and nothing passes in its first `g` picoseconds.

use crate::settings::{duration, durations, positive_duration};
use lightburst_des::Duration;
use serde::Deserialize;

/// Settings of a schedule.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduleSettings {
    /// Time of a slot.
    #[serde(rename = "slot_ps", deserialize_with = "positive_duration")]
    pub slot: Duration,
    /// Time at the start of each slot in which nothing passes.
    #[serde(rename = "guard_ps", deserialize_with = "duration")]
    pub guard: Duration,
    /// Time by which the slots of each circuit switch begin later; empty if they begin together.
    #[serde(rename = "offsets_ps", default, deserialize_with = "durations")]
    pub offsets: Vec<Duration>,
    /// Matchings: for each rack, the rack to which its circuit leads.
    pub matchings: Vec<Vec<u16>>,
    /// Matchings that each circuit switch has, slot by slot, before it begins again.
    pub turns: Vec<Vec<u16>>,
}

impl ScheduleSettings {
    /// Returns what is wrong with a schedule for so many racks and circuit switches, if anything is.
    pub fn fault(&self, racks: usize, switches: usize) -> Option<String> {
        let is_matching = |matching: &Vec<u16>| {
            let mut to: Vec<u16> = matching.clone();
            to.sort_unstable();
            to.iter().map(|&to| usize::from(to)).eq(0..racks)
                && (0..)
                    .zip(matching)
                    .all(|(from, &to)| from != usize::from(to))
        };
        if self.guard >= self.slot {
            return Some("slots that are guard times as a whole".to_string());
        }
        let is_late = |offset: &Duration| *offset >= self.slot;
        if ![0, switches].contains(&self.offsets.len()) || self.offsets.iter().any(is_late) {
            return Some("offsets that are none of the circuit switches".to_string());
        }
        if self.turns.len() != switches {
            let turns = self.turns.len();
            return Some(format!("{turns} turns for {switches} circuit switches"));
        }
        if !self.matchings.iter().all(is_matching) {
            return Some(format!("a matching that is none of {racks} racks"));
        }
        let known = |&number: &u16| usize::from(number) < self.matchings.len();
        let has_turn = |turn: &Vec<u16>| !turn.is_empty() && turn.len() <= usize::from(u16::MAX);
        let all_known = self.turns.iter().flatten().all(known);
        (!all_known || !self.turns.iter().all(has_turn))
            .then(|| "a turn without matchings".to_string())
    }
}

/// Time in a slot at which a circuit is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    /// First time, not before the time asked for.
    pub start: u64,
    /// End of the slot.
    pub end: u64,
}

/// Turn of one switch.
#[derive(Debug)]
struct Turn {
    /// Peers: position by position, rack by rack.
    peers: Vec<u16>,
    /// Number of slots after which it begins again.
    length: u64,
    /// Time by which its clock is ahead of the others: a turn, less its offset.
    ahead: u64,
}

/// Schedule of all circuit switches.
#[derive(Debug)]
pub struct Schedule {
    slot: u64,
    guard: u64,
    racks: usize,
    /// Turn of each switch.
    turns: Vec<Turn>,
    /// For each pair of racks the circuit switches that join it, each with a position of its turn;
    /// in this order.
    openings: Vec<(u16, u16)>,
    /// Index in `openings` of the first of each pair, followed by its length.
    first: Vec<u32>,
}

impl Schedule {
    /// Creates a schedule that has no fault.
    pub fn new(settings: &ScheduleSettings, racks: usize) -> Schedule {
        let peers = |turn: &Vec<u16>| -> Vec<u16> {
            let matchings = turn.iter().map(|&i| &settings.matchings[usize::from(i)]);
            matchings.flatten().copied().collect()
        };
        let peers: Vec<Vec<u16>> = settings.turns.iter().map(peers).collect();
        let mut first = vec![0u32; racks * racks + 1];
        let pair = |place: usize, to: u16| place % racks * racks + usize::from(to);
        for (place, &to) in peers.iter().flat_map(|peers| peers.iter().enumerate()) {
            first[pair(place, to) + 1] += 1;
        }
        for pair in 0..racks * racks {
            first[pair + 1] += first[pair];
        }
        let mut next = first.clone();
        let mut openings = vec![(0, 0); first[racks * racks] as usize];
        for (switch, peers) in (0..).zip(&peers) {
            for (place, &to) in peers.iter().enumerate() {
                let next = &mut next[pair(place, to)];
                openings[*next as usize] = (switch, (place / racks) as u16);
                *next += 1;
            }
        }
        let turn = |(switch, peers): (usize, Vec<u16>)| {
            let length = (peers.len() / racks) as u64;
            let offset = settings.offsets.get(switch);
            Turn {
                peers,
                length,
                ahead: offset.map_or(0, |offset| length * settings.slot.0 - offset.0),
            }
        };
        Schedule {
            slot: settings.slot.0,
            guard: settings.guard.0,
            racks,
            turns: peers.into_iter().enumerate().map(turn).collect(),
            openings,
            first,
        }
    }

    /// Returns the number of racks.
    pub fn racks(&self) -> usize {
        self.racks
    }

    /// Returns the number of slots after which a switch begins again.
    pub fn length(&self, switch: usize) -> u64 {
        self.turns[switch].length
    }

    /// Returns the time of a slot without its guard time.
    pub fn usable(&self) -> u64 {
        self.slot - self.guard
    }

    #[inline]
    fn peer(&self, switch: usize, position: u64, rack: usize) -> usize {
        usize::from(self.turns[switch].peers[position as usize * self.racks + rack])
    }

    /// Returns the times of a slot of a switch, by whose clock the time is `local`.
    #[inline]
    fn times(&self, switch: usize, slot: u64, local: u64) -> Open {
        let (begin, ahead) = (slot * self.slot, self.turns[switch].ahead);
        Open {
            start: local.max(begin + self.guard) - ahead,
            end: begin + self.slot - ahead,
        }
    }

    /// Returns a time by the clock of a switch.
    #[inline]
    fn local(&self, switch: usize, at: u64) -> u64 {
        at + self.turns[switch].ahead
    }

    /// Returns the time of a slot, and of its guard time.
    pub fn slot_and_guard(&self) -> (u64, u64) {
        (self.slot, self.guard)
    }

    /// Returns a time at which a slot of a switch begins.
    pub fn begin(&self, switch: usize) -> u64 {
        self.slot - self.turns[switch].ahead % self.slot
    }

    /// Returns the number of circuit switches.
    pub fn switches(&self) -> usize {
        self.turns.len()
    }

    /// Returns the rack to which the circuit of a rack leads at a time; `None` in the guard time.
    #[inline]
    pub fn open(&self, switch: usize, rack: usize, at: u64) -> Option<(usize, Open)> {
        let local = self.local(switch, at);
        let slot = local / self.slot;
        let open = self.times(switch, slot, local);
        let peer = self.peer(switch, slot % self.length(switch), rack);
        (open.start == at).then_some((peer, open))
    }

    /// Iterates over the slots of a switch from a time on, over one turn and the slot after it: the
    /// peer of a rack, and the time in which the circuit is open.
    pub fn slots(
        &self,
        switch: usize,
        rack: usize,
        at: u64,
    ) -> impl Iterator<Item = (usize, Open)> + '_ {
        let local = self.local(switch, at);
        let (now, length) = (local / self.slot, self.length(switch));
        let mut position = now % length;
        (now..=now + length).map(move |slot| {
            let peer = self.peer(switch, position, rack);
            position = if position + 1 == length {
                0
            } else {
                position + 1
            };
            (peer, self.times(switch, slot, local))
        })
    }

    /// Returns the circuits from a rack to another: the switch of each and the position in its turn.
    #[inline]
    pub fn circuits(&self, from: usize, to: usize) -> &[(u16, u16)] {
        let pair = from * self.racks + to;
        &self.openings[self.first[pair] as usize..self.first[pair + 1] as usize]
    }

    /// Returns the first time, from `at` on, at which a switch has a position of its turn for `time`
    /// longer.
    #[inline]
    pub fn next(&self, switch: usize, position: u64, at: u64, time: u64) -> u64 {
        let local = self.local(switch, at);
        let (now, length) = (local / self.slot, self.length(switch));
        let ahead = (position + length - now % length) % length;
        let open = self.times(switch, now + ahead, local);
        if open.start + time <= open.end {
            return open.start;
        }
        self.times(switch, now + ahead + length, local).start
    }

    /// Returns the first time, from `at` on, at which any circuit of a switch is open for `time`
    /// longer.
    #[inline]
    pub fn next_of_any(&self, switch: usize, at: u64, time: u64) -> u64 {
        let local = self.local(switch, at);
        let now = local / self.slot;
        let open = self.times(switch, now, local);
        if open.start + time <= open.end {
            return open.start;
        }
        self.times(switch, now + 1, local).start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> ScheduleSettings {
        ScheduleSettings {
            slot: Duration(100),
            guard: Duration(10),
            offsets: Vec::new(),
            matchings: vec![vec![1, 2, 3, 0], vec![2, 3, 0, 1], vec![3, 0, 1, 2]],
            turns: vec![vec![0, 2], vec![1]],
        }
    }

    #[test]
    fn a_circuit_opens_after_the_guard_time_and_lasts_to_the_end_of_its_slot() {
        let schedule = Schedule::new(&settings(), 4);
        assert_eq!(schedule.open(0, 0, 9), None);
        assert_eq!(
            schedule.open(0, 0, 10),
            Some((
                1,
                Open {
                    start: 10,
                    end: 100
                }
            ))
        );
        assert_eq!(
            schedule.open(0, 0, 99),
            Some((
                1,
                Open {
                    start: 99,
                    end: 100
                }
            ))
        );
        // The next matching, and again the first one.
        assert_eq!(schedule.open(0, 0, 110).map(|(peer, _)| peer), Some(3));
        assert_eq!(schedule.open(0, 0, 210).map(|(peer, _)| peer), Some(1));
        assert_eq!(schedule.open(1, 0, 110).map(|(peer, _)| peer), Some(2));
    }

    #[test]
    fn a_unit_that_does_not_fit_waits_for_the_next_turn() {
        let schedule = Schedule::new(&settings(), 4);
        assert_eq!(schedule.circuits(0, 3), [(0, 1)]);
        assert_eq!(schedule.circuits(0, 2), [(1, 0)]);
        assert_eq!(schedule.next(0, 1, 0, 90), 110);
        assert_eq!(schedule.next(0, 1, 150, 50), 150);
        assert_eq!(schedule.next(0, 1, 151, 50), 310);
        assert_eq!(schedule.next_of_any(0, 151, 50), 210);
        assert_eq!(schedule.next_of_any(0, 150, 50), 150);
    }

    #[test]
    fn the_next_opening_is_that_which_a_search_slot_by_slot_finds() {
        let schedule = Schedule::new(&settings(), 4);
        for (at, time) in (0..700).flat_map(|at| [1, 45, 90].map(|time| (at, time))) {
            for (rack, to) in [(0, 1), (0, 2), (0, 3), (3, 1)] {
                let &[(switch, position)] = schedule.circuits(rack, to) else {
                    unreachable!("one circuit for each pair");
                };
                let switch = usize::from(switch);
                let fits =
                    |(peer, open): &(usize, Open)| *peer == to && open.start + time <= open.end;
                let found = schedule.slots(switch, rack, at).find(fits);
                let next = schedule.next(switch, u64::from(position), at, time);
                assert_eq!(found.map(|(_, open)| open.start), Some(next));
            }
        }
    }

    #[test]
    fn slots_of_a_switch_with_an_offset_begin_later() {
        let mut settings = settings();
        settings.offsets = vec![Duration(0), Duration(60)];
        settings.turns = vec![vec![0, 2], vec![1, 2]];
        let schedule = Schedule::new(&settings, 4);
        // Before its first slot switch 1 has the last matching of its turn, up to 60.
        assert_eq!(
            schedule.open(1, 0, 0),
            Some((3, Open { start: 0, end: 60 }))
        );
        assert_eq!(schedule.open(1, 0, 69), None);
        let first = Open {
            start: 70,
            end: 160,
        };
        assert_eq!(schedule.open(1, 0, 70), Some((2, first)));
        assert_eq!(schedule.next(1, 0, 0, 90), 70);
        assert_eq!(schedule.next(1, 0, 71, 90), 270);
        assert_eq!(schedule.next_of_any(1, 30, 31), 70);
        assert_eq!((schedule.begin(0) % 100, schedule.begin(1)), (0, 60));
        // The other switch keeps its slots.
        assert_eq!(schedule.open(0, 0, 9), None);
    }

    #[test]
    fn what_is_no_schedule_is_refused() {
        let fault = |change: fn(&mut ScheduleSettings)| {
            let mut settings = settings();
            change(&mut settings);
            settings.fault(4, 2)
        };
        assert_eq!(fault(|_| ()), None);
        let faults: [fn(&mut ScheduleSettings); 8] = [
            |it| it.offsets = vec![Duration(0)],
            |it| it.offsets = vec![Duration(0), Duration(100)],
            |it| it.guard = Duration(100),
            |it| it.turns.truncate(1),
            |it| it.matchings[0] = vec![1, 2, 3],
            |it| it.matchings[0] = vec![1, 1, 3, 0],
            |it| it.matchings[0] = vec![0, 2, 3, 1],
            |it| it.turns[1] = vec![3],
        ];
        for one in faults {
            assert!(fault(one).is_some());
        }
    }
}
