"""Errors of a result, each next to what it is allowed to be (docs/spec.md section 6)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oscsim.phase import circular_distance, wrap
from oscsim.readout import row_weights
from oscsim.result import Conditioning, SyncResult
from oscsim.tolerance import CONDITION_CAP, NEGLIGIBLE_COUPLING

Array = NDArray[np.float64]
_UNDETERMINED = 1e9  # larger than any error of a weight, finite so that 0 * it stays 0


class Measurement:
    """A well-formed result against a reference; computed once, read several times."""

    def __init__(self, result: SyncResult, reference: SyncResult, terms: Conditioning) -> None:
        self.result, self.reference, self.terms = result, reference, terms
        self.promise = result.accuracy
        self.strength = np.abs(terms.coupling)
        self.pairs = terms.unmasked & ~np.eye(len(terms.unmasked), dtype=bool)
        near = (terms.edge_distance <= self.promise.band) | (terms.condition > CONDITION_CAP)
        self.excluded = near & terms.unmasked
        self.agreement = result.locked == reference.locked
        self.error = np.abs(result.sync - reference.sync)
        self.allowed = self._allowed()
        self.phase_error = self._phase_error()
        self.ratios = self._ratios()

    def numbers(self) -> dict[str, Any]:
        """The figures of a Comparison."""
        compared = ~self.excluded & self.pairs
        count = int(self.pairs.sum())
        return {
            "max_abs_error": float(self.error[compared].max(initial=0.0)),
            "mean_abs_error": float(self.error[:, self.pairs].mean()) if count else 0.0,
            "worst_ratio": max(self.ratios.values()),
            "max_phase_error": None if self.phase_error is None else float(self.phase_error[0].max()),
            "locked_agreement": float(self.agreement[compared].mean()) if compared.any() else 1.0,
            "locked_fraction": float(self.result.locked[:, self.pairs].mean()) if count else float("nan"),
            "excluded_pairs": int((self.excluded & self.pairs).sum()),
            "excluded_share": self._excluded_share(),
        }

    def problems(self) -> tuple[str, ...]:
        """In words, everything that is further off than allowed."""
        found = [
            f"{name}: error is {r:.3g} times the allowed one" for name, r in self.ratios.items() if not r <= 1
        ]
        if not self.agreement[~self.excluded].all():
            found.append(f"locked: {int((~self.agreement & ~self.excluded).sum())} cells decide differently")
        return tuple(found)

    def _allowed(self) -> Array:
        """Largest error of S per cell; inside the band, what two answers this near the edge can differ by."""
        terms, promise = self.terms, self.promise
        rows = np.where(terms.unmasked, self.strength, 0.0).max(axis=2, keepdims=True)
        scale = np.maximum(self.strength, NEGLIGIBLE_COUPLING * rows)
        allowed = promise.epsilon * scale * np.minimum(terms.condition, CONDITION_CAP)
        allowed += np.where(self.reference.locked, 0.0, promise.averaging_error * self.strength)
        # within |rho - 1| <= b, S is at most |J| sqrt(2b + b^2) on either side of the edge
        band = np.minimum(np.maximum(promise.band, np.where(self.excluded, terms.edge_distance, 0.0)), 1.0)
        edge = self.strength * np.sqrt(band * (2.0 + band))
        # without an edge (clamped, locked network) an ill-conditioned phase may be anywhere
        undecided = np.where(np.isfinite(terms.edge_distance), edge, 2.0 * self.strength)
        return np.where(self.excluded, allowed + undecided, allowed)

    def _excluded_share(self) -> float:
        """Share of cells without a verdict: pairs, or phases where those are what the law decides.

        As a diagonal cell counts in no share, so does no oscillator that is driven by itself alone, or
        so little by others that their whole drive is below what the condition cap tells apart.
        """
        condition = self.terms.phase_condition
        if condition is None:
            return float((self.excluded & self.pairs)[:, self.pairs].mean()) if self.pairs.any() else 0.0
        others = np.where(self.pairs, self.strength, 0.0).sum(axis=2)
        own = np.diagonal(self.strength, axis1=1, axis2=2)
        driven = (others > own / CONDITION_CAP) & self.pairs.any(axis=1)
        return float((condition[driven] > CONDITION_CAP).mean()) if driven.any() else 0.0

    def _ratios(self) -> dict[str, float]:
        """Worst error / allowed error of everything that is compared."""
        result, reference, epsilon = self.result, self.reference, self.promise.epsilon
        open_ended = self.excluded & np.isinf(self.terms.edge_distance)
        weights = self._weights_allowed()
        own = row_weights(result.sync, result.locked, self.terms.law)
        ratios = {
            "sync": _worst(np.where(open_ended, 0.0, self.error), self.allowed),
            "weights": _worst(result.weights - reference.weights, weights),
            "weights of its own sync": _worst(result.weights - own, np.full(own.shape, epsilon)),
        }
        values = self.terms.values
        if reference.output is not None and result.output is not None and values is not None:
            size = np.abs(values)
            slack = epsilon * size.max(axis=1, keepdims=True)
            carried = np.where(self.terms.unmasked, weights, 0.0) @ size
            ratios["output"] = _worst(result.output - reference.output, carried + slack)
            ratios["output of its own weights"] = _worst(result.output - result.weights @ values, slack)
        if self.terms.law in ("pair", "clamped"):
            ratios["order_parameter"] = _worst(
                result.order_parameter - reference.order_parameter,
                np.full(reference.order_parameter.shape, epsilon),
            )
        if self.phase_error is None:
            return ratios
        error, allowed = self.phase_error
        if self.terms.law == "locked_network":  # r moves no further than the phase that moves most
            r = result.order_parameter - reference.order_parameter
            ratios["order_parameter"] = _worst(r, np.full(r.shape, allowed.max() + epsilon))
        return ratios | {"phase": _worst(error, allowed)}

    def _weights_allowed(self) -> Array:
        """Propagate errors of S through ``W = S/sum S``: ``|dW| <= (dS + W sum dS)/(sum S - sum dS)``."""
        error = np.where(self.terms.unmasked, self.allowed, 0.0)
        if self.terms.law == "pair":  # what is clearly unlocked carries no weight, whatever its average
            error = np.where(self.reference.locked | self.excluded, error, 0.0)
        else:  # only the positive part of S is weighed
            error = np.where(self.reference.sync < -error, 0.0, error)
        row = np.maximum(self.reference.sync, 0.0).sum(axis=2, keepdims=True)
        total = error.sum(axis=2, keepdims=True)
        room = row - total
        bound = (error + self.reference.weights * total) / np.where(room > 0, room, 1.0)
        # a row that may be wrong by its whole sum says nothing about its weights
        known = ((room > 0) & (bound < 1.0)) | (total == 0)
        return np.where(known, bound + self.promise.epsilon, _UNDETERMINED)

    def _phase_error(self) -> tuple[Array, Array] | None:
        """Circular distances and what they may be, over well-conditioned oscillators."""
        condition = self.terms.phase_condition
        if condition is None or self.reference.phase is None or self.result.phase is None:
            return None
        ours, theirs = self.result.phase, self.reference.phase
        valid = np.diagonal(self.terms.unmasked)[None, :, None]
        if self.terms.law == "locked_network":
            # one rotation per channel is arbitrary: remove its circular mean
            turn = np.where(valid, np.exp(1j * (ours - theirs)), 0.0).sum(axis=1, keepdims=True)
            ours = wrap(ours - np.angle(turn))
        use = valid & (condition <= CONDITION_CAP)
        error = np.where(use, circular_distance(ours, theirs), 0.0)
        return error, self.promise.epsilon * np.minimum(condition, CONDITION_CAP)


def _worst(error: Array, allowed: Array) -> float:
    """Largest error / allowed; infinite where nothing is allowed and something is there."""
    error = np.abs(error)
    ratio = np.divide(error, allowed, out=np.where(error > 0, np.inf, 0.0), where=allowed > 0)
    return float(ratio.max(initial=0.0))
