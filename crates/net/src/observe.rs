//! Observers of a network: they record events of their choice and have no effect on the network.
//!
//! The network does not know its observers. It reports an event if any observer wants its kind: one
//! mask is tested where the event happens, and the rest is outside the path of a run without
//! observers.

mod happening;

pub use happening::{
    CongestionState, CutOff, Happening, Holder, Interest, Passage, PathSwitch, Piece, Place,
    WindowState,
};

use crate::column::Outputs;
use crate::{Fabric, Links, Options, PacketId, Units};
use lightburst_des::Time;

/// Record of events in a network.
pub trait Observer: Send {
    /// Returns the kinds of events that the observer wants. They do not change during a run.
    fn interest(&self) -> Interest;

    /// Records an event of one of these kinds.
    fn on(&mut self, happening: &Happening<'_>, view: &View<'_>);

    /// Returns the number of rows stored so far and the name under which it is reported if a run
    /// does not end; `None` if the memory of the observer is bounded.
    fn load(&self) -> Option<(&'static str, u64)> {
        None
    }

    /// Returns the tables at the end of the run, by name. The order of their rows must not depend on
    /// which of several nodes handled simultaneous events first.
    fn tables(self: Box<Self>) -> Outputs;
}

/// View of the network for an observer, at the time of an event.
pub struct View<'a> {
    /// Time of the event.
    pub now: Time,
    /// Units in the network.
    pub units: &'a Units,
    /// Links.
    pub links: &'a Links,
    /// Options of packets, by handle.
    options: &'a [Options],
}

impl<'a> View<'a> {
    /// Creates a view without options of packets.
    pub fn new(now: Time, units: &'a Units, links: &'a Links) -> View<'a> {
        let options = &[];
        View {
            now,
            units,
            links,
            options,
        }
    }

    /// Returns the options of a packet, if it carries any.
    pub fn options(&self, packet: PacketId) -> Option<&'a Options> {
        let carries = self.units.packets[packet].header.has_options();
        self.options.get(packet.index()).filter(|_| carries)
    }
}

/// All observers of a network.
#[derive(Default)]
pub struct Observers {
    /// Kinds of events that any observer wants.
    wanted: Interest,
    list: Vec<(Interest, Box<dyn Observer>)>,
}

impl Observers {
    /// Creates a list of observers. Each event is reported to them in the order of the list.
    pub fn new(list: Vec<Box<dyn Observer>>) -> Observers {
        let list: Vec<_> = list.into_iter().map(|it| (it.interest(), it)).collect();
        let kinds = list.iter().map(|(interest, _)| *interest);
        Observers {
            wanted: kinds.fold(Interest::default(), |all, kind| all | kind),
            list,
        }
    }

    /// Returns whether any observer wants any event of these kinds.
    #[inline(always)]
    pub fn want(&self, kinds: Interest) -> bool {
        self.wanted.intersects(kinds)
    }

    /// Returns the loads of the observers, see [`Observer::load`].
    pub fn loads(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.list.iter().filter_map(|(_, observer)| observer.load())
    }

    /// Returns the tables of all observers.
    pub fn tables(self) -> Outputs {
        let each = self.list.into_iter();
        each.flat_map(|(_, observer)| observer.tables()).collect()
    }

    fn report(&mut self, happening: &Happening<'_>, view: &View<'_>) {
        let kind = happening.kind();
        for (interest, observer) in &mut self.list {
            if interest.intersects(kind) {
                observer.on(happening, view);
            }
        }
    }
}

impl Fabric {
    /// Reports an event of a kind to the observers that want it. The event is made only if there are
    /// any.
    #[inline(always)]
    pub(crate) fn tell<'h>(
        &mut self,
        kind: Interest,
        now: Time,
        happening: impl FnOnce() -> Happening<'h>,
    ) {
        if self.observers.want(kind) {
            let happening = happening();
            debug_assert_eq!(happening.kind(), kind);
            self.report(&happening, now);
        }
    }

    #[cold]
    #[inline(never)]
    fn report(&mut self, happening: &Happening<'_>, now: Time) {
        let view = View {
            now,
            units: &self.units,
            links: &self.links,
            options: &self.options,
        };
        self.observers.report(happening, &view);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::Column;
    use crate::{FlowId, NodeId, Routing};
    use lightburst_des::Duration;

    /// Observer that stores the times of the events that it wants.
    struct Times(&'static str, Interest, Vec<u64>);

    impl Observer for Times {
        fn interest(&self) -> Interest {
            self.1
        }

        fn on(&mut self, _happening: &Happening<'_>, view: &View<'_>) {
            self.2.push(view.now.0);
        }

        fn tables(self: Box<Self>) -> Outputs {
            let times = vec![("time_ps", Column::U64(self.2))];
            vec![(self.0, times.into())]
        }
    }

    fn fabric(observers: &[(&'static str, Interest)]) -> Fabric {
        let (one, two) = (NodeId(0), NodeId(1));
        let routing = Routing::shortest_path(2, 2, &[(one, two, 1), (two, one, 1)]);
        let mut fabric = Fabric::new(2, &[], routing, 1);
        let observer = |&(name, interest): &_| -> Box<dyn Observer> {
            Box::new(Times(name, interest, Vec::new()))
        };
        fabric.observers = Observers::new(observers.iter().map(observer).collect());
        fabric
    }

    fn round_trip() -> Happening<'static> {
        Happening::RoundTrip {
            flow: FlowId(0),
            rtt: Duration(1),
        }
    }

    #[test]
    fn an_observer_gets_the_kinds_that_it_wants_and_no_other() {
        let wanted = [
            ("both", Interest::ROUND_TRIP | Interest::DELIVERED),
            ("one", Interest::ROUND_TRIP),
            ("other", Interest::DELIVERED),
        ];
        let mut fabric = fabric(&wanted);
        fabric.tell(Interest::ROUND_TRIP, Time(3), round_trip);
        fabric.tell(Interest::ROUND_TRIP, Time(5), round_trip);
        let seen = fabric.observers.tables();
        let times = |times: &[u64]| vec![("time_ps", Column::U64(times.to_vec()))].into();
        let expected = [
            ("both", times(&[3, 5])),
            ("one", times(&[3, 5])),
            ("other", times(&[])),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn the_mask_has_the_kinds_of_all_observers() {
        let wanted = [("a", Interest::CUT), ("b", Interest::SENT)];
        let observers = fabric(&wanted).observers;
        let kinds = [Interest::CUT, Interest::SENT, Interest::DROPPED];
        assert_eq!(kinds.map(|kind| observers.want(kind)), [true, true, false]);
        assert!(!Observers::default().want(Interest::ALL));
    }
}
