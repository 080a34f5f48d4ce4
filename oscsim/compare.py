"""Compare a run with the reference, cell by cell, to derived tolerances (docs/spec.md section 5)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oscsim.comparison import Comparison
from oscsim.errors import SpecError
from oscsim.phase import circular_distance, wrap
from oscsim.result import Conditioning, SyncResult, SyncStatus
from oscsim.tolerance import CONDITION_CAP, LARGEST_EPSILON, Accuracy

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def compare(result: SyncResult, reference: SyncResult) -> Comparison:
    """Compare a target's result with ``solve`` of the same layer; pure.

    Every cell may err by ``epsilon * max(1, |J|) * condition``; cells inside the edge band are left out
    and their share is capped; weights, output, order parameter and phases follow with propagated
    tolerances. Shape, finiteness, mask and status are checked before any subtraction.

    Raises
    ------
    SpecError
        the second argument is not a result of ``solve``.

    >>> from oscsim import PhaseLayerSpec, FrequencyCoupling, solve
    >>> spec = PhaseLayerSpec(omega=[[[0.0], [0.6]]], theta=[[[0.0], [0.0]]],
    ...                       coupling=FrequencyCoupling(alpha=[0.0]), gain=[1.0])
    >>> compare(solve(spec), solve(spec)).status
    'conforms'
    """
    terms = reference.conditioning
    if terms is None:
        raise SpecError(
            f"reference: given a result of '{reference.provenance.source}' without conditioning, "
            "expected the result of oscsim.solve(spec)"
        )
    broken = _malformed(result, reference, terms)
    if broken is not None:
        status, problem = broken
        return _verdict(result, terms, status, problems=(problem,))
    return _Measured(result, reference, terms).verdict()


def _verdict(result: SyncResult, terms: Conditioning, status: str, **numbers: Any) -> Comparison:
    conforms = {"conforms": True, "finding": None}.get(status, False)
    provenance = result.provenance
    return Comparison(
        provenance.source,
        status,
        conforms,
        terms.oracle,
        result.accuracy.epsilon,
        wall_s=provenance.wall_s,
        **numbers,
    )


def _malformed(result: SyncResult, reference: SyncResult, terms: Conditioning) -> tuple[str, str] | None:
    """The first reason why subtracting would be meaningless, or None."""
    ours, theirs = result.provenance.spec_digest, reference.provenance.spec_digest
    if ours != theirs:
        return "other_spec", f"result is of layer {ours[:12]}, reference of {theirs[:12]}"
    epsilon = result.accuracy.epsilon
    if not 0 < epsilon <= LARGEST_EPSILON:
        return "no_promise", f"epsilon {epsilon:g} is outside (0, {LARGEST_EPSILON}]: it could reject nothing"
    for name in ("sync", "locked", "weights", "order_parameter", "output", "phase"):
        problem = _array_problem(name, getattr(result, name), getattr(reference, name))
        if problem is not None:
            return "malformed", problem
    for name in ("sync", "locked", "weights"):
        if np.any(getattr(result, name)[:, ~terms.unmasked]):
            return "malformed", f"{name}: a masked cell is not zero"
    fine = {SyncStatus.SETTLED}
    if terms.law in ("two_oscillators", "mean_field"):
        fine.add(SyncStatus.DRIFTING)
    return None if result.status in fine else ("not_settled", f"the run ended '{result.status}'")


def _array_problem(name: str, ours: NDArray[Any] | None, theirs: NDArray[Any] | None) -> str | None:
    if theirs is None:
        return None
    if ours is None or np.shape(ours) != theirs.shape:
        given = "nothing" if ours is None else f"shape {np.shape(ours)}"
        return f"{name}: given {given}, expected shape {theirs.shape}"
    bad = np.argwhere(~np.isfinite(ours))
    if len(bad):
        where = tuple(int(i) for i in bad[0])
        return f"{name}{list(where)} is {ours[where]}, expected a finite number"
    return None


UNDETERMINED = 1e9  # larger than any error of a weight, finite so that 0 * it stays 0


class _Measured:
    """Errors of a well-formed result, each next to what it is allowed to be."""

    def __init__(self, result: SyncResult, reference: SyncResult, terms: Conditioning) -> None:
        self.result, self.reference, self.terms = result, reference, terms
        self.promise: Accuracy = result.accuracy
        self.pairs = terms.unmasked & ~np.eye(len(terms.unmasked), dtype=bool)
        near = (terms.edge_distance <= self.promise.band) | (terms.condition > CONDITION_CAP)
        self.excluded = near & terms.unmasked
        self.error = np.abs(result.sync - reference.sync)
        self.allowed = self._allowed()

    def _allowed(self) -> Array:
        """Largest error of S per cell; inside the band, what two answers this near the edge can differ by."""
        terms, promise = self.terms, self.promise
        scale = np.maximum(1.0, terms.coupling)
        allowed = promise.epsilon * scale * np.minimum(terms.condition, CONDITION_CAP)
        allowed += np.where(self.reference.locked, 0.0, promise.averaging_error * terms.coupling)
        # within |rho - 1| <= b, S is at most |J| sqrt(2b + b^2) on either side of the edge
        band = np.minimum(np.maximum(promise.band, np.where(self.excluded, terms.edge_distance, 0.0)), 1.0)
        edge = terms.coupling * np.sqrt(band * (2.0 + band))
        # without an edge (clamped, locked network) an ill-conditioned phase may be anywhere
        undecided = np.where(np.isfinite(terms.edge_distance), edge, 2.0 * terms.coupling)
        return np.where(self.excluded, allowed + undecided, allowed)

    def verdict(self) -> Comparison:
        compared = ~self.excluded & self.pairs
        agreement = self.result.locked == self.reference.locked
        count = int(self.pairs.sum()) * len(self.error)
        share = self._excluded_share()
        ratios = self._ratios()
        numbers: dict[str, Any] = {
            "max_abs_error": float(self.error[compared].max(initial=0.0)),
            "mean_abs_error": float(self.error[:, self.pairs].mean()) if count else 0.0,
            "worst_ratio": max(ratios.values()),
            "max_phase_error": self._phase_error()[0],
            "locked_agreement": float(agreement[compared].mean()) if compared.any() else 1.0,
            "locked_fraction": float(self.result.locked[:, self.pairs].mean()) if count else float("nan"),
            "excluded_pairs": int((self.excluded & self.pairs).sum()),
            "excluded_share": share,
        }
        if not self.terms.exact:
            return _verdict(self.result, self.terms, "finding", **numbers)
        problems = [
            f"{name}: error is {r:.3g} times the allowed one" for name, r in ratios.items() if not r <= 1
        ]
        if not agreement[~self.excluded].all():
            problems.append(f"locked: {int((~agreement & ~self.excluded).sum())} cells decide differently")
        if problems:
            return _verdict(self.result, self.terms, "differs", problems=tuple(problems), **numbers)
        if share > self.promise.excluded_share:
            cap = f"allowed {self.promise.excluded_share:.0%}"
            problem = f"{share:.1%} of the cells are undecided (locking edge, unstable start), {cap}"
            return _verdict(self.result, self.terms, "undecided", problems=(problem,), **numbers)
        return _verdict(self.result, self.terms, "conforms", **numbers)

    def _excluded_share(self) -> float:
        """Share of cells without a verdict: pairs, or phases where those are what the law decides.

        As a diagonal cell counts in no share, so does no oscillator that is driven by itself alone.
        """
        condition = self.terms.phase_condition
        if condition is not None:
            driven = self.pairs.any(axis=1)
            return float((condition[:, driven] > CONDITION_CAP).mean()) if driven.any() else 0.0
        return float((self.excluded & self.pairs)[:, self.pairs].mean()) if self.pairs.any() else 0.0

    def _ratios(self) -> dict[str, float]:
        """Worst error / allowed error of everything that is compared."""
        weights, output = self._readout_allowed()
        pairs: dict[str, tuple[Array, Array]] = {
            "sync": (
                np.where(self.excluded & np.isinf(self.terms.edge_distance), 0.0, self.error),
                self.allowed,
            ),
            "weights": (np.abs(self.result.weights - self.reference.weights), weights),
        }
        if self.reference.output is not None and self.result.output is not None:
            pairs["output"] = (np.abs(self.result.output - self.reference.output), output)
        if self.terms.law == "pair":
            r = np.abs(self.result.order_parameter - self.reference.order_parameter)
            pairs["order_parameter"] = (r, np.full(r.shape, self.promise.epsilon))
        ratios = {name: float((error / allowed).max(initial=0.0)) for name, (error, allowed) in pairs.items()}
        error, ratio = self._phase_error()
        return ratios if error is None else ratios | {"phase": ratio}

    def _readout_allowed(self) -> tuple[Array, Array]:
        """Propagate errors of S through ``W = S/sum S``: ``|dW| <= (dS + W sum dS)/(sum S - sum dS)``."""
        slack = self.promise.epsilon  # the target's own arithmetic in the division and the sum
        row = np.maximum(self.reference.sync, 0.0).sum(axis=2, keepdims=True)
        error = np.where(self.terms.unmasked, self.allowed, 0.0)
        total = error.sum(axis=2, keepdims=True)
        room = row - total
        bound = (error + self.reference.weights * total) / np.where(room > 0, room, 1.0)
        # a row that may be wrong by its whole sum says nothing about its weights
        weights = np.where((room > 0) & (bound < 1.0), bound + slack, UNDETERMINED)
        if self.terms.values is None:
            return weights, np.zeros(0)
        size = np.abs(self.terms.values)
        return weights, np.where(self.terms.unmasked, weights, 0.0) @ size + slack * np.maximum(
            1.0, size.max()
        )

    def _phase_error(self) -> tuple[float | None, float]:
        """Largest circular distance and its ratio to the allowed one, over well-conditioned oscillators."""
        condition = self.terms.phase_condition
        if condition is None or self.reference.phase is None or self.result.phase is None:
            return None, 0.0
        ours, theirs = self.result.phase, self.reference.phase
        valid = np.diagonal(self.terms.unmasked)[None, :, None]
        if self.terms.law == "locked_network":
            # one rotation per channel is arbitrary: remove its circular mean
            turn = np.where(valid, np.exp(1j * (ours - theirs)), 0.0).sum(axis=1, keepdims=True)
            ours = wrap(ours - np.angle(turn))
        use = valid & (condition <= CONDITION_CAP)
        error = np.where(use, circular_distance(ours, theirs), 0.0)
        ratio = error / (self.promise.epsilon * np.minimum(condition, CONDITION_CAP))
        return float(error.max()), float(ratio.max())
