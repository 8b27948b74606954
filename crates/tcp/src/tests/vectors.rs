//! Tests the windows, timeouts and scoreboards of the RFCs against values computed independently of
//! this program: `tests/data/tcp_vectors.json`. The initial windows are computed and tested in
//! Python; the vectors of the other window laws are tested next to each law. The vectors of RACK
//! and BBR are not used yet.

use crate::cc::{self, Ack, Congestion, CongestionControlSettings, Loss, Timeout};
use crate::cc::{CongestionControl, Window};
use crate::flight::Flight;
use crate::recovery::{self, Candidate, LossRecovery, Reaction, Reason, SenderState};
use crate::timeout::Rfc6298;
use crate::{Parameters, TimeoutPolicy, Value};
use lightburst_des::{Duration, Time};
use lightburst_net::Block;
use serde_json::Value as Json;

const SECOND: f64 = 1e12;

pub fn vectors() -> Json {
    let text = include_str!("../../../../tests/data/tcp_vectors.json");
    serde_json::from_str(text).expect("JSON")
}

pub fn list(json: &Json) -> &[Json] {
    json.as_array().expect("a list")
}

pub fn number(json: &Json) -> f64 {
    json.as_f64().expect("a number")
}

fn whole(json: &Json) -> u64 {
    json.as_u64().expect("a whole number")
}

/// Returns the settings recommended by the standards, with `changes`.
pub fn parameters(changes: &[(&str, f64)]) -> Parameters {
    let numbers = [
        ("initial_timeout_ps", SECOND),
        ("min_timeout_ps", SECOND),
        ("max_timeout_ps", 60.0 * SECOND),
        ("clock_granularity_ps", 1e9),
        ("backoff", 2.0),
        ("duplicate_threshold", 3.0),
        ("initial_window_bytes", 10_000.0),
        ("advertised_window_bytes", 1e9),
    ];
    let switches = [
        ("limited_transmit", true),
        ("bug_fix", true),
        ("rescue_retransmission", true),
        ("window_growth_on_exit", false),
    ];
    let words = [
        ("halving", "flight-size"),
        ("partial_acknowledgement", "impatient"),
        ("full_acknowledgement", "ssthresh"),
    ];
    let own = |name: &str| name.to_string();
    let numbers = numbers.iter().chain(changes);
    let numbers = numbers.map(|(name, x)| (own(name), Value::Number(*x)));
    let switches = switches.map(|(name, on)| (own(name), Value::Switch(on)));
    let words = words.map(|(name, word)| (own(name), Value::Word(own(word))));
    Parameters::new(numbers.chain(switches).chain(words))
}

/// Returns the window law `reno` with a window of `bytes` and segments of `mss` bytes.
fn reno(bytes: f64, mss: u32) -> Congestion {
    let rwnd = 1e9;
    let law = (cc::find("reno").unwrap().build)(&CongestionControlSettings {
        parameters: &parameters(&[]),
        mss,
        rwnd,
        paced: false,
        seed: 0,
    });
    Congestion::new(law, bytes, rwnd)
}

fn loss(in_flight: u64) -> Loss {
    Loss {
        in_flight,
        ..Loss::default()
    }
}

fn send(flight: &mut Flight, sequence: u64) {
    flight.send(sequence, Time::ZERO);
}

/// Returns a flow of `size` segments of one byte, the first `sent` of which were sent.
fn flight(size: u64, sent: u64) -> Flight {
    let mut flight = Flight::new(size, 1, u64::MAX);
    (0..sent).for_each(|sequence| send(&mut flight, sequence));
    flight
}

/// Returns the timeout in seconds after each round-trip time of `rows`.
fn timeouts(rows: &[Json], minimum: f64, granularity: f64) -> Vec<f64> {
    let mut rule = Rfc6298::new(&parameters(&[
        ("min_timeout_ps", minimum * SECOND),
        ("max_timeout_ps", 1e6 * SECOND),
        ("clock_granularity_ps", granularity * SECOND),
    ]));
    let sample = |row: &Json| {
        rule.on_sample(
            Duration((number(&row["R"]) * SECOND).round() as u64),
            &flight(1, 0),
        );
        rule.value().0 as f64 / SECOND
    };
    rows.iter().map(sample).collect()
}

fn assert_near(ours: &[f64], theirs: impl Iterator<Item = f64>) {
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert!((ours - theirs).abs() < 2e-12, "{ours} s, not {theirs} s");
    }
}

