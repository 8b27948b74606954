//! Two hosts on one wire: tests a sender with a fixed window, with a pacing rate, and with a
//! timeout that is too short.

mod knowledge;
mod scripted;
pub mod vectors;

use crate::cc::{Ack, Congestion, CongestionControl, Loss, Sent, Timeout, Wants, Window};
use crate::flight::Flight;
use crate::recovery::GoBackN;
use crate::transport::{Clock, Reception, Transport, TransportKind, TransportSettings};
use crate::{
    Capable, DataRules, Flow, Group, Joins, Outcome, Parameters, Sizes, Status, TcpHosts,
    TimeoutPolicy, Value,
};
use lightburst_des::{Duration, Simulator, Stop, Ties, Time};
use lightburst_net::{Fabric, Fairness, FlowId, Interfaces, Network, NodeId, Rate, Routing, Wire};
use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard};

const DELAY: Duration = Duration(1_000_000);
const SEGMENT: Duration = Duration(800_000);
const CONTROL: Duration = Duration(51_200);
const SIZES: Sizes = Sizes {
    segment: 1000,
    header: 0,
    control: 64,
    access_buffer: u64::MAX,
    capable: Capable::None,
    trimmable: false,
};

/// A wire of 10 Gb/s with a delay of 1 us, for `flows` flows.
fn fabric(flows: usize) -> Fabric {
    let wire = |from, to| Wire {
        from: NodeId(from),
        to: NodeId(to),
        rate: Rate::from_bps(10_000_000_000),
        delay: DELAY,
        store_and_forward: true,
        watched: false,
    };
    let wires = [wire(0, 1), wire(1, 0)];
    let ends = [(NodeId(0), NodeId(1), 1), (NodeId(1), NodeId(0), 1)];
    Fabric::new(2, &wires, Routing::shortest_path(2, 2, &ends), flows)
}

/// A law with a constant window, paced at `rate` if given, that records its inputs. Unless it
/// paces, it requests delivery rates.
#[derive(Clone)]
struct Fixed {
    rate: Option<Rate>,
}

/// Segments sent, each with whether its sender paces.
static SENT: Mutex<Vec<(bool, Sent)>> = Mutex::new(Vec::new());
static ACKED: Mutex<Vec<Ack>> = Mutex::new(Vec::new());

impl CongestionControl for Fixed {
    fn start(&self, initial: f64) -> Window {
        Window {
            cwnd: initial,
            ssthresh: 0.0,
        }
    }

    fn on_sent(&mut self, sent: &Sent) {
        let sent = (self.rate.is_some(), *sent);
        SENT.lock().unwrap().push(sent);
    }

    fn on_ack(&mut self, ack: &Ack, _window: &mut Window) {
        ACKED.lock().unwrap().push(*ack);
    }

    fn on_loss(&mut self, _loss: &Loss, _window: &mut Window) {}

    fn on_timeout(&mut self, timeout: &Timeout, _window: &mut Window) {
        assert!(timeout.in_flight > 0);
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.rate
    }

    fn wants(&self) -> Wants {
        Wants {
            delivery_rates: self.rate.is_none(),
            transmissions: true,
            ..Wants::default()
        }
    }
}

#[derive(Clone)]
pub struct Constant(Duration);

/// Returns a constant timeout for the state of a sender, which a test leaves unused.
pub fn unused_timeout() -> &'static mut Constant {
    Box::leak(Box::new(Constant(Duration::ZERO)))
}

impl TimeoutPolicy for Constant {
    fn value(&self) -> Duration {
        self.0
    }

    fn on_sample(&mut self, _rtt: Duration, _flight: &Flight) {}

    fn on_timeout(&mut self) {}
}

/// Range of settings that may have any value.
const ANY: RangeInclusive<f64> = 0.0..=f64::MAX;

