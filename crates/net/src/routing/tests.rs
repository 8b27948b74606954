//! Structured routing compared with shortest paths found by search.

use super::*;
use crate::FlowId;

/// Links of a k-ary fat-tree, `wavelengths` of them between adjacent switches, sorted by source,
/// downward links first.
fn fat_tree_links(k: u32, wavelengths: usize) -> (u32, u32, Vec<(NodeId, NodeId, u64)>) {
    let half = k / 2;
    let hosts = k * half * half;
    let (edges, aggregations, cores) = (hosts, hosts + k * half, hosts + 2 * k * half);
    let mut up: Vec<(u32, u32)> = (0..hosts).map(|host| (host, edges + host / half)).collect();
    for (pod, i, j) in (0..k).flat_map(|p| (0..half * half).map(move |x| (p, x / half, x % half))) {
        up.push((edges + pod * half + i, aggregations + pod * half + j));
        up.push((aggregations + pod * half + i, cores + i * half + j));
    }
    let mut links: Vec<(u32, u32, bool)> = Vec::new();
    for (low, high) in up {
        let number = if low < hosts { 1 } else { wavelengths };
        links.extend([(low, high, true), (high, low, false)].repeat(number));
    }
    links.sort_unstable_by_key(|&(from, to, upwards)| (from, upwards, to));
    let links = links
        .into_iter()
        .map(|(from, to, _)| (NodeId(from), NodeId(to), 1))
        .collect();
    (hosts, cores + half * half, links)
}

#[test]
fn a_fat_tree_routes_by_all_shortest_paths() {
    for (k, wavelengths) in [
        (2, 1),
        (4, 1),
        (6, 1),
        (8, 1),
        (2, 3),
        (4, 2),
        (6, 5),
        (8, 4),
    ] {
        let (hosts, nodes, links) = fat_tree_links(k, usize::from(wavelengths));
        let tree = Routing::fat_tree(k as u16, wavelengths);
        let table = Routing::shortest_path(hosts, nodes, &links);
        for node in 0..nodes {
            for destination in (0..hosts).filter(|&host| host != node) {
                let (node, destination) = (NodeId(node), NodeId(destination));
                let (found, expected) = (
                    tree.route(node, destination),
                    table.route(node, destination),
                );
                assert_eq!(
                    tree.ports(found),
                    table.ports(expected),
                    "k = {k}, {wavelengths} wavelengths, {node:?} to {destination:?}"
                );
                assert!(usize::from(found.set) < tree.sets(node));
                assert!(usize::from(expected.set) < table.sets(node));
            }
        }
    }
}

#[test]
fn a_path_does_not_lead_through_a_host() {
    // Hosts 0, 1 and 2. Host 2 is linked to the switches 3 and 4; the path between them over the
    // other switches is longer than over host 2, or as long.
    for between in [&[5, 6][..], &[5]] {
        let mut links = Vec::new();
        let way = [&[3], between, &[4]].concat();
        let ways = way.windows(2).map(|pair| (pair[0], pair[1]));
        for (a, b) in [(0, 3), (1, 4), (2, 3), (2, 4)].into_iter().chain(ways) {
            links.push((NodeId(a), NodeId(b), 1));
            links.push((NodeId(b), NodeId(a), 1));
        }
        links.sort_unstable();
        let routing = Routing::shortest_path(3, 5 + between.len() as u32, &links);
        // Ports of switch 3: hosts 0 and 2, then switch 5.
        let route = routing.route(NodeId(3), NodeId(1));
        assert_eq!(routing.ports(route), [PortId(2)]);
    }
}

/// Host 0 at switch 2 and host 1 at switch 3. The switches are joined by a path of two links with
/// total length 7, and by one link of the given length.
fn short_or_few(length: u64) -> Routing {
    let mut links = Vec::new();
    for (a, b, length) in [(0, 2, 1), (1, 3, 1), (2, 3, length), (2, 4, 3), (4, 3, 4)] {
        links.push((NodeId(a), NodeId(b), length));
        links.push((NodeId(b), NodeId(a), length));
    }
    links.sort_unstable();
    Routing::shortest_path(2, 5, &links)
}

#[test]
fn shortest_is_by_length_and_equal_lengths_are_one_set() {
    // Ports of switch 2: host 0, switch 3, switch 4.
    for (length, expected) in [(6, &[1][..]), (7, &[1, 2]), (8, &[2])] {
        let routing = short_or_few(length);
        let ports = routing.ports(routing.route(NodeId(2), NodeId(1)));
        assert_eq!(
            ports,
            expected.iter().map(|&i| PortId(i)).collect::<Vec<_>>()
        );
    }
}

#[test]
fn a_label_stands_for_a_path_and_off_it_for_shortest_ones() {
    let mut routing = short_or_few(7);
    let (source, destination) = (NodeId(2), NodeId(3));
    let path = |hops: &[(u32, u16)]| Path {
        source,
        destination,
        hops: hops
            .iter()
            .map(|&(node, port)| (NodeId(node), vec![PortId(port)]))
            .collect(),
    };
    let mut either = path(&[]);
    either.hops = vec![(source, vec![PortId(1), PortId(2)])];
    let sets = routing.sets(NodeId(2));
    routing.add_paths(
        5,
        &[source, destination],
        &[path(&[(2, 2), (4, 1)]), path(&[(2, 1)]), either],
    );
    // The set of both ports to switches 3 and 4 existed already; the sets of one port are new.
    assert_eq!(routing.sets(NodeId(2)), sets + 2);
    let mut unit = Envelope::new(FlowId(0), NodeId(0), NodeId(1), 64);
    assert_eq!(routing.labels(&unit), 3);
    for (label, port) in [(0, 2), (1, 1)] {
        unit.label = label;
        let route = routing.route_of(source, &unit);
        assert_eq!(routing.ports(route), [PortId(port)]);
        // Shortest paths apply at the end of a labelled path, and to a pair without labelled paths.
        assert_eq!(
            routing.route_of(destination, &unit),
            routing.route(destination, NodeId(1))
        );
    }
    unit.label = 2;
    assert_eq!(
        routing.route_of(source, &unit),
        routing.route(source, NodeId(1))
    );
    (unit.source, unit.destination) = (NodeId(1), NodeId(0));
    assert_eq!(routing.labels(&unit), 0);
    assert_eq!(routing.ports(routing.route_of(destination, &unit)).len(), 2);
}
