//! Tests the inputs of a window law, including optional ones, and that pacing also applies to
//! retransmissions.

use super::scripted::{play, Answer, MSS, SECOND};
use super::vectors::parameters;
use super::Constant;
use crate::cc::{Ack, Congestion, CongestionControl, Loss, Report, Timeout, Wants, Window};
use crate::recovery::{self, Phase};
use crate::transport::{Clock, Transport};
use crate::{Parameters, Value};
use lightburst_des::{Duration, Time};
use lightburst_net::Rate;
use std::sync::{Arc, Mutex};

/// A call of the law.
#[derive(Clone, Debug)]
enum Heard {
    Ack(Ack),
    Report(Report),
    Loss,
    Timeout,
}

/// A law with a constant window that records its calls.
#[derive(Clone)]
struct Listener {
    heard: Arc<Mutex<Vec<Heard>>>,
    wants: Wants,
    rate: Option<Rate>,
}

impl Listener {
    fn note(&self, heard: Heard) {
        self.heard.lock().unwrap().push(heard);
    }
}

impl CongestionControl for Listener {
    fn start(&self, initial: f64) -> Window {
        Window {
            cwnd: initial,
            ssthresh: 0.0,
        }
    }

    fn on_ack(&mut self, ack: &Ack, _window: &mut Window) {
        self.note(Heard::Ack(*ack));
    }

    fn on_report(&mut self, report: &Report, _window: &mut Window) {
        self.note(Heard::Report(*report));
    }

    fn on_loss(&mut self, _loss: &Loss, _window: &mut Window) {
        self.note(Heard::Loss);
    }

    fn on_timeout(&mut self, _timeout: &Timeout, _window: &mut Window) {
        self.note(Heard::Timeout);
    }

    fn wants(&self) -> Wants {
        self.wants
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.rate
    }
}

const ALL: Wants = Wants {
    path: true,
    telemetry: false,
    pulls: false,
    round_trips: true,
    reports: true,
    delivery_rates: false,
    rates: false,
    samples: false,
    transmissions: false,
};

/// Runs a sender with this recovery, a window of `segments` segments, and the acknowledgements of
/// `script`. Returns the calls of the law, and the number and arrival time of each segment sent.
fn hear(
    name: &str,
    wants: Wants,
    rate: Option<Rate>,
    segments: u64,
    script: &[Answer],
) -> (Vec<Heard>, Vec<(u64, Time)>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let law = Listener {
        heard: heard.clone(),
        wants,
        rate,
    };
    let mut settings = parameters(&[("duplicate_threshold", 2.0)]).values;
    settings.insert("limited_transmit".to_string(), Value::Switch(false));
    let window = (segments * MSS) as f64;
    let transport = Transport {
        congestion: Congestion::new(Box::new(law), window, f64::INFINITY),
        recovery: (recovery::find(name).unwrap().build)(&Parameters::new(settings)),
        timeout: Box::new(Constant(Duration(10 * SECOND))),
        clock: Clock::OneAtATime,
        ecn: false,
        accurate: false,
    };
    let sent = play(transport, script);
    let heard = heard.lock().unwrap().clone();
    (heard, sent)
}

/// Extracts the reports: segments delivered, segments lost, and the phase of the recovery.
fn reports(heard: &[Heard]) -> Vec<(u64, u64, Phase)> {
    let each = heard.iter().filter_map(|heard| match heard {
        Heard::Report(r) => Some((r.delivered / MSS, r.lost / MSS, r.phase)),
        _ => None,
    });
    each.collect()
}

/// Of the first ten segments, numbered from 0, segments 2, 3 and 6 are missing. Segments 10 and 11
/// are sent after the first acknowledgement.
const HOLES: &[Answer] = &[
    (2, None),
    (2, Some(4)),
    (2, Some(5)),
    (2, Some(7)),
    (2, Some(8)),
    (3, Some(9)),
    (6, None),
    (12, None),
];

#[test]
fn sack_tells_what_is_delivered_and_lost_also_in_a_recovery() {
    use Phase::{Open, Recovery};
    let (heard, _) = hear("sack", ALL, None, 10, HOLES);
    // After two duplicates segment 2 is lost, and segment 3 too because of the bytes SACKed above
    // it. Segment 6 is lost once 7 and 8 are SACKed.
    let expected = [
        (2, 0, Open),
        (1, 0, Open),
        (1, 2, Recovery),
        (1, 0, Recovery),
        (1, 1, Recovery),
        (2, 0, Recovery),
        (1, 0, Recovery),
        (3, 0, Open),
    ];
    assert_eq!(reports(&heard), expected);
    let growths = heard.iter().filter(|h| matches!(h, Heard::Ack(_))).count();
    let losses = heard.iter().filter(|h| matches!(h, Heard::Loss)).count();
    // Only the first acknowledgement grows the window; the last one ends the recovery.
    assert_eq!((growths, losses), (1, 1));
}

