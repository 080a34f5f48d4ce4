"""oscsim: phase layers (attention whose tokens are coupled oscillators), from spec to hardware and back."""

from oscsim.compare import compare
from oscsim.comparison import Comparison
from oscsim.coupling import EmpiricalOrder, ExplicitCoupling, FixedOrder, FrequencyCoupling
from oscsim.ode import integrate
from oscsim.reference import solve
from oscsim.result import SyncResult, SyncStatus
from oscsim.spec import PhaseLayerSpec

__all__ = [
    "Comparison",
    "EmpiricalOrder",
    "ExplicitCoupling",
    "FixedOrder",
    "FrequencyCoupling",
    "PhaseLayerSpec",
    "SyncResult",
    "SyncStatus",
    "compare",
    "integrate",
    "solve",
]
