//! How much the segments of a flow overtake each other on their way (RFC 4737).

use std::collections::VecDeque;

/// What is counted of the order in which the segments of a flow arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reordered {
    /// Segments that came, for the first time and sent for the first time, behind one that was
    /// sent later (RFC 4737, section 3.3).
    pub segments: u64,
    /// The sum of their extents, in segments (RFC 4737, section 4.2).
    pub extent_sum: u64,
    /// The largest of these.
    pub extent_max: u64,
}

/// Data that was missing when data beyond it arrived.
#[derive(Clone, Copy, Debug)]
struct Gap {
    start: u64,
    /// How many segments had arrived before the one that is beyond it.
    arrived: u64,
}

/// The order of arrival of one flow.
#[derive(Clone, Debug, Default)]
pub struct Reordering {
    /// What is counted.
    pub counts: Reordered,
    /// The gaps, in the order of the bytes, in which they came about, too.
    gaps: VecDeque<Gap>,
}

impl Reordering {
    /// The segment at `start` arrives when `arrived` others have, all of them before `next`.
    /// `first`: it was not sent before.
    pub fn on_segment(&mut self, start: u64, first: bool, next: u64, arrived: u64) {
        if start > next {
            let start = next;
            self.gaps.push_back(Gap { start, arrived });
        }
        if start >= next || !first {
            return;
        }
        let after = self.gaps.partition_point(|gap| gap.start <= start);
        // RFC 4737, section 4.2: from the first that was sent later to this one.
        let extent = arrived - self.gaps[after - 1].arrived;
        self.counts.segments += 1;
        self.counts.extent_sum += extent;
        self.counts.extent_max = self.counts.extent_max.max(extent);
    }

    /// All before `expected` has arrived.
    pub fn advance(&mut self, expected: u64) {
        while self.gaps.get(1).is_some_and(|gap| gap.start <= expected) {
            self.gaps.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of ten bytes by their numbers, in the order in which they arrive, for the first
    /// time or not; what is before the first gap is taken out of order.
    fn counts(arrivals: &[(u64, bool)]) -> Reordered {
        let mut order = Reordering::default();
        let mut there: Vec<u64> = Vec::new();
        for &(number, first) in arrivals {
            let next = there.iter().max().map_or(0, |highest| highest + 1);
            order.on_segment(10 * number, first, 10 * next, there.len() as u64);
            there.push(number);
            let expected = (0..).find(|number| !there.contains(number)).unwrap();
            order.advance(10 * expected);
        }
        order.counts
    }

    fn sent_once(numbers: &[u64]) -> Reordered {
        let arrivals: Vec<_> = numbers.iter().map(|&number| (number, true)).collect();
        counts(&arrivals)
    }

    /// As in the examples of RFC 4737, section 7: one late packet, and three one after another.
    #[test]
    fn the_extent_is_counted_from_the_first_that_was_sent_later() {
        let of = |segments, extent_sum, extent_max| Reordered {
            segments,
            extent_sum,
            extent_max,
        };
        assert_eq!(sent_once(&[0, 1, 2, 3]), of(0, 0, 0));
        assert_eq!(sent_once(&[0, 1, 2, 4, 5, 6, 7, 3, 8, 9]), of(1, 4, 4));
        assert_eq!(
            sent_once(&[0, 1, 2, 6, 7, 8, 9, 3, 4, 5]),
            of(3, 4 + 5 + 6, 6)
        );
        // Two gaps: 1 comes three after 2, and 3 three after 4.
        assert_eq!(sent_once(&[0, 2, 4, 5, 1, 3]), of(2, 3 + 3, 3));
        // What is sent again comes late on purpose.
        let again = [(0, true), (2, true), (1, false), (4, true), (3, true)];
        assert_eq!(counts(&again), of(1, 1, 1));
    }
}
