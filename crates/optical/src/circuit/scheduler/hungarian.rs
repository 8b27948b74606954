//! Exact maximum weight matching, by the Hungarian method (Kuhn 1955, Munkres 1957) with shortest
//! augmenting paths. Of all matchings of the largest weight it takes the first in this order: the
//! lowest peer of rack 0, then of rack 1, and so on; no circuit comes after every peer.

use super::{Matcher, Matching, Weights};

/// Takes the heaviest matching.
pub struct Hungarian;

const NONE: usize = usize::MAX;

/// A complete assignment of columns to rows of the largest weight, with its dual solution.
struct Assignment {
    /// Row of each column.
    row_of: Vec<usize>,
    /// Potentials of rows and columns.
    rows: Vec<i128>,
    columns: Vec<i128>,
}

impl Assignment {
    /// Assigns the rows one after another, each by a shortest augmenting path.
    fn of(weights: &Weights) -> Assignment {
        let racks = weights.racks();
        let mut it = Assignment {
            row_of: vec![NONE; racks],
            rows: vec![0; racks],
            columns: vec![0; racks],
        };
        for row in 0..racks {
            it.augment(row, weights);
        }
        it
    }

    /// Returns by how much a pair costs more than the potentials of its ends; never negative.
    fn slack(&self, row: usize, column: usize, weights: &Weights) -> i128 {
        -i128::from(weights.get(row, column)) - self.rows[row] - self.columns[column]
    }

    fn augment(&mut self, row: usize, weights: &Weights) {
        let racks = weights.racks();
        let mut least = vec![i128::MAX; racks];
        let mut before = vec![NONE; racks];
        let mut reached = vec![false; racks];
        let (mut current, mut column) = (row, NONE);
        loop {
            let mut next = NONE;
            for other in (0..racks).filter(|&other| !reached[other]) {
                let slack = self.slack(current, other, weights);
                if slack < least[other] {
                    (least[other], before[other]) = (slack, column);
                }
                if next == NONE || least[other] < least[next] {
                    next = other;
                }
            }
            let step = least[next];
            self.rows[row] += step;
            for other in 0..racks {
                if reached[other] {
                    self.rows[self.row_of[other]] += step;
                    self.columns[other] -= step;
                } else {
                    least[other] -= step;
                }
            }
            reached[next] = true;
            column = next;
            if self.row_of[column] == NONE {
                break;
            }
            current = self.row_of[column];
        }
        while before[column] != NONE {
            self.row_of[column] = self.row_of[before[column]];
            column = before[column];
        }
        self.row_of[column] = row;
    }
}

/// What is decided of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Decided {
    Nothing,
    To(usize),
    /// Any pair without weight.
    NoCircuit,
}

/// The assignments of the largest weight: those of pairs whose slack is zero.
struct Tight<'a> {
    found: Assignment,
    weights: &'a Weights,
    decided: Vec<Decided>,
}

impl Tight<'_> {
    fn is_allowed(&self, row: usize, column: usize) -> bool {
        let weight = self.weights.get(row, column);
        let decided = match self.decided[row] {
            Decided::Nothing => true,
            Decided::To(chosen) => chosen == column,
            Decided::NoCircuit => weight == 0,
        };
        decided && self.found.slack(row, column, self.weights) == 0
    }

    fn column_of(&self, row: usize) -> usize {
        let mut rows = self.found.row_of.iter();
        rows.position(|&other| other == row).expect("a column")
    }

    /// Returns for each row the column that it can take if it gives up its own, so that in the end
    /// the column of `row` is taken; `NONE` if it cannot.
    fn ways(&self, row: usize) -> Vec<usize> {
        let racks = self.weights.racks();
        let mut ways = vec![NONE; racks];
        let mut open = vec![self.column_of(row)];
        while let Some(column) = open.pop() {
            for other in (0..racks).filter(|&other| other != row) {
                if ways[other] == NONE && self.is_allowed(other, column) {
                    let own = self.column_of(other);
                    if own != column {
                        ways[other] = column;
                        open.push(own);
                    }
                }
            }
        }
        ways
    }

    /// Gives a row the lowest peer that some assignment of the largest weight gives it.
    fn decide(&mut self, row: usize) {
        let racks = self.weights.racks();
        let (own, ways) = (self.column_of(row), self.ways(row));
        let can = |&column: &usize| {
            let holder = self.found.row_of[column];
            self.is_allowed(row, column) && (column == own || ways[holder] != NONE)
        };
        let with_weight = |column: &usize| self.weights.get(row, *column) > 0;
        let peer = (0..racks).filter(with_weight).find(can);
        let column = peer.or_else(|| (0..racks).filter(|c| !with_weight(c)).find(can));
        let column = column.expect("an assignment");
        // The holder moves on, and whoever holds what it takes, down to the free column.
        let mut mover = row;
        let mut to = column;
        while to != own {
            let holder = std::mem::replace(&mut self.found.row_of[to], mover);
            (mover, to) = (holder, ways[holder]);
        }
        self.found.row_of[own] = mover;
        self.decided[row] = match peer {
            Some(to) => Decided::To(to),
            None => Decided::NoCircuit,
        };
    }
}

