"""How long clamped oscillators have to run until S is read to an accuracy: from their flow map."""

import numpy as np

from oscsim import pair_terms
from oscsim.energy.flow_noise import Flow
from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.settling import Settling, Tuning, stuck_note
from oscsim.phase import wrap
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import UNSTABLE_BAND


def clamped_settling(spec: PhaseLayerSpec, hardware: OscillatorHardware) -> Settling:
    """Times of all free oscillators, (H, N, D): the layer's duration, or until every S of a row is read.

    The flow is ``tan(u(t)/2) = tan(u(0)/2) exp(-|rho| R t)``, u the distance from the resting point;
    ``max_j |J_ij| u`` bounds the error of the row.
    """
    j, built = pair_terms.coupling(spec), np.broadcast_to(spec.valid[None, :, None], spec.theta.shape)
    drive, rho = pair_terms.held_phasor(spec, j), pair_terms.free_rate(spec)
    rate = np.abs(rho) * np.abs(drive)
    stable = np.angle(drive) + np.where(rho < 0.0, np.pi, 0.0)
    u = np.abs(wrap(pair_terms.initial_phase(spec) - stable))
    unstable = built & (rate > 0.0) & (np.pi - u < UNSTABLE_BAND)
    if np.isfinite(spec.duration):
        time, left_out = np.full(u.shape, spec.duration), unstable
    else:
        largest = np.where(pair_terms.unmasked(spec), np.abs(j), 0.0).max(axis=2)[:, :, None]
        off = np.divide(hardware.accuracy, largest, out=np.full(largest.shape, np.pi), where=largest > 0.0)
        far = (rate > 0.0) & (u > off)
        left_out = unstable & far
        with np.errstate(divide="ignore", invalid="ignore"):
            time = np.where(far, np.log(np.tan(u / 2.0) / np.tan(np.minimum(off, np.pi) / 2.0)) / rate, 0.0)
    held = np.where(built & (rate > 0.0), rate, np.nan)
    return Settling(
        np.where(built & ~left_out, time, np.nan), built, left_out, built,
        held, built, stuck_note(left_out), tuning=_clamped_tuning(spec),
        flow=Flow(np.zeros(u.shape), held, u), sine=0.0,
    )  # fmt: skip


def _clamped_tuning(spec: PhaseLayerSpec) -> Tuning | None:
    """All turn at the carrier; rates, where a layer has some, are each set to the accuracy, relatively."""
    if spec.rate is None:
        return None
    rates = np.abs(spec.rate[:, spec.valid])
    moving = rates[rates > 0.0]
    return Tuning(float(moving.max(initial=0.0)), float(moving.min(initial=np.inf)))