#[test]
fn without_sack_each_segment_that_is_sent_again_is_a_loss() {
    let script: Vec<Answer> = HOLES.iter().map(|(count, _)| (*count, None)).collect();
    let told = |name| {
        let (heard, _) = hear(name, ALL, None, 10, &script);
        let told = reports(&heard).into_iter();
        told.map(|(delivered, lost, _)| (delivered, lost))
            .collect::<Vec<_>>()
    };
    let once = [
        (2, 0),
        (0, 0),
        (0, 1),
        (0, 0),
        (0, 0),
        (1, 0),
        (3, 0),
        (6, 0),
    ];
    assert_eq!(told("reno"), once);
    // Each partial acknowledgement of New-Reno reveals another loss.
    let mut partial = once;
    partial[5].1 = 1;
    partial[6].1 = 1;
    assert_eq!(told("new-reno"), partial);
}

#[test]
fn a_fast_retransmit_is_a_loss_also_where_slow_start_follows() {
    let (heard, sent) = hear("tahoe", Wants::default(), None, 10, &HOLES[..3]);
    let losses = heard.iter().filter(|h| matches!(h, Heard::Loss)).count();
    assert_eq!(losses, 1);
    assert!(!heard.iter().any(|h| matches!(h, Heard::Timeout)));
    // The window is one segment, so no other segment is sent. The law did not request reports.
    assert_eq!(sent.last().unwrap().0, 2);
    assert!(!heard.iter().any(|h| matches!(h, Heard::Report(_))));
}

#[test]
fn each_acknowledgement_has_a_round_trip_time_for_who_asks() {
    let times = |wants| {
        let (heard, _) = hear(
            "sack",
            wants,
            None,
            4,
            &[(1, None), (2, None), (2, Some(4))],
        );
        let told = heard.iter().filter_map(|heard| match heard {
            Heard::Report(r) => Some(r.ack.rtt),
            Heard::Ack(ack) if !wants.reports => Some(ack.rtt),
            _ => None,
        });
        told.collect::<Vec<_>>()
    };
    let all = times(ALL);
    let from_first = Duration(SECOND * 3 / 2);
    // The first four segments leave at the start. The fifth leaves with the first acknowledgement,
    // two acknowledgements before its own.
    let near = |rtt: Option<Duration>, wanted: Duration| {
        rtt.is_some_and(|rtt| rtt.0.abs_diff(wanted.0) < SECOND / 10_000)
    };
    assert!(near(all[0], from_first) && near(all[1], from_first + Duration(SECOND / 1000)));
    assert!(near(all[2], Duration(2 * SECOND / 1000)), "{all:?}");
    // Only one segment is timed at a time, and the second was sent before the timing of the fifth
    // started.
    let one = times(Wants::default());
    assert!(one[0].is_some() && one[1].is_none());
}

#[test]
fn a_flow_is_application_limited_when_nothing_is_left_for_its_window() {
    // There are 30 segments. The third acknowledgement covers 28, the fourth one of the last two.
    let (heard, _) = hear(
        "sack",
        ALL,
        None,
        10,
        &[(10, None), (20, None), (28, None), (29, None)],
    );
    let limited: Vec<bool> = heard
        .iter()
        .filter_map(|heard| match heard {
            Heard::Report(r) => Some(r.application_limited),
            _ => None,
        })
        .collect();
    assert_eq!(limited, [false, false, true, true]);
}

#[test]
fn pacing_holds_for_what_is_sent_again() {
    // The transmission of a segment at the pacing rate takes 8 ms; acknowledgements arrive 1 ms
    // apart.
    let rate = Some(Rate::from_bps(1_000_000));
    for name in ["reno", "new-reno", "sack", "sack1", "tahoe"] {
        let script = [(1, None), (1, Some(4)), (1, Some(5))];
        let (_, sent) = hear(name, Wants::default(), rate, 10, &script);
        let at = |number: u64| sent.iter().rfind(|(n, _)| *n == number).unwrap().1;
        let spaces: Vec<u64> = sent.windows(2).map(|w| w[1].1.since(w[0].1).0).collect();
        assert!(
            spaces.iter().all(|space| *space >= 8 * SECOND / 1000),
            "{name}"
        );
        assert_eq!(at(1).since(at(10)), Duration(8 * SECOND / 1000), "{name}");
    }
}
