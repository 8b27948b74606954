//! Dropped packets of each flow: their number, and a list of lost transmissions for the sender.

use crate::{FlowId, Narrow, Packet};
use lightburst_des::Time;

/// A dropped packet of a sender that counts transmissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostTransmission {
    /// First byte of the payload.
    pub sequence: u64,
    /// Transmission number of the packet, from 1.
    pub transmission: u32,
    /// Flags of the segment.
    pub flags: u8,
    /// Time of the drop.
    pub at: Time,
}

impl LostTransmission {
    /// Returns the transmission of a packet that is lost now; `None` if its sender does not count
    /// transmissions.
    #[inline]
    pub(crate) fn of(packet: &Packet, now: Time) -> Option<LostTransmission> {
        (packet.envelope.transmission > 0).then_some(LostTransmission {
            sequence: packet.header.sequence,
            transmission: packet.envelope.transmission,
            flags: packet.header.flags,
            at: now,
        })
    }
}

/// Initial capacity for lost transmissions.
const ROOM: usize = 1 << 10;
/// Stands for an empty chain.
const NONE: u32 = u32::MAX;

/// A lost transmission in the circular chain of its flow.
#[derive(Clone, Copy, Debug)]
struct Link {
    transmission: LostTransmission,
    /// Index of the transmission dropped next; the last one refers to the first.
    next: u32,
}

/// Dropped packets of all flows.
#[derive(Clone, Debug)]
pub struct Dropped {
    /// Number of packets of each flow, in both directions.
    packets: Narrow,
    /// Last lost transmission of each flow.
    last: Vec<u32>,
    /// Lost transmissions that their senders have not read yet, and free slots. The slot freed last
    /// is reused first, so that few cache lines are in use even with many flows.
    chains: Vec<Link>,
    /// First free slot; `next` leads to the others.
    free: u32,
}

impl Dropped {
    /// Creates empty lists for `flows` flows.
    pub fn new(flows: usize) -> Dropped {
        Dropped {
            packets: Narrow::zeros(flows),
            last: vec![NONE; flows],
            chains: Vec::with_capacity(ROOM),
            free: NONE,
        }
    }

    /// Counts a dropped packet of a flow.
    #[inline]
    pub(crate) fn count(&mut self, flow: FlowId) {
        self.packets.count(flow.index());
    }

    /// Appends a packet that is lost to the list, if its sender counts transmissions.
    #[inline]
    pub(crate) fn tell(&mut self, packet: &Packet, now: Time) {
        if let Some(transmission) = LostTransmission::of(packet, now) {
            self.append(packet.envelope.flow, transmission);
        }
    }

    /// Appends a lost transmission of a flow, which was lost after those in its list.
    pub(crate) fn append(&mut self, flow: FlowId, transmission: LostTransmission) {
        let mut place = self.free;
        match self.chains.get_mut(place as usize) {
            Some(link) => {
                self.free = link.next;
                link.transmission = transmission;
            }
            None => {
                place = self.chains.len() as u32;
                self.chains.push(Link {
                    transmission,
                    next: place,
                });
            }
        }
        let last = std::mem::replace(&mut self.last[flow.index()], place);
        let first = match self.chains.get_mut(last as usize) {
            Some(last) => std::mem::replace(&mut last.next, place),
            None => place,
        };
        self.chains[place as usize].next = first;
    }

    /// Returns the number of flows.
    pub fn flows(&self) -> usize {
        self.last.len()
    }

    /// Returns the number of dropped packets of a flow.
    pub fn packets(&self, flow: FlowId) -> u64 {
        self.packets.get(flow.index())
    }

