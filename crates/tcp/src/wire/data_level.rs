//! Data level of a connection with several subflows (RFC 8684, section 3.3): its data has numbers of
//! its own, which segments and acknowledgements carry beside those of their subflow.
//!
//! A segment takes `mss` sequence numbers of its subflow, a *slot*, also if its payload is shorter;
//! so any data may follow any other on a subflow. The field of the acknowledgement of a data segment,
//! which no receiver reads, has the number of its data; the sequence number of an acknowledgement,
//! which no sender reads, has the next data that the connection expects (Data ACK).

use lightburst_des::Time;
use lightburst_net::Header;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Rules of a data level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataRules {
    /// Whether data of a subflow whose retransmission timer expired is sent again by others.
    pub reinjection: bool,
    /// Whether the receive window is one of the connection.
    pub shared_window: bool,
}

impl DataRules {
    /// Returns whether any rule needs a data level.
    pub fn any(self) -> bool {
        self.reinjection || self.shared_window
    }
}

/// Data level of one connection.
pub struct DataLevel {
    mss: u64,
    /// Number of the subflow of the present event.
    own: usize,
    /// State at the host of the source.
    pub sending: Sending,
    /// State at the host of the destination.
    pub receiving: Receiving,
}

impl DataLevel {
    /// Creates the data level of a connection of `size` bytes, with segments of `mss` payload bytes and
    /// a receive window of `advertised` bytes.
    pub fn new(
        size: u64,
        mss: u32,
        advertised: u64,
        subflows: usize,
        rules: DataRules,
    ) -> DataLevel {
        let mss = u64::from(mss);
        DataLevel {
            mss,
            own: 0,
            sending: Sending {
                size,
                mss,
                reinjection: rules.reinjection,
                window: rules.shared_window.then_some(advertised),
                next: 0,
                una: 0,
                carriers: VecDeque::new(),
                again: BTreeSet::new(),
                slots: vec![Slots::default(); subflows],
                reinjections: 0,
                acknowledged: Time::NEVER,
            },
            receiving: Receiving {
                size,
                mss,
                next: 0,
                beyond: VecDeque::new(),
                waiting: vec![BTreeMap::new(); subflows],
                duplicates: 0,
                received: Time::NEVER,
            },
        }
    }

    /// Sets the number of the subflow of the present event.
    pub fn at(&mut self, subflow: usize) -> &mut DataLevel {
        self.own = subflow;
        self
    }

    /// Adds the number of its data to a data segment, and leaves it the payload that this data has.
    pub fn number(&mut self, header: Header) -> Header {
        let data = self.sending.data(self.own, header.sequence);
        Header {
            acknowledgement: data,
            payload: (self.sending.size - data).min(self.mss) as u32,
            ..header
        }
    }

    /// Returns the sequence number after the slot of a data segment.
    pub fn end_of_slot(&self, header: &Header) -> u64 {
        header.sequence + self.mss
    }

    /// Notes a data segment of the present subflow, whose receiver expects the byte `rcv_nxt` after
    /// it.
    pub fn arrive(&mut self, header: &Header, rcv_nxt: u64, fresh: bool, now: Time) {
        let waiting = &mut self.receiving.waiting[self.own];
        if fresh {
            waiting.insert(header.sequence, header.acknowledgement);
        }
        let later = waiting.split_off(&rcv_nxt);
        let in_order = std::mem::replace(waiting, later);
        for data in in_order.into_values() {
            self.receiving.deliver(data, now);
        }
    }
}

/// Data in the slots of a subflow that are not acknowledged.
#[derive(Clone, Debug, Default)]
struct Slots {
    /// Sequence number of the first one.
    begin: u64,
    data: VecDeque<u64>,
}

/// Data level at the host of the source.
pub struct Sending {
    size: u64,
    mss: u64,
    reinjection: bool,
    /// Receive window of the connection in bytes; `None` if each subflow has its own.
    window: Option<u64>,
    /// First byte that no subflow has taken.
    next: u64,
    /// First byte that the receiver has not acknowledged at the data level.
    una: u64,
    /// Subflows that have carried each segment of the data from `una` to `next`, by their bits.
    carriers: VecDeque<u16>,
    /// First bytes of the segments that other subflows are to send again.
    again: BTreeSet<u64>,
    slots: Vec<Slots>,
    /// Number of segments that a further subflow has sent.
    pub reinjections: u64,
    /// Arrival time of the acknowledgement of all data; [`Time::NEVER`] before.
    pub acknowledged: Time,
}

impl Sending {
    /// Returns whether some data was taken by no subflow.
    pub fn has_left(&self) -> bool {
        self.next < self.size
    }

    /// Returns whether all data is acknowledged at the data level.
    pub fn is_acknowledged(&self) -> bool {
        self.una == self.size
    }

    /// Returns whether new data may wait for the window of the connection.
    pub fn waits_for_window(&self) -> bool {
        self.window.is_some() && self.has_left()
    }

    fn carriers(&self, data: u64) -> u16 {
        self.carriers[((data - self.una) / self.mss) as usize]
    }

