//! Recording of drops and of bursts at a single node.

use crate::column::Outputs;
use crate::observe::Place;
use crate::{DropReason, Happening, Identity, Interest, NodeId, Observer, Unit, View, CUT};
use lightburst_des::Time;
use std::sync::{Arc, Mutex};

/// A burst that left its ingress.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    /// Identity of the burst.
    pub identity: Identity,
    /// Arrival time of its first packet.
    pub opened: Time,
    /// Departure from the ingress.
    pub departure: Time,
    /// Node at which it ends.
    pub egress: NodeId,
    /// Number of packets.
    pub packets: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// Whether any packet carries data.
    pub data: bool,
}

/// Dropped packet in the recording.
pub struct DroppedPacket {
    /// Time of the drop.
    pub time: Time,
    /// Node and link of the drop.
    pub place: Place,
    /// Number of the packet.
    pub packet: u64,
    /// Reason of the drop.
    pub reason: &'static DropReason,
    /// Whether the unit that occupied the link is known.
    pub held: bool,
}

/// Drops and bursts at the node.
#[derive(Default)]
pub struct Recording {
    /// Whether a unit was handed to each link.
    used: Vec<bool>,
    /// Dropped packets, in order of time.
    pub losses: Vec<DroppedPacket>,
    /// Bursts, in the order in which their departure was decided.
    pub made: Vec<Made>,
}

impl Recording {
    /// Creates an empty recording of a network with this number of links.
    pub fn of_links(links: usize) -> Recording {
        Recording {
            used: vec![false; links],
            ..Recording::default()
        }
    }
}

/// Observer that fills a recording.
pub struct Recorder(Arc<Mutex<Recording>>);

impl Recorder {
    /// Creates the observer of a recording.
    pub fn new(recording: Arc<Mutex<Recording>>) -> Recorder {
        Recorder(recording)
    }
}

impl Observer for Recorder {
    fn interest(&self) -> Interest {
        Interest::TRANSMITTED | Interest::DEPARTING | Interest::DROPPED | Interest::CUT
    }

    fn on(&mut self, happening: &Happening<'_>, view: &View<'_>) {
        let mut recording = self.0.lock().expect("a recording");
        match happening {
            Happening::Transmitted { passage, .. } => {
                recording.used[passage.place.link.index()] = true;
            }
            Happening::Departing {
                burst,
                bundle,
                departure,
            } => {
                let mut packets = view.units.packets_of(Unit::Burst(*burst));
                recording.made.push(Made {
                    identity: view.units.bursts[*burst].identity,
                    opened: bundle.opened,
                    departure: *departure,
                    egress: bundle.egress,
                    packets: bundle.packets,
                    bytes: bundle.bytes,
                    data: packets.any(|(_, packet)| packet.header.payload > 0),
                });
            }
            Happening::Dropped {
                unit,
                place,
                reason,
                holder,
                ..
            } => {
                let busy = reason.busy && recording.used[place.link.index()];
                for (_, packet) in view.units.packets_of(*unit) {
                    recording.losses.push(DroppedPacket {
                        time: view.now,
                        place: *place,
                        packet: packet.header.sequence,
                        reason,
                        held: holder.is_some() || busy,
                    });
                }
            }
            Happening::Cut {
                burst,
                packets,
                piece,
                ..
            } => {
                for packet in view.units.packets_at(*burst, packets.clone()) {
                    recording.losses.push(DroppedPacket {
                        time: view.now,
                        place: piece.place,
                        packet: packet.header.sequence,
                        reason: CUT,
                        held: piece.by.is_some(),
                    });
                }
            }
            _ => {}
        }
    }

    fn tables(self: Box<Self>) -> Outputs {
        Vec::new()
    }
}
