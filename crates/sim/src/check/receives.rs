//! Checks the receives that are matched in the run.

use crate::plan::{Joins, Plan, PlanError};
use lightburst_des::LONGEST_PS;
use lightburst_tcp::NO_JOIN;

/// Checks the columns of receives: each is a join that works, and has one by which it is posted.
pub(super) fn check(plan: &Plan) -> Result<(), PlanError> {
    let (flows, joins) = (plan.flows.source.len(), &plan.flows.joins);
    let receives = &joins.receives;
    let number = receives.join.len();
    if number == 0 {
        require!(
            receives.tag_of_flow.is_empty() && receives.sent.is_empty(),
            "messages without receives"
        );
        return Ok(());
    }
    let (tags, busy, sent) = (&receives.tag_of_flow, &receives.busy_ps, &receives.sent);
    require!(
        receives.source.len() == number
            && receives.tag.len() == number
            && tags.len() == flows
            && busy.len() == flows
            && (sent.is_empty() || sent.len() == flows),
        "columns of receives of different lengths"
    );
    posted(joins)?;
    let mut both = tags.iter().zip(joins.towards.iter());
    require!(
        both.all(|(&tag, &join)| tag == NO_JOIN || join == NO_JOIN),
        "a message that leads to a join and to receives"
    );
    let all = joins.delay_ps.len();
    let within = |&join: &u32| join == NO_JOIN || (join as usize) < all;
    require!(sent.iter().all(within), "a join that there is not");
    let mut notices = tags.iter().zip(sent.iter());
    require!(
        notices.all(|(&tag, &join)| tag != NO_JOIN || join == NO_JOIN),
        "a send that waits for a message that no receive takes"
    );
    let total: u128 = busy.iter().map(|&ps| u128::from(ps)).sum();
    require!(total <= u128::from(LONGEST_PS), "work that lasts too long");
    Ok(())
}

/// Checks that receives are different joins with processors, and the last joins are without.
fn posted(joins: &Joins) -> Result<(), PlanError> {
    let number = joins.receives.join.len();
    let first = joins.cpu.len().checked_sub(number);
    require!(first.is_some(), "receives without processors");
    let first = first.unwrap_or_default();
    require!(
        joins.cpu[first..].iter().all(|&cpu| cpu == NO_JOIN),
        "work where a receive is posted"
    );
    let mut seen = vec![false; first];
    for &join in joins.receives.join.iter() {
        let known = seen.get_mut(join as usize);
        require!(
            known.is_some_and(|seen| !std::mem::replace(seen, true)),
            "a receive at no join, or at one that has another"
        );
        require!(
            joins.cpu[join as usize] != NO_JOIN,
            "receives without processors"
        );
    }
    Ok(())
}
