//! Compares the results of the scoreboard with a direct evaluation of the rules of RFC 6675,
//! segment by segment.

use super::*;
use crate::cc::Congestion;
use crate::tests::vectors::{acknowledge, parameters, Still};
use lightburst_des::Time;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

const MSS: u64 = 3;

/// Change of a connection.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Sends a segment, which arrives or is lost.
    Send(bool),
    /// A segment is sent again and arrives.
    Arrive(Index),
    Acknowledge,
    /// Reports some of the segments that arrived.
    Report([Index; 2]),
    /// A timeout clears the scoreboard.
    Forget,
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        15 => prop::bool::weighted(0.7).prop_map(Step::Send),
        5 => any::<Index>().prop_map(Step::Arrive),
        5 => Just(Step::Acknowledge),
        14 => any::<[Index; 2]>().prop_map(Step::Report),
        1 => Just(Step::Forget),
    ]
}

/// A sent and unacknowledged segment.
struct Record {
    sequence: u64,
    payload: u64,
    arrived: bool,
    sacked: bool,
}

struct Connection {
    flight: Flight,
    scoreboard: Scoreboard,
    records: Vec<Record>,
}

impl Connection {
    fn send(&mut self, arrived: bool) {
        let sequence = self.flight.snd_max;
        if sequence < self.flight.size {
            self.flight.send(sequence, Time::ZERO);
            let record = Record {
                sequence,
                payload: self.flight.payload(sequence),
                arrived,
                sacked: false,
            };
            self.records.push(record);
        }
    }

    fn acknowledge(&mut self) {
        let arrived = self.records.iter().take_while(|r| r.arrived).count();
        let covered = self.records.drain(..arrived).map(|r| r.payload);
        let acknowledgement = self.flight.snd_una + covered.sum::<u64>();
        self.flight.acknowledge(acknowledgement);
        self.scoreboard.acknowledge(acknowledgement);
    }

    fn forget(&mut self) {
        self.flight.rewind();
        self.scoreboard.clear();
        self.records.iter_mut().for_each(|r| r.sacked = false);
    }

    /// Reports some of the segments that arrived beyond a hole, and a block that is already
    /// acknowledged.
    fn report(&mut self, ends: [Index; 2]) {
        let first = ends[0].index(self.records.len());
        let arrived = self.records[first..].iter().take_while(|r| r.arrived);
        let most = arrived.count();
        if most == 0 || self.records[..first].iter().all(|r| r.arrived) {
            return;
        }
        let last = first + ends[1].index(most);
        let acknowledged = self.flight.snd_una;
        let (first_record, last_record) = (&self.records[first], &self.records[last]);
        let new = Block {
            start: first_record.sequence,
            end: last_record.sequence + last_record.payload,
        };
        let old = Block {
            start: 0,
            end: acknowledged,
        };
        let blocks = [new, old];
        let blocks = &blocks[..1 + usize::from(acknowledged > 0)];
        let reported = &mut self.records[first..=last];
        let news = reported.iter().any(|r| !r.sacked);
        reported.iter_mut().for_each(|r| r.sacked = true);
        assert_eq!(self.scoreboard.update(blocks, acknowledged), news);
    }

    fn scores(&self, high_rxt: u64, threshold: u64) -> Scores {
        let mut scores = Scores::default();
        for (i, record) in self.records.iter().enumerate() {
            let end = record.sequence + record.payload;
            if record.sacked {
                scores.sacked_before = end;
                continue;
            }
            let above = &self.records[i..];
            let runs = above.windows(2).filter(|w| !w[0].sacked && w[1].sacked);
            let sacked = above.iter().filter(|r| r.sacked).map(|r| r.payload);
            let lost =
                runs.count() as u64 >= threshold || sacked.sum::<u64>() > (threshold - 1) * MSS;
            if lost {
                scores.lost_before = end;
            } else {
                scores.pipe += record.payload;
            }
            if record.sequence < high_rxt {
                scores.pipe += record.payload;
            }
        }
        scores
    }

    fn check(&self, places: [Index; 2], threshold: u64) {
        let mut places = places.map(|place| place.index(self.records.len() + 1));
        places.sort_unstable();
        let [start, end] = places.map(|place| {
            let sequence = self.flight.snd_una + place as u64 * MSS;
            sequence.min(self.flight.snd_max)
        });
        let (flight, scoreboard) = (&self.flight, &self.scoreboard);
        assert_eq!(
            scores(scoreboard, flight, end, threshold),
            self.scores(end, threshold)
        );
        let holes = || self.records.iter().filter(|r| !r.sacked);
        let hole = holes().find(|r| r.sequence >= start);
        let first = hole.map_or(flight.snd_max, |r| r.sequence);
        assert_eq!(scoreboard.next_hole(start), first);
        let last = flight.last_before(scoreboard.end_of_last_hole(flight.snd_max));
        assert_eq!(last, holes().next_back().map(|r| r.sequence));
        let between = holes().filter(|r| (start..end).contains(&r.sequence));
        let bytes = between.map(|r| r.payload).sum::<u64>();
        assert_eq!(scoreboard.unsacked(start, end), bytes);
    }
}

