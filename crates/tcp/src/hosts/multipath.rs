//! Connections with several subflows (Multipath TCP, RFC 8684): each subflow is a sender and a
//! receiver of its own, and all take their data from what the connection has left.
//!
//! Subflow `j` of the connection at `index` is at `index` + `j` * (number of connections), and its
//! packets have the flow number of the connection + `j` * (number of all flows): so a subflow has
//! hashes, queues and losses of its own, and subflow 0 those of a connection without others.

use crate::cc::Subflow;
use crate::hosts::TcpHosts;
use crate::wire::data_level::{DataLevel, DataRules};
use crate::wire::segment::{Endpoint, SYN};
use crate::{Flow, Group, Outcome, Status};
use lightburst_des::Time;
use lightburst_net::{Context, Dropped, FlowId, Header};
use std::collections::BTreeMap;

/// Distances of the losses of one subflow, in payload bytes acknowledged (l_1r and l_2r of OLIA).
#[derive(Clone, Copy, Debug, Default)]
struct Distances {
    /// Losses so far.
    losses: u64,
    /// Data acknowledged at the last one.
    at: u64,
    /// Data acknowledged between the last two.
    before: u64,
}

impl Distances {
    /// Notes the number of losses and the data acknowledged; returns the larger of the last two
    /// distances.
    fn note(&mut self, (losses, acknowledged): (u64, u64)) -> u64 {
        let since = acknowledged - self.at;
        if std::mem::replace(&mut self.losses, losses) < losses && since > 0 {
            self.before = since;
            self.at = acknowledged;
        }
        self.before.max(acknowledged - self.at)
    }
}

/// State that the subflows of one connection share.
struct Shared {
    /// Number of subflows, opened or not.
    subflows: usize,
    /// Payload bytes that no subflow has taken.
    left: u64,
    /// Data sent by the subflow of the present event, before that event.
    sent: u64,
    /// Whether the further subflows were opened.
    opened: bool,
    states: Vec<Option<Subflow>>,
    distances: Vec<Distances>,
    /// Data level, which then has what is left; `None` if there is none.
    level: Option<Box<Level>>,
}

impl Shared {
    /// Returns whether subflows have data to take.
    fn has_left(&self) -> bool {
        match &self.level {
            Some(level) => level.data.sending.has_left(),
            None => self.left > 0,
        }
    }

    /// Returns whether subflows that have all their data acknowledged close.
    fn closes(&self) -> bool {
        match &self.level {
            Some(level) => level.data.sending.is_acknowledged(),
            None => self.left == 0,
        }
    }
}

/// Data level of a connection, and what the subflow of the present event has to do with it.
struct Level {
    data: DataLevel,
    /// Expiries of the retransmission timer before that event.
    timeouts: u64,
    /// Whether that event brought an acknowledgement of the data level.
    advanced: bool,
    /// Whether it is known that all data has arrived.
    told: bool,
}

/// All connections with several subflows.
pub(super) struct Multipath {
    /// Number of connections of these hosts, and of flows in the whole plan.
    count: usize,
    flows: usize,
    /// Connections in progress, by their index.
    connections: BTreeMap<usize, Shared>,
}

impl Multipath {
    /// Creates the state of `count` connections among `flows` flows; `None` if no group has several
    /// subflows.
    pub fn new(groups: &[Group], count: usize, flows: usize) -> Option<Box<Multipath>> {
        (most_subflows(groups) > 1).then(|| {
            Box::new(Multipath {
                count,
                flows,
                connections: BTreeMap::new(),
            })
        })
    }

    /// Returns the index of a connection, and the number of the subflow at `index`.
    fn place(&self, index: usize) -> (usize, usize) {
        (index % self.count, index / self.count)
    }

    /// Returns the data level of the connection of the subflow at `index`, if it has one.
    fn level(&mut self, index: usize) -> Option<&mut Level> {
        let (connection, own) = self.place(index);
        let level = self
            .connections
            .get_mut(&connection)?
            .level
            .as_deref_mut()?;
        level.data.at(own);
        Some(level)
    }

    /// Yields the indices of all subflows of a connection; nothing if it has only one, or has not
    /// begun.
    fn subflows(&self, connection: usize) -> impl Iterator<Item = usize> {
        let shared = self.connections.get(&connection);
        let (subflows, count) = (shared.map_or(0, |it| it.subflows), self.count);
        (0..subflows).map(move |number| connection + number * count)
    }
}