#[test]
fn round_trip_times_give_the_timeouts_of_rfc_6298() {
    let all = &vectors()["rfc6298"];
    for (name, minimum) in [
        ("seq1", 1.0),
        ("seq2", 1.0),
        ("seq3", 1.0),
        ("minrto02", 0.2),
    ] {
        let rows = list(&all[name]);
        assert!(rows.len() > 2);
        let column = |name: &'static str| rows.iter().map(move |row| number(&row[name]));
        assert_near(&timeouts(rows, minimum, 0.0), column("RTO"));
        let raw = timeouts(rows, 0.0, 0.0);
        assert_near(&raw, column("RTO_raw"));
        // With G = 1000 s as margin the timeout reveals SRTT; the remainder of the raw timeout is 4
        // RTTVAR.
        let coarse = timeouts(rows, 0.0, 1000.0);
        let mean: Vec<f64> = coarse.iter().map(|timeout| timeout - 1000.0).collect();
        assert_near(&mean, column("SRTT"));
        let variation = raw.iter().zip(&mean).map(|(raw, mean)| (raw - mean) / 4.0);
        assert_near(&variation.collect::<Vec<f64>>(), column("RTTVAR"));
    }
}

#[test]
fn expiries_double_the_timeout_up_to_the_maximum() {
    let mut rule = Rfc6298::new(&parameters(&[]));
    for seconds in list(&vectors()["rfc6298"]["backoff"]) {
        assert_eq!(rule.value().0 as f64, number(seconds) * SECOND);
        rule.on_timeout();
    }
}

#[test]
fn an_acknowledgement_in_congestion_avoidance_opens_the_window_as_in_rfc_5681() {
    for row in list(&vectors()["rfc5681"]["CA"]) {
        let mss = whole(&row["SMSS"]);
        let mut law = reno(1e6, mss as u32);
        // A loss at twice the window makes congestion avoidance start at the window of the row.
        law.on_loss(&loss(2 * whole(&row["cwnd"])));
        assert_eq!(law.window().cwnd, number(&row["cwnd"]));
        law.on_ack(&Ack {
            bytes: mss,
            ..Ack::default()
        });
        assert_eq!(law.window().cwnd, number(&row["next"]));
    }
}

#[test]
fn a_loss_and_a_timeout_set_the_windows_of_rfc_5681() {
    for row in list(&vectors()["rfc5681"]["fr"]) {
        let (mss, in_flight) = (whole(&row["SMSS"]), whole(&row["FlightSize"]));
        let mut congestion = reno(in_flight as f64, mss as u32);
        let mut flight = Flight::new(1_000_000, mss as u32, u64::MAX);
        (0..in_flight / mss).for_each(|i| send(&mut flight, i * mss));
        let mut recovery = build("reno");
        let mut reaction = Reaction::default();
        for _ in 0..3 {
            assert!(!reaction.retransmit);
            reaction = recovery.on_duplicate(false, &mut context(&mut flight, &mut congestion));
        }
        assert!(reaction.retransmit);
        assert_eq!(congestion.window().ssthresh, number(&row["ssthresh"]));
        let window = congestion.window().cwnd + recovery.inflation() as f64;
        assert_eq!(window, number(&row["cwnd"]));
    }
    for row in list(&vectors()["rfc5681"]["rto"]) {
        let mut law = reno(1e6, whole(&row["SMSS"]) as u32);
        law.on_timeout(&Timeout {
            at: Time::ZERO,
            in_flight: whole(&row["FlightSize"]),
            ..Timeout::default()
        });
        assert_eq!(law.window().ssthresh, number(&row["ssthresh"]));
        assert_eq!(law.window().cwnd, number(&row["cwnd"]));
    }
}

fn build(name: &str) -> Box<dyn LossRecovery> {
    (recovery::find(name).unwrap().build)(&parameters(&[]))
}

fn context<'a>(flight: &'a mut Flight, congestion: &'a mut Congestion) -> SenderState<'a> {
    let now = Time::ZERO;
    SenderState {
        flight,
        congestion,
        timeout: super::unused_timeout(),
        now,
    }
}

/// Passes a cumulative acknowledgement of all data before `acknowledgement` to `recovery`.
pub fn acknowledge(
    acknowledgement: u64,
    recovery: &mut dyn LossRecovery,
    flight: &mut Flight,
    congestion: &mut Congestion,
) -> Reaction {
    let covered = flight.acknowledge(acknowledgement);
    let ack = Ack {
        bytes: covered.bytes,
        in_flight: flight.flight_size(),
        ..Ack::default()
    };
    recovery.on_ack(&ack, false, &mut context(flight, congestion))
}

