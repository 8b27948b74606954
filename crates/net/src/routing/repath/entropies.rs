//! Spraying over entropy values: each packet of a flow takes the next of its values, and passes over
//! those on which a mark, a trimmed packet or a loss was seen (`UecMpBitmap` of the htsim of the Ultra
//! Ethernet Consortium). Values of good acknowledgements may be taken again first (REPS, Bonato et
//! al. 2024, `UecMpMixed` of that htsim).

use crate::routing::repath::PathNews;
use crate::{Envelope, FlowId, Header, NodeId};
use std::collections::VecDeque;

/// Packets for which a flow without any in flight keeps room.
const FEW: usize = 16;

/// Entropy values, and what makes a sender pass over one.
#[derive(Clone, Copy, Debug)]
pub struct EntropySettings {
    /// Number of values.
    pub entropies: u8,
    /// Penalty of a value at the echo of a mark.
    pub mark_penalty: u8,
    /// Penalty at a trimmed packet.
    pub trim_penalty: u8,
    /// Penalty at a packet that is sent again; also the most that a value can have.
    pub loss_penalty: u8,
    /// Number of values of good acknowledgements that are remembered.
    pub recycled: u32,
}

/// Packet that is not acknowledged yet.
#[derive(Clone, Copy, Debug)]
struct Sent {
    sequence: u64,
    /// Value of its last transmission; `None` if that was trimmed.
    value: Option<u8>,
}

/// Values of one flow.
#[derive(Debug)]
struct Spray {
    source: NodeId,
    /// Value whose turn it is.
    next: u8,
    /// Value of the last packet that arrived at the destination.
    answered: u8,
    /// Value of the last packet that arrived at the source.
    echoed: u8,
    /// Penalty of each value: how often its turn is still passed over.
    penalties: Box<[u8]>,
    /// Values of good acknowledgements, the oldest first.
    good: VecDeque<u8>,
    /// Packets that are not acknowledged, in order.
    sent: VecDeque<Sent>,
}

/// Values of all flows.
#[derive(Debug)]
pub struct Entropies {
    settings: EntropySettings,
    sprays: Vec<Spray>,
}

impl Entropies {
    /// Creates the values of the flows from `sources`, all without penalties.
    pub fn new(settings: EntropySettings, sources: impl Iterator<Item = NodeId>) -> Entropies {
        let spray = |source| Spray {
            source,
            next: 0,
            answered: 0,
            echoed: 0,
            penalties: Box::default(),
            good: VecDeque::new(),
            sent: VecDeque::new(),
        };
        Entropies {
            settings,
            sprays: sources.map(spray).collect(),
        }
    }

    /// Returns the value of a new packet: data takes the next one, an answer that of the packet which
    /// has arrived last.
    pub(crate) fn number(&mut self, packet: &Envelope, header: &Header) -> u8 {
        let spray = &mut self.sprays[packet.flow.index()];
        if packet.source != spray.source {
            return spray.answered;
        }
        if spray.penalties.is_empty() {
            spray.penalties = vec![0; usize::from(self.settings.entropies)].into();
        }
        let known = spray.find(header.sequence);
        if let Some(value) = known.and_then(|place| spray.sent[place].value) {
            spray.penalise(value, self.settings.loss_penalty, &self.settings);
        }
        let value = spray.choose();
        let sent = Sent {
            sequence: header.sequence,
            value: Some(value),
        };
        match known {
            Some(place) => spray.sent[place] = sent,
            None => spray.sent.push_back(sent),
        }
        value
    }

    /// Notes the value of a packet that has reached its destination.
    pub(crate) fn arrive(&mut self, packet: &Envelope) {
        let spray = &mut self.sprays[packet.flow.index()];
        match packet.destination == spray.source {
            true => spray.echoed = packet.path,
            false => spray.answered = packet.path,
        }
    }

    /// Handles the acknowledgement that has just arrived.
    pub(crate) fn on_ack(&mut self, flow: FlowId, news: &PathNews) {
        let settings = self.settings;
        let spray = &mut self.sprays[flow.index()];
        let value = spray.echoed;
        if let Some(sequence) = news.trimmed {
            spray.penalise(value, settings.trim_penalty, &settings);
            if let Some(place) = spray.find(sequence) {
                let sent = &mut spray.sent[place];
                sent.value = sent.value.filter(|&last| last != value);
            }
        } else if news.marked {
            spray.penalise(value, settings.mark_penalty, &settings);
        } else {
            spray.remember(value, settings.recycled as usize);
        }
        let covered = |sent: &Sent| sent.sequence < news.acknowledged;
        spray.sent.drain(..spray.sent.partition_point(covered));
        // A flow that is over keeps no room for the packets that it had in flight.
        if spray.sent.is_empty() && spray.sent.capacity() > FEW {
            spray.sent = VecDeque::new();
        }
    }
}

impl Spray {
    /// Chooses the value of a packet: the oldest good one, or else the first without a penalty from the
    /// one whose turn it is. If that has a penalty it loses one, and it is taken if all others have
    /// some, too.
    fn choose(&mut self) -> u8 {
        if let Some(value) = self.good.pop_front() {
            return value;
        }
        let (turn, count) = (usize::from(self.next), self.penalties.len());
        let mut ways = (turn..count).chain(0..turn);
        let free = ways.find(|&value| self.penalties[value] == 0);
        self.penalties[turn] = self.penalties[turn].saturating_sub(1);
        let value = free.unwrap_or(turn);
        self.next = ((value + 1) % count) as u8;
        value as u8
    }

