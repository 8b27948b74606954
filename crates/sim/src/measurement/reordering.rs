//! Reordering of each flow's data: number of packets by extent of reordering and related metrics
//! (RFC 4737, RFC 5236).

use super::{count, require, Counts, Kind, Measurement, Meter, Scope};
use lightburst_net::column::{Column, Outputs};
use lightburst_net::{Happening, Interest, Numbering, Observer, Packet, View};
use serde::Deserialize;
use std::collections::VecDeque;

/// The measurement of a plan.
pub const KIND: Kind = Kind {
    keys: &["displacement_threshold"],
    codes: &[("reordering_metrics", &Densities::NAMES)],
    ..Kind::of::<Settings>()
};

/// Number of packets by which a packet may be early or late; a later one counts as lost (RFC 5236).
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Settings {
    displacement_threshold: u32,
}

impl Measurement for Settings {
    fn check(&self, _scope: &Scope<'_>) -> Result<(), String> {
        let words = || "an order of arrivals that looks at nothing".to_string();
        require(self.displacement_threshold > 0, words)
    }

    fn build(&self, scope: &Scope<'_>) -> Meter {
        let numberings = (0..scope.flows).map(&scope.numbering).collect();
        let orders = ArrivalOrders::new(self.displacement_threshold, numberings);
        Meter::Observer(Box::new(orders))
    }
}

/// Reordering metrics of one flow.
#[derive(Clone, Debug, Default)]
struct Densities {
    /// Packets by reordering extent, 0 if in order (RFC 4737, section 4.2).
    extents: Counts,
    /// Packets by the largest `n` for which they are n-reordered (RFC 4737, section 5.3).
    degrees: Counts,
    /// Packets by displacement, negative for early packets (reorder density, RFC 5236).
    displacements: Counts,
    /// Packets by the occupancy of a resequencing buffer after their arrival (reorder
    /// buffer-occupancy density, RFC 5236).
    occupancies: Counts,
}

impl Densities {
    /// Names of the metrics, in the order of the fields.
    const NAMES: [&'static str; 4] = ["extent", "n-reordering", "displacement", "buffer-occupancy"];

    /// Returns the counts of each metric.
    fn each(&self) -> [&Counts; 4] {
        [
            &self.extents,
            &self.degrees,
            &self.displacements,
            &self.occupancies,
        ]
    }
}

/// Order of arrival of all flows' data.
#[derive(Clone, Debug)]
struct ArrivalOrders {
    /// Packet numbering of each flow.
    numberings: Vec<Numbering>,
    flows: Vec<Order>,
}

impl ArrivalOrders {
    /// Creates the state of all flows, given the numbering of their packets. Extents and degrees
    /// above `threshold` packets count as `threshold` + 1; displacements above it are left out.
    fn new(threshold: u32, numberings: Vec<Numbering>) -> ArrivalOrders {
        ArrivalOrders {
            flows: vec![Order::new(threshold as usize); numberings.len()],
            numberings,
        }
    }

    /// Counts a packet that reaches its host.
    fn on_packet(&mut self, packet: &Packet) {
        // Retransmissions are late by design and not counted. Datagrams have transmission number 0.
        if packet.header.payload > 0 && packet.envelope.transmission <= 1 {
            let flow = packet.envelope.flow.index();
            let number = self.numberings[flow].of(packet.header.sequence);
            self.flows[flow].on_arrival(number);
        }
    }
}

impl Observer for ArrivalOrders {
    fn interest(&self) -> Interest {
        Interest::DELIVERED
    }

    fn on(&mut self, happening: &Happening<'_>, view: &View<'_>) {
        if let Happening::Delivered { packet, .. } = happening {
            self.on_packet(&view.units.packets[*packet]);
        }
    }

    /// Returns a table with one row per flow, metric and occurring value.
    fn tables(self: Box<Self>) -> Outputs {
        let (mut flows, mut metrics) = (Vec::new(), Vec::new());
        let (mut values, mut packets) = (Vec::new(), Vec::new());
        let densities = self.flows.into_iter().map(Order::end);
        for (flow, densities) in (0..).zip(densities) {
            for (metric, counts) in (0..).zip(densities.each()) {
                for (&value, &number) in counts {
                    flows.push(flow);
                    metrics.push(metric);
                    values.push(value);
                    packets.push(number);
                }
            }
        }
        let table = vec![
            ("flow", Column::U32(flows)),
            ("metric", Column::U8(metrics)),
            ("value", Column::I64(values)),
            ("packets", Column::U64(packets)),
        ];
        vec![("reordering", table.into())]
    }
}

/// Order of arrival of one flow. Its packets are numbered from 1 in the order of transmission.
#[derive(Clone, Debug)]
struct Order {
    threshold: usize,
    densities: Densities,
    /// Latest arrivals, up to `threshold` + 1.
    recent: VecDeque<u64>,
    /// Highest number before `recent`, and highest number of all.
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

