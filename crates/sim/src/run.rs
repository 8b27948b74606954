//! Run of a plan, advanced in slices so that the caller can stop it in between.

use crate::columns::{self, Outputs};
use crate::counts::{Counts, Totals};
use crate::ideal::{self, Paths};
use crate::measurement::{Look, Meters};
use crate::plan::{Plan, PlanError};
use crate::state::MeasuredHosts;
use crate::{build, check, circuits};
use lightburst_des::{Simulator, Stop, Time};
use lightburst_net::{Fabric, Hosts, LinkId, Network};
use lightburst_tcp::TcpHosts;
use std::sync::Arc;

/// Greatest number of readings of state in one slice.
const LOOKS: usize = 1000;

/// Run in progress, with any kind of hosts.
pub trait Run: Send {
    /// Handles at most `events` events; returns whether the run has ended.
    fn advance(&mut self, events: u64) -> bool;

    /// Returns the number of events handled.
    fn events(&self) -> u64;

    /// Returns the current time.
    fn now(&self) -> Time;

    /// Returns the tables of the result, by name, as if the run ended now.
    fn columns(self: Box<Self>) -> Outputs;

    /// Returns the largest quantities of the current state; in a run that does not end, some of
    /// them grow.
    fn load(&self) -> Vec<(&'static str, u64)>;

    /// Returns a link whose backlog ends beyond the range of the clock, if there is one.
    fn beyond_the_clock(&self) -> Option<LinkId>;
}

struct Running<H: Hosts> {
    simulator: Simulator<Network<H>>,
    limit: Time,
    /// Time limit if it has ended the run, otherwise the time of the last event.
    end: Time,
    paths: Paths,
    /// Whether bursts are divided into classes.
    classes: bool,
    /// Number of flows, with and without further subflows.
    numbers: usize,
    flows: usize,
    looks: Vec<Box<dyn Look>>,
}

impl<H: MeasuredHosts> Running<H> {
    /// Handles events up to the next reading of state or change of routes, or else up to the time
    /// limit.
    fn run(&mut self, events: u64) -> Stop {
        let stop = self.next_look().min(self.next_change());
        self.simulator.run(self.limit.min(stop), events)
    }

    /// Returns the time of the next change of routes.
    fn next_change(&self) -> Time {
        let outages = self.simulator.model.fabric.outages.as_ref();
        outages.map_or(Time::NEVER, |outages| outages.next_change())
    }

    /// Returns the time of the next change of routes, if it comes before the next event.
    fn change_due(&self, stop: Stop) -> Option<Time> {
        let outages = self.simulator.model.fabric.outages.as_ref()?;
        let change = outages.next_change();
        let first = match stop {
            Stop::Paused => false,
            Stop::Later(time) => change < time,
            // Units that wait for the change, and for no event.
            Stop::Drained => outages.keep_any(),
        };
        (first && change <= self.limit).then_some(change)
    }

    /// Changes the routes at `time`, after the readings before that. Returns whether it did;
    /// otherwise the caller gets an opportunity to stop the run.
    fn change_at(&mut self, time: Time) -> bool {
        let looked = self.look_before(time);
        if looked {
            let Simulator { model, agenda, .. } = &mut self.simulator;
            agenda.pass(time);
            model.change_routes(agenda);
        }
        looked
    }

    /// Returns the earliest time at which a reading is due.
    fn next_look(&self) -> Time {
        let times = self.looks.iter().map(|look| look.next());
        times.fold(Time::NEVER, Time::min)
    }

    /// Makes the readings that are due at `time`; all events up to then must have been handled.
    fn look(&mut self, time: Time) {
        for look in self.looks.iter_mut().filter(|look| look.next() == time) {
            look.take(time, &mut self.simulator.model);
        }
    }

    /// Makes the readings that are due before an event at `time`. Returns whether none are left;
    /// otherwise the caller gets an opportunity to stop the run.
    fn look_before(&mut self, time: Time) -> bool {
        for _ in 0..LOOKS {
            let next = self.next_look();
            if next >= time {
                return true;
            }
            self.look(next);
        }
        false
    }

    /// Ends the run at `time`, with the last readings.
    fn end_at(&mut self, time: Time) {
        self.end = time;
        for look in &mut self.looks {
            look.end(time, &mut self.simulator.model);
        }
    }
}

impl<H: MeasuredHosts + Send> Run for Running<H> {
    fn advance(&mut self, events: u64) -> bool {
        let last = self.simulator.events().saturating_add(events);
        loop {
            let stop = self.run(last - self.simulator.events());
            if let Some(time) = self.change_due(stop) {
                if self.change_at(time) {
                    continue;
                }
                return false;
            }
            let end = match stop {
                Stop::Paused => {
                    self.end = self.simulator.agenda.now();
                    return false;
                }
                Stop::Later(time) if time <= self.limit => {
                    if self.look_before(time) {
                        continue;
                    }
                    return false;
                }
                Stop::Later(_) => self.limit,
                Stop::Drained => self.simulator.agenda.now(),
            };
            let looked = self.look_before(end);
            if looked {
                self.end_at(end);
            }
            return looked;
        }
    }

