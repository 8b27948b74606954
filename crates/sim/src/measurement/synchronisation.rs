//! Synchronisation of connections: sums over bins of time, of all connections together and of each
//! one alone.
//!
//! The end of a bin is not an event: the run is advanced up to it and then continues.

use super::{require, Kind, Look, Measurement, Meter, Scope};
use crate::counts::Counts;
use crate::state::State;
use lightburst_des::{Duration, Time};
use lightburst_net::column::{Column, Output, Outputs, Table};
use lightburst_tcp::{Progress, Stage, TcpHosts};
use serde::Deserialize;

/// The measurement of a plan.
pub const KIND: Kind = Kind {
    keys: &["synchronisation"],
    ..Kind::of::<Settings>()
};

/// Limit to the number of bins of time.
const MOST_BINS: u64 = 1_000_000_000;

/// Settings of the measurement.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Settings {
    synchronisation: Bins,
}

/// Bins of time, contiguous from time 0 on.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bins {
    /// Length of each bin.
    bin_ps: u64,
    /// Bins that begin earlier are not counted.
    from_ps: u64,
    /// Bins that end later are not counted.
    until_ps: u64,
    /// Whether the values of each bin are reported besides the sums.
    series: bool,
}

impl Measurement for Settings {
    fn check(&self, scope: &Scope<'_>) -> Result<(), String> {
        let bins = self.synchronisation;
        let most = scope.time_limit.0.min(bins.until_ps) / bins.bin_ps.max(1);
        require(bins.bin_ps > 0 && most <= MOST_BINS, || {
            format!("{most} bins of {} ps", bins.bin_ps)
        })?;
        let words = || "windows of flows that have none".to_string();
        require(scope.connections, words)
    }

    fn build(&self, _scope: &Scope<'_>) -> Meter {
        Meter::Look(Box::new(Synchronisation::new(self.synchronisation)))
    }
}