    fn penalise(&mut self, value: u8, penalty: u8, settings: &EntropySettings) {
        let held = &mut self.penalties[usize::from(value)];
        *held = held.saturating_add(penalty).min(settings.loss_penalty);
    }

    /// Remembers a good value, in place of the oldest one if there are as many as `most`.
    fn remember(&mut self, value: u8, most: usize) {
        self.good.push_back(value);
        if self.good.len() > most {
            self.good.pop_front();
        }
    }

    /// Returns the place of a packet that is not acknowledged.
    fn find(&self, sequence: u64) -> Option<usize> {
        self.sent
            .binary_search_by_key(&sequence, |sent| sent.sequence)
            .ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: EntropySettings = EntropySettings {
        entropies: 4,
        mark_penalty: 1,
        trim_penalty: 2,
        loss_penalty: 3,
        recycled: 0,
    };
    const FLOW: FlowId = FlowId(0);

    fn entropies(settings: EntropySettings) -> Entropies {
        Entropies::new(settings, [NodeId(3)].into_iter())
    }

    /// Values of so many packets, each of one byte, from the byte `first` on.
    fn sends(entropies: &mut Entropies, first: u64, packets: u64) -> Vec<u8> {
        let envelope = Envelope::new(FLOW, NodeId(3), NodeId(9), 100);
        let header = |sequence| Header {
            sequence,
            payload: 1,
            ..Header::default()
        };
        (first..first + packets)
            .map(|sequence| entropies.number(&envelope, &header(sequence)))
            .collect()
    }

    /// The answer to a packet with a value.
    fn answer(entropies: &mut Entropies, value: u8, marked: bool, trimmed: Option<u64>) {
        let mut envelope = Envelope::new(FLOW, NodeId(3), NodeId(9), 100);
        envelope.path = value;
        entropies.arrive(&envelope);
        let mut answer = Envelope::new(FLOW, NodeId(9), NodeId(3), 60);
        answer.path = entropies.number(&answer, &Header::default());
        assert_eq!(answer.path, value);
        entropies.arrive(&answer);
        let news = PathNews {
            bytes: 0,
            marked,
            acknowledged: 0,
            sent: 0,
            count: None,
            trimmed,
        };
        entropies.on_ack(FLOW, &news);
    }

    #[test]
    fn values_take_turns_and_a_marked_one_is_passed_over_once() {
        let mut entropies = entropies(SETTINGS);
        assert_eq!(sends(&mut entropies, 0, 6), [0, 1, 2, 3, 0, 1]);
        answer(&mut entropies, 3, true, None);
        assert_eq!(sends(&mut entropies, 6, 6), [2, 0, 1, 2, 3, 0]);
    }

    #[test]
    fn penalties_add_up_to_that_of_a_loss_and_only_the_first_of_several_loses_one() {
        let mut entropies = entropies(SETTINGS);
        assert_eq!(sends(&mut entropies, 0, 4), [0, 1, 2, 3]);
        for _ in 0..3 {
            answer(&mut entropies, 1, false, Some(1));
        }
        answer(&mut entropies, 2, true, None);
        // Value 1 has 3 and 2 has 1. At each turn of 1 it loses one; 2 is passed over with it, and
        // keeps its own until 1 has none.
        let expected = [0, 3, 0, 3, 0, 3, 0, 1, 3, 0, 1, 2, 3];
        assert_eq!(sends(&mut entropies, 4, 13), expected);
    }

    #[test]
    fn a_packet_that_is_sent_again_blames_its_value_unless_it_was_trimmed() {
        let mut entropies = entropies(SETTINGS);
        assert_eq!(sends(&mut entropies, 0, 4), [0, 1, 2, 3]);
        answer(&mut entropies, 2, false, Some(2));
        assert_eq!(sends(&mut entropies, 2, 1), [0]);
        let penalties = |entropies: &Entropies| entropies.sprays[0].penalties.to_vec();
        assert_eq!(penalties(&entropies), [0, 0, 2, 0]);
        // Its second transmission had the value 0.
        assert_eq!(sends(&mut entropies, 2, 1), [1]);
        assert_eq!(penalties(&entropies), [3, 0, 2, 0]);
    }

    #[test]
    fn with_penalties_everywhere_values_take_turns_again() {
        let mut entropies = entropies(SETTINGS);
        sends(&mut entropies, 0, 4);
        for value in 0..4 {
            answer(&mut entropies, value, false, Some(9));
        }
        assert_eq!(sends(&mut entropies, 4, 4), [0, 1, 2, 3]);
        assert_eq!(entropies.sprays[0].penalties[..], [1; 4]);
    }

    #[test]
    fn good_values_come_first_and_the_newest_are_remembered() {
        let mut entropies = entropies(EntropySettings {
            recycled: 2,
            ..SETTINGS
        });
        sends(&mut entropies, 0, 4);
        for value in [3, 2, 1] {
            answer(&mut entropies, value, false, None);
        }
        answer(&mut entropies, 0, true, None);
        assert_eq!(sends(&mut entropies, 4, 4), [2, 1, 1, 2]);
    }
}
