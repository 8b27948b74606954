//! Load balancing: an ingress leaves a path whose load exceeds a threshold and takes the least
//! loaded one (Komatireddy, Charbonneau and Vokkarane 2009; Thodime, Vokkarane and Jue 2003).
//!
//! The load offered to a link is summed up per interval. An ingress reads only intervals that have
//! ended, so the result does not depend on the order of simultaneous events at different nodes.

use crate::{LinkId, Rate};
use lightburst_des::{Duration, Time};

/// Parameters of load balancing.
#[derive(Clone, Copy, Debug)]
pub struct BalanceSettings {
    /// Length of the interval of a load report.
    pub interval: Duration,
    /// Time from the end of an interval to the arrival of its report at all edges.
    pub delay: Duration,
    /// Load above which a path is left.
    pub threshold: f64,
    /// Whether the threshold applies to the sum over the links of a path; otherwise to its most
    /// loaded link.
    pub cumulative: bool,
    /// Whether a pair gives way to its primary path, the first, while no path of it is congested;
    /// otherwise it stays on the present one.
    pub gives_way: bool,
    /// Rate of a fibre at load 1; `None`: the total rate of its channels.
    pub capacity: Option<Rate>,
}

/// Parallel links of a path from one node to the next.
#[derive(Clone, Debug)]
pub struct Fibre {
    /// The links, all of the same rate.
    pub links: Vec<LinkId>,
    /// Rate of each link.
    pub rate: Rate,
    /// Number of data channels of all links together.
    pub channels: u32,
}

/// Load offered to each link, per interval.
struct Offered {
    interval: Duration,
    /// Number of intervals kept: the present one, and those whose report has not arrived
    /// everywhere.
    slots: u64,
    /// Last interval with an offered burst, by link.
    newest: Vec<u64>,
    /// Offered transmission time: `slots` elements for each link.
    times: Vec<Duration>,
}

impl Offered {
    fn place(&self, link: LinkId, interval: u64) -> usize {
        link.index() * self.slots as usize + (interval % self.slots) as usize
    }

    fn add(&mut self, link: LinkId, time: Duration, now: Time) {
        let present = now.0 / self.interval.0;
        let newest = self.newest[link.index()];
        for interval in (newest + 1).max((present + 1).saturating_sub(self.slots))..=present {
            let place = self.place(link, interval);
            self.times[place] = Duration::ZERO;
        }
        self.newest[link.index()] = present;
        let place = self.place(link, present);
        self.times[place] += time;
    }

    fn in_interval(&self, link: LinkId, interval: u64) -> Duration {
        match interval <= self.newest[link.index()] {
            true => self.times[self.place(link, interval)],
            false => Duration::ZERO,
        }
    }
}

/// State of the bursts from one edge to another.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    /// Number of reports that had arrived when the path was chosen.
    reports: u64,
    label: u8,
}

/// Offered load of a path, as a fraction of its capacity.
#[derive(Clone, Copy, Debug)]
struct Load {
    /// Load of the most loaded fibre.
    most: f64,
    /// Sum over all fibres.
    sum: f64,
}

/// Chooses paths by load.
pub struct Balance {
    settings: BalanceSettings,
    offered: Offered,
    /// Fibres of each path. The paths of a pair of edges are adjacent, in the order of their
    /// labels.
    paths: Vec<Vec<Fibre>>,
    /// State of each pair, at the number of its first path.
    pairs: Vec<Pair>,
}

impl Balance {
    /// Creates the state of `links` links without load.
    pub fn new(settings: BalanceSettings, paths: Vec<Vec<Fibre>>, links: usize) -> Balance {
        let slots = settings.delay.0.div_ceil(settings.interval.0) + 2;
        Balance {
            settings,
            offered: Offered {
                interval: settings.interval,
                slots,
                newest: vec![0; links],
                times: vec![Duration::ZERO; links * slots as usize],
            },
            pairs: vec![Pair::default(); paths.len()],
            paths,
        }
    }

