//! Compares both event queues with a sorted list: in short scripts of any content, and under long
//! loads whose density makes the wheel change the width of its slots.

use super::*;
use crate::Stream;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A test event; its number makes it unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mock {
    class: Class,
    node: u32,
    number: u32,
}

impl Event for Mock {
    fn class(self) -> Class {
        self.class
    }

    fn node(self) -> u32 {
        self.node
    }

    fn place(self) -> u32 {
        // Each node has three links.
        match self.class {
            Class::Arrival => 3 * self.node + self.number % 3,
            Class::Timer => self.node,
        }
    }

    fn subject(self) -> u32 {
        self.number / 2
    }

    fn kind(self) -> u8 {
        (self.number % 2) as u8
    }
}

/// Sort key of an event. The node is 0 unless the nodes are independent of each other.
type Key = (Time, u32, Class, u64, u64, u8, u32);

/// Reference queue: a sorted map.
struct Sorted {
    entries: BTreeMap<Key, Entry<Mock>>,
    ties: Ties,
}

impl EventQueue<Mock> for Sorted {
    fn new(ties: Ties) -> Self {
        let entries = BTreeMap::new();
        Sorted { entries, ties }
    }

    fn push(&mut self, entry: Entry<Mock>) {
        let Entry { time, event } = entry;
        let place = self.ties.rank(time, event.place());
        let subject = self.ties.rank_at(time, event.place(), event.subject());
        let drawn = self.ties.by_node(event) == 0;
        let key = (
            time,
            if drawn { 0 } else { event.node },
            event.class,
            place,
            subject,
            event.kind(),
            event.number,
        );
        let before = self.entries.insert(key, entry);
        assert!(before.is_none(), "two events of one key");
    }

    fn pop(&mut self) -> Option<Entry<Mock>> {
        self.entries.pop_first().map(|(_, entry)| entry)
    }

    fn len(&self) -> usize {
        self.entries.len()
    }

    fn reserve(&mut self, _additional: usize) {}
}

/// A wheel that becomes a ladder already with a hundred pending events.
struct Changing(Wheel<Mock>);

impl EventQueue<Mock> for Changing {
    fn new(ties: Ties) -> Self {
        let mut wheel = Wheel::new(ties);
        wheel.rule.many = 100;
        Changing(wheel)
    }

    fn push(&mut self, entry: Entry<Mock>) {
        self.0.push(entry);
    }

    fn pop(&mut self) -> Option<Entry<Mock>> {
        self.0.pop()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn reserve(&mut self, _additional: usize) {}
}

/// A wheel, often a ladder, whose events are taken window by window; a third of those that come after
/// a window are put in at its end, as from another part of a network.
struct Windowed {
    queue: Wheel<Mock>,
    last: Time,
    held: Vec<Entry<Mock>>,
}

/// Length of these windows in picoseconds.
const WINDOW: u64 = 5_000;

impl EventQueue<Mock> for Windowed {
    fn new(ties: Ties) -> Self {
        let Changing(queue) = Changing::new(ties);
        Windowed {
            queue,
            last: Time(WINDOW - 1),
            held: Vec::new(),
        }
    }

    fn push(&mut self, entry: Entry<Mock>) {
        match entry.event.number % 3 == 0 && entry.time > self.last {
            true => self.held.push(entry),
            false => self.queue.push(entry),
        }
    }

    fn pop(&mut self) -> Option<Entry<Mock>> {
        loop {
            let bound = match self.queue.take_by(self.last) {
                Next::Due(entry) => return Some(entry),
                Next::Later(bound) => bound,
                Next::Unready if self.queue.prepare(|_, _| ()) => continue,
                Next::Unready => Time::NEVER,
            };
            assert!(bound > self.last);
            let first = self
                .held
                .iter()
                .map(|entry| entry.time)
                .fold(bound, Time::min);
            self.held.drain(..).for_each(|entry| self.queue.push(entry));
            if first == Time::NEVER {
                return None;
            }
            self.last = Time(first.0 + WINDOW - 1);
        }
    }