proptest! {
    #[test]
    fn the_scoreboard_tells_what_its_segments_tell(
        steps in vec((steps(), any::<[Index; 2]>()), 0..150),
        threshold in 1..=4u64,
    ) {
        let mut connection = Connection {
            flight: Flight::new(30 * MSS + 1, MSS as u32, u64::MAX),
            scoreboard: Scoreboard::default(),
            records: Vec::new(),
        };
        for (step, places) in steps {
            match step {
                Step::Send(arrives) => connection.send(arrives),
                Step::Acknowledge => connection.acknowledge(),
                Step::Forget => connection.forget(),
                Step::Arrive(_) | Step::Report(_) if connection.records.is_empty() => {}
                Step::Arrive(again) => {
                    let again = again.index(connection.records.len());
                    connection.records[again].arrived = true;
                }
                Step::Report(ends) => connection.report(ends),
            }
            connection.check(places, threshold);
        }
    }
}

/// RFC 6675, section 5: "any ACK" updates the scoreboard, so an old one does too.
#[test]
fn what_an_old_acknowledgement_reports_is_not_sent_again_after_the_next() {
    let mut sack = Sack::new(&parameters(&[]));
    let mut flight = Flight::new(10 * MSS, MSS as u32, u64::MAX);
    (0..8).for_each(|i| flight.send(i * MSS, Time::ZERO));
    sack.on_timeout(&flight);
    flight.rewind();
    for i in 0..4 {
        flight.send(i * MSS, Time::ZERO);
        sack.on_sent(Candidate::next(i * MSS), Time::ZERO, &mut flight);
    }
    let old = Block {
        start: 4 * MSS,
        end: 6 * MSS,
    };
    assert!(sack.on_blocks(&[old], &flight));
    let mut congestion = Congestion::new(Box::new(Still), 10.0, 10.0);
    acknowledge(2 * MSS, &mut sack, &mut flight, &mut congestion);
    assert_eq!(flight.snd_nxt, 6 * MSS);
}

/// RFC 6675, section 5.1, and RFC 2018, section 8: a timeout clears the SACK information, and no
/// recovery starts before all data sent until then is acknowledged.
#[test]
fn a_timeout_ends_the_recovery_and_forgets_what_was_sacked() {
    let mut sack = Sack::new(&parameters(&[]));
    let mut flight = Flight::new(20 * MSS, MSS as u32, u64::MAX);
    let mut congestion = Congestion::new(Box::new(Still), 100.0, 100.0);
    let mut duplicate = |sack: &mut Sack, flight: &mut Flight| {
        let state = &mut SenderState::new(
            flight,
            &mut congestion,
            crate::tests::unused_timeout(),
            Time::ZERO,
        );
        sack.on_duplicate(true, state).retransmit
    };
    (0..10).for_each(|i| flight.send(i * MSS, Time::ZERO));
    let sacked = Block {
        start: MSS,
        end: 5 * MSS,
    };
    assert!(sack.on_blocks(&[sacked], &flight));
    assert!(duplicate(&mut sack, &mut flight));
    (10..12).for_each(|i| flight.send(i * MSS, Time::ZERO));
    assert_eq!(sack.phase(&flight), Phase::Recovery);
    sack.on_timeout(&flight);
    flight.rewind();
    assert_eq!(sack.phase(&flight), Phase::Loss);
    // All segments are sent again in order, including those SACKed before the timeout.
    for i in 0..3 {
        let candidate = sack.candidate(&flight, 10 * MSS).unwrap();
        assert_eq!(candidate, Candidate::next(i * MSS));
        flight.send(candidate.sequence, Time::ZERO);
        sack.on_sent(candidate, Time::ZERO, &mut flight);
    }
    let mut still = Congestion::new(Box::new(Still), 100.0, 100.0);
    acknowledge(10 * MSS, &mut sack, &mut flight, &mut still);
    assert!((0..3).all(|_| !duplicate(&mut sack, &mut flight)));
    acknowledge(12 * MSS, &mut sack, &mut flight, &mut still);
    assert_eq!(sack.phase(&flight), Phase::Open);
}
