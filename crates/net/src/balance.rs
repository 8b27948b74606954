//! Load balancing: each ingress leaves a path on which too much was offered, and takes the one on
//! which the least was (Komatireddy, Charbonneau and Vokkarane 2009; Thodime, Vokkarane and Jue
//! 2003).
//!
//! What is offered to links is added up by intervals. An ingress reads only intervals that are over,
//! so that the order of simultaneous events of different nodes does not matter to it.

use crate::{LinkId, Rate};
use lightburst_des::{Duration, Time};

/// How an ingress chooses.
#[derive(Clone, Copy, Debug)]
pub struct BalanceSettings {
    /// What is offered for so long is reported.
    pub interval: Duration,
    /// A report is at all edges so long after the end of its interval.
    pub delay: Duration,
    /// A path is left when its load was more than this.
    pub threshold: f64,
    /// Which load of a path that is: of all its links together, or of the one with the most.
    pub cumulative: bool,
    /// What a fibre with a load of 1 carries; none: what its channels do.
    pub capacity: Option<Rate>,
}

/// The links of a path from one node to the next.
#[derive(Clone, Debug)]
pub struct Fibre {
    /// The links, all of one rate.
    pub links: Vec<LinkId>,
    /// Their rate.
    pub rate: Rate,
    /// How many bursts they can carry at once, together.
    pub channels: u32,
}

/// What is offered to the links, by intervals.
struct Offered {
    interval: Duration,
    /// So many intervals are kept: the present one, and those of which a report is on its way.
    slots: u64,
    /// Of each link the last interval in which something was offered.
    newest: Vec<u64>,
    /// Transmission times: `slots` of each link.
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

/// The bursts from one edge to another.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    /// How many reports there were when their path was chosen.
    reports: u64,
    label: u8,
}

/// What was offered to a path, as a share of what it carries.
#[derive(Clone, Copy, Debug)]
struct Load {
    /// Of the fibre with the most.
    most: f64,
    /// Of all fibres together.
    sum: f64,
}

/// What chooses paths by their load.
pub struct Balance {
    settings: BalanceSettings,
    offered: Offered,
    /// Those of a pair side by side, in the order of their labels.
    paths: Vec<Vec<Fibre>>,
    /// By the first path of a pair.
    pairs: Vec<Pair>,
}

impl Balance {
    /// Nothing was offered yet to any of so many links.
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

    /// A link is given a burst, or one is lost that it should have been given.
    pub(crate) fn offer(&mut self, link: LinkId, time: Duration, now: Time) {
        self.offered.add(link, time, now);
    }

    /// The label of the present path of a pair, whose paths are numbered so, and of the one before.
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

    /// The path of a pair that is taken when an interval is over.
    fn after(&self, present: u8, paths: &[Vec<Fibre>], interval: u64) -> u8 {
        let Load { most, sum } = self.load(&paths[usize::from(present)], interval);
        let load = if self.settings.cumulative { sum } else { most };
        // Section 5: "the path will change if the congestion on the current path exceeds" P_max.
        if load <= self.settings.threshold {
            return present;
        }
        // Section 1: the least congested, by "the cumulative congestion information of all the
        // links". The present one among equals, otherwise the first.
        let (mut best, mut least) = (present, sum);
        for (label, path) in (0..).zip(paths) {
            let Load { sum, .. } = self.load(path, interval);
            if sum < least {
                (best, least) = (label, sum);
            }
        }
        best
    }

    /// The load of a path in an interval that is over.
    fn load(&self, path: &[Fibre], interval: u64) -> Load {
        let mut load = Load {
            most: 0.0,
            sum: 0.0,
        };
        for fibre in path {
            // L = (tau_s + tau_d) / tau, with all channels.
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

    /// Two paths over the link 0, and then over 1 or 2; intervals of 100 ps.
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
            capacity: None,
        };
        changes(&mut settings);
        let paths = [1, 2].map(|link| vec![fibre(0), fibre(link)]);
        Balance::new(settings, paths.to_vec(), 3)
    }

    /// The labels at some times, of which each offers so much to the links of its path.
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
        // 10 of 200: just 5 %. Then 11 from 100 on, and the interval from 200 on is the next.
        let offers = [(0, 10), (100, 5), (199, 6), (200, 1), (299, 0), (300, 0)];
        assert_eq!(labels(balance(|_| ()), &offers), [0, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn only_the_interval_before_counts() {
        // What was offered from 0 on is long over at 250.
        let offers = [(0, 50), (250, 0)];
        assert_eq!(labels(balance(|_| ()), &offers), [0, 0]);
        // A choice is made once for each report, by the first burst.
        let offers = [(0, 50), (100, 50), (150, 0), (200, 0)];
        assert_eq!(labels(balance(|_| ()), &offers), [0, 1, 1, 0]);
    }

    #[test]
    fn a_report_that_is_late_is_read_late() {
        let late = || balance(|settings| settings.delay = Duration(130));
        // That of 0 to 100 comes at 230, that of 100 to 200 at 330.
        let offers = [(0, 50), (229, 0), (230, 0), (329, 0), (330, 0)];
        assert_eq!(labels(late(), &offers), [0, 0, 1, 1, 1]);
        let offers = [(99, 50), (100, 0), (200, 0), (300, 0), (329, 0)];
        assert_eq!(labels(late(), &offers), [0, 0, 0, 1, 1]);
    }

    #[test]
    fn links_together_or_the_one_with_the_most() {
        let offers = [(0, 6), (100, 0)];
        assert_eq!(labels(balance(|_| ()), &offers), [0, 0]);
        // 3 % on each of two links
        let both = balance(|settings| settings.cumulative = true);
        assert_eq!(labels(both, &offers), [0, 1]);
        let narrow = balance(|settings| settings.capacity = Some(Rate::from_bps(RATE)));
        assert_eq!(labels(narrow, &offers), [0, 1]);
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
