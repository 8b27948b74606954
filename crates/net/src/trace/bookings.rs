//! What happens to bursts on chosen links.

use super::{Passage, Place};
use crate::{Birth, LinkId, NodeId};
use lightburst_des::Time;

/// A row of a burst that uses a channel of a link.
#[derive(Clone, Copy, Debug)]
pub struct Booking {
    /// The link.
    pub link: LinkId,
    /// The channel of it.
    pub channel: u16,
    /// When the head of the burst leaves.
    pub start: Time,
    /// When its tail has left.
    pub end: Time,
    /// When the link was given the burst, or its header.
    pub made: Time,
    /// The burst.
    pub burst: Birth,
    /// Bytes of it that are left here.
    pub bytes: u32,
}

/// A row of packets that one node cut off a burst, at one time.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// When they were lost: a tail where its burst ends.
    pub time: Time,
    /// The node at which that was.
    pub noted: NodeId,
    /// Where they were cut off, and from which link.
    pub place: Place,
    /// When the first of them was to leave there.
    pub start: Time,
    /// The burst.
    pub burst: Birth,
    /// How many.
    pub packets: u32,
    /// Their bytes.
    pub bytes: u32,
    /// The burst that has the channel in their place.
    pub by: Option<Birth>,
}

/// The bursts on chosen links, in a stretch of time.
#[derive(Debug)]
pub struct Bookings {
    /// Which links.
    wanted: Vec<bool>,
    from: Time,
    until: Time,
    /// In the order in which the links were given the bursts.
    pub rows: Vec<Booking>,
    /// What was cut off them; those of one node in the order in which it noted them.
    pub pieces: Vec<Piece>,
}

impl Bookings {
    /// Those on some of `links` links that are there at some time from `from` to `until`.
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

    /// Whether a use of a link is among what is asked for.
    fn tell_of(&self, link: LinkId, start: Time, end: Time) -> bool {
        self.wanted[link.index()] && start < self.until && self.from < end
    }

    /// Whether they tell of a burst that is made now.
    pub(super) fn tell(&self, now: Time) -> bool {
        now < self.until
    }

    /// Notes that a link is given a burst.
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

    /// Notes what was cut off a burst, and was to have left by `end`.
    pub(crate) fn lose(&mut self, piece: Piece, end: Time) {
        if self.tell_of(piece.place.link, piece.start, end) {
            self.pieces.push(piece);
        }
    }

    /// Notes that of a burst that a link was given for a time only so many bytes are left there.
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
