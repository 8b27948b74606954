//! Structured routing compared with shortest paths found by search, and these with distances that
//! are calculated over all intermediate switches.

use super::*;
use crate::FlowId;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

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

/// A graph whose links are sorted by source, with its numbers of hosts and of nodes.
#[derive(Clone, Debug)]
struct Graph {
    hosts: usize,
    nodes: usize,
    links: Vec<(NodeId, NodeId, u64)>,
}

/// Connected graphs: a tree of switches with a few more links, parallel ones among them, and hosts
/// with one or two switches each. The two directions of a link differ in length.
fn graphs() -> impl Strategy<Value = Graph> {
    let lengths = || (1..5u64, 1..5u64);
    let tree = vec((any::<Index>(), lengths()), 0..6);
    let more = vec((any::<[Index; 2]>(), lengths()), 0..5);
    let hosts = vec((vec(any::<Index>(), 1..3), lengths()), 2..5);
    (tree, more, hosts).prop_map(|(tree, more, hosts)| {
        let (of_hosts, switches) = (hosts.len(), tree.len() + 1);
        let mut both = Vec::new();
        for (i, (to, lengths)) in tree.into_iter().enumerate() {
            both.push((of_hosts + i + 1, of_hosts + to.index(i + 1), lengths));
        }
        for (ends, lengths) in more {
            let [a, b] = ends.map(|end| of_hosts + end.index(switches));
            both.extend((a != b).then_some((a, b, lengths)));
        }
        for (host, (of, lengths)) in hosts.into_iter().enumerate() {
            both.extend(
                of.into_iter()
                    .map(|to| (host, of_hosts + to.index(switches), lengths)),
            );
        }
        let node = |number: usize| NodeId(number as u32);
        let links = both.into_iter().flat_map(|(a, b, (there, back))| {
            [(node(a), node(b), there), (node(b), node(a), back)]
        });
        let mut links: Vec<_> = links.collect();
        links.sort_unstable_by_key(|link| link.0);
        Graph {
            hosts: of_hosts,
            nodes: of_hosts + switches,
            links,
        }
    })
}

impl Graph {
    /// Returns the distances between all pairs of nodes over switches (Floyd 1962).
    fn distances(&self) -> Vec<Vec<u64>> {
        let far = u64::MAX / 2;
        let mut distances = vec![vec![far; self.nodes]; self.nodes];
        for &(from, to, length) in &self.links {
            let known = &mut distances[from.index()][to.index()];
            *known = length.min(*known);
        }
        (0..self.nodes).for_each(|node| distances[node][node] = 0);
        for over in self.hosts..self.nodes {
            for from in 0..self.nodes {
                for to in 0..self.nodes {
                    let around = distances[from][over] + distances[over][to];
                    distances[from][to] = distances[from][to].min(around);
                }
            }
        }
        distances
    }
}

proptest! {
    #[test]
    fn a_table_has_all_ports_on_shortest_paths_and_no_others(graph in graphs()) {
        let routing = Routing::shortest_path(graph.hosts as u32, graph.nodes as u32, &graph.links);
        let distances = graph.distances();
        let pairs = (0..graph.nodes).flat_map(|node| (0..graph.hosts).map(move |to| (node, to)));
        for (node, to) in pairs.filter(|(node, to)| node != to) {
            let of_node = graph.links.iter().filter(|(from, ..)| from.index() == node);
            let is_shortest = |&&(next, length): &&(usize, u64)| {
                (next >= graph.hosts || next == to)
                    && length + distances[next][to] == distances[node][to]
            };
            let out: Vec<_> = of_node.map(|&(_, next, length)| (next.index(), length)).collect();
            let ports = (0..).map(PortId).zip(&out);
            let ports = ports.filter(|(_, link)| is_shortest(link)).map(|(port, _)| port);
            let found = routing.route(NodeId(node as u32), NodeId(to as u32));
            prop_assert_eq!(routing.ports(found), ports.collect::<Vec<_>>(), "{} to {}", node, to);
        }
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
