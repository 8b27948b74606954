//! The connections that have begun and are not over. Each has a place for its two ends, which goes
//! to another one afterwards: what they take is by those in progress, and not by all there ever are.

use crate::receiver::Receiver;
use crate::sender::Sender;

/// In place of a place: the flow has not begun.
const TO_COME: u32 = u32::MAX;
/// In place of a place: nothing can happen to it any more.
const OVER: u32 = u32::MAX - 1;
/// There is room for so many from the start. It costs addresses alone until it is used, where an
/// array that grows is copied again and again.
const ROOM: usize = 1 << 16;

/// The connections in progress.
pub struct Connections {
    /// By the flow.
    places: Vec<u32>,
    /// By the place: the flow, and its two ends.
    flows: Vec<u32>,
    senders: Vec<Sender>,
    receivers: Vec<Receiver>,
    free: Vec<u32>,
    /// Before there are more places than this it is looked which connections are over.
    room: usize,
}

impl Connections {
    /// None yet of so many flows.
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

    /// The sender of a flow that is in progress.
    #[inline]
    pub fn sender(&mut self, flow: usize) -> &mut Sender {
        &mut self.senders[self.places[flow] as usize]
    }

    /// The receiver of a flow that is in progress.
    #[inline]
    pub fn receiver(&mut self, flow: usize) -> &mut Receiver {
        &mut self.receivers[self.places[flow] as usize]
    }

    /// Both ends of a flow, if it is in progress.
    pub fn ends(&self, flow: usize) -> Option<(&Sender, &Receiver)> {
        let place = self.places[flow] as usize;
        self.senders.get(place).zip(self.receivers.get(place))
    }

    /// Both ends of a flow, to be changed, if it is in progress.
    #[inline]
    pub fn in_progress(&mut self, flow: usize) -> Option<(&mut Sender, &mut Receiver)> {
        let place = self.places[flow] as usize;
        let sender = self.senders.get_mut(place)?;
        Some((sender, &mut self.receivers[place]))
    }

    /// Whether nothing can happen to a flow any more.
    pub fn is_over(&self, flow: usize) -> bool {
        self.places[flow] == OVER
    }

    /// Whether it is to be looked which connections are over before another one begins.
    pub fn are_many(&self) -> bool {
        self.free.is_empty() && self.flows.len() >= self.room
    }

    /// The flows that are done and to which nothing can happen any more, given those of which packets
    /// are under way: all that happens to a flow is that a packet arrives or a timer expires.
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

    /// Frees the places of these flows, which are over. If that is few, more are made before it is
    /// looked again, so that looking costs each flow the same in the mean.
    pub fn end(&mut self, over: &[usize]) {
        for &flow in over {
            let place = std::mem::replace(&mut self.places[flow], OVER);
            self.free.push(place);
        }
        if self.free.len() <= self.flows.len() / 4 {
            self.room = 2 * self.flows.len();
        }
    }

    /// A flow begins with these ends.
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
