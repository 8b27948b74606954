//! Links that are down for a time, and the delay after which the routes know.
//!
//! The outages of a run are known before it begins, and a unit in a first-in first-out output has
//! the times of its transmission when it is handed over. So its fate is decided there, as that of a
//! unit on a lossy link. The only units whose times change later are those that would still wait
//! when the routes change: they are kept aside until then.

use crate::{Bytes, DropReason, Fabric, LinkId, Links, NodeId, Routing, Unit};
use lightburst_des::{Duration, Time};
use std::collections::{BTreeMap, VecDeque};

/// Drop reason of units on a link that is down.
pub const LINK_DOWN: &DropReason = &DropReason {
    name: "link-down",
    busy: false,
};

/// Time in which a link is down: from `down` to before `up`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// First instant at which the link is down.
    pub down: Time,
    /// First instant at which it is up again; [`Time::NEVER`] if it stays down.
    pub up: Time,
}

/// A change of what the routes know about a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    time: Time,
    link: LinkId,
    is_down: bool,
}

/// Returns the changes of the routes that follow from the outages of a link, if a change of the
/// link is noticed when it has lasted longer than `delay`.
fn noticed(link: LinkId, outages: &[Outage], delay: Duration) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut is_down = false;
    for (i, outage) in outages.iter().enumerate() {
        let next = outages.get(i + 1).map_or(Time::NEVER, |next| next.down);
        for (down, time, until) in [
            (true, outage.down + delay, outage.up),
            (false, outage.up + delay, next),
        ] {
            if is_down != down && time < until {
                is_down = down;
                changes.push(Change {
                    time,
                    link,
                    is_down,
                });
            }
        }
    }
    changes
}

/// Returns the times in which a link with these outages is known to be down: from the first instant
/// to before the second.
pub fn known_down(outages: &[Outage], delay: Duration) -> Vec<(u64, u64)> {
    // Changes alternate, and the first one is to down.
    let changes = noticed(LinkId::NONE, outages, delay);
    let span = |pair: &[Change]| {
        let up = pair.get(1).map_or(Time::NEVER, |change| change.time);
        (pair[0].time.0, up.0)
    };
    changes.chunks(2).map(span).collect()
}

/// Returns whether any outage is within the time from `start` to before `end`.
fn overlap(outages: &[Outage], start: Time, end: Time) -> bool {
    let first = outages.partition_point(|outage| outage.up <= start);
    outages.get(first).is_some_and(|outage| outage.down < end)
}

/// A link that is down, as the routes learn now.
#[derive(Clone, Debug)]
pub(crate) struct Down {
    pub link: LinkId,
    pub from: NodeId,
    /// Units that waited for it, in the order of their arrival.
    pub units: Vec<Unit>,
}

/// Units kept aside at an output, and the state of the link without them.
#[derive(Debug)]
struct Aside {
    free_at: Time,
    /// Units with their bytes and the time of their transmission.
    units: Vec<(Unit, u32, Duration)>,
}

/// Graph of the shortest paths, by which the routes are calculated anew.
pub struct Graph {
    /// Number of hosts.
    pub hosts: u32,
    /// Number of nodes.
    pub nodes: u32,
    /// Links by source, with their length.
    pub links: Vec<(NodeId, NodeId, u64)>,
    /// Routes with all links up. They stay where no path is left.
    pub all_up: Routing,
}

/// Links that go down and come up.
pub struct Outages {
    spans: BTreeMap<LinkId, Vec<Outage>>,
    /// Outages of single data channels of fibres.
    channels: BTreeMap<(LinkId, u16), Vec<Outage>>,
    /// Changes of the routes that are to come, in order of time and link.
    changes: VecDeque<Change>,
    /// Times at which the routes learn that a link is down, of links whose output can keep units.
    down_at: BTreeMap<LinkId, VecDeque<Time>>,
    aside: BTreeMap<LinkId, Aside>,
    known_down: Vec<bool>,
    graph: Graph,
    /// Whether units that wait when the routes change take the new ones; otherwise they are lost.
    pub reroute: bool,
    /// Units lost on each link because it was down.
    pub lost: Vec<u64>,
}

