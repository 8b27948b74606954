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
    from lightburst.experiment.calibrate import calibrate
    from lightburst.experiment.calibrated.calibration import Calibration
    from lightburst.experiment.compare import compare
    from lightburst.experiment.network_trace import TracedNetwork, trace_network
    from lightburst.experiment.optimise import load_optimum, optimise
    from lightburst.experiment.optimum import Optimum
    from lightburst.experiment.reproduce import reproduce
    from lightburst.experiment.sensitivity import load_sensitivities, sensitivity
    from lightburst.experiment.sensitivity_result import Sensitivities
    from lightburst.experiment.sweep import load_sweep, sweep
    from lightburst.experiment.sweep_result import Sweep
    from lightburst.explanation.burst import BurstExplanation, explain_burst
    from lightburst.explanation.flow import Explanation, explain
    from lightburst.explanation.step import StepExplanation, explain_step
    from lightburst.foundation.counts import jain_index
    from lightburst.foundation.errors import InputError, RunWarning, StoreWarning, WorkerWarning
    from lightburst.result.result import Result
    from lightburst.scenario import Scenario, load
    from lightburst.simulation.simulate import run
    from lightburst.study import Comparison, Study, execute, replicate

    __version__: str

# Each name is imported when it is first used: `lightburst --version` needs no pandas.
_HOME = {
    "BurstExplanation": "lightburst.explanation.burst",
    "Calibration": "lightburst.experiment.calibrated.calibration",
    "Comparison": "lightburst.study",
    "Explanation": "lightburst.explanation.flow",
    "InputError": "lightburst.foundation.errors",
    "Optimum": "lightburst.experiment.optimum",
    "Result": "lightburst.result.result",
    "RunWarning": "lightburst.foundation.errors",
    "Scenario": "lightburst.scenario",
    "Sensitivities": "lightburst.experiment.sensitivity_result",
    "StepExplanation": "lightburst.explanation.step",
    "StoreWarning": "lightburst.foundation.errors",
    "Study": "lightburst.study",
    "Sweep": "lightburst.experiment.sweep_result",
    "TracedNetwork": "lightburst.experiment.network_trace",
    "WorkerWarning": "lightburst.foundation.errors",
    "calibrate": "lightburst.experiment.calibrate",
    "compare": "lightburst.experiment.compare",
    "execute": "lightburst.study",
    "explain": "lightburst.explanation.flow",
    "explain_burst": "lightburst.explanation.burst",
    "explain_step": "lightburst.explanation.step",
    "jain_index": "lightburst.foundation.counts",
    "load": "lightburst.scenario",
    "load_optimum": "lightburst.experiment.optimise",
    "load_sensitivities": "lightburst.experiment.sensitivity",
    "load_sweep": "lightburst.experiment.sweep",
    "optimise": "lightburst.experiment.optimise",
    "replicate": "lightburst.study",
    "reproduce": "lightburst.experiment.reproduce",
    "run": "lightburst.simulation.simulate",
    "sensitivity": "lightburst.experiment.sensitivity",
    "sweep": "lightburst.experiment.sweep",
    "trace_network": "lightburst.experiment.network_trace",
}
# Packages whose functions are public: `lb.topology.from_networkx`.
_PACKAGES = ("models", "plot", "topology", "trace")

__all__ = [
    "BurstExplanation",
    "Calibration",
    "Comparison",
    "Explanation",
    "InputError",
    "Optimum",
    "Result",
    "RunWarning",
    "Scenario",
    "Sensitivities",
    "StepExplanation",
    "StoreWarning",
    "Study",
    "Sweep",
    "TracedNetwork",
    "WorkerWarning",
    "__version__",
    "calibrate",
    "compare",
    "execute",
    "explain",
    "explain_burst",
    "explain_step",
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