/// Returns the data level of the subflow at `index`, if it has one.
#[inline]
pub(super) fn level_of(
    multipath: &mut Option<Box<Multipath>>,
    index: usize,
) -> Option<&mut DataLevel> {
    Some(&mut multipath.as_mut()?.level(index)?.data)
}

/// Returns the largest number of subflows of a connection.
pub(super) fn most_subflows(groups: &[Group]) -> usize {
    let each = groups.iter().map(|group| usize::from(group.subflows));
    each.max().unwrap_or(1)
}

impl TcpHosts {
    /// Returns the flow at `index`, of which each subflow has a number of its own.
    pub(super) fn flow(&self, index: usize) -> Flow {
        let Some(multipath) = &self.multipath else {
            return self.flows.get(index);
        };
        let (connection, number) = multipath.place(index);
        let mut flow = self.flows.get(connection);
        flow.id.0 += (number * multipath.flows) as u32;
        flow
    }

    /// Returns the index of a flow or subflow; `None` if it is not one of these hosts.
    pub(super) fn index_of(&self, flow: FlowId) -> Option<usize> {
        let Some(multipath) = &self.multipath else {
            return self.flows.index(flow);
        };
        let (row, number) = (
            flow.index() % multipath.flows,
            flow.index() / multipath.flows,
        );
        let index = self.flows.index(FlowId(row as u32))?;
        Some(index + number * multipath.count)
    }

    /// Shares the data of a connection that begins among its subflows.
    pub(super) fn share(&mut self, index: usize, size: u64, group: usize) {
        let Group {
            subflows,
            data,
            sizes,
            ..
        } = &self.built_from[group];
        let subflows = usize::from(*subflows);
        let advertised = self.groups[group].reception.advertised;
        let level = || DataLevel::new(size, sizes.mss(), advertised, subflows, *data);
        let multipath = self.multipath.as_mut().expect("several subflows");
        let (connection, _) = multipath.place(index);
        multipath.connections.entry(connection).or_insert(Shared {
            subflows,
            left: size,
            sent: 0,
            opened: false,
            states: vec![None; subflows],
            distances: vec![Distances::default(); subflows],
            level: (*data != DataRules::default()).then(|| {
                Box::new(Level {
                    data: level(),
                    timeouts: 0,
                    advanced: false,
                    told: false,
                })
            }),
        });
    }

    /// Handles the Data ACK of an acknowledgement for the sender at `index`.
    #[cold]
    pub(super) fn hear_data_ack(&mut self, index: usize, header: &Header, now: Time) {
        let multipath = self.multipath.as_mut().expect("several subflows");
        // RFC 8684, section 3.3.2: a SYN has no Data ACK.
        if header.flags & SYN == 0 {
            if let Some(level) = multipath.level(index) {
                level.advanced |= level.data.sending.acknowledge(header.sequence, now);
            }
        }
    }

    /// Prepares the sender at `index` for an event, if it is a subflow.
    #[cold]
    pub(super) fn before_event(&mut self, index: usize) {
        let multipath = self.multipath.as_mut().expect("several subflows");
        let (connection, own) = multipath.place(index);
        let Some(shared) = multipath.connections.get_mut(&connection) else {
            return;
        };
        let Some((sender, _)) = self.connections.in_progress(index) else {
            return;
        };
        match &mut shared.level {
            None => sender.offer(shared.left),
            Some(level) => {
                let sending = &level.data.sending;
                let slots = sending.offered(own);
                sender.offer_slots(slots, sending.is_acknowledged());
                level.timeouts = sender.timeouts;
            }
        }
        sender.hear_subflows(own, &shared.states);
        shared.sent = sender.sent();
    }

