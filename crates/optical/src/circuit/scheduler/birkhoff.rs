//! Birkhoff-von Neumann decomposition into matchings that are held for a time, the longest first, as
//! in Solstice (Liu et al.: Scheduling Techniques for Hybrid Circuit/Packet Networks. CoNEXT 2015):
//! the demand, in slots, is stuffed until all rows and columns have one sum, and then sliced.

use super::{Held, Matching, Scheduler, SchedulerSettings, Weights};

/// Decomposes what waits.
pub struct Birkhoff {
    /// Bytes of a slot: those of the slowest switch.
    slot_bytes: u64,
    /// Most slots for which one look decides.
    frame: u64,
    switches: usize,
}

impl Birkhoff {
    /// Creates the scheduler of so many circuit switches.
    pub fn new(settings: &SchedulerSettings, switches: usize) -> Birkhoff {
        let slowest = settings.slot_bytes.iter().min();
        Birkhoff {
            slot_bytes: *slowest.expect("a circuit switch"),
            frame: settings.frame,
            switches,
        }
    }
}

/// Demand in slots, row by row.
struct Slots {
    racks: usize,
    slots: Vec<u64>,
}

impl Slots {
    fn of(weights: &Weights, slot_bytes: u64) -> Slots {
        let racks = weights.racks();
        let pairs = (0..racks).flat_map(|from| (0..racks).map(move |to| (from, to)));
        let slots = pairs.map(|(from, to)| weights.get(from, to).div_ceil(slot_bytes));
        Slots {
            racks,
            slots: slots.collect(),
        }
    }

    /// Raises entries until all rows and columns have the largest sum of any (QuickStuff): first
    /// those that are not zero, then all, each time row by row.
    fn stuff(&mut self) {
        let racks = self.racks;
        let (mut rows, mut columns) = (vec![0; racks], vec![0; racks]);
        for (place, slots) in self.slots.iter().enumerate() {
            rows[place / racks] += slots;
            columns[place % racks] += slots;
        }
        let most = *rows.iter().chain(&columns).max().expect("a rack");
        for only_used in [true, false] {
            for (place, slots) in self.slots.iter_mut().enumerate() {
                let (row, column) = (&mut rows[place / racks], &mut columns[place % racks]);
                if *slots > 0 || !only_used {
                    let more = (most - *row).min(most - *column);
                    *slots += more;
                    *row += more;
                    *column += more;
                }
            }
        }
    }

    /// Gives a row a column with an entry of at least `least`; earlier rows make room.
    fn place(
        &self,
        row: usize,
        least: u64,
        row_of: &mut [Option<usize>],
        seen: &mut [bool],
    ) -> bool {
        for column in 0..self.racks {
            if seen[column] || self.slots[row * self.racks + column] < least {
                continue;
            }
            seen[column] = true;
            let is_free = row_of[column].map_or(true, |holder| {
                self.place(holder, least, &mut *row_of, &mut *seen)
            });
            if is_free {
                row_of[column] = Some(row);
                return true;
            }
        }
        false
    }

    /// Returns the column of each row in a perfect matching of entries of at least `least`, found row
    /// by row with augmenting paths, the lowest columns first; `None` if there is none.
    fn slice(&self, least: u64) -> Option<Vec<usize>> {
        let mut row_of = vec![None; self.racks];
        for row in 0..self.racks {
            let mut seen = vec![false; self.racks];
            if !self.place(row, least, &mut row_of, &mut seen) {
                return None;
            }
        }
        let mut columns = vec![0; self.racks];
        for (column, row) in row_of.into_iter().enumerate() {
            columns[row?] = column;
        }
        Some(columns)
    }
}

impl Scheduler for Birkhoff {
    fn decide(&mut self, weights: &mut Weights) -> Vec<Vec<Held>> {
        let mut left = Slots::of(weights, self.slot_bytes);
        left.stuff();
        let racks = left.racks;
        let mut turns: Vec<Vec<Held>> = vec![Vec::new(); self.switches];
        // Slots of each switch: an equal share of all, at most a frame.
        let sum: u64 = left.slots[..racks].iter().sum();
        let each = sum.div_ceil(self.switches as u64).min(self.frame);
        let (mut switch, mut taken) = (0, 0);
        let most = *left.slots.iter().max().expect("a pair");
        // The largest power of two that some entry has.
        let mut least = 1 << most.ilog2();
        while least > 0 && switch < self.switches {
            let Some(columns) = left.slice(least) else {
                least /= 2;
                continue;
            };
            for (row, column) in columns.iter().enumerate() {
                left.slots[row * racks + column] -= least;
            }
            // The circuits of a rack to itself are none.
            let peer = |(row, &column): (usize, &usize)| (row != column).then_some(column as u16);
            let peers: Matching = columns.iter().enumerate().map(peer).collect();
            let mut rest = match peers.iter().any(Option::is_some) {
                true => least,
                false => 0,
            };
            // One switch after another is filled; a matching goes on at the next one.
            while rest > 0 && switch < self.switches {
                let slots = rest.min(each - taken);
                match turns[switch].last_mut() {
                    Some(held) if held.peers == peers => held.slots += slots,
                    _ => turns[switch].push(Held {
                        peers: peers.clone(),
                        slots,
                    }),
                }
                (rest, taken) = (rest - slots, taken + slots);
                if taken == each {
                    (switch, taken) = (switch + 1, 0);
                }
            }
        }
        turns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(bytes: &[u64], racks: usize, frame: u64, switches: usize) -> Vec<Vec<Held>> {
        let mut birkhoff = Birkhoff {
            slot_bytes: 10,
            frame,
            switches,
        };
        birkhoff.decide(&mut Weights::new(racks, bytes.to_vec()))
    }

    fn held(peers: [Option<u16>; 3], slots: u64) -> Held {
        Held {
            peers: peers.to_vec(),
            slots,
        }
    }

    #[test]
    fn slices_are_powers_of_two_and_the_longest_go_first() {
        // In slots: 0 to 1 five, 1 to 2 four, 2 to 0 four, 0 to 2 one. The largest sum is six, of
        // row 0. Stuffed row by row: 0 to 1 has its six and row 0 is full; 1 to 2 becomes 5, so that
        // column 2 is full; 2 to 0 becomes 6, and 1 to 1 has the last one.
        let bytes = [0, 50, 10, 0, 0, 31, 40, 0, 0];
        let one = decided(&bytes, 3, 99, 1);
        // With entries of one left, row 1 takes column 1, for which row 0 makes room.
        let (cycle, rest) = ([Some(1), Some(2), Some(0)], [Some(2), None, Some(0)]);
        assert_eq!(one, [[held(cycle, 4), held(rest, 1), held(cycle, 1)]]);
        // Two switches have three slots each, so that the first matching goes on at the second one.
        let two = decided(&bytes, 3, 99, 2);
        assert_eq!(two[0], [held(cycle, 3)]);
        assert_eq!(two[1], [held(cycle, 1), held(rest, 1), held(cycle, 1)]);
        // Seven slots for one pair are 4 + 2 + 1: one matching, without a change.
        let pair = decided(&[0, 70, 0, 0], 2, 99, 1);
        assert_eq!(pair[0].len(), 1);
        assert_eq!(pair[0][0].slots, 7);
        // A frame of five slots ends the sequence.
        assert_eq!(decided(&bytes, 3, 5, 1), [[held(cycle, 4), held(rest, 1)]]);
        assert_eq!(decided(&bytes, 3, 3, 1), [[held(cycle, 3)]]);
    }
}
