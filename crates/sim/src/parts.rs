//! Run of a network in parts, each on a thread of its own. The parts handle the events of one window
//! after another; a window is as long as the shortest delay of a link between two parts, so that an
//! event in it has no effect on another part before its end (conservative synchronisation with
//! lookahead). The order of the events at each node is that of a run as a whole, and so is each
//! result, to the bit.

mod barrier;
mod columns;
mod pace;
mod sync;
#[cfg(test)]
mod tests;
mod whole;

pub use whole::refusal;

use crate::ideal::{self, Paths};
use crate::measurement::{Look, Meters};
use crate::plan::{Plan, PlanError};
use crate::run::{load, Run};
use crate::{build, check, Outputs};
use barrier::{Barrier, Broken, SPINS};
use lightburst_des::{Duration, Simulator, Time};
use lightburst_net::{LinkId, Network, Parcel, Part, Shared};
use lightburst_tcp::{Activity, TcpHosts};
use pace::{Mode, Pace};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

/// Called by each thread of a run when it begins.
pub type Enter = Arc<dyn Fn() + Send + Sync>;

/// Network of one part, with its pending events.
struct Piece {
    simulator: Simulator<Network<TcpHosts>>,
    looks: Vec<Box<dyn Look>>,
    /// Time before which no event of this part is pending.
    next: Time,
}

/// Run in parts, in progress.
pub struct Parts {
    pieces: Vec<Piece>,
    of_node: Arc<[u16]>,
    /// Shortest delay of a link between two parts.
    lookahead: Duration,
    limit: Time,
    end: Time,
    paths: Paths,
    /// Sources and destinations of all flows.
    ends: [Shared<u32>; 2],
    threads: usize,
    pace: Pace,
    enter: Enter,
}

/// State that the threads share at the end of a window. There are two copies, which windows use in
/// turn: a part may still read that of a window when another is already at the end of the next one.
struct Post {
    /// What crosses from each part to each other one.
    parcels: Vec<Vec<Mutex<Parcel>>>,
    /// Time before which no event of each part is pending, or comes from it.
    next: Vec<AtomicU64>,
    /// Number of events that each part has handled.
    events: Vec<AtomicU64>,
    /// Whether each part needs the slots of connections that have ended.
    many: Vec<AtomicBool>,
}

impl Post {
    fn new(parts: usize) -> Post {
        let row = |_| (0..parts).map(|_| Mutex::new(Parcel::default())).collect();
        Post {
            parcels: (0..parts).map(row).collect(),
            next: (0..parts).map(|_| AtomicU64::new(0)).collect(),
            events: (0..parts).map(|_| AtomicU64::new(0)).collect(),
            many: (0..parts).map(|_| AtomicBool::new(false)).collect(),
        }
    }

    fn next(&self) -> Time {
        let times = self.next.iter().map(|next| Time(next.load(Relaxed)));
        times.fold(Time::NEVER, Time::min)
    }

    fn events(&self) -> u64 {
        self.events.iter().map(|events| events.load(Relaxed)).sum()
    }

    fn are_many(&self) -> bool {
        self.many.iter().any(|many| many.load(Relaxed))
    }

    /// Returns the place of what crosses from one part to another.
    fn between(&self, from: usize, to: usize) -> MutexGuard<'_, Parcel> {
        let place = self.parcels[from][to].lock();
        place.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bounds of the windows that a call handles.
#[derive(Clone, Copy)]
struct Bounds {
    /// Greatest length of a window.
    lookahead: Duration,
    /// Last time at which events are handled.
    until: Time,
    /// Number of events after which no further window begins.
    events: u64,
}

impl Piece {
    fn of(plan: &Plan, number: usize, parts: usize, of_node: &Arc<[u16]>) -> Piece {
        let part = Part::new(number as u16, parts, Arc::clone(of_node));
        let meters = Meters::new(&plan.settings.measurements, &plan.scope());
        let fabric = build::fabric(plan, None, meters.observers, Some(part));
        let switches = build::switches(plan, None, &fabric);
        let hosts = build::tcp_hosts(plan);
        let network = Network::new(fabric, hosts, switches, plan.settings.hosts);
        let pending = 4 * plan.flows.source.len() / parts;
        let mut simulator = Simulator::new(network, plan.ties(), pending);
        simulator.lay_out(plan.layout());
        simulator.model.start(&mut simulator.agenda);
        let mut looks = meters.looks;
        for look in &mut looks {
            look.begin(&mut simulator.model);
        }
        Piece {
            simulator,
            looks,
            next: Time::ZERO,
        }
    }

    fn part(&mut self) -> &mut Part {
        let part = self.simulator.model.fabric.part.as_mut();
        part.expect("a part")
    }

    /// Handles the events of a window that ends at `last`.
    fn run_window(&mut self, last: Time) {
        let own = self.simulator.run_window(last);
        let crossing = self.part().take_earliest();
        self.next = own.unwrap_or(Time::NEVER).min(crossing);
    }

