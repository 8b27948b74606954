//! Run of a plan, advanced in slices so that the caller can stop it in between.

use crate::columns::{self, Columns, Counts};
use crate::ideal::{self, Paths};
use crate::plan::{Plan, PlanError};
use crate::samples::Samples;
use crate::synchronisation::Synchronisation;
use crate::window::Window;
use crate::{build, check};
use lightburst_des::{Duration, Simulator, Stop, Time};
use lightburst_net::{Dropped, Fabric, Hosts, LinkId, Network, Trace};
use lightburst_tcp::{DatagramHosts, MixedHosts, Outcomes, TcpHosts};

/// Greatest number of samples and bins taken in one slice.
const LOOKS: usize = 1000;

/// Run in progress, with any kind of hosts.
pub trait Run: Send {
    /// Handles at most `events` events; returns whether the run has ended.
    fn advance(&mut self, events: u64) -> bool;

    /// Returns the number of events handled.
    fn events(&self) -> u64;

    /// Returns the current time.
    fn now(&self) -> Time;

    /// Returns the results as if the run ended now.
    fn columns(self: Box<Self>) -> Columns;

    /// Returns the largest quantities of the current state; in a run that does not end, some of
    /// them grow.
    fn load(&self) -> Vec<(&'static str, u64)>;

    /// Returns a link whose backlog ends beyond the range of the clock, if there is one.
    fn beyond_the_clock(&self) -> Option<LinkId>;
}

/// Hosts that report the outcomes of their flows.
trait Told {
    fn outcomes(self, dropped: &Dropped) -> Outcomes;

    /// Returns the useful bytes received so far.
    fn delivered(&self) -> u64;

    /// Returns the hosts with connections; `None` if there are only datagrams.
    fn connections(&self) -> Option<&TcpHosts>;

    /// Returns the hosts with connections for modification.
    fn connections_mut(&mut self) -> Option<&mut TcpHosts>;
}

impl Told for TcpHosts {
    fn outcomes(self, dropped: &Dropped) -> Outcomes {
        TcpHosts::outcomes(self, dropped)
    }

    fn delivered(&self) -> u64 {
        TcpHosts::delivered(self)
    }

    fn connections(&self) -> Option<&TcpHosts> {
        Some(self)
    }

    fn connections_mut(&mut self) -> Option<&mut TcpHosts> {
        Some(self)
    }
}

impl Told for MixedHosts {
    fn outcomes(self, dropped: &Dropped) -> Outcomes {
        MixedHosts::outcomes(self, dropped)
    }

    fn delivered(&self) -> u64 {
        MixedHosts::delivered(self)
    }

    fn connections(&self) -> Option<&TcpHosts> {
        Some(MixedHosts::connections(self))
    }

    fn connections_mut(&mut self) -> Option<&mut TcpHosts> {
        Some(MixedHosts::connections_mut(self))
    }
}

impl Told for DatagramHosts {
    fn outcomes(self, dropped: &Dropped) -> Outcomes {
        let mut outcomes = Outcomes::new(dropped.flows());
        self.tell(dropped, &mut outcomes);
        outcomes
    }

    fn delivered(&self) -> u64 {
        DatagramHosts::delivered(self)
    }

    fn connections(&self) -> Option<&TcpHosts> {
        None
    }

    fn connections_mut(&mut self) -> Option<&mut TcpHosts> {
        None
    }
}

struct Running<H: Hosts> {
    simulator: Simulator<Network<H>>,
    limit: Time,
    /// Time limit if it has ended the run, otherwise the time of the last event.
    end: Time,
    paths: Paths,
    /// Whether bursts are divided into classes.
    classes: bool,
    samples: Option<Samples>,
    synchronisation: Option<Box<Synchronisation>>,
    window: Option<Box<Window>>,
}

impl<H: Hosts + Told> Running<H> {
    /// Handles events up to the next reading of state, or else up to the time limit.
    fn run(&mut self, events: u64) -> Stop {
        self.simulator.run(self.limit.min(self.next_look()), events)
    }

    /// Returns the earliest time at which a sample is due, a bin ends or counters are read.
    fn next_look(&self) -> Time {
        let sample = self.samples.as_ref().map_or(Time::NEVER, Samples::next);
        let bins = self.synchronisation.as_ref();
        let window = self.window.as_ref().map_or(Time::NEVER, |it| it.next());
        let bin = bins.map_or(Time::NEVER, |bins| bins.next());
        sample.min(bin).min(window)
    }

    /// Takes the sample and ends the bin that are due at `time`; all events up to then must have
    /// been handled.
    fn look(&mut self, time: Time) {
        let network = &mut self.simulator.model;
        if let Some(samples) = self.samples.as_mut().filter(|it| it.next() == time) {
            samples.take(time, network);
        }
        if let Some(bins) = self.synchronisation.as_mut().filter(|it| it.next() == time) {
            let hosts = network.hosts.connections_mut();
            let hosts = hosts.expect("the plan was checked");
            bins.take(hosts);
            // The connections that ended in this bin have been counted; their states may be dropped.
            hosts.keep_those_over(bins.next() < Time::NEVER);
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
            self.count(next);
        }
        false
    }

    /// Reads the counters if the window begins or ends right after `time`.
    fn count(&mut self, time: Time) {
        let network = &mut self.simulator.model;
        if let Some(window) = self.window.as_mut().filter(|it| it.next() == time) {
            let delivered = network.hosts.delivered();
            window.take(network, delivered);
        }
    }

