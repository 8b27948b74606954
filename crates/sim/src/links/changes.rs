//! Changes of the rates and losses of links, and their check.

use crate::plan::changes::ChangeSettings;
use crate::plan::loss::LossSettings;
use crate::plan::{Plan, PlanError};
use lightburst_des::{Stream, Time};
use lightburst_net::{LinkId, Links, LossyLinks, Rate};
use std::collections::BTreeMap;

/// Rejects changes that cannot be simulated.
pub fn check(plan: &Plan) -> Result<(), PlanError> {
    let Some(ChangeSettings { rates, losses }) = &plan.settings.changes else {
        return Ok(());
    };
    let refuse = |words: &str| Err(PlanError(words.to_string()));
    let links = plan.links.from.len();
    let of_rates = rates.iter().map(|&(link, time, _)| (link, time));
    let of_losses = losses.iter().map(|&(link, time, ..)| (link, time));
    for rows in [of_rates.collect::<Vec<_>>(), of_losses.collect()] {
        if rows.iter().any(|&(link, _)| link as usize >= links) {
            return refuse("a change of a link that there is not");
        }
        if !rows.windows(2).all(|pair| pair[0] < pair[1]) {
            return refuse("changes of a link that are not sorted");
        }
    }
    if rates.iter().any(|&(.., rate)| rate == 0) {
        return refuse("a change to a link without a rate");
    }
    let probabilities = losses.iter().flat_map(|&(.., data, other)| [data, other]);
    if !probabilities.into_iter().all(|p| (0.0..=1.0).contains(&p)) {
        return refuse("a change to a loss that is no probability");
    }
    let mut switches = plan.settings.switches.iter();
    if !rates.is_empty() && !switches.all(|switch| switch.stores_and_forwards(false)) {
        return refuse("changes of rates in a network whose switches do not store and forward");
    }
    let loss = plan.settings.loss.as_ref();
    if loss.is_some_and(LossSettings::delays) {
        return refuse("changes of links beside holds or stalls");
    }
    Ok(())
}

/// Returns whether the rate or the loss of a link changes.
pub fn concern(plan: &Plan, link: usize) -> bool {
    let changes = plan.settings.changes.as_ref();
    changes.is_some_and(|ChangeSettings { rates, losses }| {
        rates.iter().any(|row| row.0 as usize == link)
            || losses.iter().any(|row| row.0 as usize == link)
    })
}

/// Gives links their later rates.
pub fn vary_rates(links: &mut Links, given: &ChangeSettings) {
    let rows = given.rates.iter();
    for (link, steps) in by_link(rows.map(|&(link, time, rate)| (link, time, Rate::from_bps(rate))))
    {
        links.vary(LinkId(link), &steps);
    }
}

/// Gives links their later losses.
pub fn vary_losses(loss: &mut LossyLinks, given: &ChangeSettings, seed: u64) {
    let rows = given.losses.iter();
    for (link, steps) in by_link(rows.map(|&(link, time, data, other)| (link, time, [data, other])))
    {
        let stream = Stream::new(seed, &format!("loss/{link}"));
        loss.vary(LinkId(link), stream, &steps);
    }
}

/// Groups rows of link, time and value by link.
fn by_link<T>(rows: impl Iterator<Item = (u32, u64, T)>) -> BTreeMap<u32, Vec<(Time, T)>> {
    let mut steps: BTreeMap<u32, Vec<_>> = BTreeMap::new();
    for (link, time, value) in rows {
        steps.entry(link).or_default().push((Time(time), value));
    }
    steps
}