    /// Notes what the sender at `index` did in an event, if it is a subflow; opens the other subflows
    /// after the first one, and closes those that have nothing left to send.
    #[cold]
    pub(super) fn after_event(&mut self, index: usize, ctx: &mut Context<'_>) {
        let multipath = self.multipath.as_mut().expect("several subflows");
        let (connection, own) = multipath.place(index);
        let Some(shared) = multipath.connections.get_mut(&connection) else {
            return;
        };
        let Some((sender, _)) = self.connections.in_progress(index) else {
            return;
        };
        let mut prompts = false;
        match &mut shared.level {
            None => shared.left -= sender.sent() - shared.sent,
            Some(level) => {
                let sending = &mut level.data.sending;
                sending.trim(own, sender.acknowledged_until());
                let expired = sender.timeouts > level.timeouts;
                let advanced = std::mem::take(&mut level.advanced);
                prompts = expired && sending.hand_over(own);
                prompts |= advanced && sending.waits_for_window();
            }
        }
        let between_losses = shared.distances[own].note(sender.losses());
        shared.states[own] = sender.subflow(between_losses);
        let opens = !shared.opened && sender.is_open() && shared.has_left();
        let closes = shared.closes();
        shared.opened |= opens;
        if prompts {
            self.prompt_others(index, ctx);
        }
        if opens {
            // RFC 8684, section 3.2: further subflows join a connection that is established.
            let further = self.parts(connection).into_iter().skip(1);
            for index in further {
                self.open(index, ctx);
            }
        } else if closes {
            self.close_those_done(connection, ctx);
        }
    }

    /// Lets the other subflows of a connection send what the event of that at `index` offers them.
    fn prompt_others(&mut self, index: usize, ctx: &mut Context<'_>) {
        let multipath = self.multipath.as_ref().expect("several subflows");
        let (connection, _) = multipath.place(index);
        let others = multipath.subflows(connection);
        let others: Vec<usize> = others.filter(|&other| other != index).collect();
        for other in others {
            self.before_event(other);
            let flow = self.flow(other);
            let sizes = &self.groups[usize::from(flow.group)].sizes;
            let level = level_of(&mut self.multipath, other);
            if let Some((sender, _)) = self.connections.in_progress(other) {
                sender.send_offered(&mut Endpoint::source(&flow, sizes, ctx).with(level));
                self.after_event(other, ctx);
            }
        }
    }

    /// Opens the further subflow at `index`.
    fn open(&mut self, index: usize, ctx: &mut Context<'_>) {
        self.begin(index, ctx);
        self.before_event(index);
        let flow = self.flow(index);
        let group = usize::from(flow.group);
        let sender = self.connections.sender(index);
        let level = level_of(&mut self.multipath, index);
        let end = &mut Endpoint::source(&flow, &self.groups[group].sizes, ctx).with(level);
        sender.start(self.built_from[group].handshake, end);
        self.after_event(index, ctx);
    }

    /// Closes the subflows of a connection without data left that have all theirs acknowledged.
    fn close_those_done(&mut self, connection: usize, ctx: &mut Context<'_>) {
        let multipath = self.multipath.as_mut().expect("several subflows");
        let subflows: Vec<usize> = multipath.subflows(connection).collect();
        for (number, index) in subflows.into_iter().enumerate() {
            let flow = self.flow(index);
            let Some((sender, _)) = self.connections.in_progress(index) else {
                continue;
            };
            sender.offer_slots(0, true);
            let sizes = &self.groups[usize::from(flow.group)].sizes;
            sender.close_if_done(&mut Endpoint::source(&flow, sizes, ctx));
            if sender.subflow(0).is_none() {
                let multipath = self.multipath.as_mut().expect("several subflows");
                let shared = multipath.connections.get_mut(&connection);
                shared.expect("it is in progress").states[number] = None;
            }
        }
    }

    /// Returns the indices of the subflows of a connection, or of itself alone.
    fn parts(&self, connection: usize) -> Vec<usize> {
        let multipath = self.multipath.as_ref();
        let parts: Vec<usize> =
            multipath.map_or(Vec::new(), |it| it.subflows(connection).collect());
        match parts.is_empty() {
            true => vec![connection],
            false => parts,
        }
    }

    /// Returns the payload bytes that have arrived over all subflows of the connection of a flow or
    /// subflow, and the index of the connection.
    pub(super) fn arrived(&self, index: usize) -> (usize, u64) {
        let connection = match &self.multipath {
            Some(multipath) => multipath.place(index).0,
            None => index,
        };
        if let Some(level) = self.data_level(connection) {
            return (connection, level.receiving.delivered());
        }
        let parts = self.parts(connection).into_iter();
        let ends = parts.filter_map(|part| self.connections.ends(part));
        (
            connection,
            ends.map(|(_, receiver)| receiver.received()).sum(),
        )
    }

    /// Returns the data level of a connection, if it has one.
    fn data_level(&self, connection: usize) -> Option<&DataLevel> {
        let multipath = self.multipath.as_ref()?;
        let level = multipath.connections.get(&connection)?.level.as_ref()?;
        Some(&level.data)
    }

