"""A laboratory for transport protocols over optical packet, burst and hybrid switched networks.

>>> import lightburst as lb
>>> scenario = lb.load("examples/hybrid.toml").with_(switching__buffer_ports=5)
>>> result = lb.run(scenario, seed=1)  # result.summary, .flows, .links, .switches
>>> lb.reproduce("minakhmetov2018/fig2a", quick=True).plot()
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lightburst import models, plot, topology, trace
    from lightburst.counts import jain_index
    from lightburst.errors import InputError, RunWarning, StoreWarning, WorkerWarning
    from lightburst.report.burst import BurstExplanation, explain_burst
    from lightburst.report.comparison import compare
    from lightburst.report.explanation import Explanation, explain
    from lightburst.report.network import TracedNetwork, trace_network
    from lightburst.report.optimise import load_optimum, optimise
    from lightburst.report.optimised import Optimum
    from lightburst.report.reproduction import reproduce
    from lightburst.report.sensitivities import Sensitivities
    from lightburst.report.sensitivity import load_sensitivities, sensitivity
    from lightburst.report.sweep import load_sweep, sweep
    from lightburst.report.swept import Sweep
    from lightburst.result import Result
    from lightburst.scenario import Scenario, load
    from lightburst.simulate import run
    from lightburst.study import Comparison, Study, execute, replicate

    __version__: str

# Each name is imported when it is first used: `lightburst --version` needs no pandas.
_HOME = {
    "BurstExplanation": "lightburst.report.burst",
    "Comparison": "lightburst.study",
    "Explanation": "lightburst.report.explanation",
    "InputError": "lightburst.errors",
    "Optimum": "lightburst.report.optimised",
    "Result": "lightburst.result",
    "RunWarning": "lightburst.errors",
    "Scenario": "lightburst.scenario",
    "Sensitivities": "lightburst.report.sensitivities",
    "StoreWarning": "lightburst.errors",
    "Study": "lightburst.study",
    "Sweep": "lightburst.report.swept",
    "TracedNetwork": "lightburst.report.network",
    "WorkerWarning": "lightburst.errors",
    "compare": "lightburst.report.comparison",
    "execute": "lightburst.study",
    "explain": "lightburst.report.explanation",
    "explain_burst": "lightburst.report.burst",
    "jain_index": "lightburst.counts",
    "load": "lightburst.scenario",
    "load_optimum": "lightburst.report.optimise",
    "load_sensitivities": "lightburst.report.sensitivity",
    "load_sweep": "lightburst.report.sweep",
    "optimise": "lightburst.report.optimise",
    "replicate": "lightburst.study",
    "reproduce": "lightburst.report.reproduction",
    "run": "lightburst.simulate",
    "sensitivity": "lightburst.report.sensitivity",
    "sweep": "lightburst.report.sweep",
    "trace_network": "lightburst.report.network",
}
# Packages whose functions are public: `lb.topology.from_networkx`.
_PACKAGES = ("models", "plot", "topology", "trace")

__all__ = [
    "BurstExplanation",
    "Comparison",
    "Explanation",
    "InputError",
    "Optimum",
    "Result",
    "RunWarning",
    "Scenario",
    "Sensitivities",
    "StoreWarning",
    "Study",
    "Sweep",
    "TracedNetwork",
    "WorkerWarning",
    "__version__",
    "compare",
    "execute",
    "explain",
    "explain_burst",
    "jain_index",
    "load",
    "load_optimum",
    "load_sensitivities",
    "load_sweep",
    "models",
    "optimise",
    "plot",
    "replicate",
    "reproduce",
    "run",
    "sensitivity",
    "sweep",
    "topology",
    "trace",
    "trace_network",
]


def __getattr__(name: str) -> Any:
    """Import a public name from where it lives."""
    if name in _PACKAGES:
        return importlib.import_module(f"lightburst.{name}")
    if name == "__version__":
        return importlib.import_module("lightburst._core").version()
    if name not in _HOME:
        raise AttributeError(f"module 'lightburst' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    """List the public names and nothing else."""
    return __all__
