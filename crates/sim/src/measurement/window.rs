//! Measurement window: counters for a part of the run.
//!
//! Reading them is not an event: the run is advanced to the last instant before the reading and
//! then continues.

use super::{Kind, Look, Measurement, Meter, Scope, Span};
use crate::counts::Counts;
use crate::state::State;
use lightburst_des::Time;
use lightburst_net::column::{Column, Outputs};
use lightburst_net::PEAK;
use serde::Deserialize;

/// The measurement of a plan.
pub const KIND: Kind = Kind {
    keys: &["window"],
    ..Kind::of::<Settings>()
};

/// Part of the run whose counters are reported apart from those of the whole run.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Settings {
    window: Span,
}

impl Measurement for Settings {
    fn check(&self, _scope: &Scope<'_>) -> Result<(), String> {
        self.window.check("counts")
    }

    fn build(&self, scope: &Scope<'_>) -> Meter {
        Meter::Look(Box::new(Window::new(self.window, scope.classes)))
    }

    fn runs_in_parts(&self) -> bool {
        true
    }

    fn counters_read(&self) -> Option<[Time; 2]> {
        let look = |at: u64| if at == 0 { Time::NEVER } else { Time(at) };
        Some([self.window.from_ps, self.window.until_ps].map(look))
    }
}

/// Columns and totals that describe a state rather than a sum: a window reports their values at its
/// end.
const STATES: [&str; 4] = ["waiting_bytes", PEAK, "units_in_flight", "copies_in_flight"];

impl Counts {
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
struct Window {
    begin: Time,
    end: Time,
    /// Whether bursts are divided into classes.
    classes: bool,
    before: Option<Counts>,
    after: Option<Counts>,
}

impl Window {
    /// Creates a window whose counters have not been read.
    fn new(span: Span, classes: bool) -> Window {
        Window {
            begin: Time(span.from_ps),
            end: Time(span.until_ps),
            classes,
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

    /// Returns the counters of the window, given those of the whole run at its end. Corrects the
    /// maxima of the whole run, which were reset at the start of the window.
    fn close(&self, whole: &mut Counts) -> Counts {
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

impl Look for Window {
    /// Returns the last instant before the next reading.
    fn next(&self) -> Time {
        match self.due() {
            // Events at the start of the window belong to it, events at its end do not.
            Some(at) if at < Time::NEVER => Time(at.0 - 1),
            _ => Time::NEVER,
        }
    }

    /// Reads the counters that are due, before any event at that time.
    fn take(&mut self, _time: Time, state: &mut dyn State) {
        let Some(at) = self.due() else { return };
        let counts = Counts::of(state, at);
        if at == self.end {
            self.after = Some(counts);
        } else {
            self.before = Some(counts);
            state.begin_window();
        }
    }

    fn tables(self: Box<Self>, whole: &mut Counts) -> Outputs {
        let counts = self.close(whole);
        let mut tables = vec![
            ("window_links", counts.links.into()),
            ("window_switches", counts.switches.into()),
            ("window_totals", counts.totals.into()),
        ];
        if self.classes {
            tables.push(("window_classes", counts.classes.into()));
        }
        tables
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
