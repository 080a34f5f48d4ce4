"""oscsim: phase layers (attention whose tokens are coupled oscillators), from spec to hardware and back."""

from oscsim.coupling import EmpiricalOrder, ExplicitCoupling, FixedOrder, FrequencyCoupling
from oscsim.result import SyncResult, SyncStatus
from oscsim.spec import PhaseLayerSpec

__all__ = [
    "EmpiricalOrder",
    "ExplicitCoupling",
    "FixedOrder",
    "FrequencyCoupling",
    "PhaseLayerSpec",
    "SyncResult",
    "SyncStatus",
]
