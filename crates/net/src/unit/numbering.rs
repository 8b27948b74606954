//! Numbers of a flow's packets, counted over the first transmissions of its data.

/// Rule that gives the number of a packet from its first byte. Numbers start at 1, in the order of
/// first transmission.
#[derive(Clone, Copy, Debug)]
pub struct Numbering {
    /// Useful bytes of a full segment, or of a burst made by an edge from one datagram.
    pub full: u64,
    /// For a datagram that an edge splits into packets: its header bytes and the bytes of a packet.
    /// `None` if every segment or datagram is one packet.
    pub packets: Option<(u64, u64)>,
}

impl Numbering {
    /// Returns the number of the packet whose first useful byte is byte `sequence` of the flow.
    pub fn of(&self, sequence: u64) -> u64 {
        let Numbering { full, packets } = *self;
        let before = sequence / full;
        match packets {
            None => before + 1,
            Some((header, packet)) => {
                let each = (header + full).div_ceil(packet);
                // The first packet starts with the header.
                let place = match sequence % full {
                    0 => 0,
                    useful => (header + useful) / packet,
                };
                before * each + place + 1
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Cuts three datagrams into packets byte by byte.
        #[test]
        fn numbers_are_those_of_packets_cut_one_by_one(
            full in 1..60u64,
            (header, packet) in (1..40u64).prop_flat_map(|packet| (0..packet, Just(packet))),
        ) {
            let packets = Some((header, packet));
            let numbering = Numbering { full, packets };
            let mut number = 0;
            for datagram in 0..3 {
                let useful = (datagram * full..(datagram + 1) * full).map(Some);
                let bytes: Vec<_> = (0..header).map(|_| None).chain(useful).collect();
                for packet in bytes.chunks(packet as usize) {
                    number += 1;
                    let first = packet.iter().find_map(|byte| *byte);
                    prop_assert_eq!(numbering.of(first.expect("a useful byte")), number);
                }
            }
        }
    }

    #[test]
    fn packets_of_bursts_are_counted_through() {
        let whole = Numbering {
            full: 1000,
            packets: None,
        };
        assert_eq!([0, 1000, 2000].map(|byte| whole.of(byte)), [1, 2, 3]);
        // Bursts of 1,100 bytes: three packets with 200, 300 and 300 useful bytes, and one with
        // 200.
        let made = Numbering {
            packets: Some((100, 300)),
            ..whole
        };
        let firsts = [0, 200, 500, 800, 1000, 1200];
        assert_eq!(firsts.map(|byte| made.of(byte)), [1, 2, 3, 4, 5, 6]);
    }
}