    /// Yields the segments that subflow `own` may send again: those that it has not carried.
    fn again(&self, own: usize) -> impl Iterator<Item = u64> + '_ {
        let again = self.again.iter().copied();
        again.filter(move |&data| self.carriers(data) >> own & 1 == 0)
    }

    /// Returns the bytes of the slots that subflow `own` may take.
    pub fn offered(&self, own: usize) -> u64 {
        // RFC 8684, section 3.3.4: the window counts from the Data ACK.
        let end = match self.window {
            Some(window) => self.size.min(self.una.saturating_add(window)),
            None => self.size,
        };
        let new = match end == self.size {
            true => (end - self.next).div_ceil(self.mss),
            false => end.saturating_sub(self.next) / self.mss,
        };
        (new + self.again(own).count() as u64) * self.mss
    }

    /// Returns the data in the slot of subflow `own` that begins at `sequence`. A slot that was not
    /// sent before takes the next data.
    fn data(&mut self, own: usize, sequence: u64) -> u64 {
        let slots = &self.slots[own];
        let place = ((sequence - slots.begin) / self.mss) as usize;
        match slots.data.get(place) {
            Some(&data) => data,
            None => self.take(own),
        }
    }

    /// Lets subflow `own` take the next data: first what others have carried.
    fn take(&mut self, own: usize) -> u64 {
        let first = self.again(own).next();
        let data = match first {
            Some(data) => {
                self.again.remove(&data);
                self.reinjections += 1;
                data
            }
            None => {
                let data = self.next;
                self.next = self.size.min(data + self.mss);
                self.carriers.push_back(0);
                data
            }
        };
        self.carriers[((data - self.una) / self.mss) as usize] |= 1 << own;
        self.slots[own].data.push_back(data);
        data
    }

    /// Handles a Data ACK; returns whether it acknowledges new data.
    pub fn acknowledge(&mut self, data: u64, now: Time) -> bool {
        if data <= self.una {
            return false;
        }
        let segments = (data - self.una).div_ceil(self.mss) as usize;
        self.carriers.drain(..segments);
        self.una = data;
        self.again = self.again.split_off(&data);
        if self.is_acknowledged() {
            self.acknowledged = now;
        }
        true
    }

    /// Forgets the slots of subflow `own` before `snd_una`, which are acknowledged.
    pub fn trim(&mut self, own: usize, snd_una: u64) {
        let slots = &mut self.slots[own];
        let acknowledged = ((snd_una - slots.begin) / self.mss) as usize;
        slots.data.drain(..acknowledged);
        slots.begin = snd_una;
    }

    /// Lets other subflows send again the data that subflow `own` holds, after an expiry of its
    /// retransmission timer. Returns whether there is any.
    pub fn hand_over(&mut self, own: usize) -> bool {
        let everyone = u16::MAX >> (16 - self.slots.len());
        let held = self.slots[own].data.iter().copied();
        let missing = held.filter(|&data| data >= self.una && self.carriers(data) != everyone);
        // RFC 8684, section 3.3.6: a sender resends the data on other working subflows after a
        // timeout, and keeps trying to retransmit it on the failed subflow, too.
        let missing: Vec<u64> = missing.filter(|_| self.reinjection).collect();
        let any = !missing.is_empty();
        self.again.extend(missing);
        any
    }
}

/// Data level at the host of the destination.
pub struct Receiving {
    size: u64,
    mss: u64,
    /// First byte that has not arrived in order at the data level.
    next: u64,
    /// Whether each segment from `next` on has arrived.
    beyond: VecDeque<bool>,
    /// Data in the slots of each subflow that arrived, and that wait for an earlier slot.
    waiting: Vec<BTreeMap<u64, u64>>,
    /// Number of segments that arrived in order in their subflow although the connection had their
    /// data.
    pub duplicates: u64,
    /// Arrival time of the last data; [`Time::NEVER`] before.
    pub received: Time,
}

impl Receiving {
    /// Returns the payload bytes that have arrived in order at the data level: the Data ACK.
    pub fn delivered(&self) -> u64 {
        self.next
    }

