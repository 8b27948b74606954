//! Converts the loss settings of a plan into lossy links and scripted drops.

use crate::plan::{self, Plan};
use lightburst_des::Stream;
use lightburst_net::link::loss::{Drop, Script};
use lightburst_net::{FlowId, LossyLinks, NodeId};

/// Builds the losses of a plan.
pub fn loss(plan: &Plan, given: &plan::LossSettings) -> LossyLinks {
    let settings = &plan.settings;
    let stream = |(link, &lossy): (usize, &u8)| {
        (lossy != 0).then(|| Stream::new(settings.seed, &format!("loss/{link}")))
    };
    LossyLinks::new(
        [given.probability, given.acknowledgement_probability],
        plan.links.lossy.iter().enumerate().map(stream).collect(),
        given
            .drops
            .iter()
            .map(|drop| scripted(plan, drop))
            .collect(),
    )
}

fn scripted(plan: &Plan, given: &plan::ScriptedDrop) -> Drop {
    let script = match given {
        plan::ScriptedDrop { burst: Some(k), .. } => Script::Burst(*k),
        plan::ScriptedDrop {
            segments: Some((first, last)),
            transmission,
            ..
        } => Script::Segments {
            first: *first,
            last: *last,
            transmission: transmission.unwrap_or(1),
        },
        plan::ScriptedDrop {
            window: Some(window),
            ..
        } => Script::Window(*window),
        plan::ScriptedDrop {
            acknowledgements, ..
        } => {
            let (first, last) = acknowledgements.expect("a scripted drop of some kind");
            Script::Acknowledgements { first, last }
        }
    };
    let flow = given.flow as usize;
    let source = NodeId(plan.flows.source[flow]);
    Drop::new(FlowId(given.flow), script, source, plan.numbering(flow))
}
