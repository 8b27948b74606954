//! The numbers of the packets of a flow that carry its data for the first time.

/// How they are numbered, from 1 as they are sent.
#[derive(Clone, Copy, Debug)]
pub struct Numbering {
    /// Useful bytes of a full segment, or of a burst that an edge makes.
    pub full: u64,
    /// Bytes of its header, and of the packets of which such a burst is made; none: it is one.
    pub packets: Option<(u64, u64)>,
}

impl Numbering {
    /// The number of the packet whose first useful byte is this one of the flow.
    pub fn of(&self, sequence: u64) -> u64 {
        let Numbering { full, packets } = *self;
        let before = sequence / full;
        match packets {
            None => before + 1,
            Some((header, packet)) => {
                let each = (header + full).div_ceil(packet);
                // The first packet begins with the header.
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

    #[test]
    fn packets_of_bursts_are_counted_through() {
        let whole = Numbering {
            full: 1000,
            packets: None,
        };
        assert_eq!([0, 1000, 2000].map(|byte| whole.of(byte)), [1, 2, 3]);
        // Bursts of 1,100 bytes: three packets with 200, 300 and 300 useful bytes, and one with 200.
        let made = Numbering {
            packets: Some((100, 300)),
            ..whole
        };
        let firsts = [0, 200, 500, 800, 1000, 1200];
        assert_eq!(firsts.map(|byte| made.of(byte)), [1, 2, 3, 4, 5, 6]);
    }
}
