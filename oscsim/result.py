"""What a run or a solution returns: arrays together with their status and provenance, never bare."""

import os
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from oscsim.errors import SchemaError
from oscsim.io import read_file, write_file
from oscsim.tolerance import Accuracy

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

ORACLES = {
    "pair": "closed form of the pair law",
    "clamped": "exact flow map of the clamped law",
    "locked_network": "stable fully locked state of the network",
    "two_oscillators": "pair law of two coupled oscillators",
    "mean_field": "mean-field closed form with the spec's order parameter: an approximation, "
    "the network has no stable fully locked state near zero",
}

KIND = "sync-result"
SCHEMA_VERSION = 1


class SyncStatus(StrEnum):
    """How a result ended.

    settled: the read-out has converged. drifting: a network in which some oscillators still rotate
    against each other; sync is a converged time average. not_converged: the read-out still changes,
    more time is needed. no_locked_state: (reference only) the network has no stable fully locked state
    near zero; sync is the mean-field closed form, an approximation. failed: not finite.
    """

    SETTLED = "settled"
    DRIFTING = "drifting"
    NOT_CONVERGED = "not_converged"
    NO_LOCKED_STATE = "no_locked_state"
    FAILED = "failed"


@dataclass(frozen=True)
class Provenance:
    """Where a result comes from.

    Parameters
    ----------
    source : "closed_form", "ode" or a target name.
    spec_digest, plan_digest : what was asked and how it was lowered (plan_digest "" without a plan).
    settings : the configuration as plain JSON.
    versions : package name -> version.
    seeds : name -> seed of every random stream used.
    notes : what a reader has to know: conventions, warnings, durations.
    wall_s : seconds the run took.
    counters : name -> how often, exactly as executed (spikes, updates, operations); {} where not counted.
    """

    source: str
    spec_digest: str
    plan_digest: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    seeds: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    wall_s: float = 0.0
    counters: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Conditioning:
    """How errors grow, known to a reference only.

    Parameters
    ----------
    law : which exact answer this is: "pair", "clamped", "locked_network", "two_oscillators"; or
        "mean_field", the closed form of a network that has no exact one.
    unmasked : (N, N) bool; coupling : (H, N, N) = J, signed.
    condition : (H, N, N) growth of a relative error into S.
    edge_distance : (H, N, N) ``|d/|a| - 1|``, infinity where there is no edge.
    phase_condition : (H, N, D) growth into .phase, or None when there is no phase.
    values : (H, N, D_v) or None.
    network_matrix, omega : M (H, N, N) and omega (H, N, D) of a locked network, rad / time unit, or None:
        with them a run that rests elsewhere is told from a wrong one.
    """

    law: str
    unmasked: Mask
    coupling: Array
    condition: Array
    edge_distance: Array
    phase_condition: Array | None = None
    values: Array | None = None
    network_matrix: Array | None = None
    omega: Array | None = None

    @property
    def exact(self) -> bool:
        """Whether disagreement is an error (or only a finding)."""
        return self.law != "mean_field"

    @property
    def oracle(self) -> str:
        """The law in words."""
        return ORACLES[self.law]


@dataclass(frozen=True, eq=False)
class SyncResult:
    """Synchronization of one phase layer.

    Parameters
    ----------
    sync : (H, N, N) S, 0 on masked cells; row = driven oscillator, column = source.
    locked : (H, N, N) bool, False on masked cells.
    weights : (H, N, N) row-normalised positive part of S.
    order_parameter : (H, N) r_i in [0, 1]; of the final phases for a network.
    output : (H, N, D_v) or None; phase : (H, N, D) rad or None (pair).
    status, provenance : how the run ended and where it comes from.
    accuracy : what the source promises.
    conditioning : how errors grow; only on a result of ``solve``.
    trajectory : optional (samples, H, N, D) phases over time with ``times`` (samples,) in time units.
    """

    sync: Array
    locked: Mask
    weights: Array
    order_parameter: Array
    output: Array | None
    phase: Array | None
    status: SyncStatus
    provenance: Provenance
    accuracy: Accuracy
    conditioning: Conditioning | None = None
    trajectory: Array | None = None
    times: Array | None = None

    @property
    def zero_rows(self) -> Mask:
        """(H, N) bool: rows whose weights are all zero (padding, or nothing positive to attend to)."""
        return self.weights.sum(axis=-1) == 0

    @property
    def locked_fraction(self) -> float:
        """Share of locked cells among off-diagonal unmasked ones; NaN when there are none.

        Only a reference knows its mask; a target's result counts every off-diagonal cell it could drive,
        so use ``Comparison.locked_fraction`` for a masked layer.
        """
        count = self.sync.shape[-1]
        mask = np.ones((count, count), bool) if self.conditioning is None else self.conditioning.unmasked
        mask = mask & ~np.eye(count, dtype=bool)
        return float(self.locked[:, mask].mean()) if mask.any() else float("nan")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one file (temporary name, then rename) with arrays, status and provenance."""
        header: dict[str, Any] = {
            "status": str(self.status),
            "provenance": asdict(self.provenance) | {"notes": list(self.provenance.notes)},
            "accuracy": asdict(self.accuracy),
        }
        arrays = {name: getattr(self, name) for name in _ARRAYS if getattr(self, name) is not None}
        if self.conditioning is not None:
            header["conditioning"] = {"law": self.conditioning.law}
            for name in _CONDITIONING_ARRAYS:
                if getattr(self.conditioning, name) is not None:
                    arrays[f"conditioning.{name}"] = getattr(self.conditioning, name)
        write_file(path, KIND, SCHEMA_VERSION, header, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "SyncResult":
        """Read a result file; SchemaError when it is not exactly one."""
        header, arrays = read_file(path, KIND, (SCHEMA_VERSION,))
        known = set(_ARRAYS) | {f"conditioning.{name}" for name in _CONDITIONING_ARRAYS}
        if set(arrays) - known:
            raise SchemaError(f"{path}: unknown array(s): {', '.join(sorted(set(arrays) - known))}")
        try:
            conditioning = None
            if "conditioning" in header:
                parts: dict[str, Any] = {n: arrays.get(f"conditioning.{n}") for n in _CONDITIONING_ARRAYS}
                conditioning = Conditioning(law=header["conditioning"]["law"], **parts)
            return cls(
                **{name: arrays.get(name) for name in _ARRAYS},  # type: ignore[arg-type]
                status=SyncStatus(header["status"]),
                provenance=TypeAdapter(Provenance).validate_python(header["provenance"]),
                accuracy=TypeAdapter(Accuracy).validate_python(header["accuracy"]),
                conditioning=conditioning,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise SchemaError(f"{path}: result header is incomplete or of the wrong type: {error}") from None


_ARRAYS = ("sync", "locked", "weights", "order_parameter", "output", "phase", "trajectory", "times")
_CONDITIONING_ARRAYS = (
    "unmasked",
    "coupling",
    "condition",
    "edge_distance",
    "phase_condition",
    "values",
    "network_matrix",
    "omega",
)