/// Of 20 segments in flight, segments 1 to 5 are lost; no new data is sent.
#[test]
fn five_losses_take_new_reno_through_the_windows_of_rfc_6582() {
    let vectors = vectors();
    let steps = list(&vectors["rfc6582"]["case_flight20_lost1to5"]);
    for full_acknowledgement in ["ssthresh", "flight-size"] {
        let mut congestion = reno(20.0, 1);
        let mut flight = flight(20, 20);
        let all = parameters(&[]);
        let word = Value::Word(full_acknowledgement.to_string());
        let all = all
            .values
            .into_iter()
            .chain([("full_acknowledgement".to_string(), word)]);
        let mut recovery = (recovery::find("new-reno").unwrap().build)(&Parameters::new(all));
        let duplicates = whole(&steps[0]["dupacks"]);
        let again = (0..duplicates).filter(|_| {
            let mut sender = context(&mut flight, &mut congestion);
            recovery.on_duplicate(false, &mut sender).retransmit
        });
        assert_eq!(again.count(), 1);
        assert_eq!(congestion.window().ssthresh, number(&steps[0]["ssthresh"]));
        let window = |congestion: &Congestion, recovery: &dyn LossRecovery| {
            congestion.window().cwnd + recovery.inflation() as f64
        };
        assert_eq!(window(&congestion, &*recovery), number(&steps[0]["cwnd"]));
        for step in &steps[1..5] {
            // Segment `rtx` is the first one missing, so all segments before it are acknowledged.
            let missing = whole(&step["rtx"]) - 1;
            let reaction = acknowledge(missing, &mut *recovery, &mut flight, &mut congestion);
            assert!(reaction.retransmit);
            assert_eq!(flight.snd_una, missing);
            assert_eq!(window(&congestion, &*recovery), number(&step["cwnd"]));
        }
        let reaction = acknowledge(20, &mut *recovery, &mut flight, &mut congestion);
        assert!(!reaction.retransmit);
        let option = match full_acknowledgement {
            "ssthresh" => "cwnd_opt2",
            _ => "cwnd_opt1_flight0",
        };
        assert_eq!(window(&congestion, &*recovery), number(&steps[5][option]));
    }
}

/// A law with a constant window.
#[derive(Clone)]
pub struct Still;

impl CongestionControl for Still {
    fn start(&self, initial: f64) -> Window {
        Window {
            cwnd: initial,
            ssthresh: 0.0,
        }
    }

    fn on_ack(&mut self, _ack: &Ack, _window: &mut Window) {}

    fn on_loss(&mut self, _loss: &Loss, _window: &mut Window) {}

    fn on_timeout(&mut self, _timeout: &Timeout, _window: &mut Window) {}
}

/// Scoreboards with segments of one byte. The pipe is found as the smallest window that permits a
/// transmission, less one; the lost segments are those sent before new data.
#[test]
fn pipe_and_losses_are_those_of_rfc_6675() {
    for row in list(&vectors()["rfc6675"]) {
        let case = row["case"].as_str().unwrap();
        let sent = whole(&row["HighData"]);
        let mut flight = flight(sent + 1, sent);
        let mut recovery = build("sack");
        let mut law = Congestion::new(Box::new(Still), f64::INFINITY, f64::INFINITY);
        if let acknowledged @ 1.. = whole(&row["HighACK"]) {
            acknowledge(acknowledged, &mut *recovery, &mut flight, &mut law);
        }
        let byte = |segment: &Json| whole(segment) - 1;
        let blocks: Vec<Block> = list(&row["sacked"])
            .iter()
            .map(|segment| Block {
                start: byte(segment),
                end: byte(segment) + 1,
            })
            .collect();
        assert!(recovery.on_blocks(&blocks, &flight), "{case}");
        let reaction = recovery.on_duplicate(true, &mut context(&mut flight, &mut law));
        let mut lost = Vec::new();
        // Segments up to HighRxt are retransmitted before the pipe is measured.
        let mut again = whole(&row["HighRxt"]);
        if reaction.retransmit {
            // The sender retransmits the first segment regardless of the window.
            lost.push(flight.snd_una);
        }
        let pipe = |recovery: &mut dyn LossRecovery, flight: &Flight| {
            let window = (0..=sent + 1).find(|w| recovery.candidate(flight, *w).is_some());
            window.expect("a window that is large enough") - 1
        };
        let mut seen = (again == 0).then(|| pipe(&mut *recovery, &flight));
        let mut next = reaction.retransmit.then(|| Candidate::hole(flight.snd_una));
        while let Some(candidate_now) = next.filter(|c| c.sequence < sent) {
            send(&mut flight, candidate_now.sequence);
            recovery.on_sent(candidate_now, Time::ZERO, &mut flight);
            again = again.saturating_sub(1);
            if again == 0 && seen.is_none() {
                let added = pipe(&mut *recovery, &flight);
                // The pipe must be the same when it is recomputed from HighRxt.
                recovery.on_duplicate(true, &mut context(&mut flight, &mut law));
                assert_eq!(pipe(&mut *recovery, &flight), added, "{case}");
                seen = Some(added);
            }
            next = recovery
                .candidate(&flight, u64::MAX)
                .filter(|c| c.reason != Reason::Rescue);
            lost.extend(next.map(|c| c.sequence).filter(|sequence| *sequence < sent));
        }
        let expected: Vec<u64> = list(&row["lost"]).iter().map(byte).collect();
        assert_eq!(lost, expected, "{case}: lost");
        assert_eq!(seen, Some(whole(&row["pipe"])), "{case}: pipe");
    }
}
