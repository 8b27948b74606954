//! In which order the data of each flow arrives: how many packets come how far out of order
//! (RFC 4737, RFC 5236).

use crate::{Numbering, Packet};
use std::collections::{BTreeMap, VecDeque};

/// How many packets have each value.
pub type Counts = BTreeMap<i64, u64>;

/// What is counted of the arrivals of one flow.
#[derive(Clone, Debug, Default)]
pub struct Densities {
    /// By reordering extent, 0 in order (RFC 4737, section 4.2).
    pub extents: Counts,
    /// By the largest `n` with which they are n-reordered (RFC 4737, section 5.3).
    pub degrees: Counts,
    /// By displacement, negative for early ones (reorder density, RFC 5236).
    pub displacements: Counts,
    /// By what a buffer that puts them in order holds after them (reorder buffer-occupancy density,
    /// RFC 5236).
    pub occupancies: Counts,
}

impl Densities {
    /// The metrics, in the order of the fields.
    pub const NAMES: [&'static str; 4] =
        ["extent", "n-reordering", "displacement", "buffer-occupancy"];

    /// What was counted for each metric.
    pub fn each(&self) -> [&Counts; 4] {
        [
            &self.extents,
            &self.degrees,
            &self.displacements,
            &self.occupancies,
        ]
    }
}

/// The order of arrival of all flows.
#[derive(Clone, Debug)]
pub struct ArrivalOrders {
    /// By flow.
    numberings: Vec<Numbering>,
    flows: Vec<Order>,
}

impl ArrivalOrders {
    /// For flows whose packets are numbered so; whatever comes later or earlier by more than
    /// `threshold` packets is beyond it.
    pub fn new(threshold: u32, numberings: Vec<Numbering>) -> ArrivalOrders {
        ArrivalOrders {
            flows: vec![Order::new(threshold as usize); numberings.len()],
            numberings,
        }
    }

    /// A packet reaches its host.
    pub fn on_packet(&mut self, packet: &Packet) {
        // What is sent again comes late on purpose. Datagrams are not numbered by their sender.
        if packet.header.payload > 0 && packet.envelope.sending <= 1 {
            let flow = packet.envelope.flow.index();
            let number = self.numberings[flow].of(packet.header.sequence);
            self.flows[flow].on_arrival(number);
        }
    }

    /// What is counted of each flow, if the run ends now.
    pub fn densities(&self) -> impl Iterator<Item = Densities> + '_ {
        self.flows.iter().map(|order| order.clone().end())
    }
}

/// The order of arrival of one flow; its packets are numbered from 1 as they are sent.
#[derive(Clone, Debug)]
struct Order {
    threshold: usize,
    densities: Densities,
    /// The last arrivals, one more than the threshold.
    recent: VecDeque<u64>,
    /// The highest of those before them, and of all.
    before: u64,
    highest: u64,
    displaced: Window,
    buffered: Window,
}

impl Order {
    fn new(threshold: usize) -> Order {
        Order {
            threshold,
            densities: Densities::default(),
            recent: VecDeque::new(),
            before: 0,
            highest: 0,
            displaced: Window::default(),
            buffered: Window::default(),
        }
    }

    fn on_arrival(&mut self, number: u64) {
        let (extent, degree) = match number < self.highest {
            true => self.lateness(number),
            false => (0, 0),
        };
        self.highest = self.highest.max(number);
        count(&mut self.densities.extents, extent as i64);
        count(&mut self.densities.degrees, degree as i64);
        self.recent.push_back(number);
        if self.recent.len() > self.threshold + 1 {
            let oldest = self.recent.pop_front().expect("longer than 0");
            self.before = self.before.max(oldest);
        }
        self.displaced.arrive(number);
        self.buffered.arrive(number);
        self.judge(self.threshold);
    }

    /// Extent and degree of n-reordering of what arrives now; one more than the threshold stands
    /// for all that is more.
    fn lateness(&self, number: u64) -> (usize, usize) {
        // RFC 4737, section 4.2: counted from the first of all that were sent later.
        let extent = match self.recent.iter().position(|&other| other > number) {
            Some(place) if self.before < number => self.recent.len() - place,
            _ => self.threshold + 1,
        };
        // RFC 4737, section 5.3: all of the n before it were sent later.
        let back = self.recent.iter().rev();
        (extent, back.take_while(|&&other| other > number).count())
    }

    /// Nothing comes any more.
    fn end(mut self) -> Densities {
        self.judge(0);
        self.densities
    }

    /// Judges the first arrivals of each window as long as it holds more than `most`.
    fn judge(&mut self, most: usize) {
        while self.displaced.arrived.len() > most {
            if let Some(displacement) = self.displaced.displacement(self.threshold as i64) {
                count(&mut self.densities.displacements, displacement);
            }
        }
        while self.buffered.arrived.len() > most {
            let held = self.buffered.occupancy();
            count(&mut self.densities.occupancies, held as i64);
        }
    }
}

/// One more has the value.
pub(crate) fn count(counts: &mut Counts, value: i64) {
    *counts.entry(value).or_default() += 1;
}

/// Arrivals that are judged when so many more have come as the threshold says: what has not come
/// by then is lost.
#[derive(Clone, Debug, Default)]
struct Window {
    arrived: VecDeque<u64>,
    /// Those that came early and are judged, until it is their turn.
    early: Vec<u64>,
    /// All below it came, or are lost.
    next: u64,
}

