//! Every agenda against a sorted list, on the loads that break one or the other:
//! ties, bursts at one instant, far timers, changes of density.

use super::*;
use crate::Stream;

/// Pushes and pops as a simulation does (no key before the last one popped) and
/// returns the order in which the events came out.
fn hold<A: Agenda<u32>>(gaps: &[u64], pending: usize, events: u32, seed: u64) -> Vec<(Time, u32)> {
    let mut agenda = A::default();
    let mut sequence = Sequence::default();
    let mut draw = Stream::new(seed, "hold");
    let mut now = Time::ZERO;
    let mut out = Vec::new();
    let mut next = 0u32;
    let mut cause = |agenda: &mut A, now: Time, event: u32| {
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
        agenda.push(Entry {
            time,
            order: sequence.next(class),
            event,
        });
    };
    while (next as usize) < pending {
        cause(&mut agenda, now, next);
        next += 1;
    }
    while let Some(entry) = agenda.pop() {
        assert!(entry.time >= now, "time went back");
        now = entry.time;
        out.push((entry.time, entry.event));
        let children = if agenda.len() > 2 * pending {
            0
        } else {
            1 + usize::from(next % 7 == 0)
        };
        for _ in 0..children {
            if next < events {
                cause(&mut agenda, now, next);
                next += 1;
            }
        }
    }
    assert!(agenda.is_empty());
    out
}

#[test]
fn all_agendas_give_the_same_order() {
    let loads: [&[u64]; 4] = [
        &[0, 1, 1, 2],
        &[50_000, 51_200, 7_200_000, 1_000_000_000],
        &[0, 1 << 10, 1 << 20, 1 << 44],
        &[3, 70_000, 70_000, 70_000, 1 << 36],
    ];
    for (i, gaps) in loads.into_iter().enumerate() {
        for pending in [1, 10, 3000] {
            let seed = i as u64;
            let expected = hold::<BinaryHeap<u32>>(gaps, pending, 60_000, seed);
            assert_eq!(expected.len(), 60_000);
            assert_eq!(expected, hold::<QuadHeap<u32>>(gaps, pending, 60_000, seed));
            assert_eq!(
                expected,
                hold::<RadixHeap<u32>>(gaps, pending, 60_000, seed)
            );
            assert_eq!(expected, hold::<Wheel<u32>>(gaps, pending, 60_000, seed));
        }
    }
}

#[test]
fn ties_are_first_in_first_out_and_arrivals_come_before_timers() {
    fn check<A: Agenda<u32>>() {
        let mut agenda = A::default();
        let mut sequence = Sequence::default();
        for event in 0..100 {
            let class = if event % 2 == 0 {
                Class::Timer
            } else {
                Class::Arrival
            };
            agenda.push(Entry {
                time: Time(5),
                order: sequence.next(class),
                event,
            });
        }
        let out: Vec<u32> = std::iter::from_fn(|| agenda.pop())
            .map(|e| e.event)
            .collect();
        let expected: Vec<u32> = (0..50)
            .map(|i| 2 * i + 1)
            .chain((0..50).map(|i| 2 * i))
            .collect();
        assert_eq!(out, expected);
    }
    check::<BinaryHeap<u32>>();
    check::<QuadHeap<u32>>();
    check::<RadixHeap<u32>>();
    check::<Wheel<u32>>();
}