    fn len(&self) -> usize {
        self.queue.len() + self.held.len()
    }

    fn reserve(&mut self, _additional: usize) {}
}

const EVENTS: u32 = 60_000;

/// Pushes and pops events as a simulation does, never before the last event handled, and returns
/// the numbers of the events in the order in which they were popped.
fn hold<Q: EventQueue<Mock>>(gaps: &[u64], pending: usize, ties: Ties, seed: u64) -> Vec<u32> {
    let mut queue = Q::new(ties);
    let mut draw = Stream::new(seed, "hold");
    let mut now = Time::ZERO;
    let mut out = Vec::new();
    let mut next = 0u32;
    let mut cause = |queue: &mut Q, now: Time, number: u32| {
        let gap = gaps[draw.below(gaps.len() as u32) as usize];
        let class = match draw.below(3) {
            0 => Class::Timer,
            _ => Class::Arrival,
        };
        let event = Mock {
            class,
            node: draw.below(5),
            number,
        };
        let time = Time(now.0 + gap);
        queue.push(Entry { time, event });
    };
    while (next as usize) < pending {
        cause(&mut queue, now, next);
        next += 1;
    }
    while let Some(entry) = queue.pop() {
        assert!(entry.time >= now, "time went back");
        if next % 97 == 0 && next < EVENTS {
            // Imitates a run that stops before this event and then adds one that may precede it.
            queue.push(entry);
            cause(&mut queue, now, next);
            next += 1;
            continue;
        }
        now = entry.time;
        out.push(entry.event.number);
        let children = if queue.len() > 2 * pending {
            0
        } else {
            1 + usize::from(next % 7 == 0)
        };
        for _ in 0..children {
            if next < EVENTS {
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
            let drawn = Ties::new(seed, None);
            for ties in [drawn, drawn.of_separate_nodes()] {
                let expected = hold::<Sorted>(gaps, pending, ties, seed);
                assert_eq!(expected.len(), EVENTS as usize);
                assert_eq!(expected, hold::<Heap<Mock>>(gaps, pending, ties, seed));
                assert_eq!(expected, hold::<Wheel<Mock>>(gaps, pending, ties, seed));
                assert_eq!(expected, hold::<Ladder<Mock>>(gaps, pending, ties, seed));
                assert_eq!(expected, hold::<Changing>(gaps, pending, ties, seed));
                assert_eq!(expected, hold::<Windowed>(gaps, pending, ties, seed));
            }
        }
    }
}

/// Handles `events` events of a hold model, each with one successor in `gap(number)`; returns whether
/// the wheel is a ladder afterwards, and whether it was one before.
fn is_ladder_after(pending: usize, events: u32, gap: impl Fn(u32) -> u64) -> (bool, bool) {
    let Changing(mut queue) = Changing::new(Ties::new(1, None));
    let push = |queue: &mut Wheel<Mock>, now: Time, number: u32| {
        let time = Time(now.0 + gap(number));
        let (class, node) = (Class::Arrival, number % 5);
        let event = Mock {
            class,
            node,
            number,
        };
        queue.push(Entry { time, event });
    };
    (0..pending as u32).for_each(|number| push(&mut queue, Time::ZERO, number));
    let mut before = false;
    for number in 0..events {
        let Entry { time, .. } = queue.pop().expect("a pending event");
        before |= queue.ladder.is_some();
        push(&mut queue, time, pending as u32 + number);
    }
    assert_eq!(queue.len(), pending);
    (queue.ladder.is_some(), before)
}

#[test]
fn many_events_that_are_known_in_advance_are_in_a_ladder() {
    // 1,000 events in a microsecond, which is far more than a bucket of 512.
    let gap = |number| 1_000_000 + u64::from(number % 1_000);
    assert_eq!(is_ladder_after(1_000, 100_000, gap), (true, true));
    // Fewer than a hundred events.
    assert_eq!(is_ladder_after(99, 100_000, gap), (false, false));
    // Fewer as well, and not known in advance, but one after every three picoseconds.
    assert_eq!(is_ladder_after(50, 200_000, |_| 150), (false, true));
    assert_eq!(is_ladder_after(10, 200_000, |_| 30), (false, false));
    // Of 1,000 events all but some are far ahead; those few follow each other in every bucket.
    let gap = |number| if number < 990 { 1 << 50 } else { 1_000 };
    assert_eq!(is_ladder_after(1_000, 100_000, gap), (false, true));
}

#[test]
fn a_ladder_with_few_events_left_becomes_a_wheel() {
    let mut queue = Changing::new(Ties::new(1, None)).0;
    let push = |queue: &mut Wheel<Mock>, number: u32| {
        let (class, node) = (Class::Arrival, 0);
        let event = Mock {
            class,
            node,
            number,
        };
        let time = Time(1_000 * u64::from(number));
        queue.push(Entry { time, event });
    };
    const FIRST: u32 = 100_000;
    (0..FIRST).for_each(|number| push(&mut queue, number));
    let mut seen = [false; 2];
    for number in 0..2 * FIRST {
        let next = queue.pop().map(|entry| entry.event.number);
        assert_eq!(next, Some(number));
        let is_ladder = queue.ladder.is_some();
        seen[1] |= seen[0] && !is_ladder;
        seen[0] |= is_ladder;
        // From then on there are 40 pending events.
        if number >= FIRST - 40 {
            push(&mut queue, number + 40);
        }
    }
    assert_eq!(seen, [true, true]);
}

/// Action on a queue.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Pushes an event that comes this long after the last one handled.
    Push { gap: u64, class: Class, node: u32 },
    /// Handles the next event.
    Pop,
    /// Stops the run before the next event; an event pushed afterwards may precede it.
    Pause,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Ties, the same slot, another slot, and distances beyond one turn of the wheel.
    let gap = prop_oneof![0..3u64, 0..1u64 << 17, 0..1u64 << 24, 0..1u64 << 45];
    let class = prop_oneof![Just(Class::Arrival), Just(Class::Timer)];
    let push = (gap, class, 0..5u32).prop_map(|(gap, class, node)| Step::Push { gap, class, node });
    vec(
        prop_oneof![5 => push, 3 => Just(Step::Pop), 1 => Just(Step::Pause)],
        0..150,
    )
}

/// Returns the events of a script in the order in which they were handled, and the number of
/// pending events after each step.
fn handled<Q: EventQueue<Mock>>(steps: &[Step], ties: Ties) -> (Vec<(Time, Mock)>, Vec<usize>) {
    let mut queue = Q::new(ties);
    let (mut order, mut pending) = (Vec::new(), Vec::new());
    let mut now = Time::ZERO;
    for (number, &step) in (0..).zip(steps) {
        match step {
            Step::Push { gap, class, node } => queue.push(Entry {
                time: Time(now.0 + gap),
                event: Mock {
                    class,
                    node,
                    number,
                },
            }),
            Step::Pop => {
                if let Some(Entry { time, event }) = queue.pop() {
                    now = time;
                    order.push((time, event));
                }
            }
            Step::Pause => {
                if let Some(entry) = queue.pop() {
                    queue.push(entry);
                }
            }
        }
        pending.push(queue.len());
    }
    let rest = std::iter::from_fn(|| queue.pop());
    order.extend(rest.map(|Entry { time, event }| (time, event)));
    (order, pending)
}

proptest! {
    #[test]
    fn both_queues_handle_any_script_like_a_sorted_list(
        steps in steps(),
        seed in any::<u64>(),
        separate in any::<bool>(),
    ) {
        let drawn = Ties::new(seed, None);
        let ties = if separate { drawn.of_separate_nodes() } else { drawn };
        let expected = handled::<Sorted>(&steps, ties);
        prop_assert_eq!(&expected, &handled::<Heap<Mock>>(&steps, ties));
        prop_assert_eq!(&expected, &handled::<Wheel<Mock>>(&steps, ties));
        prop_assert_eq!(&expected, &handled::<Ladder<Mock>>(&steps, ties));
    }
}

/// Returns the order of four simultaneous arrivals and three timers, for seven orders of insertion.
fn orders(ties: Ties) -> Vec<Vec<(u32, u32)>> {
    let mut orders = Vec::new();
    for first in 0..7 {
        let mut queue = Wheel::new(ties);
        for i in (0..7).map(|i| (first + i) % 7) {
            let class = if i < 4 { Class::Arrival } else { Class::Timer };
            let (node, number) = (i % 4, 0);
            let event = Mock {
                class,
                node,
                number,
            };
            queue.push(Entry {
                time: Time(5),
                event,
            });
        }
        let popped = std::iter::from_fn(|| queue.pop());
        orders.push(
            popped
                .map(|e| (e.event.class as u32, e.event.node))
                .collect(),
        );
    }
    orders
}

#[test]
fn ties_do_not_depend_on_the_order_of_causes_and_arrivals_come_before_timers() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..100 {
        let orders = orders(Ties::new(seed, None));
        assert!(orders.iter().all(|order| *order == orders[0]));
        let classes: Vec<u32> = orders[0].iter().map(|(class, _)| *class).collect();
        assert_eq!(classes, [0, 0, 0, 0, 1, 1, 1]);
        seen.insert(orders[0].clone());
    }
    // There are 24 orders of the arrivals times 6 orders of the timers.
    assert!(seen.len() > 60, "{} orders in 100 runs", seen.len());
}

