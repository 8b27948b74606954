//! Structured routing against shortest paths found by search.

use super::*;

/// The links of a k-ary fat-tree, sorted by source, downwards first.
fn fat_tree_links(k: u32) -> (u32, u32, Vec<(NodeId, NodeId)>) {
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
        links.push((low, high, true));
        links.push((high, low, false));
    }
    links.sort_unstable_by_key(|&(from, to, upwards)| (from, upwards, to));
    let links = links
        .into_iter()
        .map(|(from, to, _)| (NodeId(from), NodeId(to)))
        .collect();
    (hosts, cores + half * half, links)
}

#[test]
fn a_fat_tree_routes_by_all_shortest_paths() {
    for k in [2, 4, 6, 8] {
        let (hosts, nodes, links) = fat_tree_links(k);
        let tree = Routing::fat_tree(k as u16);
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
                    "k = {k}, {node:?} to {destination:?}"
                );
                assert!(usize::from(found.set) < tree.sets(node));
                assert!(usize::from(expected.set) < table.sets(node));
            }
        }
    }
}

#[test]
fn a_path_does_not_lead_through_a_host() {
    // hosts 0, 1, 2; host 2 is linked to both switches 3 and 4, which are linked over others:
    // a way that is longer than that over the host, or as long
    for between in [&[5, 6][..], &[5]] {
        let mut links = Vec::new();
        let way = [&[3], between, &[4]].concat();
        let ways = way.windows(2).map(|pair| (pair[0], pair[1]));
        for (a, b) in [(0, 3), (1, 4), (2, 3), (2, 4)].into_iter().chain(ways) {
            links.push((NodeId(a), NodeId(b)));
            links.push((NodeId(b), NodeId(a)));
        }
        links.sort_unstable();
        let routing = Routing::shortest_path(3, 5 + between.len() as u32, &links);
        // the ports of switch 3: hosts 0 and 2, then switch 5
        let route = routing.route(NodeId(3), NodeId(1));
        assert_eq!(routing.ports(route), [PortId(2)]);
    }
}
