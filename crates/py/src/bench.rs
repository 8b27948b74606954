//! What `make bench` measures below the level of a scenario.

use lightburst_des::agenda::{
    Agenda, BinaryHeap, Class, Entry, QuadHeap, RadixHeap, Sequence, Wheel, NAMES,
};
use lightburst_des::{Stream, Time};
use lightburst_net::{Event, NodeId};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::time::Instant;

/// Seconds that `events` events of the hold model take with `pending` events in the
/// agenda, after as many in which it has got used to the load: pop the next, push one
/// after a random gap.
#[pyfunction]
pub fn bench_agenda(
    py: Python<'_>,
    name: &str,
    pending: usize,
    events: u64,
    seed: u64,
) -> PyResult<f64> {
    let hold: fn(usize, u64, u64) -> f64 = match name {
        "binary-heap" => hold::<BinaryHeap<Event>>,
        "quad-heap" => hold::<QuadHeap<Event>>,
        "radix-heap" => hold::<RadixHeap<Event>>,
        "wheel" => hold::<Wheel<Event>>,
        _ => {
            let known = NAMES.join(", ");
            return Err(PyValueError::new_err(format!(
                "no agenda {name:?}; known: {known}"
            )));
        }
    };
    Ok(py.detach(|| hold(pending, events, seed)))
}

fn hold<A: Agenda<Event>>(pending: usize, events: u64, seed: u64) -> f64 {
    const MEAN_GAP: u32 = 1 << 30;
    let mut draw = Stream::new(seed, "bench");
    let mut sequence = Sequence::default();
    let mut agenda = A::default();
    agenda.reserve(pending);
    let mut push = |agenda: &mut A, draw: &mut Stream, now: Time| {
        let time = Time(now.0 + 1 + u64::from(draw.below(2 * MEAN_GAP)));
        let event = Event::Timer {
            node: NodeId(0),
            token: 0,
        };
        agenda.push(Entry {
            time,
            order: sequence.next(Class::Timer),
            event,
        });
    };
    for _ in 0..pending {
        push(&mut agenda, &mut draw, Time::ZERO);
    }
    let mut timed = || {
        let start = Instant::now();
        for _ in 0..events {
            let entry = agenda.pop().expect("a pending event");
            push(&mut agenda, &mut draw, entry.time);
        }
        start.elapsed().as_secs_f64()
    };
    timed();
    timed()
}

/// Seconds that a fixed loop of random draws takes: how fast this machine is now.
#[pyfunction]
pub fn bench_calibration(py: Python<'_>) -> f64 {
    py.detach(|| {
        let start = Instant::now();
        let mut draw = Stream::new(1, "calibration");
        let sum = (0..100_000_000u32).fold(0u64, |sum, _| sum.wrapping_add(draw.next_u64()));
        std::hint::black_box(sum);
        start.elapsed().as_secs_f64()
    })
}
