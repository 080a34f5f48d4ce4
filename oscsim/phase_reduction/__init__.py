"""Phase reduction: limit cycle, phase response, averaged coupling function of one oscillator."""

from oscsim.phase_reduction.coupling_function import CouplingFunction
from oscsim.phase_reduction.limit_cycle import LimitCycle, NoLimitCycle
from oscsim.phase_reduction.reduction import Reduction, reduce

__all__ = ["CouplingFunction", "LimitCycle", "NoLimitCycle", "Reduction", "reduce"]
