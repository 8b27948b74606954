//! Rows of traces: fates of bursts, waiting times of units.

use super::*;
use lightburst_net::observe::Place;
use lightburst_net::Header;

const PLACE: Place = Place {
    node: NodeId(1),
    link: LinkId(0),
};

fn identity(at: u64, node: u32) -> Identity {
    let at = Time(at);
    Identity { at, node, nth: 1 }
}

#[test]
fn a_dropped_burst_is_found_among_those_of_its_instant() {
    let mut trace = Trace::new(1, 1, 0..1);
    for identity in [identity(5, 1), identity(5, 2), identity(9, 1)] {
        trace.bursts.push(Burst {
            identity,
            opened: Time(0),
            departure: Time(9),
            egress: NodeId(4),
            label: 0,
            packets: 1,
            bytes: 64,
            data: true,
            arrival: Time::NEVER,
            lost: None,
        });
    }
    // The last of these bursts carries no traced flow and has no row.
    for burst in [identity(5, 2), identity(9, 1), identity(5, 3)] {
        let lost = Lost {
            reason: net::link::loss::RANDOM,
            place: PLACE,
            time: Time(9),
            start: None,
            holder: None,
        };
        trace.lose(burst, lost);
    }
    let lost = trace.bursts.iter().map(|row| row.lost.is_some());
    assert_eq!(lost.collect::<Vec<_>>(), [false, true, true]);
}

#[test]
fn a_unit_is_held_until_it_is_handed_over_and_queued_from_when_it_may_begin() {
    let (source, destination) = (NodeId(0), NodeId(1));
    let packet = net::Packet::new(FlowId(0), source, destination, 64, Header::default());
    let mut units = Units::with_capacity(1);
    let packet = units.packets.insert(packet);
    let mut trace = Trace::new(1, 1, 0..1);
    trace.register(packet, source, false, Time(100));
    let passage = |now, start| Passage {
        place: PLACE,
        now: Time(now),
        ready: Time(now + 7),
        channel: 0,
        start: Time(start),
        end: Time(start + 40),
        arrival: Time(start + 50),
    };
    trace.hop(Unit::Packet(packet), &units, &passage(103, 150));
    trace.hop(Unit::Packet(packet), &units, &passage(210, 217));
    let hops = trace.hops.iter();
    let found = hops.map(|hop| (hop.came.0, hop.held.0, hop.queued.0, hop.arrival.0));
    let expected = [(100, 3, 40, 200), (200, 10, 0, 267)];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}
