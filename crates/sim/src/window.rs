//! Measurement window: counters for a part of the run.
//!
//! Reading them is not an event: the run is advanced to the last instant before the reading and
//! then continues.

use crate::columns::{self, Column, Counts};
use crate::plan::Span;
use lightburst_des::Time;
use lightburst_net::{BurstCount, Hosts, Network, PEAK};

/// Columns and totals that describe a state rather than a sum: a window reports their values at its
/// end.
const STATES: [&str; 3] = ["waiting_bytes", PEAK, "units_in_flight"];

impl Counts {
    /// Reads all counters up to `end`; `delivered` is the number of useful bytes that have reached
    /// their hosts.
    pub fn of<H: Hosts>(network: &Network<H>, delivered: u64, end: Time) -> Counts {
        let fabric = &network.fabric;
        let bursts = |of: fn(&BurstCount) -> u64| fabric.bursts.iter().map(of).sum();
        let counted = network
            .switches()
            .map(|(node, switch)| switch.counted(end).and(fabric.tails_cut(node, end)));
        Counts {
            links: columns::links(fabric, end),
            switches: columns::switches(counted),
            classes: columns::classes(fabric),
            totals: vec![
                ("delivered_bytes", delivered),
                ("units_created", fabric.created),
                ("units_delivered", fabric.delivered),
                ("units_dropped", fabric.dropped.column().sum()),
                ("units_in_flight", fabric.units.packets.len() as u64),
                ("bursts_created", bursts(|class| class.created)),
                ("bursts_lost", bursts(|class| class.lost)),
                ("bursts_delivered", bursts(|class| class.delivered)),
            ],
        }
    }

    /// Returns the counts made since `before`.
    fn since(self, before: &Counts) -> Counts {
        let total =
            |((name, now), (_, then)): ((_, u64), &(_, u64))| (name, later(name, now, *then));
        Counts {
            links: differences(self.links, &before.links),
            switches: differences(self.switches, &before.switches),
            classes: differences(self.classes, &before.classes),
            totals: self
                .totals
                .into_iter()
                .zip(&before.totals)
                .map(total)
                .collect(),
        }
    }
}

/// Returns the value of a counter for the window between two readings.
fn later(name: &str, now: u64, then: u64) -> u64 {
    if STATES.contains(&name) {
        now
    } else {
        // Bytes of transmissions in progress are rounded, and may be one less a picosecond later.
        now.saturating_sub(then)
    }
}

/// Returns the values of the window for each column.
fn differences<N: AsRef<str>>(now: Vec<(N, Column)>, then: &[(N, Column)]) -> Vec<(N, Column)> {
    let column = |((name, now), (_, then)): ((N, Column), &(N, Column))| {
        let found = match (now, then) {
            (Column::U64(now), Column::U64(then)) => {
                let rows = now.iter().zip(then);
                let each = rows.map(|(&now, &then)| later(name.as_ref(), now, then));
                Column::U64(each.collect())
            }
            (Column::U128(now), Column::U128(then)) => {
                let rows = now.iter().zip(then);
                Column::U128(rows.map(|(now, then)| now - then).collect())
            }
            _ => unreachable!("counts are whole numbers, or integrals"),
        };
        (name, found)
    };
    now.into_iter().zip(then).map(column).collect()
}

/// Measurement window of a run, with the counters read at its start and at its end.
pub struct Window {
    begin: Time,
    end: Time,
    before: Option<Counts>,
    after: Option<Counts>,
}

impl Window {
    /// Creates a window whose counters have not been read.
    pub fn new(span: Span) -> Window {
        Window {
            begin: Time(span.from_ps),
            end: Time(span.until_ps),
            before: None,
            after: None,
        }
    }

    /// Returns the time of the next reading, if one is left.
    fn due(&self) -> Option<Time> {
        let begins = self.before.is_none() && self.begin > Time::ZERO;
        let end = Some(self.end).filter(|_| self.after.is_none());
        if begins {
            Some(self.begin)
        } else {
            end
        }
    }

    /// Returns the last instant before the next reading.
    pub fn next(&self) -> Time {
        match self.due() {
            // Events at the start of the window belong to it, events at its end do not.
            Some(at) if at < Time::NEVER => Time(at.0 - 1),
            _ => Time::NEVER,
        }
    }

    /// Reads the counters that are due, before any event at that time.
    pub fn take<H: Hosts>(&mut self, network: &mut Network<H>, delivered: u64) {
        let Some(at) = self.due() else { return };
        let counts = Counts::of(network, delivered, at);
        if at == self.end {
            self.after = Some(counts);
        } else {
            self.before = Some(counts);
            network.begin_window();
        }
    }

    /// Returns the counters of the window, given those of the whole run at its end. Corrects the
    /// maxima of the whole run, which were reset at the start of the window.
    pub fn close(&self, whole: &mut Counts) -> Counts {
        let last = self.after.as_ref().unwrap_or(whole).clone();
        match &self.before {
            None if self.begin > Time::ZERO => last.clone().since(&last),
            None => last,
            Some(before) => {
                raise_peaks(&mut whole.switches, &before.switches);
                last.since(before)
            }
        }
    }
}

/// Raises the maxima of the whole run to those reached before the window.
fn raise_peaks(whole: &mut [(String, Column)], before: &[(String, Column)]) {
    for ((name, now), (_, then)) in whole.iter_mut().zip(before) {
        if let (PEAK, Column::U64(now), Column::U64(then)) = (name.as_str(), now, then) {
            for (now, then) in now.iter_mut().zip(then) {
                *now = (*now).max(*then);
            }
        }
    }
}
