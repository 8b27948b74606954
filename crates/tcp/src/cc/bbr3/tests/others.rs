//! Numbers that the tests of another implementation expect: s2n-quic-core 0.91 (BBR, version 2, by
//! draft-cardwell-iccrg-bbr-congestion-control-02), where draft-ietf-ccwg-bbr-06 has the same rule.
//! It counts bytes; here a segment stands for a byte, or for 1000.

use super::*;

#[test]
fn losses_cross_the_threshold_where_s2n_quic_has_it() {
    let law = Connection::new().law;
    // Before the lost packet 1800 were in flight and 10 lost: (1/50 * 1800 - 10) / (1 - 1/50) = 26.
    // With 1800 lost there is no prefix, and none before the first packet of all.
    for (in_flight, lost, expected) in [(1800, 10, 1826), (1800, 1800, 1800), (0, 0, 0)] {
        let lost = Lost {
            at: Time::ZERO,
            number: 0,
            delivered: 1,
            in_flight: in_flight + 1,
            lost: lost + 1,
            application_limited: false,
        };
        assert_eq!(law.in_flight_at_loss(&lost), expected);
    }
    assert!(law.is_too_high(3, 100) && !law.is_too_high(2, 100));
}

#[test]
fn bounds_and_products_are_those_of_s2n_quic() {
    let mut law = Connection::new().law;
    // Without a round trip the product is the initial window.
    law.min_rtt.rtt = None;
    assert_eq!(law.bdp(0, UNIT), 10);
    // 1000 bytes per millisecond, in 100 ms, times 2; and the window bounds the target.
    law.min_rtt.rtt = Some(100_000);
    law.bandwidth = (1 << SCALE) / 1000;
    assert_eq!(law.bdp(law.bandwidth, 2 * UNIT), 200);
    assert_eq!(law.bdp(0, UNIT), 0);
    law.cwnd = 12;
    assert_eq!(law.target_in_flight(), 12);
    law.cwnd = 200;
    assert_eq!(law.target_in_flight(), 100);
    // 85 % of the bound, but at least four segments; none without a bound.
    assert_eq!(law.with_headroom(), UNBOUNDED);
    law.longterm = 10_000;
    assert_eq!(law.with_headroom(), 8_500);
    law.longterm = 4;
    assert_eq!(law.with_headroom(), 4);
    // Three quanta of 4000 bytes hold more than 6000 bytes and less than 14,000.
    law.quantum = 4;
    assert_eq!([6, 14].map(|segments| law.with_budget(segments)), [12, 14]);
}
