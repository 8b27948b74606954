//! Converts the loss settings of a plan into lossy links and scripts.

use crate::links::changes;
use crate::plan::loss::{LossSettings, Script};
use crate::plan::Plan;
use lightburst_des::{Duration, Stream};
use lightburst_net::link::loss::{self, Effect, Selection};
use lightburst_net::{FlowId, LossyLinks, NodeId};

/// Builds the losses of a plan; `None` if no link is ever lossy.
pub fn loss(plan: &Plan) -> Option<LossyLinks> {
    let settings = &plan.settings;
    let changes = settings.changes.as_ref();
    let changes = changes.filter(|changes| !changes.losses.is_empty());
    let stream = |link: usize| Stream::new(settings.seed, &format!("loss/{link}"));
    let mut links = match &settings.loss {
        Some(given) => {
            let lossy = plan.links.lossy.iter().enumerate();
            let streams = lossy.map(|(link, &lossy)| (lossy != 0).then(|| stream(link)));
            let probabilities = [given.probability, given.acknowledgement_probability];
            LossyLinks::new(probabilities, streams.collect(), scripts(plan, given))
        }
        None => {
            changes?;
            let none = vec![None; plan.links.from.len()];
            LossyLinks::new([0.0; 2], none, Vec::new())
        }
    };
    if let Some(changes) = changes {
        changes::vary_losses(&mut links, changes, settings.seed);
    }
    Some(links)
}

fn scripts(plan: &Plan, given: &LossSettings) -> Vec<loss::Script> {
    let later = |script: &Script| Effect::Hold {
        later: script.later.expect("a script with `later`"),
    };
    let time = |script: &Script| {
        let duration = script.duration_ps.expect("a script with `duration_ps`");
        Effect::Stall(Duration(duration))
    };
    let drops = given.drops.iter().map(|script| (script, Effect::Lose));
    let marks = given.marks.iter().map(|script| (script, Effect::Mark));
    let holds = given.holds.iter().map(|script| (script, later(script)));
    let stalls = given.stalls.iter().map(|script| (script, time(script)));
    let all = drops.chain(marks).chain(holds).chain(stalls);
    all.map(|(script, effect)| scripted(plan, script, effect))
        .collect()
}

fn scripted(plan: &Plan, given: &Script, effect: Effect) -> loss::Script {
    let selection = match given {
        Script { burst: Some(k), .. } => Selection::Burst(*k),
        Script {
            segments: Some((first, last)),
            transmission,
            ..
        } => Selection::Segments {
            first: *first,
            last: *last,
            transmission: transmission.unwrap_or(1),
        },
        Script {
            window: Some(window),
            ..
        } => Selection::Window(*window),
        Script {
            acknowledgements, ..
        } => {
            let (first, last) = acknowledgements.expect("a script of some kind");
            Selection::Acknowledgements { first, last }
        }
    };
    let flow = given.flow as usize;
    let source = NodeId(plan.flows.source[flow]);
    let numbering = plan.numbering(flow);
    loss::Script::new(FlowId(given.flow), selection, effect, source, numbering)
}
