//! Bursts whose reception at an edge is in progress.

use lightburst_des::Time;
use lightburst_net::{BurstId, LinkId};
use std::collections::VecDeque;

/// Arrival time of the tail, and the burst.
type Coming = (Time, BurstId);

/// Bursts in reception, by link, in the order of their tails.
#[derive(Default)]
pub struct Receiving {
    /// Queue of each link, sorted by link number. A node has few incoming links, so that a vector
    /// is faster than a tree.
    links: Vec<(LinkId, VecDeque<Coming>)>,
}

impl Receiving {
    #[inline]
    fn of(&mut self, link: LinkId) -> &mut VecDeque<Coming> {
        let place = self.links.partition_point(|(other, _)| *other < link);
        if self
            .links
            .get(place)
            .map_or(true, |(other, _)| *other != link)
        {
            self.links.insert(place, (link, VecDeque::new()));
        }
        &mut self.links[place].1
    }

    /// Adds a burst that arrives over a link and whose tail arrives at `tail`.
    #[inline]
    pub fn add(&mut self, link: LinkId, tail: Time, burst: BurstId) {
        let here = self.of(link);
        // Usually its tail is the last one.
        match here.back() {
            Some((last, _)) if tail < *last => {
                let at = here.partition_point(|(other, _)| *other <= tail);
                here.insert(at, (tail, burst));
            }
            _ => here.push_back((tail, burst)),
        }
    }

    /// Removes the burst whose tail has arrived. Also returns the next two bursts over this link,
    /// if any.
    #[inline]
    pub fn take(&mut self, link: LinkId) -> (BurstId, [Option<BurstId>; 2]) {
        let here = self.of(link);
        let (_, burst) = here.pop_front().expect("a burst that is coming in");
        let later = [0, 1].map(|place| here.get(place).map(|&(_, burst)| burst));
        (burst, later)
    }
}