/// Each of ten places must come first equally often, over the seeds and over time. With 9 degrees
/// of freedom, chi-squared exceeds 27.9 with a probability of 0.001.
#[test]
fn no_place_and_no_subject_is_favoured() {
    const PLACES: u32 = 10;
    let runs = 20_000;
    let chi_squared = |first: &dyn Fn(u64) -> u32| {
        let mut counts = [0u32; PLACES as usize];
        (0..runs).for_each(|i| counts[first(i) as usize] += 1);
        let expected = runs as f64 / f64::from(PLACES);
        let square = |&count: &u32| (f64::from(count) - expected).powi(2) / expected;
        counts.iter().map(square).sum::<f64>()
    };
    let least = |rank: &dyn Fn(u32) -> u64| (0..PLACES).min_by_key(|&i| rank(i)).unwrap();
    let ties = Ties::new(1, None);
    let statistics = [
        chi_squared(&|seed| least(&|place| Ties::new(seed, None).rank(Time(0), place))),
        chi_squared(&|time| least(&|place| ties.rank(Time(time), place))),
        chi_squared(&|time| least(&|place| ties.rank(Time(51_200 * time), place))),
        chi_squared(&|time| least(&|subject| ties.rank_at(Time(time), 3, subject))),
    ];
    assert!(statistics.iter().all(|&chi| chi < 27.9), "{statistics:?}");
}

/// Shuffling the events of different nodes keeps the order of the events at each node.
#[test]
fn each_order_of_nodes_keeps_the_order_at_each_node() {
    let of_node = |order: &[(u32, u32)], node: u32| -> Vec<u32> {
        let here = order.iter().filter(|(_, at)| *at == node);
        here.map(|(class, _)| *class).collect()
    };
    let usual = orders(Ties::new(1, None)).remove(0);
    let mut others = 0;
    for shuffle in 0..20 {
        let shuffled = orders(Ties::new(1, Some(shuffle))).remove(0);
        for node in 0..4 {
            assert_eq!(of_node(&shuffled, node), of_node(&usual, node));
        }
        others += u32::from(shuffled != usual);
    }
    let numbered = orders(Ties::new(1, None).of_separate_nodes());
    assert!(numbered.iter().all(|order| *order == numbered[0]));
    assert!(numbered[0].is_sorted_by_key(|(_, node)| *node));
    for node in 0..4 {
        assert_eq!(of_node(&numbered[0], node), of_node(&usual, node));
    }
    assert!(others > 15);
}
