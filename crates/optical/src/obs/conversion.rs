//! Wavelength conversion: over which channels of the next fibre a burst can go on.

use serde::Deserialize;
use std::ops::Range;

/// What a node can convert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Conversion {
    /// A burst keeps its channel.
    None,
    /// A burst moves by this many channels at most, up or down; the first and the last are no
    /// neighbours.
    Limited {
        /// How many.
        range: u16,
    },
    /// To any channel.
    Full,
}

impl Conversion {
    /// The channels, of all, over which a burst can go on that comes over `channel`.
    #[inline]
    pub fn reach(self, channel: u16, all: Range<u16>) -> Range<u16> {
        let range = match self {
            Conversion::None => 0,
            Conversion::Limited { range } => range,
            Conversion::Full => return all,
        };
        let last = channel.saturating_add(range).saturating_add(1);
        // The next fibre may have fewer.
        channel.saturating_sub(range).min(all.end)..last.min(all.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_ends_at_the_first_and_the_last_channel() {
        let limited = Conversion::Limited { range: 2 };
        assert_eq!(Conversion::None.reach(3, 0..8), 3..4);
        assert_eq!(limited.reach(3, 0..8), 1..6);
        assert_eq!(limited.reach(0, 0..8), 0..3);
        assert_eq!(limited.reach(7, 0..8), 5..8);
        assert_eq!(Conversion::Full.reach(3, 0..8), 0..8);
        // a fibre with fewer channels than the one before
        assert_eq!(limited.reach(9, 0..8), 7..8);
        assert!(limited.reach(10, 0..8).is_empty());
        assert!(Conversion::None.reach(8, 0..8).is_empty());
    }
}
