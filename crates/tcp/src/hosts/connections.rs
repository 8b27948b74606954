//! Connections in progress. Each occupies a slot with its two endpoints; a later connection reuses
//! the slot, so memory grows with the connections in progress and not with all flows.

use crate::receiver::Receiver;
use crate::sender::Sender;
use lightburst_net::unit::arena::{prefetch, prefetch_lines};

/// Slot of a flow that has not started.
const TO_COME: u32 = u32::MAX;
/// Slot of a flow that has ended and can receive no further event.
const OVER: u32 = u32::MAX - 1;
/// Initial capacity in connections. Unused capacity costs only address space, whereas a growing
/// array is copied repeatedly.
const ROOM: usize = 1 << 16;

/// Part of a connection that an event needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The sender, at an acknowledgement.
    Sender,
    /// The timer of the sender.
    Timer,
    /// The receiver.
    Receiver,
}

/// The connections in progress.
pub struct Connections {
    /// Slot of each flow, `TO_COME` or `OVER`.
    places: Vec<u32>,
    /// Per slot: the flow and its two endpoints.
    flows: Vec<u32>,
    senders: Vec<Sender>,
    receivers: Vec<Receiver>,
    free: Vec<u32>,
    /// Number of slots at which the next search for ended connections takes place, before further
    /// slots are added.
    room: usize,
}

impl Connections {
    /// Creates an empty set for `flows` flows.
    pub fn new(flows: usize) -> Connections {
        let room = flows.min(ROOM);
        Connections {
            places: vec![TO_COME; flows],
            flows: Vec::with_capacity(room),
            senders: Vec::with_capacity(room),
            receivers: Vec::with_capacity(room),
            free: Vec::new(),
            room: 1,
        }
    }

    /// Returns the sender of a flow in progress.
    #[inline]
    pub fn sender(&mut self, flow: usize) -> &mut Sender {
        &mut self.senders[self.places[flow] as usize]
    }

    /// Returns the receiver of a flow in progress.
    #[inline]
    pub fn receiver(&mut self, flow: usize) -> &mut Receiver {
        &mut self.receivers[self.places[flow] as usize]
    }

    /// Returns whether a flow has endpoints here.
    #[inline]
    pub fn has_begun(&self, flow: usize) -> bool {
        self.places[flow] != TO_COME
    }

    /// Iterates over the flows with endpoints here, with these.
    pub fn all(&self) -> impl Iterator<Item = (usize, &Sender, &Receiver)> {
        let flows = self.flows.iter().map(|&flow| flow as usize);
        flows.filter_map(|flow| {
            let place = self.places[flow] as usize;
            let (sender, receiver) = self.senders.get(place).zip(self.receivers.get(place))?;
            Some((flow, sender, receiver))
        })
    }

    /// Asks for memory that an event of a flow will need, in three stages.
    #[inline]
    pub fn prepare(&self, flow: usize, end: End, stage: usize) {
        let Some(place) = self.places.get(flow) else {
            return;
        };
        if stage == 0 {
            return prefetch(place);
        }
        let place = *place as usize;
        let (sender, receiver) = (self.senders.get(place), self.receivers.get(place));
        match (end, stage, sender, receiver) {
            (End::Receiver, 1, _, Some(receiver)) => prefetch_lines(receiver, 0..2),
            (End::Sender, 1, Some(sender), _) => prefetch_lines(sender, 0..4),
            (End::Timer, 1, Some(sender), _) => prefetch_lines(sender, 3..4),
            (End::Sender, 2, Some(sender), _) => sender.prefetch(),
            _ => {}
        }
    }

    /// Returns both endpoints of a flow, or `None` if it is not in progress.
    pub fn ends(&self, flow: usize) -> Option<(&Sender, &Receiver)> {
        let place = self.places[flow] as usize;
        self.senders.get(place).zip(self.receivers.get(place))
    }

    /// Returns both endpoints of a flow mutably, or `None` if it is not in progress.
    #[inline]
    pub fn in_progress(&mut self, flow: usize) -> Option<(&mut Sender, &mut Receiver)> {
        let place = self.places[flow] as usize;
        let sender = self.senders.get_mut(place)?;
        Some((sender, &mut self.receivers[place]))
    }

    /// Returns whether a flow has ended and its slot was freed.
    pub fn is_over(&self, flow: usize) -> bool {
        self.places[flow] == OVER
    }

    /// Returns whether the caller should search for ended connections before it starts another one.
    pub fn are_many(&self) -> bool {
        self.free.is_empty() && self.flows.len() >= self.room
    }

    /// Returns the number of slots.
    pub fn slots(&self) -> usize {
        self.flows.len()
    }

    /// Returns the flows that have ended: both endpoints are done, so that no timer is set, and no
    /// packet is in transit. `under_way` yields the flow of every packet in transit.
    pub fn over(&self, under_way: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut reached = vec![false; self.flows.len()];
        for flow in under_way {
            reached[self.places[flow] as usize] = true;
        }
        let over = |&flow: &usize| {
            let ends = self
                .ends(flow)
                .filter(|_| !reached[self.places[flow] as usize]);
            ends.is_some_and(|(sender, receiver)| sender.is_done() && receiver.is_done())
        };
        let flows = self.flows.iter().map(|&flow| flow as usize);
        flows.filter(over).collect()
    }

    /// Frees the slots of the flows in `over`, which have ended. If at most a quarter of the slots
    /// is free afterwards, the number of slots may double before the next search, so that the cost
    /// of searching per flow stays constant on average.
    pub fn end(&mut self, over: &[usize]) {
        for &flow in over {
            let place = std::mem::replace(&mut self.places[flow], OVER);
            self.free.push(place);
        }
        if self.free.len() <= self.flows.len() / 4 {
            self.room = 2 * self.flows.len().max(1);
        }
    }

    /// Puts the endpoints of a new connection into a free slot.
    pub fn begin(&mut self, flow: usize, sender: Sender, receiver: Receiver) {
        let place = self.free.pop();
        self.places[flow] = place.unwrap_or(self.flows.len() as u32);
        if let Some(place) = place.map(|place| place as usize) {
            self.flows[place] = flow as u32;
            self.senders[place] = sender;
            self.receivers[place] = receiver;
        } else {
            self.flows.push(flow as u32);
            self.senders.push(sender);
            self.receivers.push(receiver);
        }
    }
}