impl Matcher for Hungarian {
    fn matching(&mut self, _switch: usize, weights: &Weights) -> Matching {
        let racks = weights.racks();
        let mut tight = Tight {
            found: Assignment::of(weights),
            weights,
            decided: vec![Decided::Nothing; racks],
        };
        for row in 0..racks {
            tight.decide(row);
        }
        let peer = |decided: &Decided| match decided {
            Decided::To(to) => Some(*to as u16),
            _ => None,
        };
        tight.decided.iter().map(peer).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightburst_des::Stream;

    fn matching(racks: usize, bytes: &[u64]) -> Matching {
        Hungarian.matching(0, &Weights::new(racks, bytes.to_vec()))
    }

    #[test]
    fn the_heaviest_matching_may_leave_out_the_heaviest_pair() {
        // 0 to 2 and 2 to 1 are 10 together, 0 to 1 is 6.
        assert_eq!(
            matching(3, &[0, 6, 5, 0, 0, 0, 0, 5, 0]),
            [Some(2), None, Some(1)]
        );
    }

    #[test]
    fn of_equal_matchings_the_first_racks_have_the_lowest_peers() {
        assert_eq!(
            matching(3, &[0, 1, 1, 1, 0, 1, 1, 1, 0]),
            [Some(1), Some(2), Some(0)]
        );
        // Three at once for rack 0: the one circuit goes to the lowest number.
        assert_eq!(
            matching(3, &[0, 4, 4, 0, 0, 0, 0, 0, 0]),
            [Some(1), None, None]
        );
        // A circuit of rack 0, or one of rack 1, as heavy: rack 0 first.
        assert_eq!(
            matching(3, &[0, 0, 4, 0, 0, 4, 0, 0, 0]),
            [Some(2), None, None]
        );
    }

    /// The first of all heaviest matchings, found by trying all.
    fn tried(racks: usize, weights: &Weights) -> Matching {
        let mut best: Option<(u64, Vec<u16>)> = None;
        let mut peers = vec![0u16; racks];
        let all = (racks as u64 + 1).pow(racks as u32);
        for mut number in 0..all {
            for peer in peers.iter_mut().rev() {
                *peer = (number % (racks as u64 + 1)) as u16;
                number /= racks as u64 + 1;
            }
            let none = racks as u16;
            let taken: Vec<u16> = peers.iter().copied().filter(|&to| to != none).collect();
            let mut once = taken.clone();
            once.sort_unstable();
            once.dedup();
            let of = |(from, &to): (usize, &u16)| match to == none {
                true => Some(0),
                false => Some(weights.get(from, usize::from(to))).filter(|&bytes| bytes > 0),
            };
            let bytes: Option<u64> = peers.iter().enumerate().map(of).sum();
            if let (Some(bytes), true) = (bytes, once.len() == taken.len()) {
                if best.as_ref().map_or(true, |(most, _)| bytes > *most) {
                    best = Some((bytes, peers.clone()));
                }
            }
        }
        let found = best.expect("a matching").1;
        let peer = |to: u16| (usize::from(to) < racks).then_some(to);
        found.into_iter().map(peer).collect()
    }

    #[test]
    fn it_is_what_a_trial_of_all_matchings_finds() {
        let mut draw = Stream::new(7, "hungarian");
        for round in 0..400 {
            let racks = 2 + round % 4;
            let most = [2, 3, 1_000_000][round % 3];
            let mut bytes = |i: usize| match i % (racks + 1) == 0 {
                true => 0,
                false => u64::from(draw.below(most)),
            };
            let weights = Weights::new(racks, (0..racks * racks).map(&mut bytes).collect());
            assert_eq!(
                Hungarian.matching(0, &weights),
                tried(racks, &weights),
                "{weights:?}"
            );
        }
    }
}