    /// Ends the run at `time`, with a last sample.
    fn end_at(&mut self, time: Time) {
        self.end = time;
        self.look(time);
        if let Some(samples) = &mut self.samples {
            samples.end(time, &self.simulator.model);
        }
    }
}

impl<H: Hosts + Told + Send> Run for Running<H> {
    fn advance(&mut self, events: u64) -> bool {
        let last = self.simulator.events().saturating_add(events);
        loop {
            let end = match self.run(last - self.simulator.events()) {
                Stop::Paused => {
                    self.end = self.simulator.scheduler.now();
                    return false;
                }
                Stop::Later(time) if time <= self.limit => {
                    if self.look_before(time) {
                        continue;
                    }
                    return false;
                }
                Stop::Later(_) => self.limit,
                Stop::Drained => self.simulator.scheduler.now(),
            };
            let looked = self.look_before(end);
            if looked {
                self.end_at(end);
            }
            return looked;
        }
    }

    fn columns(self: Box<Self>) -> Columns {
        let (end, events) = (self.end, self.simulator.events());
        let network = self.simulator.model;
        let mut counts = Counts::of(&network, network.hosts.delivered(), end);
        let window = self.window.map(|window| window.close(&mut counts));
        let fabric = &network.fabric;
        let drops = fabric.dropped.column();
        let totals = [
            ("events", events),
            ("packet_hops", fabric.hops()),
            ("end_ps", end.0),
            (
                "transmitted_until_ps",
                fabric.links.transmitted_until(end).0,
            ),
        ];
        Columns {
            links: counts.links,
            switches: counts.switches,
            flows: columns::flows(network.hosts.outcomes(&fabric.dropped), drops, self.paths),
            drops: columns::drops(fabric),
            classes: self.classes.then_some(counts.classes),
            trace: fabric
                .trace
                .as_deref()
                .map_or(Vec::new(), crate::trace::tables),
            reordering: fabric.orders.as_deref().map(columns::reordering),
            bursts: fabric.contents.as_deref().map(columns::bursts),
            samples: self.samples.as_ref().map(Samples::tables),
            synchronisation: self.synchronisation.as_ref().map(|bins| bins.sums()),
            bins: self.synchronisation.as_ref().and_then(|bins| bins.series()),
            window,
            totals: totals.into_iter().chain(counts.totals).collect(),
        }
    }

    fn load(&self) -> Vec<(&'static str, u64)> {
        let (network, now) = (&self.simulator.model, self.simulator.scheduler.now());
        let fabric = &network.fabric;
        let (link, waiting) = largest(fabric.carried(now).map(|link| link.waiting));
        // Bytes in output queues are counted with the links.
        let (switch, held) = largest(network.switches().map(|(_, switch)| switch.held(0)));
        let connections = network.hosts.connections();
        let repeated = connections.and_then(TcpHosts::most_repeated);
        let booked = |trace: &Trace| trace.bookings.as_ref().map_or(0, |kept| kept.rows.len());
        let of_bursts = |trace: &Trace| trace.births.len() + trace.bursts.len() + booked(trace);
        let of_flows = |trace: &Trace| trace.packets.len() + trace.windows.len() + trace.hops.len();
        let rows = |trace: &Trace| of_flows(trace) + of_bursts(trace);
        let traced = fabric.trace.as_deref().map_or(0, rows);
        vec![
            ("events", self.simulator.events()),
            ("now_ps", now.0),
            ("pending", self.simulator.scheduler.pending() as u64),
            ("units", fabric.units.packets.len() as u64),
            ("link", link),
            ("waiting_bytes", waiting),
            ("switch", switch),
            ("held_bytes", held),
            ("flow", repeated.map_or(0, |(flow, _)| u64::from(flow.0))),
            ("retransmissions", repeated.map_or(0, |(_, number)| number)),
            ("trace_rows", traced as u64),
            ("samples", self.samples.as_ref().map_or(0, Samples::len)),
            (
                "bins",
                self.synchronisation.as_ref().map_or(0, |bins| bins.len()),
            ),
        ]
    }

    fn events(&self) -> u64 {
        self.simulator.events()
    }

    fn now(&self) -> Time {
        self.simulator.scheduler.now()
    }

    fn beyond_the_clock(&self) -> Option<LinkId> {
        self.simulator.model.fabric.links.beyond_the_clock()
    }
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
    let fabric = build::fabric(plan);
    let mut transports = plan.settings.groups.iter().map(|group| &group.transport);
    let datagrams = transports.clone().any(|transport| transport.is_datagram());
    Ok(
        if datagrams && transports.all(|transport| transport.is_datagram()) {
            running(plan, fabric, build::datagram_hosts(plan))
        } else if datagrams {
            running(plan, fabric, build::mixed_hosts(plan))
        } else {
            running(plan, fabric, build::tcp_hosts(plan))
        },
    )
}

fn running<H>(plan: &Plan, fabric: Fabric, hosts: H) -> Box<dyn Run>
where
    H: Hosts + Told + Send + 'static,
{
    let paths = ideal::paths(plan, &fabric);
    let switches = build::switches(plan, &fabric);
    let network = Network::new(fabric, hosts, switches, plan.settings.hosts);
    let mut simulator = Simulator::new(network, plan.ties(), 4 * plan.flows.source.len());
    simulator.model.start(&mut simulator.scheduler);
    let every = plan.settings.sample_ps.map(Duration);
    let bins = plan.settings.synchronisation;
    if let Some(hosts) = simulator.model.hosts.connections_mut() {
        hosts.keep_those_over(bins.is_some());
    }
    Box::new(Running {
        simulator,
        limit: Time(plan.settings.time_limit_ps),
        end: Time::ZERO,
        paths,
        classes: plan.classes() > 0,
        samples: every.map(Samples::new),
        synchronisation: bins.map(|bins| Box::new(Synchronisation::new(bins))),
        window: plan.settings.window.map(|span| Box::new(Window::new(span))),
    })
}
