//! The bursts that are coming in at an edge.

use lightburst_des::Time;
use lightburst_net::{BurstId, LinkId};
use std::collections::VecDeque;

/// A burst and when its tail is here.
type Coming = (Time, BurstId);

/// The bursts that are coming in, by the link over which they come: those whose tails come first are
/// in front.
#[derive(Default)]
pub struct Receiving {
    /// In the order of their numbers. Few links lead to a node, so this is faster than a tree.
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

    /// A burst comes over a link, with its tail at `tail`.
    #[inline]
    pub fn add(&mut self, link: LinkId, tail: Time, burst: BurstId) {
        let here = self.of(link);
        // Mostly it is the last.
        match here.back() {
            Some((last, _)) if tail < *last => {
                let at = here.partition_point(|(other, _)| *other <= tail);
                here.insert(at, (tail, burst));
            }
            _ => here.push_back((tail, burst)),
        }
    }

    /// Takes out the burst whose tail is here; also tells the next one over this link, and the one
    /// after that.
    #[inline]
    pub fn take(&mut self, link: LinkId) -> (BurstId, [Option<BurstId>; 2]) {
        let here = self.of(link);
        let (_, burst) = here.pop_front().expect("a burst that is coming in");
        let later = [0, 1].map(|place| here.get(place).map(|&(_, burst)| burst));
        (burst, later)
    }
}
