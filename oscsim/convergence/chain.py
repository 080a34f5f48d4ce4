"""Where the error of a circuit comes from: a telescoping chain from the closed form to the simulated chip."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oscsim import pair_terms
from oscsim.circuits import CircuitDesign, lower_circuit, oscillator_array
from oscsim.circuits.imperfections import Imperfections
from oscsim.convergence.own_law import own_answer
from oscsim.convergence.row import rms
from oscsim.errors import ConfigError
from oscsim.reference import solve
from oscsim.result import SyncResult
from oscsim.spec import PhaseLayerSpec

Array = NDArray[np.float64]

# What belongs to which link; everything else of the design is there from the start.
_CODES = (
    "coupling_bits", "coupling_range", "frequency_bits", "crossbar_size", "topology", "degree",
)  # fmt: skip
# Only a simulation has these: what they cost is part of the last link.
_SIMULATED = ("noise_a_per_sqrt_hz", "noise_seed", "readout_bits")
_LATER = {
    "own law": (),
    "quantised": _CODES,
    "mismatched": tuple(name for name in Imperfections.model_fields if name not in _SIMULATED),
}


@dataclass(frozen=True)
class Link:
    """One step of the chain: the answer it arrives at, and how far that is from the answer before.

    Parameters
    ----------
    name : "own law", "quantised", "mismatched" or "circuit" (waveforms, noise, read-out).
    rms, largest : of the difference of S from the link before, over the cells compared.
    lock_changes : cells (all of them) whose lock decision changed.
    """

    name: str
    rms: float
    largest: float
    lock_changes: int


@dataclass(frozen=True)
class Chain:
    """The links, and whether their squares explain the whole.

    ``S_circuit - S_closed = sum_k (S_k - S_(k-1))`` holds exactly; if the parts are independent, their
    squares add up to the square of the total as well: ``explained`` is that sum over the total, 1 when they
    are.

    Parameters
    ----------
    total_rms : of circuit - closed form over the cells compared.
    undecided : links whose law did not converge (a network that hardly moves, sources that drift apart): what
        is said about them and their neighbours is not known.
    compared, in_band : cells compared, and cells left out because a lock decision changed along the chain or
        their distance from the edge is below what codes and mismatch resolve.
    """

    links: tuple[Link, ...]
    total_rms: float
    explained: float
    compared: int
    in_band: int
    undecided: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)


def error_chain(spec: PhaseLayerSpec, design: CircuitDesign, result: SyncResult) -> Chain:
    """Explain the result of a circuit simulation of a layer.

    Raises
    ------
    ConfigError
        the result belongs to another layer.
    """
    if result.provenance.spec_digest != spec.digest:
        raise ConfigError("the result belongs to another layer; run the circuit on this one first")
    closed = solve(spec)
    terms = closed.conditioning
    assert terms is not None  # solve always sets it; narrows the type
    answers = [
        (name, own_answer(spec, lower_circuit(spec, design.only(kept)))) for name, kept in _LATER.items()
    ]
    sync = [closed.sync, *(answer.sync for _, answer in answers), result.sync]
    locked = [closed.locked, *(answer.locked for _, answer in answers), result.locked]
    cells = terms.unmasked & ~np.eye(spec.n_oscillators, dtype=bool)
    changed = np.any([locks != locked[0] for locks in locked[1:]], axis=0)
    near = terms.edge_distance <= resolution(spec, design)
    kept = np.broadcast_to(cells, changed.shape) & ~changed & ~near
    names = [*(name for name, _ in answers), "circuit"]
    links = tuple(
        Link(
            name,
            rms((after - before)[kept]),
            float(np.abs(after - before)[kept].max(initial=0.0)),
            int((locks != before_locks)[:, cells].sum()),
        )
        for name, before, after, before_locks, locks in zip(
            names, sync[:-1], sync[1:], locked[:-1], locked[1:], strict=True
        )
    )
    total = rms((result.sync - closed.sync)[kept])
    squares = sum(link.rms**2 for link in links)
    explained = squares / total**2 if total > 0 else float("nan")
    return Chain(
        links,
        total,
        explained,
        int(kept.sum()),
        int(np.broadcast_to(cells, kept.shape).sum() - kept.sum()),
        tuple(name for name, answer in answers if not answer.settled),
    )


def resolution(spec: PhaseLayerSpec, design: CircuitDesign) -> Array:
    """(H, N, N) edge band from codes and mismatch: what ``d/|a|`` of a cell is uncertain by.

    Half a step of the coupling code and three standard deviations of the coupler, relative to the cell's own
    coupling; three standard deviations of the difference of two free frequencies, relative to its locking
    strength. Without a coupling nothing is resolved.
    """
    strength, step = _strength(spec, design), 0.0
    if design.coupling_bits is not None:
        step = strength.max() * design.coupling_range / (2.0 * (2 ** (design.coupling_bits - 1) - 1))
    carrier = 2.0 * np.pi * spec.carrier_hz * spec.time_unit_s
    frequency = 3.0 * np.sqrt(2.0) * design.frequency_mismatch * carrier
    if design.frequency_bits is not None:
        frequency += design.tuning_range * carrier / 2**design.frequency_bits
    coupled = strength > 0.0
    relative = np.divide(step + frequency, strength, out=np.zeros_like(strength), where=coupled)
    return np.where(coupled, 3.0 * design.coupling_mismatch + relative, np.inf)


def _strength(spec: PhaseLayerSpec, design: CircuitDesign) -> Array:
    """(H, N, N) what locks each cell on the chip, rad / time unit; of a network the pull of the source."""
    if spec.dynamics != "pair":
        return np.abs(spec.gain[:, None, None] * pair_terms.coupling(spec))
    array = oscillator_array(spec, own_clock=design.cell_clock == "own")
    pull = 2.0 * np.abs(array.pull[array.matrix, 0, 1])
    return np.where(array.cell >= 0, pull[array.cell], 0.0)