    /// Adds a burst to the load of a link: when it is handed to the link, or dropped after it
    /// requested the link. `time` is its transmission time.
    pub(crate) fn offer(&mut self, link: LinkId, time: Duration, now: Time) {
        self.offered.add(link, time, now);
    }

    /// Returns the present and the previous label of a pair whose paths have the numbers `paths`.
    /// Only the first burst after a report makes a choice.
    pub(crate) fn choose(&mut self, paths: std::ops::Range<u32>, now: Time) -> (u8, u8) {
        if paths.len() < 2 {
            return (0, 0);
        }
        let first = paths.start as usize;
        let Pair { reports, label } = self.pairs[first];
        let known = now.0.saturating_sub(self.settings.delay.0) / self.settings.interval.0;
        if known == reports {
            return (label, label);
        }
        let paths = &self.paths[first..paths.end as usize];
        let chosen = self.after(label, paths, known - 1);
        self.pairs[first] = Pair {
            reports: known,
            label: chosen,
        };
        (chosen, label)
    }

    /// Returns the label for a pair after the report on `interval`.
    fn after(&self, present: u8, paths: &[Vec<Fibre>], interval: u64) -> u8 {
        let Load { sum, .. } = self.load(&paths[usize::from(present)], interval);
        // Section 5: "the path will change if the congestion on the current path exceeds" P_max.
        if !self.is_congested(&paths[usize::from(present)], interval) {
            let free = |path: &Vec<Fibre>| !self.is_congested(path, interval);
            let gives_way = self.settings.gives_way && paths.iter().all(free);
            return if gives_way { 0 } else { present };
        }
        // Section 1: the least congested path by "the cumulative congestion information of all the
        // links". Among equal paths the present one stays, otherwise the first is taken.
        let (mut best, mut least) = (present, sum);
        for (label, path) in (0..).zip(paths) {
            let Load { sum, .. } = self.load(path, interval);
            if sum < least {
                (best, least) = (label, sum);
            }
        }
        best
    }

    /// Returns whether the load of a path exceeded the threshold in an interval that has ended.
    fn is_congested(&self, path: &[Fibre], interval: u64) -> bool {
        let Load { most, sum } = self.load(path, interval);
        let load = if self.settings.cumulative { sum } else { most };
        load > self.settings.threshold
    }

