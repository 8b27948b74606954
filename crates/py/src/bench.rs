//! Benchmarks of components, for `make bench`.

use lightburst_des::queue::{Entry, EventQueue, Heap, Layout, Wheel};
use lightburst_des::{Stream, Ties, Time};
use lightburst_net::{Event, NodeId, TimerId};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::time::Instant;

/// Measures the hold model with `pending` events in the event queue: pop the next event, push one
/// after a random gap. Returns the seconds for `events` such steps, after as many steps of warm-up.
#[pyfunction]
pub fn bench_queue(
    py: Python<'_>,
    name: &str,
    pending: usize,
    events: u64,
    seed: u64,
) -> PyResult<f64> {
    let ties = Ties::new(seed, None);
    let laid_out = |layout| {
        let mut queue = Wheel::new(ties);
        queue.lay_out(layout);
        queue
    };
    py.detach(|| match name {
        "heap" => Some(hold(Heap::new(ties), pending, events, seed)),
        "wheel" => Some(hold(laid_out(Layout::Wheel), pending, events, seed)),
        "ladder" => Some(hold(laid_out(Layout::Ladder), pending, events, seed)),
        _ => None,
    })
    .ok_or_else(|| {
        PyValueError::new_err(format!(
            "no event queue {name:?}; known: heap, ladder, wheel"
        ))
    })
}

fn hold<Q: EventQueue<Event>>(mut queue: Q, pending: usize, events: u64, seed: u64) -> f64 {
    const MEAN_GAP: u32 = 1 << 30;
    let mut draw = Stream::new(seed, "bench");
    let mut number = 0;
    queue.reserve(pending);
    let mut push = |queue: &mut Q, draw: &mut Stream, now: Time| {
        let time = Time(now.0 + 1 + u64::from(draw.below(2 * MEAN_GAP)));
        let event = Event::timer(
            NodeId(0),
            TimerId {
                kind: 0,
                subject: number,
            },
        );
        number += 1;
        queue.push(Entry { time, event });
    };
    for _ in 0..pending {
        push(&mut queue, &mut draw, Time::ZERO);
    }
    let mut timed = || {
        let start = Instant::now();
        for _ in 0..events {
            let entry = queue.pop().expect("a pending event");
            push(&mut queue, &mut draw, entry.time);
        }
        start.elapsed().as_secs_f64()
    };
    timed();
    timed()
}

/// Measures a fixed loop of random draws, as a calibration of this machine's present speed. Returns
/// seconds.
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