impl Outages {
    /// Creates the outages of a run, in order of time for each link. Routes change `delay` after a
    /// link has; never without it. `keeps` tells whether the output of a link is a queue, whose
    /// units can be taken back.
    pub fn new(
        spans: BTreeMap<LinkId, Vec<Outage>>,
        delay: Option<Duration>,
        reroute: bool,
        graph: Graph,
        keeps: impl Fn(LinkId) -> bool,
    ) -> Outages {
        let noticed = |(link, outages): (&LinkId, &Vec<Outage>)| match delay {
            Some(delay) => noticed(*link, outages, delay),
            None => Vec::new(),
        };
        let mut changes: Vec<Change> = spans.iter().flat_map(noticed).collect();
        changes.sort_by_key(|change| (change.time, change.link));
        let mut down_at: BTreeMap<LinkId, VecDeque<Time>> = BTreeMap::new();
        for change in changes.iter().filter(|c| c.is_down && keeps(c.link)) {
            down_at
                .entry(change.link)
                .or_default()
                .push_back(change.time);
        }
        let links = graph.links.len();
        Outages {
            spans,
            channels: BTreeMap::new(),
            changes: changes.into(),
            down_at,
            aside: BTreeMap::new(),
            known_down: vec![false; links],
            graph,
            reroute,
            lost: vec![0; links],
        }
    }

    /// Returns whether a link is ever down.
    pub fn concern(&self, link: LinkId) -> bool {
        self.spans.contains_key(&link)
    }

    /// Adds outages of a data channel, in order of time; routes do not follow these.
    pub fn of_channel(&mut self, link: LinkId, channel: u16, outage: Outage) {
        let channels = self.channels.entry((link, channel)).or_default();
        channels.push(outage);
    }

    /// Returns whether a data channel is ever down by itself.
    pub(crate) fn have_channels(&self) -> bool {
        !self.channels.is_empty()
    }

    /// Returns whether a data channel is down by itself at `now`.
    pub(crate) fn is_channel_down(&self, channel: (LinkId, u16), now: Time) -> bool {
        self.cut_channel(channel, now, Time(now.0 + 1))
    }

    /// Returns whether a data channel is down by itself at any time from `start` to before `end`.
    fn cut_channel(&self, channel: (LinkId, u16), start: Time, end: Time) -> bool {
        let outages = self.channels.get(&channel);
        outages.is_some_and(|outages| overlap(outages, start, end))
    }

    /// Returns when a unit leaves the output of a link, if its transmission would begin at `start`:
    /// earlier, if the routes learn before that the link is down.
    pub(crate) fn leaves_at(&self, link: LinkId, start: Time) -> Time {
        let down_at = self.down_at.get(&link).and_then(VecDeque::front);
        down_at.map_or(start, |&time| start.min(time))
    }

    /// Returns whether a unit whose transmission would begin at `start` still waits when the routes
    /// learn that the link is down.
    pub(crate) fn strand(&self, link: LinkId, start: Time) -> bool {
        let down_at = self.down_at.get(&link).and_then(VecDeque::front);
        down_at.is_some_and(|&time| time <= start)
    }

    /// Returns whether a link is down at any time from `start` to before `end`.
    pub(crate) fn cut(&self, link: LinkId, start: Time, end: Time) -> bool {
        let outages = self.spans.get(&link);
        outages.is_some_and(|outages| overlap(outages, start, end))
    }

    /// Returns whether a link is down at `now`.
    pub(crate) fn is_down(&self, link: LinkId, now: Time) -> bool {
        self.cut(link, now, Time(now.0 + 1))
    }

    /// Returns whether the routes know that a link is down.
    pub(crate) fn is_known_down(&self, link: LinkId) -> bool {
        self.known_down[link.index()]
    }

    /// Keeps a unit aside that will be stranded, of these bytes and this transmission time.
    /// `free_at` is the end of the transmissions before it.
    pub(crate) fn keep(
        &mut self,
        link: LinkId,
        unit: Unit,
        (bytes, time): (u32, Duration),
        free_at: Time,
    ) {
        let units = Vec::new();
        let aside = self.aside.entry(link).or_insert(Aside { free_at, units });
        aside.units.push((unit, bytes, time));
    }

