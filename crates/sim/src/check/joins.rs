//! Checks the flows that wait for others.

use super::receives;
use crate::plan::{Plan, PlanError};
use lightburst_des::LONGEST_PS;
use lightburst_tcp::{Joins, Waiting, NO_JOIN};

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
        joins.after.len() == count
            && joins.towards.len() == count
            && joins.lead_offsets.len() == 2 * number + 1,
        "columns of joins of different lengths"
    );
    let within = |&join: &u32| join == NO_JOIN || (join as usize) < number;
    require!(
        [&joins.after, &joins.towards]
            .into_iter()
            .all(|column| column.iter().all(within))
            && joins.leads.iter().all(|&join| (join as usize) < number),
        "a join that there is not"
    );
    let offsets = &joins.lead_offsets;
    require!(
        offsets[0] == 0
            && offsets.windows(2).all(|pair| pair[0] <= pair[1])
            && offsets.last().map(|&last| last as usize) == Some(joins.leads.len()),
        "joins whose leads have no order"
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
    work(joins, plan.settings.hosts)?;
    receives::check(plan)?;
    places(plan)?;
    require!(opened(plan) == number, "flows that wait for each other");
    Ok(())
}

/// Checks the columns of processors and interfaces.
fn work(joins: &Joins, hosts: u32) -> Result<(), PlanError> {
    let number = joins.delay_ps.len();
    let fits = |length: usize| length == 0 || length == number;
    require!(
        fits(joins.cpu.len()) && fits(joins.nic.len()) && joins.busy_ps.len() == joins.cpu.len(),
        "columns of joins of different lengths"
    );
    let known = |column: &[u32], of: usize| {
        let mut found = column.iter().filter(|&&one| one != NO_JOIN);
        found.all(|&one| (one as usize) < of)
    };
    require!(
        known(&joins.cpu, joins.cpu_host.len()) && known(&joins.nic, joins.nic_gap_ps.len()),
        "a processor or interface that there is not"
    );
    require!(
        joins.cpu_host.iter().all(|&host| host < hosts),
        "a processor of no host"
    );
    let mut rows = joins.cpu.iter().zip(joins.busy_ps.iter());
    require!(
        rows.all(|(&cpu, &busy)| cpu != NO_JOIN || busy == 0),
        "work without a processor"
    );
    let mut rows = joins.nic.iter().enumerate();
    require!(
        rows.all(|(join, &nic)| nic == NO_JOIN || joins.cpu.get(join) < Some(&NO_JOIN)),
        "an interface without a processor"
    );
    let total = |column: &[u64]| column.iter().map(|&ps| u128::from(ps)).sum::<u128>();
    let most = joins
        .nic_gap_ps
        .iter()
        .max()
        .map_or(0, |&gap| u128::from(gap));
    require!(
        total(&joins.busy_ps) + most * joins.nic.len() as u128 <= u128::from(LONGEST_PS),
        "work that lasts too long"
    );
    Ok(())
}

/// Checks that each join, its processor, its interface, its flows and the joins to which it leads
/// are at one host.
fn places(plan: &Plan) -> Result<(), PlanError> {
    let (flows, joins) = (&plan.flows, &plan.flows.joins);
    let mut host = vec![u32::MAX; joins.delay_ps.len()];
    for (host, &cpu) in host.iter_mut().zip(joins.cpu.iter()) {
        *host = joins
            .cpu_host
            .get(cpu as usize)
            .copied()
            .unwrap_or(u32::MAX);
    }
    let ends = joins.towards.iter().zip(flows.destination.iter());
    let sent = joins.receives.sent.iter();
    let starts = joins.after.iter().zip(flows.source.iter());
    for (&join, &at) in ends.chain(starts).chain(sent.zip(flows.source.iter())) {
        if let Some(host) = host.get_mut(join as usize) {
            require!(*host == at || *host == u32::MAX, "join {join} at two hosts");
            *host = at;
        }
    }
    for join in 0..host.len() {
        for &next in joins.at_begin(join).iter().chain(joins.at_end(join)) {
            // A join without a processor or a flow is where those are that lead to it, or else
            // where those are to which it leads.
            let known = host[join].min(host[next as usize]);
            for place in [join, next as usize] {
                require!(
                    host[place] == known || host[place] == u32::MAX,
                    "join {next} at two hosts"
                );
                host[place] = known;
            }
        }
    }
    let mut of_nic = vec![u32::MAX; joins.nic_gap_ps.len()];
    for (join, &nic) in joins.nic.iter().enumerate() {
        if let Some(at) = of_nic.get_mut(nic as usize) {
            require!(
                *at == host[join] || *at == u32::MAX,
                "interface {nic} at two hosts"
            );
            *at = host[join];
        }
    }
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
        let own = joins.at_begin(join).iter().chain(joins.at_end(join));
        let all = towards.chain(own.copied());
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