    /// Returns whether it was not known before that all data of a connection has arrived.
    pub(super) fn is_news(&mut self, connection: usize) -> bool {
        let level = self.multipath.as_mut().and_then(|it| it.level(connection));
        level.map_or(true, |level| !std::mem::replace(&mut level.told, true))
    }

    /// Returns the outcome so far of a connection with several subflows, summed over them.
    pub(super) fn summed(&self, connection: usize, dropped: &Dropped) -> Outcome {
        let size = self.flows.get(connection).size;
        let parts = self.parts(connection).into_iter();
        let begun = parts.filter(|&part| self.connections.ends(part).is_some());
        let begun: Vec<usize> = begun.collect();
        if begun.is_empty() {
            return Outcome::not_started();
        }
        let mut sum = Outcome {
            received: Time::ZERO,
            acknowledged: Time::ZERO,
            ..Outcome::not_started()
        };
        let mut gave_up = false;
        for part in begun {
            let (sender, receiver) = self.connections.ends(part).expect("it has begun");
            gave_up |= sender.gave_up() || receiver.gave_up();
            let sent = sender.sent();
            sum.add(&self.part(part, sent, dropped), sent > 0);
        }
        if let Some(DataLevel {
            sending, receiving, ..
        }) = self.data_level(connection)
        {
            sum.received = receiving.received;
            sum.acknowledged = sending.acknowledged;
            sum.delivered = receiving.delivered();
            sum.duplicates += receiving.duplicates;
            sum.reinjections = sending.reinjections;
        }
        let finished = sum.delivered == size;
        if !finished {
            (sum.received, sum.acknowledged) = (Time::NEVER, Time::NEVER);
        }
        sum.status = match finished {
            true => Status::Finished,
            false if gave_up => Status::GaveUp,
            false => Status::TimeLimit,
        };
        sum
    }

    /// Returns the connections of which all subflows are `over`, and the indices of these subflows.
    pub(super) fn wholly_over(&self, over: Vec<usize>) -> (Vec<usize>, Vec<usize>) {
        let Some(multipath) = &self.multipath else {
            return (over.clone(), over);
        };
        let all: std::collections::BTreeSet<usize> = over.iter().copied().collect();
        let is_over = |part: &usize| all.contains(part) || self.connections.ends(*part).is_none();
        let mut whole: Vec<usize> = over.iter().map(|&index| multipath.place(index).0).collect();
        whole.sort_unstable();
        whole.dedup();
        whole.retain(|&connection| self.parts(connection).iter().all(is_over));
        let begun = |part: &usize| self.connections.ends(*part).is_some();
        let parts = whole.iter().flat_map(|&connection| self.parts(connection));
        let parts = parts.filter(begun).collect();
        (whole, parts)
    }

    /// Forgets what the subflows of these connections shared.
    pub(super) fn forget(&mut self, connections: &[usize]) {
        if let Some(multipath) = &mut self.multipath {
            for connection in connections {
                multipath.connections.remove(connection);
            }
        }
    }
}

impl Outcome {
    /// Adds the outcome of a further subflow. Times count only if it `had_data`.
    fn add(&mut self, part: &Outcome, had_data: bool) {
        if had_data {
            self.received = self.received.max(part.received);
            self.acknowledged = self.acknowledged.max(part.acknowledged);
        }
        self.delivered += part.delivered;
        self.transmissions += part.transmissions;
        self.retransmissions += part.retransmissions;
        self.timeouts += part.timeouts;
        self.duplicates += part.duplicates;
        self.repetitions += part.repetitions;
        self.reordered += part.reordered;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_of_the_last_two_distances_of_losses_counts() {
        let mut distances = Distances::default();
        // No loss yet: all data acknowledged.
        assert_eq!(distances.note((0, 5_000)), 5_000);
        // The first loss at 7000, then 2000 more.
        assert_eq!(distances.note((1, 7_000)), 7_000);
        assert_eq!(distances.note((1, 9_000)), 7_000);
        // The second loss: 3000 since the first one, and now the 7000 are forgotten.
        assert_eq!(distances.note((2, 10_000)), 3_000);
        assert_eq!(distances.note((2, 14_000)), 4_000);
        // A loss without data acknowledged since the one before is the same.
        assert_eq!(distances.note((3, 14_000)), 4_000);
        assert_eq!(distances.note((4, 14_000)), 4_000);
    }
}