    /// Takes a segment that is in order in its subflow.
    fn deliver(&mut self, data: u64, now: Time) {
        let place = match data.checked_sub(self.next) {
            Some(distance) => (distance / self.mss) as usize,
            None => {
                self.duplicates += 1;
                return;
            }
        };
        if place >= self.beyond.len() {
            self.beyond.resize(place + 1, false);
        }
        if std::mem::replace(&mut self.beyond[place], true) {
            self.duplicates += 1;
            return;
        }
        while self.beyond.front() == Some(&true) {
            self.beyond.pop_front();
            self.next = self.size.min(self.next + self.mss);
            if self.next == self.size {
                self.received = now;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const MSS: u64 = 10;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Take(usize),
        Arrive(usize, usize),
        Acknowledge(usize),
        Hear,
        HandOver(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => (0..3usize).prop_map(Step::Take),
            4 => (0..3usize, 0..4usize).prop_map(|(own, slot)| Step::Arrive(own, slot)),
            2 => (0..3usize).prop_map(Step::Acknowledge),
            1 => Just(Step::Hear),
            2 => (0..3usize).prop_map(Step::HandOver),
        ];
        vec(step, 0..120)
    }

    /// The data in all slots of each subflow, from the first one, and sets of data.
    #[derive(Default)]
    struct Lists {
        slots: [Vec<u64>; 3],
        arrived: [BTreeSet<usize>; 3],
        /// Slots that are acknowledged by their subflow.
        acknowledged: [usize; 3],
        passed: BTreeSet<u64>,
        again: BTreeSet<u64>,
        una: u64,
        duplicates: u64,
        reinjections: u64,
    }

    impl Lists {
        fn in_order(&self, own: usize) -> usize {
            (0..)
                .find(|slot| !self.arrived[own].contains(slot))
                .expect("an end")
        }

        fn next(&self) -> u64 {
            let taken = self.slots.iter().flatten().max();
            taken.map_or(0, |last| last + MSS)
        }

        fn delivered(&self, size: u64) -> u64 {
            let missing = (0..)
                .step_by(MSS as usize)
                .find(|data| !self.passed.contains(data));
            missing.expect("an end").min(size)
        }

        /// The data that a subflow may take, in order.
        fn offers(&self, own: usize, size: u64, window: u64) -> Vec<u64> {
            let again = self.again.iter().copied();
            let mut offers: Vec<u64> = again
                .filter(|data| !self.slots[own].contains(data))
                .collect();
            let new = (self.next()..size).step_by(MSS as usize);
            offers.extend(new.filter(|data| (data + MSS).min(size) <= self.una + window));
            offers
        }
    }

    fn header(sequence: u64) -> Header {
        Header {
            sequence,
            ..Header::default()
        }
    }

    proptest! {
        /// Slots arrive and are acknowledged in any order, and any subflow hands over at any time.
        #[test]
        fn a_data_level_is_that_of_plain_lists(
            size in 1..150u64,
            segments in prop::option::of(1..8u64),
            reinjection in any::<bool>(),
            steps in steps(),
        ) {
            let window = segments.map_or(u64::MAX / 2, |segments| segments * MSS);
            let rules = DataRules { reinjection, shared_window: segments.is_some() };
            let mut level = DataLevel::new(size, MSS as u32, window, 3, rules);
            let mut lists = Lists::default();
            for (time, step) in steps.into_iter().enumerate() {
                let now = Time(time as u64);
                match step {
                    Step::Take(own) => {
                        let offers = lists.offers(own, size, window);
                        prop_assert_eq!(level.sending.offered(own), offers.len() as u64 * MSS);
                        if let Some(&data) = offers.first() {
                            let sequence = lists.slots[own].len() as u64 * MSS;
                            let numbered = level.at(own).number(header(sequence));
                            prop_assert_eq!(numbered.acknowledgement, data);
                            prop_assert_eq!(u64::from(numbered.payload), (size - data).min(MSS));
                            lists.reinjections += u64::from(lists.again.remove(&data));
                            lists.slots[own].push(data);
                        }
                    }
                    Step::Arrive(own, ahead) => {
                        let before = lists.in_order(own);
                        let slot = before + ahead;
                        if let Some(&data) = lists.slots[own].get(slot) {
                            lists.arrived[own].insert(slot);
                            let after = lists.in_order(own);
                            for &data in &lists.slots[own][before..after] {
                                lists.duplicates += u64::from(!lists.passed.insert(data));
                            }
                            let segment = Header { acknowledgement: data, ..header(slot as u64 * MSS) };
                            level.at(own).arrive(&segment, after as u64 * MSS, true, now);
                        }
                    }
                    Step::Acknowledge(own) => {
                        lists.acknowledged[own] = lists.in_order(own);
                        level.sending.trim(own, lists.acknowledged[own] as u64 * MSS);
                    }
                    Step::Hear => {
                        let delivered = lists.delivered(size);
                        let is_new = delivered > lists.una;
                        prop_assert_eq!(level.sending.acknowledge(delivered, now), is_new);
                        lists.una = delivered;
                        lists.again.retain(|&data| data >= delivered);
                    }
                    Step::HandOver(own) => {
                        let held = lists.slots[own][lists.acknowledged[own]..].iter();
                        let all = |data| lists.slots.iter().all(|slots| slots.contains(data));
                        let missing = held.filter(|&data| *data >= lists.una && !all(data));
                        let missing: Vec<u64> = missing.filter(|_| reinjection).copied().collect();
                        prop_assert_eq!(level.sending.hand_over(own), !missing.is_empty());
                        lists.again.extend(missing);
                    }
                }
                prop_assert_eq!(level.receiving.delivered(), lists.delivered(size));
                prop_assert_eq!(level.receiving.duplicates, lists.duplicates);
                prop_assert_eq!(level.sending.reinjections, lists.reinjections);
                prop_assert_eq!(level.sending.is_acknowledged(), lists.una == size);
                prop_assert_eq!(level.sending.has_left(), lists.next() < size);
                prop_assert_eq!(level.receiving.received == Time::NEVER, lists.delivered(size) < size);
            }
        }
    }
}
