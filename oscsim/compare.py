"""Compare a run with the reference, cell by cell, to derived tolerances (docs/spec.md section 6)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oscsim.comparison import Comparison
from oscsim.errors import SpecError
from oscsim.measurement import Measurement
from oscsim.other_state import other_state
from oscsim.result import Conditioning, SyncResult, SyncStatus
from oscsim.tolerance import empty_promise


def compare(result: SyncResult, reference: SyncResult) -> Comparison:
    """Compare a target's result with ``solve`` of the same layer; pure.

    Every cell may err by ``epsilon * |J| * condition``; cells inside the edge band are left out
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
        # what has not settled does not conform, but how far off it is may still be of use
        numbers = Measurement(result, reference, terms).numbers() if status == "not_settled" else {}
        return _verdict(result, terms, status, problems=(problem,), **numbers)
    return _judge(result, reference, terms)


def _verdict(result: SyncResult, terms: Conditioning, status: str, **numbers: Any) -> Comparison:
    conforms = {"conforms": True, "finding": None, "other_state": None}.get(status, False)
    provenance = result.provenance
    return Comparison(
        provenance.source,
        status,
        conforms,
        terms.oracle,
        result.accuracy.epsilon,
        averaging_error=result.accuracy.averaging_error,
        wall_s=provenance.wall_s,
        **numbers,
    )


def _malformed(result: SyncResult, reference: SyncResult, terms: Conditioning) -> tuple[str, str] | None:
    """The first reason why subtracting would be meaningless, or None."""
    ours, theirs = result.provenance.spec_digest, reference.provenance.spec_digest
    if ours != theirs:
        return "other_spec", f"result is of layer {ours[:12]}, reference of {theirs[:12]}"
    for name in ("sync", "locked", "weights", "order_parameter", "output", "phase"):
        problem = _array_problem(name, getattr(result, name), getattr(reference, name))
        if problem is not None:
            return "malformed", problem
    for name in ("sync", "locked", "weights"):
        if np.any(getattr(result, name)[:, ~terms.unmasked]):
            return "malformed", f"{name}: a masked cell is not zero"
    if np.any((result.order_parameter < 0) | (result.order_parameter > 1)):
        return "malformed", "order_parameter: outside [0, 1]"
    fine = {SyncStatus.SETTLED}
    if terms.law in ("two_oscillators", "mean_field"):
        fine.add(SyncStatus.DRIFTING)
    if result.status not in fine:
        return "not_settled", f"the run ended '{result.status}'"
    empty = empty_promise(result.accuracy)
    return None if empty is None else ("no_promise", empty)


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


def _judge(result: SyncResult, reference: SyncResult, terms: Conditioning) -> Comparison:
    measured = Measurement(result, reference, terms)
    numbers = measured.numbers()
    if not terms.exact:
        return _verdict(result, terms, "finding", **numbers)
    problems = measured.problems()
    if problems:
        elsewhere = other_state(result, terms) if terms.law == "locked_network" else None
        if elsewhere is not None:
            status, problem = elsewhere
            return _verdict(result, terms, status, problems=(problem,), **numbers)
        return _verdict(result, terms, "differs", problems=problems, **numbers)
    share, cap = numbers["excluded_share"], result.accuracy.excluded_share
    if share > cap:
        problem = f"{share:.1%} of the cells are undecided (locking edge, unstable start), allowed {cap:.0%}"
        return _verdict(result, terms, "undecided", problems=(problem,), **numbers)
    return _verdict(result, terms, "conforms", **numbers)
