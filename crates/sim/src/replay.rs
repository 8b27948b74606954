//! A recorded connection as JSON, and the log of its replay (see [`lightburst_tcp::replay`]).

use crate::plan::{PlanError, Transport};
use lightburst_des::Duration;
use lightburst_net::Block;
use lightburst_tcp::recovery;
use lightburst_tcp::replay::{self, Acknowledgement, Event, Recording, Replayed};
use lightburst_tcp::transport;
use serde::Deserialize;

/// Most SACK blocks of an acknowledgement (RFC 2018, section 3).
const MOST_BLOCKS: usize = 4;

/// A recorded connection; times in picoseconds since the handshake, data in bytes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Capture {
    transport: Transport,
    /// Round-trip time of the handshake.
    handshake_ps: u64,
    /// Receive window of the handshake, before any of an acknowledgement.
    #[serde(default)]
    window: Option<u64>,
    /// Whether the peer began the connection.
    #[serde(default)]
    accepted: bool,
    end_ps: u64,
    /// Seed of the law's random stream.
    #[serde(default)]
    seed: u64,
    events: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Row {
    Write {
        at_ps: u64,
        written: u64,
    },
    Acknowledgement {
        at_ps: u64,
        acknowledgement: u64,
        #[serde(default)]
        blocks: Vec<(u64, u64)>,
        #[serde(default)]
        echo: bool,
        #[serde(default)]
        ace: u8,
        #[serde(default)]
        timestamp_ps: Option<u64>,
        #[serde(default)]
        stamp: Option<u64>,
        #[serde(default)]
        window: Option<u64>,
    },
    Look {
        look_ps: u64,
    },
}

impl Row {
    fn event(&self) -> Result<(Duration, Event), PlanError> {
        match self {
            Row::Look { look_ps } => Ok((Duration(*look_ps), Event::Look)),
            Row::Write { at_ps, written } => Ok((Duration(*at_ps), Event::Write(*written))),
            Row::Acknowledgement {
                at_ps,
                acknowledgement,
                blocks,
                echo,
                ace,
                timestamp_ps,
                stamp,
                window,
            } => {
                let block = |&(start, end): &(u64, u64)| Block { start, end };
                if blocks.len() > MOST_BLOCKS || blocks.iter().any(|(start, end)| start >= end) {
                    return Err(PlanError(format!("SACK blocks {blocks:?}")));
                }
                let given = Acknowledgement {
                    acknowledgement: *acknowledgement,
                    blocks: blocks.iter().map(block).collect(),
                    echo: *echo,
                    ace: *ace % 8,
                    timestamp: timestamp_ps.map(Duration),
                    stamp: *stamp,
                    window: *window,
                };
                Ok((Duration(*at_ps), Event::Acknowledgement(given)))
            }
        }
    }
}

/// Replays a recorded connection, given as JSON.
pub fn replay(capture: &str) -> Result<Replayed, PlanError> {
    let capture: Capture =
        serde_json::from_str(capture).map_err(|error| PlanError(error.to_string()))?;
    let (parameters, sizes) = (capture.transport.parameters(), capture.transport.sizes());
    let kind = transport::find(&capture.transport.kind);
    let kind = kind.ok_or_else(|| PlanError("an unknown transport".to_string()))?;
    transport::check(kind, &parameters, &sizes).map_err(PlanError)?;
    let recovery = parameters.kind("recovery").and_then(recovery::find);
    if !recovery.is_some_and(|recovery| recovery.timed) {
        return Err(PlanError("a recovery that hears no times".to_string()));
    }
    let events: Vec<_> = capture
        .events
        .iter()
        .map(Row::event)
        .collect::<Result<_, _>>()?;
    let written = events.iter().map(|(_, event)| match event {
        Event::Write(bytes) => *bytes,
        Event::Acknowledgement(_) | Event::Look => 0,
    });
    Ok(replay::replay(Recording {
        transport: *kind,
        parameters: &parameters,
        sizes,
        handshake: Duration(capture.handshake_ps),
        window: capture.window,
        accepted: capture.accepted,
        bytes: written.max().unwrap_or(0),
        events,
        seed: capture.seed,
        end: Duration(capture.end_ps),
    }))
}
