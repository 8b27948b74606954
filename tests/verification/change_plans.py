"""Random plans in which rates and losses of links change."""

from random import Random
from typing import Any

from outage_plans import crowded, queued_outage_plan, steady, with_outages
from plans import GIGABIT, Plan, core, electronic
from random_plans import random_plan


def stored(plan: Plan) -> Plan:
    """The same plan with electronic switches alone, and without scripts of held units."""
    changed = dict(plan.settings)
    changed["switches"] = [
        own if own["kind"] == "electronic" else electronic(own.get("buffer_bytes"))
        for own in plan.settings["switches"]
    ]
    return unheld(plan._replace(settings=changed))


def unheld(plan: Plan) -> Plan:
    """The same plan without scripts that hold or delay units."""
    loss = plan.settings.get("loss")
    if loss is None:
        return plan
    return plan._replace(settings={**plan.settings, "loss": {**loss, "holds": [], "stalls": []}})


def busy_links(random: Random, plan: Plan) -> tuple[list[int], int]:
    """Some links, mostly with traffic, and a time until which the run is busy."""
    result = core(plan)
    end = max(1000, int(result["totals"]["transmitted_until_ps"]))
    if random.random() < 0.3:
        end = max(1000, end // 20)
    weights = (result["links"]["bytes"] + result["links"]["waiting_bytes"] + 1).tolist()
    number = random.choice([1, 2, 4, 8])
    return sorted(set(random.choices(range(len(weights)), weights, k=number))), end


def times(random: Random, end: int) -> list[int]:
    """Some times of changes, now and then the begin of the run."""
    some = {random.randrange(end + 2) for _ in range(random.choice([1, 1, 2, 4, 9]))}
    return sorted(some | ({0} if random.random() < 0.2 else set()))


def rate_plan(seed: int) -> Plan:
    """A random plan of packets whose rates change; many of them with outages as well."""
    random = Random(f"rates/{seed}")
    plan = crowded(seed) if seed % 3 == 0 else random_plan(seed, "packets")
    plan = stored(steady(plan) if seed % 3 == 1 else plan)
    if seed % 4 == 0:
        plan = stored(queued_outage_plan(seed))
        plan = plan._replace(settings={**plan.settings, "outages": None})
    links, end = busy_links(random, plan)
    own = plan.links["rate_bps"].tolist()
    factors = [0.01, 0.1, 0.3, 0.5, 0.77, 1.0, 2.0, 10.0]
    rows = [
        [link, time, max(GIGABIT // 1000, int(own[link] * random.choice(factors)))]
        for link in links
        for time in times(random, end)
    ]
    changed = plan._replace(settings={**plan.settings, "changes": {"rates": rows}})
    return with_outages(random, changed) if seed % 3 == 1 or seed % 4 == 0 else changed


def loss_plan(seed: int, kind: str) -> Plan:
    """A random plan whose losses change."""
    random = Random(f"losses/{kind}/{seed}")
    plan = unheld(random_plan(seed, kind))
    links, end = busy_links(random, plan)
    chances = [0.0, 0.01, 0.1, 0.5, 1.0]
    rows: list[list[Any]] = [
        [link, time, random.choice(chances), random.choice(chances)]
        for link in links
        for time in times(random, end)
    ]
    return plan._replace(settings={**plan.settings, "changes": {"losses": rows}})