fn build(setting: &TransportSettings) -> Transport {
    let window = 1000.0 * setting.parameters.get("segments", ANY);
    let pace = setting.parameters.get("pace_bps", ANY) as u64;
    let rate = (pace > 0).then(|| Rate::from_bps(pace));
    let timeout = Duration(setting.parameters.get("timeout_ps", ANY) as u64);
    Transport {
        congestion: Congestion::new(Box::new(Fixed { rate }), window, f64::INFINITY),
        recovery: Box::<GoBackN>::default(),
        timeout: Box::new(Constant(timeout)),
        clock: match setting.parameters.get("hand_overs", ANY) > 0.0 {
            true => Clock::EveryAcknowledgement,
            false => Clock::Transmission,
        },
        ecn: false,
        accurate: false,
    }
}

/// Runs one flow of `size` bytes.
fn run(size: u64, segments: f64, pace_bps: f64, timeout_ps: f64) -> (Outcome, Vec<Sent>, Vec<Ack>) {
    let _guard = one_at_a_time();
    let group = group(segments, pace_bps, timeout_ps, false);
    let outcomes = run_flows(size, vec![group], None);
    let sent = SENT.lock().unwrap().iter().map(|(_, sent)| *sent).collect();
    let acked = ACKED.lock().unwrap().clone();
    (outcomes[0], sent, acked)
}

/// Locks and clears the records of the laws, so that they belong to one test at a time.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let guard = ONE_AT_A_TIME
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    SENT.lock().unwrap().clear();
    ACKED.lock().unwrap().clear();
    guard
}

/// Returns a group whose senders count times from the hand-over of a segment to the interface, or
/// from the start of its transmission.
fn group(segments: f64, pace_bps: f64, timeout_ps: f64, hand_overs: bool) -> Group {
    let numbers = [
        ("segments", segments),
        ("pace_bps", pace_bps),
        ("timeout_ps", timeout_ps),
        ("hand_overs", f64::from(hand_overs)),
    ];
    let transport = TransportKind {
        name: "fixed",
        build,
        reception: |_| Reception::PLAIN,
        fin_with_data: false,
        responds: false,
    };
    Group {
        transport,
        parameters: Parameters::new(numbers.map(|(name, x)| (name.to_string(), Value::Number(x)))),
        sizes: SIZES,
        seed: 0,
        receiver_timers: true,
        handshake: true,
        writes: None,
        subflows: 1,
        data: DataRules::default(),
    }
}

/// Runs one flow of `size` bytes in each group, all between the same hosts.
fn run_flows(size: u64, groups: Vec<Group>, fairness: Option<Fairness>) -> Vec<Outcome> {
    let flow = |group: u16| Flow {
        id: FlowId(group.into()),
        group,
        source: NodeId(0),
        destination: NodeId(1),
        start: Time::ZERO,
        size,
    };
    let flows: Vec<Flow> = (0..groups.len() as u16).map(flow).collect();
    let count = flows.len();
    let mut fabric = fabric(count);
    fabric.interfaces = fairness.map(|fair| Box::new(Interfaces::new(fair, 2, count)));
    let hosts = TcpHosts::new(
        flows.into(),
        Joins::default(),
        1,
        groups,
        Ties::new(0, None),
    );
    let network = Network::new(fabric, hosts, Vec::new(), 2);
    let mut simulator: Simulator<_> = Simulator::new(network, Ties::new(0, None), 16);
    simulator.model.start(&mut simulator.agenda);
    assert_eq!(simulator.run(Time(1 << 50), u64::MAX), Stop::Drained);
    let Network { fabric, hosts, .. } = &simulator.model;
    assert!(fabric.units.packets.is_empty(), "a unit was left behind");
    (0..count)
        .map(|flow| hosts.outcome(flow, &fabric.dropped))
        .collect()
}

/// Start of the first data segment: after the handshake and the ACK that completes it.
fn first_start() -> Time {
    Time::ZERO + (CONTROL + DELAY) * 2 + CONTROL
}