    /// Puts down what crosses to other parts, and where this part stands.
    fn hand_over(&mut self, number: usize, post: &Post) {
        post.next[number].store(self.next.0, Relaxed);
        post.events[number].store(self.simulator.events(), Relaxed);
        let many = self.simulator.model.hosts.are_many();
        post.many[number].store(many, Relaxed);
        for other in (0..post.next.len()).filter(|&other| other != number) {
            let mut place = post.between(number, other);
            std::mem::swap(&mut *place, self.part().parcel(other));
        }
    }

    /// Takes what crosses to this part, and ends the window.
    fn take_over(&mut self, number: usize, post: &Post) {
        let Simulator { model, agenda, .. } = &mut self.simulator;
        for other in (0..post.next.len()).filter(|&other| other != number) {
            let mut parcel = post.between(other, number);
            model.fabric.receive(&mut parcel, agenda);
        }
        let asking = model.fabric.end_window();
        model.hosts.end_window(asking, &mut model.fabric.dropped);
    }
}

/// Handles the events of windows in the parts of one thread, the first of which has the number `first`,
/// until the bounds end them. Then no parcel is under way.
fn run(
    (first, pieces): (usize, &mut [Piece]),
    bounds: Bounds,
    posts: &[Post; 2],
    barrier: &Barrier,
) -> Result<(), Broken> {
    for post in posts.iter().cycle() {
        for (number, piece) in (first..).zip(&mut *pieces) {
            piece.hand_over(number, post);
        }
        barrier.wait()?;
        for (number, piece) in (first..).zip(&mut *pieces) {
            piece.take_over(number, post);
        }
        let next = post.next();
        if next > bounds.until || post.are_many() || post.events() >= bounds.events {
            break;
        }
        let last = next.0.saturating_add(bounds.lookahead.0 - 1);
        for piece in &mut *pieces {
            piece.run_window(Time(last).min(bounds.until));
        }
    }
    Ok(())
}

impl Parts {
    /// Handles the events of some windows, on as many threads as are faster.
    fn run(&mut self, bounds: Bounds) {
        if self.threads == 1 {
            return self.run_on(1, bounds);
        }
        let (mode, stretch) = self.pace.next();
        let threads = match mode {
            Mode::Alone => 1,
            Mode::Together => self.threads,
        };
        let (begun, before) = (Instant::now(), self.events());
        let events = bounds.events.min(before.saturating_add(stretch));
        self.run_on(threads, Bounds { events, ..bounds });
        self.pace
            .record(mode, self.events() - before, begun.elapsed());
    }

    /// Handles the events of some windows on this number of threads.
    fn run_on(&mut self, threads: usize, bounds: Bounds) {
        let parts = self.pieces.len();
        let posts = [Post::new(parts), Post::new(parts)];
        let barrier = Barrier::new(threads, SPINS);
        let handle = |first: usize, pieces: &mut [Piece]| {
            let run = || run((first, pieces), bounds, &posts, &barrier);
            let ended = catch_unwind(AssertUnwindSafe(run));
            if ended.is_err() {
                barrier.break_up();
            }
            ended
        };
        let shares = (0..=threads).map(|thread| thread * parts / threads);
        let shares: Vec<usize> = shares.collect();
        let (mut rest, enter, handle) = (&mut self.pieces[..], &self.enter, &handle);
        let mut complete = true;
        thread::scope(|scope| {
            let mut begun = Vec::new();
            for share in shares.windows(2).skip(1).rev() {
                let (others, pieces) = rest.split_at_mut(share[0]);
                rest = others;
                let work = move || {
                    enter();
                    handle(share[0], pieces)
                };
                let Ok(thread) = thread::Builder::new().spawn_scoped(scope, work) else {
                    // The machine has no further thread. Nobody has handled an event yet.
                    barrier.break_up();
                    break;
                };
                begun.push(thread);
            }
            complete = begun.len() + 1 == threads;
            let first = handle(0, rest);
            let others = begun.into_iter();
            let others = others.map(|thread| thread.join().and_then(|it| it));
            let ended: Vec<_> = std::iter::once(first).chain(others).collect();
            if let Some(panic) = ended.into_iter().find_map(Result::err) {
                resume_unwind(panic);
            }
        });
        if !complete {
            self.threads = 1;
            self.run_on(1, bounds);
        }
    }

    /// Returns the time before which no event is pending; [`Time::NEVER`] if none is.
    fn next(&self) -> Time {
        let times = self.pieces.iter().map(|piece| piece.next);
        times.fold(Time::NEVER, Time::min)
    }

    /// Returns the time of the next reading of state. All parts make theirs at the same times.
    fn next_look(&self) -> Time {
        let looks = self.pieces[0].looks.iter();
        looks.map(|look| look.next()).fold(Time::NEVER, Time::min)
    }

    /// Makes the readings that are due before an event at `time`.
    fn look_before(&mut self, time: Time) {
        loop {
            let next = self.next_look();
            if next >= time {
                return;
            }
            for Piece {
                looks, simulator, ..
            } in &mut self.pieces
            {
                for look in looks.iter_mut().filter(|look| look.next() == next) {
                    look.take(next, &mut simulator.model);
                }
            }
        }
    }