impl Window {
    /// What comes after it was taken for lost does not count.
    fn arrive(&mut self, number: u64) {
        if number >= self.next {
            self.arrived.push_back(number);
        }
    }

    /// Of the first arrival, if it is not beyond the threshold (the algorithm for RD).
    fn displacement(&mut self, threshold: i64) -> Option<i64> {
        // The receive index: the numbers of lost packets are left out.
        let all = self.arrived.iter().chain(&self.early);
        let left = all.copied().filter(|&number| number >= self.next);
        let index = left.min().expect("as many indices as arrivals");
        self.next = index;
        let number = self.arrived.pop_front()?;
        let displacement = index as i64 - number as i64;
        if displacement.abs() > threshold {
            return None;
        }
        self.early.retain(|&other| other != index);
        if displacement < 0 {
            self.early.push(number);
        }
        self.next += 1;
        Some(displacement)
    }

    /// Of the buffer after the first arrival (the algorithm for RBD).
    fn occupancy(&mut self) -> usize {
        let expected = self.arrived.iter().min().copied();
        if let Some(number) = self.arrived.pop_front() {
            self.early.push(number);
            // What is lower, and is still to come, is too late.
            self.next = self.arrived.iter().min().copied().unwrap_or(u64::MAX);
            if Some(number) == expected {
                // It is in order, and so is all that waited for it alone.
                let next = self.next;
                self.early.retain(|&other| other > next);
            }
        }
        self.early.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(threshold: usize, numbers: &[u64]) -> Densities {
        let mut order = Order::new(threshold);
        numbers.iter().for_each(|&number| order.on_arrival(number));
        order.end()
    }

    fn of<const N: usize>(counts: [(i64, u64); N]) -> Counts {
        counts.into()
    }

    /// The arrivals of the three examples of RFC 4737, section 7, with extents and n-reordering.
    #[test]
    fn late_packets_have_the_extents_and_degrees_of_rfc_4737() {
        let one = order(10, &[1, 2, 3, 5, 6, 7, 8, 4, 9, 10]);
        assert_eq!(one.extents, of([(0, 9), (4, 1)]));
        assert_eq!(one.degrees, of([(0, 9), (4, 1)]));
        let two = order(10, &[1, 2, 3, 4, 7, 5, 6, 8, 9, 10]);
        assert_eq!(two.extents, of([(0, 8), (1, 1), (2, 1)]));
        assert_eq!(two.degrees, of([(0, 9), (1, 1)]));
        let three = order(10, &[1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11]);
        assert_eq!(three.extents, of([(0, 8), (4, 1), (5, 1), (6, 1)]));
        assert_eq!(three.degrees, of([(0, 10), (4, 1)]));
    }

    /// RFC 5236, by hand: one that three overtake, one that is lost, one that is beyond.
    #[test]
    fn displacements_leave_out_what_is_lost() {
        let numbers = [1, 4, 3, 5, 2, 6];
        let late = order(4, &numbers);
        assert_eq!(late.displacements, of([(-2, 1), (-1, 1), (0, 3), (3, 1)]));
        assert_eq!(late.occupancies, of([(0, 3), (1, 1), (2, 1), (3, 1)]));
        // Displaced by as many as the threshold, it is not waited for in the buffer.
        let limit = order(3, &numbers);
        assert_eq!(limit.displacements, late.displacements);
        assert_eq!(limit.occupancies, of([(0, 4), (1, 1)]));
        let lost = order(2, &[1, 2, 5, 3, 6]);
        assert_eq!(lost.displacements, of([(-2, 1), (0, 3), (2, 1)]));
        // Without 4, which never comes, 5 waits for 3 only.
        assert_eq!(lost.occupancies, of([(0, 4), (1, 1)]));
        // 1 is taken for lost, and does not count when it comes.
        let beyond = order(2, &[2, 3, 4, 5, 1, 6]);
        assert_eq!(beyond.displacements, of([(0, 5)]));
        assert_eq!(beyond.occupancies, of([(0, 5)]));
        assert_eq!(beyond.extents, of([(0, 5), (3, 1)]));
        assert_eq!(beyond.degrees, of([(0, 5), (3, 1)]));
    }

    /// What the algorithms for RD and RBD give as the authors of RFC 5236 publish them
    /// (cnrl.colostate.edu, Projects/PacketReordering, rd_algo.txt and rbd_algo.txt).
    #[test]
    fn densities_are_those_of_the_authors_algorithms() {
        let lost = order(2, &[1, 4, 3, 5, 8, 7, 6]);
        let far = of([(-2, 1), (-1, 1), (0, 3), (1, 1), (2, 1)]);
        assert_eq!(lost.displacements, far);
        assert_eq!(lost.occupancies, of([(0, 4), (1, 2)]));
        let early = order(4, &[2, 1, 5, 3, 4, 9, 6, 7, 8, 10]);
        let far = of([(-3, 1), (-2, 1), (-1, 1), (0, 1), (1, 6)]);
        assert_eq!(early.displacements, far);
        assert_eq!(early.occupancies, of([(0, 4), (1, 6)]));
        let beyond = order(3, &[3, 1, 2, 8, 4, 5, 12, 6, 9, 10, 11]);
        assert_eq!(beyond.displacements, of([(-2, 1), (0, 6), (1, 2)]));
        assert_eq!(beyond.occupancies, of([(0, 2), (1, 8), (2, 1)]));
    }
}
