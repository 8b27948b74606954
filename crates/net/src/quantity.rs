//! Bytes and rates, with all conversions between bytes, rates and times.

use lightburst_des::Duration;

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// Picoseconds per second times bits per byte: the transmission time of one byte at 1 bit/s.
const BYTE_PS: u64 = 8_000_000_000_000;

/// A transmission rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate {
    bps: u64,
    /// Transmission time of one byte in picoseconds; 0 if it is not an integer or exceeds 32 bits.
    ps_per_byte: u32,
}

impl Rate {
    /// Transmission time of one byte at 1 bit/s, in picoseconds.
    pub const BYTE_PS: u128 = BYTE_PS as u128;

    /// Creates a rate from bits per second. The rate must be positive.
    pub fn from_bps(bps: u64) -> Rate {
        assert!(bps > 0, "a rate must be positive");
        let whole = Some(BYTE_PS / bps).filter(|_| BYTE_PS % bps == 0);
        Rate {
            bps,
            ps_per_byte: whole.map_or(0, |ps| u32::try_from(ps).unwrap_or(0)),
        }
    }

    /// Returns the same rate without the short way by a whole number of picoseconds per byte, so
    /// that the time in which a link transmits is summed up and does not follow from its bytes.
    pub fn divided_only(self) -> Rate {
        Rate {
            ps_per_byte: 0,
            ..self
        }
    }

    /// Returns the rate in bits per second.
    pub fn bps(self) -> u64 {
        self.bps
    }

    /// Returns the transmission time of one byte in picoseconds, if it is an integer that fits 32
    /// bits.
    #[inline]
    pub fn whole_ps_per_byte(self) -> Option<u32> {
        (self.ps_per_byte != 0).then_some(self.ps_per_byte)
    }

    /// Returns the transmission time of `bytes`, rounded up to a picosecond and limited to
    /// [`u64::MAX`].
    #[inline]
    pub fn transmission_time(self, bytes: Bytes) -> Duration {
        let whole = self.whole_ps_per_byte().map(u64::from);
        match whole.and_then(|ps| ps.checked_mul(bytes.0)) {
            Some(ps) => Duration(ps),
            None => self.divided(bytes),
        }
    }

    /// Computes the transmission time with a 128-bit division.
    #[inline(never)]
    fn divided(self, bytes: Bytes) -> Duration {
        let ps = (u128::from(bytes.0) * u128::from(BYTE_PS)).div_ceil(u128::from(self.bps));
        Duration(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// Returns the transmission time of `bytes`, rounded down to a picosecond.
    pub fn transmission_time_rounded_down(self, bytes: Bytes) -> Duration {
        let ps = u128::from(bytes.0) * u128::from(BYTE_PS) / u128::from(self.bps);
        Duration(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// Returns the number of bytes transmitted completely within `time`.
    #[inline]
    pub fn whole_bytes_in(self, time: Duration) -> Bytes {
        Bytes(match time.0.checked_mul(self.bps) {
            Some(parts) => parts / BYTE_PS,
            None => (u128::from(time.0) * u128::from(self.bps) / u128::from(BYTE_PS)) as u64,
        })
    }

    /// Returns the number of bytes whose transmission takes `time`, rounded up.
    #[inline]
    pub fn bytes_in(self, time: Duration) -> Bytes {
        // A division of 64 bits by a constant is a multiplication; one of 128 bits is a loop.
        Bytes(match time.0.checked_mul(self.bps) {
            Some(parts) => parts.div_ceil(BYTE_PS),
            None => {
                (u128::from(time.0) * u128::from(self.bps)).div_ceil(u128::from(BYTE_PS)) as u64
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Rates up to 10 Tb/s. A byte takes a whole number of picoseconds at those of the first kind.
    fn rates() -> impl Strategy<Value = Rate> {
        let whole =
            (0..=15u32, 0..=12u32).prop_map(|(twos, fives)| 2u64.pow(twos) * 5u64.pow(fives));
        prop_oneof![whole, 1..100u64, 1..=10_000_000_000_000u64].prop_map(Rate::from_bps)
    }

    fn sizes() -> impl Strategy<Value = u64> {
        prop_oneof![0..10_000u64, any::<u64>()]
    }

    proptest! {
        #[test]
        fn a_transmission_time_is_the_quotient_rounded_up_or_down(
            rate in rates(),
            bytes in sizes(),
        ) {
            let bits = u128::from(bytes) * 8;
            let (second, bps) = (1_000_000_000_000, u128::from(rate.bps()));
            let (down, rest) = (bits * second / bps, bits * second % bps);
            let limited = |ps| Duration(u64::try_from(ps).unwrap_or(u64::MAX));
            let up = limited(down + u128::from(rest > 0));
            prop_assert_eq!(rate.transmission_time(Bytes(bytes)), up);
            prop_assert_eq!(rate.transmission_time_rounded_down(Bytes(bytes)), limited(down));
        }

        #[test]
        fn no_more_and_no_fewer_bytes_fit_into_a_time(
            rate in rates(),
            time in prop_oneof![0..10_000_000u64, 0..lightburst_des::LONGEST_PS],
        ) {
            let Bytes(whole) = rate.whole_bytes_in(Duration(time));
            prop_assert!(rate.transmission_time(Bytes(whole)).0 <= time);
            prop_assert!(rate.transmission_time(Bytes(whole + 1)).0 > time);
            let Bytes(enough) = rate.bytes_in(Duration(time));
            prop_assert!(rate.transmission_time_rounded_down(Bytes(enough)).0 >= time);
            if let Some(fewer) = enough.checked_sub(1) {
                prop_assert!(rate.transmission_time_rounded_down(Bytes(fewer)).0 < time);
            }
        }
    }

    #[test]
    fn transmission_times_are_exact() {
        let rate = Rate::from_bps(10_000_000_000);
        assert_eq!(rate.transmission_time(Bytes(9000)), Duration(7_200_000));
        assert_eq!(rate.transmission_time(Bytes(64)), Duration(51_200));
        assert_eq!(rate.whole_ps_per_byte(), Some(800));
        // 8e12 / 3e9 = 2666.67 ps, rounded up
        assert_eq!(
            Rate::from_bps(3_000_000_000).transmission_time(Bytes(1)),
            Duration(2667)
        );
        assert_eq!(Rate::from_bps(3_000_000_000).whole_ps_per_byte(), None);
        assert_eq!(Rate::from_bps(1000).whole_ps_per_byte(), None);
        assert_eq!(rate.transmission_time(Bytes(u64::MAX)), Duration(u64::MAX));
    }

    #[test]
    fn bytes_in_a_time_round_up_or_down() {
        let rate = Rate::from_bps(10_000_000_000);
        assert_eq!(rate.bytes_in(Duration(7_200_000)), Bytes(9000));
        assert_eq!(rate.bytes_in(Duration(7_200_001)), Bytes(9001));
        assert_eq!(rate.bytes_in(Duration::ZERO), Bytes(0));
        assert_eq!(rate.whole_bytes_in(Duration(7_200_000)), Bytes(9000));
        assert_eq!(rate.whole_bytes_in(Duration(7_199_999)), Bytes(8999));
    }
}
