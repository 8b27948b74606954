//! Outages of a plan, and their check.

use crate::plan::loss::LossSettings;
use crate::plan::outages::OutageSettings;
use crate::plan::{Plan, PlanError, Routing as Method};
use lightburst_des::{Duration, Time};
use lightburst_net::link::outages::Graph;
use lightburst_net::{LinkId, NodeId, Outage, Outages, Routing, Wire};

/// Rejects outages that cannot be simulated.
pub fn check(plan: &Plan) -> Result<(), PlanError> {
    let Some(given) = &plan.settings.outages else {
        return Ok(());
    };
    let refuse = |words: &str| Err(PlanError(words.to_string()));
    let links = plan.links.from.len();
    if given.links.iter().any(|&(link, ..)| link as usize >= links) {
        return refuse("an outage of a link that there is not");
    }
    if given.links.iter().any(|&(_, down, up)| down >= up) {
        return refuse("an outage that ends before it begins");
    }
    let apart = |pair: &[(u32, u64, u64)]| pair[0].0 < pair[1].0 || pair[0].2 < pair[1].1;
    if !given
        .links
        .windows(2)
        .all(|pair| pair[0].0 <= pair[1].0 && apart(pair))
    {
        return refuse("outages that are not sorted, or overlap");
    }
    let number = |link: u32| plan.links.channels.get(link as usize).copied();
    let mut channels = given.channels.iter();
    if !channels.all(|&(link, channel, ..)| number(link).is_some_and(|all| channel < all)) {
        return refuse("an outage of a channel that there is not");
    }
    let apart = |pair: &[(u32, u16, u64, u64)]| {
        let [before, after] = [pair[0], pair[1]];
        (before.0, before.1) < (after.0, after.1)
            || ((before.0, before.1) == (after.0, after.1) && before.3 < after.2)
    };
    let ordered = given.channels.iter().all(|row| row.2 < row.3);
    if !ordered || !given.channels.windows(2).all(apart) {
        return refuse("outages of channels that are not sorted, or overlap");
    }
    let tables = matches!(plan.settings.routing, Method::ShortestPath { .. });
    if !tables || plan.settings.label.is_some() || plan.settings.balance.is_some() {
        return refuse("outages beside routes that are no shortest paths");
    }
    if !plan.settings.switches.iter().all(|s| s.takes_outages()) {
        return refuse("outages in a network whose switches cannot change their routes");
    }
    let loss = plan.settings.loss.as_ref();
    if loss.is_some_and(LossSettings::delays) {
        return refuse("outages beside holds or stalls");
    }
    Ok(())
}

/// Returns whether a link is ever down.
pub fn concern(plan: &Plan, link: usize) -> bool {
    let outages = plan.settings.outages.as_ref();
    outages.is_some_and(|given| {
        let found = given
            .links
            .binary_search_by_key(&link, |row| row.0 as usize);
        found.is_ok() || given.channels.iter().any(|row| row.0 as usize == link)
    })
}

/// Builds the outages of a plan. `ways` are the links with their lengths.
pub fn outages(
    plan: &Plan,
    given: &OutageSettings,
    wires: &[Wire],
    ways: Vec<(NodeId, NodeId, u64)>,
) -> Outages {
    let (hosts, nodes) = (plan.settings.hosts, plan.settings.nodes);
    let keeps = |link: LinkId| {
        let switch = plan.switch(wires[link.index()].from.0);
        switch.is_some_and(|switch| switch.gives_back())
    };
    let graph = Graph {
        hosts,
        nodes,
        all_up: Routing::shortest_path(hosts, nodes, &ways),
        links: ways,
    };
    let delay = given.restoration_ps.map(Duration);
    let mut outages = Outages::new(given.by_link(), delay, given.reroute, graph, keeps);
    for &(link, channel, down, up) in &given.channels {
        let (down, up) = (Time(down), Time(up));
        outages.of_channel(LinkId(link), channel, Outage { down, up });
    }
    outages
}
