//! Wavelength conversion: the channels of the next fibre that a burst can use.

use serde::Deserialize;
use std::ops::Range;

/// Conversion capability of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Conversion {
    /// No conversion: a burst keeps its channel.
    None,
    /// A burst moves by at most `range` channels, up or down. The range does not wrap around from
    /// the last channel to the first.
    Limited {
        /// Greatest distance between the two channels.
        range: u16,
    },
    /// A burst can move to any channel.
    Full,
}

impl Conversion {
    /// Returns the channels among `all` that a burst arriving on `channel` can use.
    #[inline]
    pub fn reach(self, channel: u16, all: Range<u16>) -> Range<u16> {
        let range = match self {
            Conversion::None => 0,
            Conversion::Limited { range } => range,
            Conversion::Full => return all,
        };
        let last = channel.saturating_add(range).saturating_add(1);
        // The next fibre may have fewer channels.
        channel.saturating_sub(range).min(all.end)..last.min(all.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_channels_in_reach_are_those_near_enough(
            channel in 0..20u16,
            range in 0..20u16,
            channels in 0..20u16,
        ) {
            let near = |most| (0..channels).filter(move |other| channel.abs_diff(*other) <= most);
            let limited = Conversion::Limited { range };
            prop_assert!(limited.reach(channel, 0..channels).eq(near(range)));
            prop_assert!(Conversion::None.reach(channel, 0..channels).eq(near(0)));
        }
    }

    #[test]
    fn a_range_ends_at_the_first_and_the_last_channel() {
        let limited = Conversion::Limited { range: 2 };
        assert_eq!(Conversion::None.reach(3, 0..8), 3..4);
        assert_eq!(limited.reach(3, 0..8), 1..6);
        assert_eq!(limited.reach(0, 0..8), 0..3);
        assert_eq!(limited.reach(7, 0..8), 5..8);
        assert_eq!(Conversion::Full.reach(3, 0..8), 0..8);
        // a fibre with fewer channels than the previous one
        assert_eq!(limited.reach(9, 0..8), 7..8);
        assert!(limited.reach(10, 0..8).is_empty());
        assert!(Conversion::None.reach(8, 0..8).is_empty());
    }
}