    /// Returns the load of a path in an interval that has ended.
    fn load(&self, path: &[Fibre], interval: u64) -> Load {
        let mut load = Load {
            most: 0.0,
            sum: 0.0,
        };
        for fibre in path {
            // L = (tau_s + tau_d) / tau, over all channels.
            let times = fibre.links.iter();
            let offered = times.fold(Duration::ZERO, |sum, &link| {
                sum + self.offered.in_interval(link, interval)
            });
            let rate = fibre.rate.bps() as f64;
            let capacity = match self.settings.capacity {
                Some(capacity) => capacity.bps() as f64,
                None => rate * f64::from(fibre.channels),
            };
            let share = offered.0 as f64 * rate / (capacity * self.settings.interval.0 as f64);
            load.most = load.most.max(share);
            load.sum += share;
        }
        load
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: u64 = 1_000_000_000;

    /// Two paths: both use link 0, then one uses link 1 and the other link 2. Intervals of 100 ps.
    fn balance(changes: impl FnOnce(&mut BalanceSettings)) -> Balance {
        let fibre = |link| Fibre {
            links: vec![LinkId(link)],
            rate: Rate::from_bps(RATE),
            channels: 2,
        };
        let mut settings = BalanceSettings {
            interval: Duration(100),
            delay: Duration::ZERO,
            threshold: 0.05,
            cumulative: false,
            gives_way: false,
            capacity: None,
        };
        changes(&mut settings);
        let paths = [1, 2].map(|link| vec![fibre(0), fibre(link)]);
        Balance::new(settings, paths.to_vec(), 3)
    }

    /// Labels of bursts at the given times; each burst offers its transmission time to the links of
    /// its path.
    fn labels(mut balance: Balance, offers: &[(u64, u64)]) -> Vec<u8> {
        let each = offers.iter().map(|&(now, time)| {
            let (label, _) = balance.choose(0..2, Time(now));
            for link in [0, 1 + u32::from(label)] {
                balance.offer(LinkId(link), Duration(time), Time(now));
            }
            label
        });
        each.collect()
    }

    #[test]
    fn a_path_is_left_when_more_than_the_threshold_was_offered_in_the_interval_before() {
        // 10 of 200 is exactly the threshold of 5 %. The interval from 100 to 200 has 11, so the
        // path changes at 200.
        let offers = [(0, 10), (100, 5), (199, 6), (200, 1), (299, 0), (300, 0)];
        assert_eq!(labels(balance(|_| ()), &offers), [0, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn only_the_interval_before_counts() {
        // The load of the interval from 0 is two intervals old at 250.
        let offers = [(0, 50), (250, 0)];
        assert_eq!(labels(balance(|_| ()), &offers), [0, 0]);
        // Only the first burst after each report makes a choice.
        let offers = [(0, 50), (100, 50), (150, 0), (200, 0)];
        assert_eq!(labels(balance(|_| ()), &offers), [0, 1, 1, 0]);
    }

    #[test]
    fn a_report_that_is_late_is_read_late() {
        let late = || balance(|settings| settings.delay = Duration(130));
        // The report on 0 to 100 arrives at 230, that on 100 to 200 at 330.
        let offers = [(0, 50), (229, 0), (230, 0), (329, 0), (330, 0)];
        assert_eq!(labels(late(), &offers), [0, 0, 1, 1, 1]);
        let offers = [(99, 50), (100, 0), (200, 0), (300, 0), (329, 0)];
        assert_eq!(labels(late(), &offers), [0, 0, 0, 1, 1]);
    }

    #[test]
    fn links_together_or_the_one_with_the_most() {
        let offers = [(0, 6), (100, 0)];
        assert_eq!(labels(balance(|_| ()), &offers), [0, 0]);
        // 3 % on each of two links.
        let both = balance(|settings| settings.cumulative = true);
        assert_eq!(labels(both, &offers), [0, 1]);
        let narrow = balance(|settings| settings.capacity = Some(Rate::from_bps(RATE)));
        assert_eq!(labels(narrow, &offers), [0, 1]);
    }

    #[test]
    fn a_pair_gives_way_to_its_primary_path_where_no_path_is_congested() {
        let back = || balance(|settings| settings.gives_way = true);
        // The path changes at 100. In the interval from 100 to 200 both paths carry 10 of 200, which
        // is the threshold.
        let offers = [(0, 11), (100, 10), (200, 10), (300, 0)];
        assert_eq!(labels(back(), &offers), [0, 1, 0, 0]);
        assert_eq!(labels(balance(|_| ()), &offers), [0, 1, 1, 1]);
        // Another pair keeps the primary path congested until 300.
        let mut balance = back();
        balance.offer(LinkId(1), Duration(11), Time(0));
        assert_eq!(balance.choose(0..2, Time(100)), (1, 0));
        balance.offer(LinkId(1), Duration(11), Time(100));
        assert_eq!(balance.choose(0..2, Time(200)), (1, 1));
        balance.offer(LinkId(1), Duration(10), Time(200));
        assert_eq!(balance.choose(0..2, Time(300)), (0, 1));
    }

    #[test]
    fn where_another_path_is_no_better_the_present_one_stays() {
        let mut balance = balance(|_| ());
        for link in 0..3 {
            balance.offer(LinkId(link), Duration(90), Time(0));
        }
        assert_eq!(balance.choose(0..2, Time(100)), (0, 0));
        balance.offer(LinkId(1), Duration(90), Time(100));
        assert_eq!(balance.choose(0..2, Time(200)), (1, 0));
        for link in 0..3 {
            balance.offer(LinkId(link), Duration(90), Time(200));
        }
        assert_eq!(balance.choose(0..2, Time(300)), (1, 1));
    }
}