    /// Returns the extent and the degree of n-reordering of the present arrival. `threshold` + 1
    /// stands for all larger values.
    fn lateness(&self, number: u64) -> (usize, usize) {
        // RFC 4737, section 4.2: distance to the earliest arrival with a higher number.
        let extent = match self.recent.iter().position(|&other| other > number) {
            Some(place) if self.before < number => self.recent.len() - place,
            _ => self.threshold + 1,
        };
        // RFC 4737, section 5.3: the n preceding arrivals all have higher numbers.
        let back = self.recent.iter().rev();
        (extent, back.take_while(|&&other| other > number).count())
    }

    /// Evaluates the remaining arrivals at the end of the run.
    fn end(mut self) -> Densities {
        self.judge(0);
        self.densities
    }

    /// Evaluates the first arrivals of each window until at most `most` are left.
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

/// Arrivals waiting for evaluation. An arrival is evaluated after `threshold` further arrivals;
/// numbers missing at that time count as lost.
#[derive(Clone, Debug, Default)]
struct Window {
    arrived: VecDeque<u64>,
    /// Evaluated early arrivals whose numbers have not been reached yet.
    early: Vec<u64>,
    /// Lowest open number: every lower one has arrived or counts as lost.
    next: u64,
}

impl Window {
    /// Adds an arrival, unless its number counts as lost already.
    fn arrive(&mut self, number: u64) {
        if number >= self.next {
            self.arrived.push_back(number);
        }
    }

    /// Evaluates the first arrival: returns its displacement, unless that exceeds the threshold
    /// (algorithm for RD).
    fn displacement(&mut self, threshold: i64) -> Option<i64> {
        // The receive index skips the numbers of lost packets.
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

    /// Evaluates the first arrival: returns the occupancy of the buffer after it (algorithm for
    /// RBD).
    fn occupancy(&mut self) -> usize {
        let expected = self.arrived.iter().min().copied();
        if let Some(number) = self.arrived.pop_front() {
            self.early.push(number);
            // Lower numbers that arrive from now on are too late.
            self.next = self.arrived.iter().min().copied().unwrap_or(u64::MAX);
            if Some(number) == expected {
                // The packet is in order and leaves the buffer, with all packets that waited only
                // for it.
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

    /// The three examples of RFC 4737, section 7, with extents and n-reordering.
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

    /// RFC 5236, calculated by hand: a packet overtaken by three, a lost packet, and a packet
    /// beyond the threshold.
    #[test]
    fn displacements_leave_out_what_is_lost() {
        let numbers = [1, 4, 3, 5, 2, 6];
        let late = order(4, &numbers);
        assert_eq!(late.displacements, of([(-2, 1), (-1, 1), (0, 3), (3, 1)]));
        assert_eq!(late.occupancies, of([(0, 3), (1, 1), (2, 1), (3, 1)]));
        // The buffer does not wait for packet 2, whose displacement equals the threshold.
        let limit = order(3, &numbers);
        assert_eq!(limit.displacements, late.displacements);
        assert_eq!(limit.occupancies, of([(0, 4), (1, 1)]));
        let lost = order(2, &[1, 2, 5, 3, 6]);
        assert_eq!(lost.displacements, of([(-2, 1), (0, 3), (2, 1)]));
        // Packet 4 never arrives, so packet 5 waits only for packet 3.
        assert_eq!(lost.occupancies, of([(0, 4), (1, 1)]));
        // Packet 1 counts as lost and is ignored when it arrives.
        let beyond = order(2, &[2, 3, 4, 5, 1, 6]);
        assert_eq!(beyond.displacements, of([(0, 5)]));
        assert_eq!(beyond.occupancies, of([(0, 5)]));
        assert_eq!(beyond.extents, of([(0, 5), (3, 1)]));
        assert_eq!(beyond.degrees, of([(0, 5), (3, 1)]));
    }

    /// Results of the algorithms for RD and RBD as published by the authors of RFC 5236
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
