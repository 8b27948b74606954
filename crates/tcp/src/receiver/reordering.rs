//! Reordering of the segments of a flow in the network (RFC 4737).

use std::collections::VecDeque;
use std::ops::AddAssign;

/// Reordering statistics of a flow at its receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reordered {
    /// Number of reordered segments: they arrived after a segment that was sent later (RFC 4737,
    /// section 3.3). Only first arrivals of first transmissions count.
    pub segments: u64,
    /// Sum of the reordering extents in segments (RFC 4737, section 4.2).
    pub extent_sum: u64,
    /// Largest reordering extent in segments.
    pub extent_max: u64,
}

impl AddAssign for Reordered {
    /// Adds the counts of a further subflow.
    fn add_assign(&mut self, more: Reordered) {
        self.segments += more.segments;
        self.extent_sum += more.extent_sum;
        self.extent_max = self.extent_max.max(more.extent_max);
    }
}

/// A gap in the data received: it was missing when later data arrived.
#[derive(Clone, Copy, Debug)]
struct Gap {
    start: u64,
    /// Number of segments that had arrived before the first one beyond the gap.
    arrived: u64,
}

/// Reordering state of one flow.
#[derive(Clone, Debug, Default)]
pub struct Reordering {
    /// Statistics so far.
    pub counts: Reordered,
    /// Gaps in ascending order of their bytes, which is also the order in which they arose.
    gaps: VecDeque<Gap>,
}

impl Reordering {
    /// Handles the arrival of the segment at `start`. `first`: it is the first transmission of the
    /// segment; `next`: end of the highest data that arrived before; `arrived`: number of segments
    /// that arrived before.
    pub fn on_segment(&mut self, start: u64, first: bool, next: u64, arrived: u64) {
        if start > next {
            let start = next;
            self.gaps.push_back(Gap { start, arrived });
        }
        if start >= next || !first {
            return;
        }
        let after = self.gaps.partition_point(|gap| gap.start <= start);
        // RFC 4737, section 4.2: the extent counts from the earliest arrival of a segment that was
        // sent later.
        let extent = arrived - self.gaps[after - 1].arrived;
        self.counts.segments += 1;
        self.counts.extent_sum += extent;
        self.counts.extent_max = self.counts.extent_max.max(extent);
    }

    /// Discards gaps that are no longer needed once all data before `expected` has arrived.
    pub fn advance(&mut self, expected: u64) {
        while self.gaps.get(1).is_some_and(|gap| gap.start <= expected) {
            self.gaps.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        /// RFC 4737, sections 3.3 and 4.2, for segments of which the last in `order` are lost.
        #[test]
        fn reordering_is_counted_as_the_standard_defines_it(
            order in Just((0..12).collect::<Vec<u64>>()).prop_shuffle(),
            first in vec(prop::bool::weighted(0.8), 0..=12),
        ) {
            let arrivals: Vec<(u64, bool)> = order.into_iter().zip(first).collect();
            let mut expected = Reordered::default();
            for (place, &(number, first)) in arrivals.iter().enumerate() {
                let earlier = arrivals[..place].iter().position(|&(earlier, _)| earlier > number);
                if let Some(earliest) = earlier.filter(|_| first) {
                    let extent = (place - earliest) as u64;
                    expected.segments += 1;
                    expected.extent_sum += extent;
                    expected.extent_max = expected.extent_max.max(extent);
                }
            }
            prop_assert_eq!(counts(&arrivals), expected);
        }
    }

    /// Returns the statistics of a flow with segments of ten bytes. Each entry of `arrivals` is the
    /// number of a segment and whether this is its first transmission. As in a receiver, `advance`
    /// is called after each arrival.
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

    /// The examples of RFC 4737, section 7: one late packet, and three consecutive late packets.
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
        // Two gaps: segment 1 arrives three segments after 2, and segment 3 three segments after 4.
        assert_eq!(sent_once(&[0, 2, 4, 5, 1, 3]), of(2, 3 + 3, 3));
        // Retransmitted segments do not count as reordered.
        let again = [(0, true), (2, true), (1, false), (4, true), (3, true)];
        assert_eq!(counts(&again), of(1, 1, 1));
    }
}
