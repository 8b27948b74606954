//! Trace of the bursts on chosen links.

use lightburst_des::Time;
use lightburst_net::observe::{Passage, Piece};
use lightburst_net::{Identity, LinkId};

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
    pub burst: Identity,
    /// Bytes transmitted here, after any cut.
    pub bytes: u32,
}

/// Bursts on chosen links within an interval.
#[derive(Debug)]
pub struct OnLinks {
    /// Whether each link is traced.
    wanted: Vec<bool>,
    from: Time,
    until: Time,
    /// Rows of bursts, in the order of hand-over to the links.
    pub rows: Vec<Booking>,
    /// Pieces cut off from these bursts. Pieces noted by one node are in the order of noting.
    pub pieces: Vec<Piece>,
}

impl OnLinks {
    /// Creates a trace of the links `wanted`, out of `links`, for transmissions that overlap the
    /// interval `from..until`.
    pub fn new(links: usize, wanted: &[u32], from: Time, until: Time) -> OnLinks {
        let mut bookings = OnLinks {
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
    pub(super) fn add(&mut self, burst: Identity, bytes: u32, passage: &Passage) {
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
    pub(super) fn lose(&mut self, piece: Piece, end: Time) {
        if self.tell_of(piece.place.link, piece.start, end) {
            self.pieces.push(piece);
        }
    }

    /// Shortens a burst, given by link, identity and start: its transmission ends at `end`, after
    /// `bytes` bytes. Its row is removed if it no longer overlaps the interval.
    pub(super) fn shorten(&mut self, of: (LinkId, Identity), start: Time, end: Time, bytes: u32) {
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
    use lightburst_net::observe::Place;
    use lightburst_net::NodeId;

    fn identity(at: u64) -> Identity {
        let at = Time(at);
        Identity {
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
        let mut bookings = OnLinks::new(2, &[1], Time(10), Time(20));
        let given = [
            (0, 12, 15),
            (1, 5, 10),
            (1, 5, 11),
            (1, 19, 30),
            (1, 20, 30),
        ];
        for (link, start, end) in given {
            bookings.add(identity(start), 64, &passage(link, start, end));
        }
        let kept = bookings.rows.iter().map(|row| (row.start.0, row.end.0));
        assert_eq!(kept.collect::<Vec<_>>(), [(5, 11), (19, 30)]);
    }
}
