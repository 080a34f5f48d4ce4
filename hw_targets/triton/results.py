"""From what the kernels wrote to a SyncResult in the layer's units, float64."""

import warnings
from importlib import metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hw_targets.triton.config import TritonConfig
from hw_targets.triton.network_loop import HeadReadOut
from hw_targets.triton.plan import Lowered
from oscsim.pair_terms import coupling, initial_phase, spec_order_parameter, unmasked
from oscsim.phase import order_parameter
from oscsim.readout import attend, normalise
from oscsim.result import Provenance, SyncResult, SyncStatus
from oscsim.spec import PhaseLayerSpec
from oscsim.target import ConvergenceWarning
from oscsim.tolerance import AVERAGING_CAP, with_average

Array = NDArray[np.float64]
# Fields of the SyncResult that a dynamics supplies, and "notes".
Outcome = dict[str, Any]


def pair_outcome(spec: PhaseLayerSpec, lowered: Lowered, written: dict[str, Array]) -> Outcome:
    """Undo the row and value scales; a layer with frequency coupling has no row scale."""
    row = lowered.scales.get("row", np.ones(spec.omega.shape[:2]))
    return {
        "sync": written["sync"] * row[:, :, None],
        "locked": written["locked"] != 0,
        "output": _output(spec, lowered, written["output"]),
        "phase": None,
        "order_parameter": spec_order_parameter(spec),
        "status": SyncStatus.SETTLED,
        "notes": ("closed form of the settled cell: no time is integrated",),
    }


def clamped_outcome(spec: PhaseLayerSpec, lowered: Lowered, written: dict[str, Array]) -> Outcome:
    """Phase = phase_0 plus twice the arctangent of the half advance, so it is continuous from phase_0."""
    start = initial_phase(spec)
    advance = 2.0 * np.arctan2(written["half_sin"], written["half_cos"])
    allowed = unmasked(spec)
    return {
        "sync": written["sync"] * lowered.scales["row"][:, :, None],
        "locked": np.broadcast_to(allowed, written["sync"].shape).copy(),
        "output": _output(spec, lowered, written["output"]),
        "phase": start + advance[:, :, : spec.n_channels],
        "order_parameter": spec_order_parameter(spec),
        "status": SyncStatus.SETTLED,
        "notes": ("exact flow map over the whole duration: no time is integrated",),
    }


def network_outcome(spec: PhaseLayerSpec, heads: list[HeadReadOut]) -> Outcome:
    """``S_ij = J_ij (1/D) sum_l Re <exp(i(theta_i - theta_j))>`` from the heads' read-outs."""
    allowed, index = unmasked(spec), np.flatnonzero(spec.valid)
    grid = np.ix_(np.arange(spec.n_heads), index, index)
    likeness = np.zeros((spec.n_heads, spec.n_oscillators, spec.n_oscillators))
    likeness[grid] = np.stack([head.mean.real.mean(axis=2) for head in heads])
    locked = np.zeros(likeness.shape, bool)
    locked[grid] = np.stack([head.locked for head in heads])
    sync = np.where(allowed, coupling(spec) * likeness, 0.0)
    phase = spec.theta.copy()
    phase[:, index] = np.stack([head.phase for head in heads])
    return {
        "sync": sync,
        "locked": locked & allowed,
        "output": attend(normalise(sync), spec.values),
        "phase": phase,
        "order_parameter": order_parameter(phase, spec.valid, spec.mask == "causal"),
        "status": _worst([head.status for head in heads]),
        "change": max(head.change for head in heads),
        "notes": (
            f"steps per head: {', '.join(str(head.steps) for head in heads)}",
            "phases in the frame of "
            + ("the mean frequency" if spec.mask == "full" else "the first oscillator"),
        ),
    }


def to_result(
    spec: PhaseLayerSpec,
    config: TritonConfig,
    lowered: Lowered,
    outcome: Outcome,
    device: str,
    wall_s: float,
) -> SyncResult:
    """Weights, status, provenance; warns when the run has not converged."""
    outcome = dict(outcome)
    notes = (f"device: {device}", *outcome.pop("notes"))
    status, change = _checked(outcome), outcome.pop("change", 0.0)
    if status not in (SyncStatus.SETTLED, SyncStatus.DRIFTING):
        message = f"target 'triton': the run ended '{status}' ({notes[1]}); raise max_steps or widen {_KNOB}"
        warnings.warn(message, ConvergenceWarning, stacklevel=4)
    provenance = Provenance(
        source="triton",
        spec_digest=spec.digest,
        plan_digest=lowered.plan.digest,
        settings=config.model_dump(),
        versions={name: metadata.version(name) for name in ("torch", "triton", "numpy")},
        notes=notes,
        wall_s=wall_s,
    )
    accuracy = lowered.accuracy
    if accuracy.averaging_error < change <= AVERAGING_CAP:
        accuracy = with_average(accuracy, change)
    return SyncResult(weights=normalise(outcome["sync"]), provenance=provenance, accuracy=accuracy, **outcome)


_KNOB = "average_tolerance"
_ORDER = (SyncStatus.FAILED, SyncStatus.NOT_CONVERGED, SyncStatus.DRIFTING, SyncStatus.SETTLED)


def _worst(states: list[SyncStatus]) -> SyncStatus:
    return min(states, key=_ORDER.index)


def _checked(outcome: Outcome) -> SyncStatus:
    arrays = (outcome[name] for name in ("sync", "output", "phase"))
    finite = all(np.isfinite(array).all() for array in arrays if array is not None)
    outcome["status"] = outcome["status"] if finite else SyncStatus.FAILED
    return outcome["status"]


def _output(spec: PhaseLayerSpec, lowered: Lowered, summed: Array) -> Array | None:
    if spec.values is None:
        return None
    return summed[:, :, : spec.values.shape[2]] * lowered.scales["value"][:, None, :]