    /// Returns whether any unit is kept aside.
    pub fn keep_any(&self) -> bool {
        !self.aside.is_empty()
    }

    /// Returns the time of the next change of the routes.
    pub fn next_change(&self) -> Time {
        self.changes
            .front()
            .map_or(Time::NEVER, |change| change.time)
    }

    /// Makes the changes at `now`. Returns the routes from now on, and the links that are down, in
    /// order, each with the units that were handed to it and are taken back.
    pub(crate) fn change(&mut self, now: Time, links: &mut Links) -> (Routing, Vec<Down>) {
        let mut downs = Vec::new();
        while self.next_change() == now {
            let Change { link, is_down, .. } = self.changes.pop_front().expect("a change");
            self.known_down[link.index()] = is_down;
            if is_down {
                if let Some(times) = self.down_at.get_mut(&link) {
                    times.pop_front();
                }
                let from = self.graph.links[link.index()].0;
                let mut units = Vec::new();
                if let Some(aside) = self.aside.remove(&link) {
                    let sizes = aside.units.iter().map(|&(_, bytes, time)| (bytes, time));
                    links.take_back(link, aside.free_at, sizes);
                    units.extend(aside.units.into_iter().map(|(unit, ..)| unit));
                }
                downs.push(Down { link, from, units });
            }
        }
        (self.routes(), downs)
    }

    fn routes(&self) -> Routing {
        let Graph {
            hosts,
            nodes,
            links,
            all_up,
        } = &self.graph;
        Routing::around(*hosts, *nodes, links, &self.known_down, all_up)
    }
}

impl Links {
    /// Takes back the units handed to a link last, which it has not begun to transmit. `free_at` is
    /// the end of the transmissions before them.
    fn take_back(
        &mut self,
        link: LinkId,
        free_at: Time,
        units: impl Iterator<Item = (u32, Duration)>,
    ) {
        let exit = &mut self.exits[link.index()];
        exit.free_at = free_at;
        let kind = &self.kinds[exit.kind as usize];
        let load = &mut self.loads[link.index()];
        for (bytes, time) in units {
            load.units -= 1;
            load.bytes -= Bytes(u64::from(bytes)).0;
            if kind.is_timed() {
                let busy = &mut self.busy[link.index()];
                *busy = Duration(busy.0 - time.0);
            }
        }
        self.shift_back(link, free_at);
        if let Some(gaps) = self.gaps.get_mut(link.index()) {
            gaps.retain(|&(_, end)| end <= free_at);
        }
    }
}

impl Fabric {
    /// Returns why a fibre loses a burst on a data channel that may be down between the `start` of
    /// its transmission and its arrival at `end`; `None` if it does not.
    #[cold]
    pub(crate) fn cut_off_channel(
        &mut self,
        channel: (LinkId, u16),
        start: Time,
        end: Time,
    ) -> Option<&'static DropReason> {
        let outages = self.outages.as_mut()?;
        if !outages.cut_channel(channel, start, end) {
            return None;
        }
        outages.lost[channel.0.index()] += 1;
        Some(LINK_DOWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(outages: &[(u64, u64)], delay: u64) -> Vec<(u64, bool)> {
        let outage = |&(down, up): &(u64, u64)| Outage {
            down: Time(down),
            up: Time(up),
        };
        let outages: Vec<Outage> = outages.iter().map(outage).collect();
        let changes = noticed(LinkId(0), &outages, Duration(delay));
        changes.iter().map(|c| (c.time.0, c.is_down)).collect()
    }

    #[test]
    fn what_lasts_longer_than_the_delay_is_noticed() {
        let never = Time::NEVER.0;
        assert_eq!(changes(&[(10, 30)], 5), [(15, true), (35, false)]);
        assert_eq!(changes(&[(10, 15)], 5), []);
        assert_eq!(changes(&[(10, 16)], 5), [(15, true), (21, false)]);
        // Up for no longer than the delay: it stays known as down.
        assert_eq!(changes(&[(10, 20), (25, 40)], 5), [(15, true), (45, false)]);
        assert_eq!(changes(&[(10, 12), (13, never)], 5), [(18, true)]);
    }
}