    fn columns(self: Box<Self>) -> Outputs {
        let (end, events) = (self.end, self.simulator.events());
        let mut network = self.simulator.model;
        let mut counts = Counts::of(&network, end);
        let observers = std::mem::take(&mut network.fabric.observers);
        let observed = observers.tables();
        let looks = self.looks.into_iter();
        let looked: Vec<_> = looks.flat_map(|look| look.tables(&mut counts)).collect();
        let fabric = &network.fabric;
        let lost = columns::folded(fabric.dropped.column(), self.numbers, self.flows);
        let mut outcomes = network.hosts.outcomes(&fabric.dropped);
        let begun = outcomes.take_begun();
        let flows = columns::flows(outcomes, lost, self.paths);
        let mut tables: Outputs = vec![("flows", flows.into())];
        tables.extend(counted(fabric, (end, events), counts, self.classes));
        if let Some(pauses) = &fabric.pauses {
            tables.push(("locked", columns::locked(pauses, &fabric.units).into()));
            if let Some(spans) = pauses.recorded() {
                tables.push(("pauses", columns::pauses(&spans).into()));
            }
        }
        if let Some(begun) = begun {
            let table: columns::Table = vec![("begun_ps", begun.into())];
            tables.push(("joins", table.into()));
        }
        tables.into_iter().chain(observed).chain(looked).collect()
    }

    fn load(&self) -> Vec<(&'static str, u64)> {
        load(&self.simulator, &self.looks)
    }

    fn events(&self) -> u64 {
        self.simulator.events()
    }

    fn now(&self) -> Time {
        self.simulator.agenda.now()
    }

    fn beyond_the_clock(&self) -> Option<LinkId> {
        self.simulator.model.fabric.links.beyond_the_clock()
    }
}
/// Returns the tables of links, switches, scripts, totals and, if there are any, `classes`, of a run
/// that ended at a time after this number of events.
pub fn counted(
    fabric: &Fabric,
    (end, events): (Time, u64),
    counts: Counts,
    classes: bool,
) -> Outputs {
    let totals = [
        ("events", events),
        ("packet_hops", fabric.hops()),
        ("end_ps", end.0),
        (
            "transmitted_until_ps",
            fabric.links.transmitted_until(end).0,
        ),
    ];
    let totals: Totals = totals.into_iter().chain(counts.totals).collect();
    let mut tables: Outputs = vec![
        ("links", counts.links.into()),
        ("switches", counts.switches.into()),
        ("drops", columns::drops(fabric).into()),
        ("totals", totals.into()),
    ];
    if classes {
        tables.push(("classes", counts.classes.into()));
    }
    tables
}

/// Returns the largest quantities of the current state of a run.
pub fn load<H: MeasuredHosts>(
    simulator: &Simulator<Network<H>>,
    looks: &[Box<dyn Look>],
) -> Vec<(&'static str, u64)> {
    let (network, now) = (&simulator.model, simulator.agenda.now());
    let fabric = &network.fabric;
    let (link, waiting) = largest(fabric.carried(now).map(|link| link.waiting));
    // Bytes in output queues are counted with the links.
    let (switch, held) = largest(network.switches().map(|(_, switch)| switch.held(0)));
    let connections = network.hosts.connections();
    let repeated = connections.and_then(TcpHosts::most_repeated);
    let load = [
        ("events", simulator.events()),
        ("now_ps", now.0),
        ("pending", simulator.agenda.pending() as u64),
        ("units", fabric.units.packets.len() as u64),
        ("link", link),
        ("waiting_bytes", waiting),
        ("switch", switch),
        ("held_bytes", held),
        ("flow", repeated.map_or(0, |(flow, _)| u64::from(flow.0))),
        ("retransmissions", repeated.map_or(0, |(_, number)| number)),
    ];
    let looks = looks.iter().filter_map(|look| look.load());
    let stored = fabric.observers.loads().chain(looks);
    load.into_iter().chain(stored).collect()
}

/// Returns the index of the first largest value, and the value; zeros if there are no values.
fn largest(values: impl Iterator<Item = u64>) -> (u64, u64) {
    values.zip(0..).fold((0, 0), |(place, most), (value, at)| {
        if value > most {
            (at, value)
        } else {
            (place, most)
        }
    })
}

/// Prepares a run of a plan.
pub fn prepare(plan: &Plan) -> Result<Box<dyn Run>, PlanError> {
    check::check(plan)?;
    let meters = Meters::new(&plan.settings.measurements, &plan.scope());
    let mut transports = plan.settings.groups.iter().map(|group| &group.transport);
    let datagrams = transports.clone().any(|transport| transport.is_datagram());
    Ok(
        if datagrams && transports.all(|transport| transport.is_datagram()) {
            running(plan, meters, build::datagram_hosts(plan))
        } else if datagrams {
            running(plan, meters, build::mixed_hosts(plan))
        } else {
            running(plan, meters, build::tcp_hosts(plan))
        },
    )
}

fn running<H>(plan: &Plan, meters: Meters, hosts: H) -> Box<dyn Run>
where
    H: MeasuredHosts + Send + 'static,
{
    let Meters {
        observers,
        mut looks,
    } = meters;
    let layout = circuits::layout(plan).map(Arc::new);
    let fabric = build::fabric(plan, layout.as_deref(), observers, None);
    let paths = ideal::paths(plan, &fabric);
    let switches = build::switches(plan, layout.as_ref(), &fabric);
    let network = Network::new(fabric, hosts, switches, plan.settings.hosts);
    let mut simulator = Simulator::new(network, plan.ties(), 4 * plan.flows.source.len());
    simulator.lay_out(plan.layout());
    simulator.model.start(&mut simulator.agenda);
    for look in &mut looks {
        look.begin(&mut simulator.model);
    }
    Box::new(Running {
        simulator,
        limit: Time(plan.settings.time_limit_ps),
        end: Time::ZERO,
        paths,
        classes: plan.classes() > 0,
        numbers: plan.numbers(),
        flows: plan.flows.source.len(),
        looks,
    })
}
