//! Packets that travel on two paths at once (1+1 protection), until their egress selects one copy.

use crate::fabric::Why;
use crate::observe::{Happening, Interest, Place};
use crate::{DropReason, Fabric, Header, PacketId, Unit};
use lightburst_des::Time;

/// Drop reason of packets whose copies both came when the egress had selected the other path.
pub const NOT_SELECTED: &DropReason = &DropReason {
    name: "not-selected",
    busy: false,
};

/// Where and why a copy was lost.
#[derive(Clone, Copy, Debug)]
struct Cause {
    place: Place,
    reason: &'static DropReason,
    start: Option<Time>,
}

/// What is known of the other copy of a packet.
#[derive(Clone, Copy, Debug)]
enum Other {
    /// It does not exist, or no longer; a copy that was lost has a cause.
    Gone(Option<Cause>),
    /// It is under way, and neither copy has been selected.
    UnderWay(PacketId),
    /// It has been selected, so that this copy is of no use.
    Selected,
}

/// All packets that travel twice.
#[derive(Debug, Default)]
pub struct Copies {
    /// The other copy of each packet, by handle.
    others: Vec<Other>,
    /// Number of copies made, beside the packets themselves.
    pub created: u64,
    /// Number of copies that ended before the last of their packet.
    ended: u64,
    /// Number of copies that came to their egress and were not selected.
    pub unselected: u64,
}

impl Copies {
    /// Returns the number of copies in the network, beside the packets themselves.
    pub fn in_flight(&self) -> u64 {
        self.created - self.ended
    }

    fn other(&self, packet: PacketId) -> Other {
        let known = self.others.get(packet.index()).copied();
        known.unwrap_or(Other::Gone(None))
    }

    fn set(&mut self, packet: PacketId, other: Other) {
        if packet.index() >= self.others.len() {
            self.others.resize(packet.index() + 1, Other::Gone(None));
        }
        self.others[packet.index()] = other;
    }

    /// Ends a copy, lost for a cause or not selected. Returns whether the packet goes on in its other
    /// copy.
    fn end(&mut self, packet: PacketId, cause: Option<Cause>) -> bool {
        let other = self.other(packet);
        if let Other::UnderWay(other) = other {
            self.set(other, Other::Gone(cause));
        }
        let goes_on = !matches!(other, Other::Gone(_));
        self.ended += u64::from(goes_on);
        if goes_on {
            self.set(packet, Other::Gone(None));
        }
        goes_on
    }
}

impl Fabric {
    /// Makes a copy of a packet at its ingress, with another label.
    pub(crate) fn copy(&mut self, packet: PacketId, label: u8, now: Time) -> PacketId {
        let mut same = self.units.packets[packet];
        same.envelope.label = label;
        let copy = self.units.packets.insert(same);
        if same.header.has_options() {
            let options = *self.options(packet);
            self.units.packets[copy].header.flags &= !Header::OPTIONS;
            self.set_options(copy, options);
        }
        let copies = self.copies.as_mut().expect("packets that travel twice");
        copies.created += 1;
        copies.set(packet, Other::UnderWay(copy));
        copies.set(copy, Other::UnderWay(packet));
        let copied = || Happening::Copied { packet, copy };
        self.tell(Interest::COPIED, now, copied);
        copy
    }

    /// Decides at the egress whether a copy that came over a link is passed on; otherwise it ends.
    pub(crate) fn select(
        &mut self,
        packet: PacketId,
        place: Place,
        is_selected: bool,
        now: Time,
    ) -> bool {
        let copies = self.copies.as_mut().expect("packets that travel twice");
        let other = copies.other(packet);
        match other {
            Other::UnderWay(other) if is_selected => copies.set(other, Other::Selected),
            Other::Gone(_) if is_selected => {}
            _ => {
                copies.unselected += 1;
                if copies.end(packet, None) {
                    self.units.packets.remove(packet);
                    return false;
                }
                let Other::Gone(cause) = other else {
                    unreachable!("the last copy of a packet")
                };
                copies.set(packet, Other::Gone(None));
                let cause = cause.unwrap_or(Cause {
                    place,
                    reason: NOT_SELECTED,
                    start: None,
                });
                let why = Why {
                    reason: cause.reason,
                    holder: None,
                    start: cause.start,
                };
                self.remove(Unit::Packet(packet), cause.place, why, now);
                return false;
            }
        }
        copies.set(packet, Other::Gone(None));
        true
    }

    /// Ends a unit that is lost, if it is a copy whose packet goes on in the other one. Returns
    /// whether it is.
    #[cold]
    pub(crate) fn lose_copy(&mut self, unit: Unit, place: Place, why: &Why) -> bool {
        let (Some(copies), Unit::Packet(packet)) = (&mut self.copies, unit) else {
            return false;
        };
        let cause = Cause {
            place,
            reason: why.reason,
            start: why.start,
        };
        let is_copy = copies.end(packet, Some(cause));
        if is_copy {
            self.units.packets.remove(packet);
        } else {
            copies.set(packet, Other::Gone(None));
        }
        is_copy
    }
}
