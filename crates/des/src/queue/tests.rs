//! Both event queues against a sorted list, on the loads that break one or the other:
//! ties, bursts at one instant, far timers, changes of density.

use super::*;
use crate::Stream;
use std::collections::BTreeMap;

/// A sorted list.
#[derive(Default)]
struct Sorted(BTreeMap<(Time, Order), Entry<u32>>);

impl EventQueue<u32> for Sorted {
    fn push(&mut self, entry: Entry<u32>) {
        let before = self.0.insert((entry.time, entry.order), entry);
        assert!(before.is_none(), "two events of one key");
    }

    fn pop(&mut self) -> Option<Entry<u32>> {
        self.0.pop_first().map(|(_, entry)| entry)
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn reserve(&mut self, _additional: usize) {}
}

/// Pushes and pops as a simulation does (no key before the last one popped) and
/// returns the order in which the events came out.
fn hold<Q: EventQueue<u32>>(
    gaps: &[u64],
    pending: usize,
    events: u32,
    seed: u64,
) -> Vec<(Time, u32)> {
    let mut queue = Q::default();
    let mut sequence = Sequence::default();
    let mut draw = Stream::new(seed, "hold");
    let mut now = Time::ZERO;
    let mut out = Vec::new();
    let mut next = 0u32;
    let mut cause = |queue: &mut Q, now: Time, event: u32| {
        let gap = gaps[draw.below(gaps.len() as u32) as usize];
        let class = if draw.below(3) == 0 {
            Class::Timer
        } else {
            Class::Arrival
        };
        // an arrival at the very instant of its cause would lie before a timer's key
        let after = if class == Class::Arrival {
            gap.max(1)
        } else {
            gap
        };
        let time = Time(now.0 + after);
        queue.push(Entry {
            time,
            order: sequence.next(class),
            event,
        });
    };
    while (next as usize) < pending {
        cause(&mut queue, now, next);
        next += 1;
    }
    while let Some(entry) = queue.pop() {
        assert!(entry.time >= now, "time went back");
        now = entry.time;
        out.push((entry.time, entry.event));
        let children = if queue.len() > 2 * pending {
            0
        } else {
            1 + usize::from(next % 7 == 0)
        };
        for _ in 0..children {
            if next < events {
                cause(&mut queue, now, next);
                next += 1;
            }
        }
    }
    assert!(queue.is_empty());
    out
}

#[test]
fn both_queues_give_the_same_order() {
    let loads: [&[u64]; 4] = [
        &[0, 1, 1, 2],
        &[50_000, 51_200, 7_200_000, 1_000_000_000],
        &[0, 1 << 10, 1 << 20, 1 << 44],
        &[3, 70_000, 70_000, 70_000, 1 << 36],
    ];
    for (i, gaps) in loads.into_iter().enumerate() {
        for pending in [1, 10, 3000] {
            let seed = i as u64;
            let expected = hold::<Sorted>(gaps, pending, 60_000, seed);
            assert_eq!(expected.len(), 60_000);
            assert_eq!(expected, hold::<Heap<u32>>(gaps, pending, 60_000, seed));
            assert_eq!(expected, hold::<Wheel<u32>>(gaps, pending, 60_000, seed));
        }
    }
}

#[test]
fn ties_are_first_in_first_out_and_arrivals_come_before_timers() {
    fn check<Q: EventQueue<u32>>() {
        let mut queue = Q::default();
        let mut sequence = Sequence::default();
        for event in 0..100 {
            let class = if event % 2 == 0 {
                Class::Timer
            } else {
                Class::Arrival
            };
            queue.push(Entry {
                time: Time(5),
                order: sequence.next(class),
                event,
            });
        }
        let out: Vec<u32> = std::iter::from_fn(|| queue.pop())
            .map(|e| e.event)
            .collect();
        let expected: Vec<u32> = (0..50)
            .map(|i| 2 * i + 1)
            .chain((0..50).map(|i| 2 * i))
            .collect();
        assert_eq!(out, expected);
    }
    check::<Heap<u32>>();
    check::<Wheel<u32>>();
}
