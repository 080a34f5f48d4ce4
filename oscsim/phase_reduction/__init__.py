"""Phase reduction: limit cycle, phase response, averaged coupling function, and what follows from them."""

from oscsim.phase_reduction.coupling_function import CouplingFunction
from oscsim.phase_reduction.limit_cycle import LimitCycle, NoLimitCycle
from oscsim.phase_reduction.locking import PairLaw, PairState, locked_phases
from oscsim.phase_reduction.phase_model import NetworkState, PhaseModel, settled_network
from oscsim.phase_reduction.reduction import Reduction, reduce

__all__ = [
    "CouplingFunction",
    "LimitCycle",
    "NetworkState",
    "NoLimitCycle",
    "PairLaw",
    "PairState",
    "PhaseModel",
    "Reduction",
    "locked_phases",
    "reduce",
    "settled_network",
]