    /// Ends the run at `time`, with the last readings.
    fn end_at(&mut self, time: Time) {
        self.end = time;
        for Piece {
            looks, simulator, ..
        } in &mut self.pieces
        {
            for look in looks {
                look.end(time, &mut simulator.model);
            }
        }
    }

    /// Records the outcomes of the connections that have ended in all parts, and frees their slots.
    fn end_connections(&mut self) {
        let mut all = vec![Activity::default(); self.ends[0].len()];
        for piece in &self.pieces {
            let fabric = &piece.simulator.model.fabric;
            let part = fabric.part.as_ref().expect("a part");
            let hosts = &piece.simulator.model.hosts;
            hosts.add_activity(part, &mut all);
            for packet in fabric.units.packets.values() {
                all[packet.envelope.flow.index()].busy = true;
            }
        }
        let over = |(index, activity): (usize, &Activity)| activity.is_over().then_some(index);
        let over: Vec<usize> = all.iter().enumerate().filter_map(over).collect();
        for piece in &mut self.pieces {
            let model = &mut piece.simulator.model;
            model.hosts.end(&over, &mut model.fabric.dropped);
        }
    }

    fn are_many(&self) -> bool {
        let mut pieces = self.pieces.iter();
        pieces.any(|piece| piece.simulator.model.hosts.are_many())
    }
}

impl Run for Parts {
    fn advance(&mut self, events: u64) -> bool {
        let last = self.events().saturating_add(events);
        loop {
            self.run(Bounds {
                lookahead: self.lookahead,
                until: self.limit.min(self.next_look()),
                events: last,
            });
            if self.are_many() {
                self.end_connections();
            }
            let next = self.next();
            if self.events() >= last {
                self.end = self.now();
                return false;
            }
            if next <= self.limit {
                // A stretch has ended, or a reading is due.
                self.look_before(next);
                continue;
            }
            let end = match next {
                Time::NEVER => self.now(),
                _ => self.limit,
            };
            self.look_before(end);
            self.end_at(end);
            return true;
        }
    }

    fn events(&self) -> u64 {
        let each = self.pieces.iter().map(|piece| piece.simulator.events());
        each.sum()
    }

    fn now(&self) -> Time {
        let each = self.pieces.iter().map(|piece| piece.simulator.agenda.now());
        each.fold(Time::ZERO, Time::max)
    }

    fn columns(self: Box<Self>) -> Outputs {
        columns::joined(*self)
    }

    fn load(&self) -> Vec<(&'static str, u64)> {
        let each = self.pieces.iter().map(|piece| &piece.simulator);
        let loads: Vec<_> = each.map(|simulator| load(simulator, &[])).collect();
        columns::joined_loads(&loads)
    }

    fn beyond_the_clock(&self) -> Option<LinkId> {
        let mut each = self.pieces.iter();
        each.find_map(|piece| piece.simulator.model.fabric.links.beyond_the_clock())
    }
}

/// Prepares a run in parts on this number of threads; `of_node` gives the part of each node. Each
/// thread calls `enter` when it begins.
pub fn prepare(
    plan: &Plan,
    of_node: Vec<u16>,
    threads: usize,
    enter: Enter,
) -> Result<Box<dyn Run>, PlanError> {
    check::check(plan)?;
    let parts = whole::check(plan, &of_node)?;
    let of_node: Arc<[u16]> = of_node.into();
    let lookahead = lookahead(plan, &of_node);
    let build = |number| Piece::of(plan, number, parts, &of_node);
    let pieces = thread::scope(|scope| {
        let begin = |number| {
            let (build, enter) = (&build, &enter);
            scope.spawn(move || {
                enter();
                build(number)
            })
        };
        let begun: Vec<_> = (1..parts).map(begin).collect();
        let others = begun.into_iter().map(|thread| {
            let built = thread.join();
            built.unwrap_or_else(|panic| resume_unwind(panic))
        });
        std::iter::once(build(0)).chain(others).collect::<Vec<_>>()
    });
    let paths = ideal::paths(plan, &pieces[0].simulator.model.fabric);
    Ok(Box::new(Parts {
        pieces,
        lookahead,
        limit: Time(plan.settings.time_limit_ps),
        end: Time::ZERO,
        paths,
        ends: [plan.flows.source.clone(), plan.flows.destination.clone()],
        of_node,
        threads: threads.clamp(1, parts),
        pace: Pace::default(),
        enter,
    }))
}

/// Returns the shortest delay of a link between two parts.
fn lookahead(plan: &Plan, of_node: &[u16]) -> Duration {
    let links = &plan.links;
    let part = |node: u32| of_node[node as usize];
    let ends = links.from.iter().zip(&links.to).zip(&links.delay_ps);
    let crossing = ends.filter(|((&from, &to), _)| part(from) != part(to));
    let delays = crossing.map(|(_, &delay)| delay);
    Duration(delays.min().unwrap_or(u64::MAX))
}
