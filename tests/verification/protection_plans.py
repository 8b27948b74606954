"""Random plans with two paths between edges, of which one is selected at a time."""

from random import Random

from outage_plans import crowded, random_spans, steady, with_outages
from plans import Plan, core, path_columns
from random_plans import random_paths, random_plan


def protected_plan(seed: int, kind: str = "packets") -> Plan:
    """A random plan of packets or of bursts behind headers with two paths, outages and turns."""
    random = Random(f"protection/{kind}/{seed}")
    packets = kind == "packets"
    plan = crowded(seed) if packets and seed % 2 == 0 else steady(random_plan(seed, kind))
    if seed % 5:
        plan = with_outages(random, plan)
        plan.settings["outages"].pop("restoration_ps", None)
    plan = with_paths(random, plan)
    end = max(1000, int(core(plan)["totals"]["transmitted_until_ps"]))
    assert plan.paths is not None
    source, destination = (plan.paths[f"path_{end}"] for end in ("source", "destination"))
    pairs = zip(source.tolist(), destination.tolist(), strict=True)
    turns = [
        [*pair, time, label]
        for pair in sorted(set(pairs))
        if random.random() < 0.8
        for span in random_spans(random, end)
        for time, label in zip(span, (1, 0), strict=True)
    ]
    return plan._replace(settings={**plan.settings, "protection": {"turns": turns}})


def with_paths(random: Random, plan: Plan) -> Plan:
    """The plan with two paths, which may share links, for some pairs of switches with hosts."""
    hosts = plan.settings["hosts"]
    columns = random_paths(random, plan.links, hosts)
    offsets, links = columns["path_offsets"].tolist(), columns["path_links"].tolist()
    of_pair: dict[tuple[int, int], list[list[int]]] = {}
    ends = zip(columns["path_source"].tolist(), columns["path_destination"].tolist(), strict=True)
    for i, pair in enumerate(ends):
        of_pair.setdefault(pair, []).append(links[offsets[i] : offsets[i + 1]])
    some = {pair: several[:2] for pair, several in of_pair.items() if len(several) > 1}
    rows = [(*pair, one) for pair, two in some.items() for one in two]
    routing = {"kind": "shortest-path", "metric": plan.settings["routing"].get("metric", "hops")}
    settings = {**plan.settings, "routing": routing, "protection": {"turns": []}}
    return plan._replace(settings=settings, paths=path_columns(rows))
