//! What happens to bursts on chosen links.

use super::Passage;
use crate::{Birth, LinkId};
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

/// The bursts on chosen links, in a stretch of time.
#[derive(Debug)]
pub struct Bookings {
    /// Which links.
    wanted: Vec<bool>,
    from: Time,
    until: Time,
    /// In the order in which the links were given the bursts.
    pub rows: Vec<Booking>,
}

impl Bookings {
    /// Those on some of `links` links that are there at some time from `from` to `until`.
    pub fn new(links: usize, wanted: &[u32], from: Time, until: Time) -> Bookings {
        let mut bookings = Bookings {
            wanted: vec![false; links],
            from,
            until,
            rows: Vec::new(),
        };
        for &link in wanted {
            bookings.wanted[link as usize] = true;
        }
        bookings
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
        if self.wanted[place.link.index()] && start < self.until && self.from < end {
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