#[test]
fn a_window_of_one_is_stop_and_wait() {
    let (outcome, _, _) = run(10_000, 1.0, 0.0, 1e9);
    let round = SEGMENT + DELAY + CONTROL + DELAY;
    assert_eq!(outcome.acknowledged, first_start() + round * 10);
    assert_eq!(
        (
            outcome.transmissions,
            outcome.retransmissions,
            outcome.timeouts
        ),
        (10, 0, 0)
    );
    assert_eq!(
        (outcome.delivered, outcome.status),
        (10_000, Status::Finished)
    );
}

#[test]
fn a_window_of_four_fills_the_pipe() {
    // Four segments take longer than the round trip of one, so the wire is always busy.
    let (outcome, sent, acked) = run(20_000, 4.0, 0.0, 1e9);
    let starts: Vec<Time> = sent.iter().map(|sent| sent.at).collect();
    let expected: Vec<Time> = (0..20).map(|i| first_start() + SEGMENT * i).collect();
    assert_eq!(starts, expected);
    assert!(sent.iter().all(|sent| sent.in_flight <= 4000));
    let last = first_start() + SEGMENT * 20 + DELAY + CONTROL + DELAY;
    assert_eq!(outcome.acknowledged, last);
    // In the steady state the delivery rate is that of the wire: 4 segments in 4 segment times.
    let rate = acked[10].delivery_rate.unwrap();
    assert_eq!((rate.delivered, rate.interval), (4000, SEGMENT * 4));
    // The wire is busy when a segment is handed over; its round trip counts from its transmission.
    assert_eq!(acked[10].rtt, Some(SEGMENT + DELAY + CONTROL + DELAY));
}

#[test]
fn pacing_spaces_segments() {
    // Half the rate of the wire: one segment every two segment times.
    let (_, sent, acked) = run(20_000, 20.0, 5e9, 1e9);
    let starts: Vec<Time> = sent.iter().map(|sent| sent.at).collect();
    let expected: Vec<Time> = (0..20).map(|i| first_start() + SEGMENT * (2 * i)).collect();
    assert_eq!(starts, expected);
    // The law did not request delivery rates.
    assert!(acked.iter().all(|ack| ack.delivery_rate.is_none()));
}

#[test]
fn pacing_spaces_segments_at_a_fair_interface() {
    let _guard = one_at_a_time();
    // A quarter of the rate of the wire, next to a flow that always has a segment waiting.
    let paced = group(20.0, 2.5e9, 1e9, true);
    let greedy = group(100.0, 0.0, 1e9, true);
    let fairness = Fairness {
        quantum: SIZES.segment,
        small_queue: 2,
        fifo: false,
        all_departures: false,
    };
    run_flows(20_000, vec![paced, greedy], Some(fairness));
    // Hand-overs are four segment times apart, although the greedy flow takes every turn in
    // between.
    let (handshake, space) = (Time::ZERO + (CONTROL + DELAY) * 2, SEGMENT * 4);
    let expected: Vec<Time> = (0..20).map(|i| handshake + space * i).collect();
    let sent = SENT.lock().unwrap();
    let starts = sent
        .iter()
        .filter(|(paced, _)| *paced)
        .map(|(_, sent)| sent.at);
    assert_eq!(starts.collect::<Vec<_>>(), expected);
}

#[test]
fn a_timeout_that_is_too_short_sends_everything_again_and_still_ends() {
    let (outcome, sent, acked) = run(8_000, 4.0, 0.0, 2.5e6);
    assert!(outcome.timeouts > 0 && outcome.retransmissions > 0);
    assert_eq!(
        (outcome.delivered, outcome.status),
        (8_000, Status::Finished)
    );
    assert_eq!(
        sent.iter().filter(|s| s.retransmission).count(),
        outcome.retransmissions as usize
    );
    // Karn's algorithm: no sample from a segment that was sent more than once.
    assert!(acked.iter().any(|ack| ack.rtt.is_none()));
}
