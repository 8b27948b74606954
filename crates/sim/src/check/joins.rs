//! Checks the flows that wait for others.

use crate::plan::{Plan, PlanError};
use lightburst_des::LONGEST_PS;
use lightburst_tcp::{Waiting, NO_JOIN};

/// Checks the columns of joins: each is at one host, and no flow waits for itself.
pub(super) fn check(plan: &Plan) -> Result<(), PlanError> {
    let (flows, joins) = (&plan.flows, &plan.flows.joins);
    let (count, number) = (flows.source.len(), joins.delay_ps.len());
    if joins.after.is_empty() {
        require!(
            joins.towards.is_empty() && number == 0,
            "joins for which no flow waits"
        );
        return Ok(());
    }
    require!(
        joins.after.len() == count && joins.towards.len() == count && joins.beyond.len() == number,
        "columns of joins of different lengths"
    );
    let within = |&join: &u32| join == NO_JOIN || (join as usize) < number;
    require!(
        [&joins.after, &joins.towards, &joins.beyond]
            .into_iter()
            .all(|column| column.iter().all(within)),
        "a join that there is not"
    );
    require!(
        joins.delay_ps.iter().all(|&delay| delay <= LONGEST_PS),
        "a flow that waits for too long"
    );
    let mut groups = plan.settings.groups.iter();
    require!(
        !groups.any(|group| group.transport.is_datagram()),
        "datagrams that wait for other flows"
    );
    let mut host = vec![u32::MAX; number];
    let ends = joins.towards.iter().zip(flows.destination.iter());
    for (&join, &at) in ends.chain(joins.after.iter().zip(flows.source.iter())) {
        if let Some(host) = host.get_mut(join as usize) {
            require!(*host == at || *host == u32::MAX, "join {join} at two hosts");
            *host = at;
        }
    }
    for (join, &beyond) in joins.beyond.iter().enumerate() {
        if let Some(&there) = host.get(beyond as usize) {
            require!(there == host[join], "join {beyond} at two hosts");
        }
    }
    require!(opened(plan) == number, "flows that wait for each other");
    Ok(())
}

/// Returns the number of joins that open, one after the other (Kahn's algorithm).
fn opened(plan: &Plan) -> usize {
    let joins = &plan.flows.joins;
    let waiting = Waiting::new(joins);
    // Joins that wait for this one, directly or for flows that start with it.
    let leads = |join: usize| {
        let flows = waiting.of(join).iter();
        let towards = flows.map(|&flow| joins.towards[flow as usize]);
        let all = towards.chain([joins.beyond[join]]);
        all.filter(|&next| next != NO_JOIN)
            .map(|next| next as usize)
    };
    let mut awaited = vec![0_u32; joins.delay_ps.len()];
    for next in (0..awaited.len()).flat_map(leads) {
        awaited[next] += 1;
    }
    let mut ready: Vec<usize> = (0..awaited.len())
        .filter(|&join| awaited[join] == 0)
        .collect();
    let mut done = 0;
    while let Some(join) = ready.pop() {
        done += 1;
        for next in leads(join) {
            awaited[next] -= 1;
            if awaited[next] == 0 {
                ready.push(next);
            }
        }
    }
    done
}