    /// Iterates over the lost transmissions of a flow that were not taken out yet, in order of
    /// time.
    pub fn lost_transmissions(&self, flow: FlowId) -> impl Iterator<Item = LostTransmission> + '_ {
        let last = self.last[flow.index()];
        let mut before = Some(last).filter(|&last| last != NONE);
        std::iter::from_fn(move || {
            let place = self.chains[before? as usize].next;
            before = Some(place).filter(|&place| place != last);
            Some(self.chains[place as usize].transmission)
        })
    }

    /// Takes out the lost transmissions of a flow that were dropped before `now`. Used by senders
    /// that count transmissions.
    #[inline]
    pub fn take(&mut self, flow: FlowId, now: Time) -> impl Iterator<Item = LostTransmission> + '_ {
        std::iter::from_fn(move || {
            let last = &mut self.last[flow.index()];
            let first = self.chains.get(*last as usize)?.next;
            let Link { transmission, next } = self.chains[first as usize];
            if transmission.at >= now {
                return None;
            }
            if first == *last {
                *last = NONE;
            } else {
                self.chains[*last as usize].next = next;
            }
            self.chains[first as usize].next = std::mem::replace(&mut self.free, first);
            Some(transmission)
        })
    }

    /// Discards the lost transmissions of a flow that has ended.
    pub fn forget(&mut self, flow: FlowId) {
        self.take(flow, Time::NEVER).for_each(drop);
    }

    /// Returns the number of dropped packets of each flow.
    pub fn column(&self) -> Narrow {
        self.packets.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Envelope, Header, NodeId};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    fn packet(flow: u32, transmission: u32) -> Packet {
        let header = Header {
            sequence: u64::from(transmission) * 100,
            ..Header::default()
        };
        let mut packet = Packet::new(FlowId(flow), NodeId(0), NodeId(1), 1, header);
        packet.envelope = Envelope {
            transmission,
            ..packet.envelope
        };
        packet
    }

    fn lose(dropped: &mut Dropped, packet: &Packet, now: Time) {
        dropped.count(packet.envelope.flow);
        dropped.tell(packet, now);
    }

    proptest! {
        /// Each step drops a packet of a flow or takes out the transmissions lost before now. The
        /// model has a list for each flow.
        #[test]
        fn chains_are_a_list_of_each_flow(
            steps in vec((0..3u64, 0..4u32, prop::option::weighted(0.7, 0..5u32)), 0..60),
        ) {
            let mut dropped = Dropped::new(4);
            let mut lists: [VecDeque<LostTransmission>; 4] = Default::default();
            let (mut packets, mut now, mut most) = ([0; 4], 0, 0);
            for (passed, flow, lost) in steps {
                now += passed;
                let list = &mut lists[flow as usize];
                if let Some(transmission) = lost {
                    lose(&mut dropped, &packet(flow, transmission), Time(now));
                    packets[flow as usize] += 1;
                    list.extend((transmission > 0).then_some(LostTransmission {
                        sequence: u64::from(transmission) * 100,
                        transmission,
                        flags: 0,
                        at: Time(now),
                    }));
                } else {
                    let taken: Vec<_> = dropped.take(FlowId(flow), Time(now)).collect();
                    let number = list.iter().filter(|lost| lost.at < Time(now)).count();
                    prop_assert_eq!(taken, list.drain(..number).collect::<Vec<_>>());
                }
                most = most.max(lists.iter().map(VecDeque::len).sum());
                prop_assert!(dropped.chains.len() <= most, "a free place was not used");
                for (flow, list) in (0..).map(FlowId).zip(&lists) {
                    prop_assert!(dropped.lost_transmissions(flow).eq(list.iter().copied()));
                    prop_assert_eq!(dropped.packets(flow), packets[flow.index()]);
                }
            }
        }
    }

    #[test]
    fn a_chain_is_that_of_its_flow_alone_and_its_places_go_to_others_when_the_flow_is_over() {
        let mut dropped = Dropped::new(3);
        for (flow, transmission) in [(1, 1), (1, 2), (0, 0), (2, 7)] {
            lose(&mut dropped, &packet(flow, transmission), Time(5));
        }
        let seen = |dropped: &Dropped, flow| -> Vec<u32> {
            let transmissions = dropped.lost_transmissions(FlowId(flow));
            transmissions.map(|one| one.transmission).collect()
        };
        assert_eq!(
            [0, 1, 2].map(|flow| dropped.packets(FlowId(flow))),
            [1, 2, 1]
        );
        assert_eq!(
            [0, 1, 2].map(|flow| seen(&dropped, flow)),
            [vec![], vec![1, 2], vec![7]]
        );
        dropped.forget(FlowId(1));
        dropped.forget(FlowId(0));
        lose(&mut dropped, &packet(0, 3), Time(6));
        assert_eq!(
            [0, 1, 2].map(|flow| seen(&dropped, flow)),
            [vec![3], vec![], vec![7]]
        );
        assert_eq!(dropped.chains.len(), 3, "a place was used again");
        assert_eq!(dropped.packets(FlowId(1)), 2, "what is counted stays");
    }

    #[test]
    fn what_is_dropped_at_an_instant_is_taken_later() {
        let mut dropped = Dropped::new(1);
        for (transmission, at) in [(1, 5), (2, 7), (3, 7), (4, 9)] {
            lose(&mut dropped, &packet(0, transmission), Time(at));
        }
        let mut taken = |now| -> Vec<u32> {
            let taken = dropped.take(FlowId(0), Time(now));
            taken.map(|one| one.transmission).collect()
        };
        assert_eq!([5, 7, 8].map(&mut taken), [vec![], vec![1], vec![2, 3]]);
        assert_eq!([10, 10].map(taken), [vec![4], vec![]]);
        lose(&mut dropped, &packet(0, 5), Time(11));
        assert_eq!(dropped.lost_transmissions(FlowId(0)).count(), 1);
        assert_eq!(dropped.chains.len(), 4, "a place was used again");
    }
}
