//! Trace of the bursts on chosen links.

use super::{Passage, Place};
use crate::{Birth, LinkId, NodeId};
use lightburst_des::Time;

/// Row of a burst that uses a channel of a link.
#[derive(Clone, Copy, Debug)]
pub struct Booking {
    /// The link.
    pub link: LinkId,
    /// Data channel of the link.
    pub channel: u16,
    /// Start of the transmission.
    pub start: Time,
    /// End of the transmission.
    pub end: Time,
    /// Time at which the burst or its header was handed to the link.
    pub made: Time,
    /// Identity of the burst.
    pub burst: Birth,
    /// Bytes transmitted here, after any cut.
    pub bytes: u32,
}

/// Row of the packets that one node cut off from a burst in one operation.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// Time of the loss. A tail is lost when the shortened burst reaches its egress.
    pub time: Time,
    /// Node at which the loss is noted.
    pub noted: NodeId,
    /// Node that made the cut, and its link.
    pub place: Place,
    /// Time at which the first of the packets would have left that node.
    pub start: Time,
    /// Identity of the burst.
    pub burst: Birth,
    /// Number of packets.
    pub packets: u32,
    /// Bytes of the packets.
    pub bytes: u32,
    /// Burst that uses the channel instead.
    pub by: Option<Birth>,
}

/// Bursts on chosen links within an interval.
#[derive(Debug)]
pub struct Bookings {
    /// Whether each link is traced.
    wanted: Vec<bool>,
    from: Time,
    until: Time,
    /// Rows of bursts, in the order of hand-over to the links.
    pub rows: Vec<Booking>,
    /// Pieces cut off from these bursts. Pieces noted by one node are in the order of noting.
    pub pieces: Vec<Piece>,
}

impl Bookings {
    /// Creates a trace of the links `wanted`, out of `links`, for transmissions that overlap the
    /// interval `from..until`.
    pub fn new(links: usize, wanted: &[u32], from: Time, until: Time) -> Bookings {
        let mut bookings = Bookings {
            wanted: vec![false; links],
            from,
            until,
            rows: Vec::new(),
            pieces: Vec::new(),
        };
        for &link in wanted {
            bookings.wanted[link as usize] = true;
        }
        bookings
    }

    /// Returns whether a transmission from `start` to `end` on a link is traced.
    fn tell_of(&self, link: LinkId, start: Time, end: Time) -> bool {
        self.wanted[link.index()] && start < self.until && self.from < end
    }

    /// Returns whether a burst created at `now` may overlap the interval.
    pub(super) fn tell(&self, now: Time) -> bool {
        now < self.until
    }

    /// Adds the row of a burst that is handed to a link, if it is traced.
    pub(super) fn add(&mut self, burst: Birth, bytes: u32, passage: &Passage) {
        let &Passage {
            place, start, end, ..
        } = passage;
        if self.tell_of(place.link, start, end) {
            self.rows.push(Booking {
                link: place.link,
                channel: passage.channel,
                start,
                end,
                made: passage.now,
                burst,
                bytes,
            });
        }
    }

    /// Adds the row of a piece, if it is traced. Without the cut it would have left by `end`.
    pub(crate) fn lose(&mut self, piece: Piece, end: Time) {
        if self.tell_of(piece.place.link, piece.start, end) {
            self.pieces.push(piece);
        }
    }

    /// Shortens a burst, given by link, identity and start: its transmission ends at `end`, after
    /// `bytes` bytes. Its row is removed if it no longer overlaps the interval.
    pub(crate) fn shorten(&mut self, of: (LinkId, Birth), start: Time, end: Time, bytes: u32) {
        let is_it = |row: &Booking| (row.link, row.burst) == of && row.start == start;
        if let Some(place) = self.rows.iter().rposition(is_it) {
            let row = &mut self.rows[place];
            (row.end, row.bytes) = (end, bytes);
            if end <= self.from {
                self.rows.remove(place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Place;
    use crate::NodeId;

    fn birth(at: u64) -> Birth {
        let at = Time(at);
        Birth {
            at,
            node: 1,
            nth: 1,
        }
    }

    #[test]
    fn a_link_keeps_what_it_carries_in_the_stretch_of_time() {
        let passage = |link, start, end| Passage {
            place: Place {
                node: NodeId(1),
                link: LinkId(link),
            },
            now: Time(0),
            ready: Time(start),
            channel: 3,
            start: Time(start),
            end: Time(end),
            arrival: Time(end),
        };
        let mut bookings = Bookings::new(2, &[1], Time(10), Time(20));
        let given = [
            (0, 12, 15),
            (1, 5, 10),
            (1, 5, 11),
            (1, 19, 30),
            (1, 20, 30),
        ];
        for (link, start, end) in given {
            bookings.add(birth(start), 64, &passage(link, start, end));
        }
        let kept = bookings.rows.iter().map(|row| (row.start.0, row.end.0));
        assert_eq!(kept.collect::<Vec<_>>(), [(5, 11), (19, 30)]);
    }
}