/// Named sums.
type Sums = Vec<(&'static str, u128)>;

/// Connection that has begun and was not over at the end of the last bin.
struct Live {
    /// Index among the connections.
    index: usize,
    /// Useful bytes received by the end of the last bin.
    arrived: u64,
    /// Window reductions by the end of the last bin.
    reductions: u64,
    /// Sum of its windows over the bins counted.
    windows: u128,
    /// Sum of the bytes received over the bins counted.
    bytes: u128,
}

/// Values of all connections in one bin.
#[derive(Default)]
struct Bin {
    connections: u64,
    window: u64,
    bytes: u64,
    reductions: u64,
}

/// Sums over the counted bins of one quantity, of all connections together and of each one alone.
/// They are exact, so that the order of connections does not matter; on overflow they saturate.
#[derive(Clone, Default)]
struct Moments {
    sum: u128,
    squares: u128,
    /// Sum of the squares of the values of single connections.
    own_squares: u128,
    /// Sum of the squares of each connection's sum over the bins.
    squared_sums: u128,
}

impl Moments {
    fn add(&mut self, all: u64) {
        self.sum = self.sum.saturating_add(u128::from(all));
        self.squares = self.squares.saturating_add(square(u128::from(all)));
    }

    fn add_own(&mut self, own: u64) {
        self.own_squares = self.own_squares.saturating_add(square(u128::from(own)));
    }

    /// Adds the square of a connection's sum over all bins; called when the connection has ended.
    fn end(&mut self, sum: u128) {
        self.squared_sums = self.squared_sums.saturating_add(square(sum));
    }

    fn named(&self, names: [&'static str; 4]) -> Sums {
        let sums = [self.sum, self.squares, self.own_squares, self.squared_sums];
        names.into_iter().zip(sums).collect()
    }
}

fn square(value: u128) -> u128 {
    value.saturating_mul(value)
}

/// Values of each counted bin.
#[derive(Default)]
struct Series {
    times: Vec<u64>,
    connections: Vec<u64>,
    windows: Vec<u64>,
    bytes: Vec<u64>,
    reductions: Vec<u64>,
}

impl Series {
    fn push(&mut self, end: Time, bin: &Bin) {
        self.times.push(end.0);
        self.connections.push(bin.connections);
        self.windows.push(bin.window);
        self.bytes.push(bin.bytes);
        self.reductions.push(bin.reductions);
    }

    fn table(self) -> Table {
        vec![
            ("time_ps", Column::U64(self.times)),
            ("connections", Column::U64(self.connections)),
            ("window", Column::U64(self.windows)),
            ("bytes", Column::U64(self.bytes)),
            ("reductions", Column::U64(self.reductions)),
        ]
    }
}

/// Synchronisation metrics of connections. Apart from the series, memory grows only with the number
/// of connections in progress.
struct Synchronisation {
    bins: Bins,
    next: Time,
    /// Number of connections that have begun; they have the lowest indices.
    begun: usize,
    live: Vec<Live>,
    counted: u128,
    connections: u128,
    reductions: u128,
    /// Ordered pairs of connections in one bin: all pairs, pairs whose first member reduces its
    /// window, and pairs in which both do.
    pairs: u128,
    pairs_one: u128,
    pairs_both: u128,
    window: Moments,
    bytes: Moments,
    series: Option<Series>,
}

impl Synchronisation {
    /// Creates empty sums, before the first bin.
    fn new(bins: Bins) -> Synchronisation {
        let mut new = Synchronisation {
            bins,
            next: Time::ZERO,
            begun: 0,
            live: Vec::new(),
            counted: 0,
            connections: 0,
            reductions: 0,
            pairs: 0,
            pairs_one: 0,
            pairs_both: 0,
            window: Moments::default(),
            bytes: Moments::default(),
            series: bins.series.then(Series::default),
        };
        new.turn();
        new
    }

    /// Starts the next bin, if there is one.
    fn turn(&mut self) {
        let end = self.next + Duration(self.bins.bin_ps);
        self.next = match end.0 <= self.bins.until_ps {
            true => end,
            false => Time::NEVER,
        };
    }

    /// Ends the current bin; all events up to its end must have been handled.
    fn end_bin(&mut self, hosts: &TcpHosts) {
        let (flows, end) = (hosts.flows(), self.next);
        while flows.start(self.begun).is_some_and(|start| start <= end) {
            self.live.push(Live {
                index: self.begun,
                arrived: 0,
                reductions: 0,
                windows: 0,
                bytes: 0,
            });
            self.begun += 1;
        }
        let counts = end.0 - self.bins.bin_ps >= self.bins.from_ps;
        let mut bin = Bin::default();
        let (window, bytes) = (&mut self.window, &mut self.bytes);
        self.live.retain_mut(|live| {
            let progress = hosts.progress(live.index);
            if counts {
                live.count(&progress, &mut bin, window, bytes);
            }
            live.arrived = progress.arrived;
            live.reductions = progress.reductions;
            let over = progress.stage == Stage::Over;
            if over {
                window.end(live.windows);
                bytes.end(live.bytes);
            }
            !over
        });
        if counts {
            self.count(end, &bin);
        }
        self.turn();
    }

    fn count(&mut self, end: Time, bin: &Bin) {
        let (all, reduced) = (u128::from(bin.connections), u128::from(bin.reductions));
        self.counted += 1;
        self.connections += all;
        self.reductions += reduced;
        self.pairs += all * all.saturating_sub(1);
        self.pairs_one += reduced * all.saturating_sub(1);
        self.pairs_both += reduced * reduced.saturating_sub(1);
        self.window.add(bin.window);
        self.bytes.add(bin.bytes);
        if let Some(series) = &mut self.series {
            series.push(end, bin);
        }
    }

    /// Returns the sums as if the run ended now.
    fn sums(&self) -> Sums {
        let (mut window, mut bytes) = (self.window.clone(), self.bytes.clone());
        for live in &self.live {
            window.end(live.windows);
            bytes.end(live.bytes);
        }
        let counts = vec![
            ("bins", self.counted),
            ("connections", self.connections),
            ("reductions", self.reductions),
            ("pairs", self.pairs),
            ("pairs_one", self.pairs_one),
            ("pairs_both", self.pairs_both),
        ];
        let window = window.named([
            "window_sum",
            "window_squares",
            "window_own_squares",
            "window_squared_sums",
        ]);
        let bytes = bytes.named([
            "bytes_sum",
            "bytes_squares",
            "bytes_own_squares",
            "bytes_squared_sums",
        ]);
        [counts, window, bytes].concat()
    }
}

impl Look for Synchronisation {
    /// Lets the hosts keep the progress of connections that end, until it is counted.
    fn begin(&mut self, state: &mut dyn State) {
        connections(state).keep_those_over(true);
    }

    /// Returns the end of the current bin; [`Time::NEVER`] after the last one.
    fn next(&self) -> Time {
        self.next
    }

    fn take(&mut self, _time: Time, state: &mut dyn State) {
        let hosts = connections(state);
        self.end_bin(hosts);
        // The connections that ended in this bin have been counted; their states may be dropped.
        hosts.keep_those_over(self.next < Time::NEVER);
    }

    fn end(&mut self, time: Time, state: &mut dyn State) {
        if self.next == time {
            self.take(time, state);
        }
    }

    /// Returns the number of bins stored in the series.
    fn load(&self) -> Option<(&'static str, u64)> {
        let stored = self.series.as_ref().map_or(0, |kept| kept.times.len());
        Some(("bins", stored as u64))
    }

    fn tables(self: Box<Self>, _whole: &mut Counts) -> Outputs {
        let mut tables = vec![("synchronisation", Output::Numbers(self.sums()))];
        if let Some(series) = self.series {
            tables.push(("synchronisation_bins", series.table().into()));
        }
        tables
    }
}

fn connections(state: &mut dyn State) -> &mut TcpHosts {
    state.connections().expect("the plan was checked")
}

impl Live {
    /// Adds the values of the connection to a bin that ends now.
    fn count(
        &mut self,
        progress: &Progress,
        bin: &mut Bin,
        window: &mut Moments,
        bytes: &mut Moments,
    ) {
        let came = progress.arrived - self.arrived;
        bin.bytes += came;
        bytes.add_own(came);
        self.bytes += u128::from(came);
        // Only an open connection has a window that limits transmissions.
        if progress.stage == Stage::Open {
            bin.connections += 1;
            bin.reductions += u64::from(progress.reductions > self.reductions);
            bin.window = bin.window.saturating_add(progress.window);
            window.add_own(progress.window);
            self.windows += u128::from(progress.window);
        }
    }
}
