"""Random plans with two paths between edges, of which one is selected at a time."""

from random import Random

from outage_plans import (
    crowded,
    hybrid_outage_plan,
    outage_plan,
    queued_outage_plan,
    random_spans,
    steady,
    with_outages,
)
from plans import Plan, core, path_columns
from random_plans import random_paths, random_plan


def base_plan(seed: int, kind: str) -> Plan:
    """A random plan, often with outages; of packets in all kinds of switches that have these."""
    if kind != "packets":
        plan = steady(random_plan(seed, kind))
        return with_outages(Random(f"protection/{kind}/{seed}"), plan) if seed % 5 else plan
    makers = (outage_plan, queued_outage_plan, hybrid_outage_plan, crowded)
    return makers[seed % 4](seed)


def protected_plan(seed: int, kind: str = "packets") -> Plan:
    """A random plan of packets or of bursts behind headers with two paths, and turns."""
    random = Random(f"turns/{kind}/{seed}")
    plan = with_paths(random, base_plan(seed, kind))
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


def twofold_plan(seed: int) -> Plan:
    """A random plan of packets that travel on both paths, without a trace."""
    plan = protected_plan(seed)
    settings = {**plan.settings, "trace": None, "bookings": None}
    settings["protection"] = {**settings["protection"], "duplicates": True}
    if settings.get("outages"):
        settings["recovery_bin_ps"] = max(1, settings["time_limit_ps"] // 1000)
    return plan._replace(settings=settings)


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
    if "outages" in settings:
        outages = settings["outages"].items()
        settings["outages"] = {name: own for name, own in outages if name != "restoration_ps"}
    return plan._replace(settings=settings, paths=path_columns(rows))
