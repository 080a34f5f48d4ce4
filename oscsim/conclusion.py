"""How a run ends: its read-out becomes a result, and one that did not converge says so."""

import warnings
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from oscsim.readout import attend, row_weights
from oscsim.result import Provenance, SyncResult, SyncStatus
from oscsim.spec import PhaseLayerSpec
from oscsim.target import ConvergenceWarning
from oscsim.tolerance import Accuracy

Array = NDArray[np.float64]


class ReadOut(Protocol):
    """What a simulated layer showed; shapes as in :class:`oscsim.result.SyncResult`, masked cells zero."""

    @property
    def sync(self) -> Array: ...
    @property
    def locked(self) -> NDArray[np.bool_]: ...
    @property
    def order_parameter(self) -> Array: ...
    @property
    def phase(self) -> Array | None: ...
    @property
    def status(self) -> SyncStatus: ...


def concluded(
    spec: PhaseLayerSpec,
    reading: ReadOut,
    provenance: Provenance,
    accuracy: Accuracy,
    trajectory: Array | None = None,
    times: Array | None = None,
) -> SyncResult:
    """The result of a run: weights and output from its read-out; numbers that are not finite have failed.

    Warns with :class:`oscsim.target.ConvergenceWarning` at the caller of the target's ``run``, with the
    provenance's notes, when the run did not converge.
    """
    finite = np.isfinite(reading.sync).all() and (reading.phase is None or np.isfinite(reading.phase).all())
    status = reading.status if finite else SyncStatus.FAILED
    if status in (SyncStatus.NOT_CONVERGED, SyncStatus.FAILED):
        text = f"target '{provenance.source}': {status} ({'; '.join(provenance.notes)})"
        warnings.warn(text, ConvergenceWarning, stacklevel=4)
    weights = row_weights(reading.sync, reading.locked, spec.dynamics)
    return SyncResult(
        sync=reading.sync,
        locked=reading.locked,
        weights=weights,
        order_parameter=reading.order_parameter,
        output=attend(weights, spec.values),
        phase=reading.phase,
        status=status,
        provenance=provenance,
        accuracy=accuracy,
        trajectory=trajectory,
        times=times,
    )
