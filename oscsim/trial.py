"""One layer on one target against the reference, with a name for everything that can go wrong."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from oscsim.cli.guard import ExitCode
from oscsim.compare import compare
from oscsim.comparison import Comparison
from oscsim.errors import LoweringError, TargetRunError, TargetUnavailable
from oscsim.result import SyncResult
from oscsim.spec import PhaseLayerSpec
from oscsim.target import AbstractTarget, Plan, TargetConfig


@dataclass(frozen=True)
class Trial:
    """What came of running a layer on a target.

    Parameters
    ----------
    target : name.
    status : that of the comparison, or "unsupported" (the target cannot represent the layer),
        "unavailable" (backend missing), "failed" (the backend gave up).
    message : why there is no comparison, in words; "" when there is one.
    """

    target: str
    status: str
    message: str = ""
    plan: Plan | None = None
    result: SyncResult | None = None
    comparison: Comparison | None = None

    @property
    def conforms(self) -> bool | None:
        """True, False, or None where nothing was decided (finding, unsupported, unavailable)."""
        if self.comparison is not None:
            return self.comparison.conforms
        return False if self.status == "failed" else None

    def to_json(self) -> dict[str, Any]:
        """The entry of ``compare --json``; every key is there, null where nothing was measured."""
        numbers = {} if self.comparison is None else self.comparison.to_json()
        return {
            "status": self.status,
            "conforms": self.conforms,
            **{name: numbers.get(name) for name in _NUMBERS},
            "run_status": None if self.result is None else str(self.result.status),
            "plan_digest": None if self.plan is None else self.plan.digest,
            "problems": [*numbers.get("problems", ()), *([self.message] if self.message else [])],
        }


_NUMBERS = (
    "max_abs_error",
    "tolerance",
    "locked_agreement",
    "excluded_pairs",
    "locked_fraction",
    "wall_s",
    "mean_abs_error",
    "worst_ratio",
    "max_phase_error",
    "excluded_share",
)


def attempt(
    target: AbstractTarget[Any], config: TargetConfig, spec: PhaseLayerSpec, reference: SyncResult
) -> Trial:
    """Lower, run and compare; whatever the target refuses becomes a named status."""
    try:
        executable = target.lower(spec, config)
    except LoweringError as error:
        return Trial(target.name, "unsupported", str(error))
    try:
        result = executable.run()
    except TargetUnavailable as error:
        return Trial(target.name, "unavailable", str(error), executable.plan)
    except TargetRunError as error:
        return Trial(target.name, "failed", str(error), executable.plan)
    comparison = compare(result, reference)
    return Trial(target.name, comparison.status, "", executable.plan, result, comparison)


def comparison_json(spec: PhaseLayerSpec, reference: SyncResult, trials: Iterable[Trial]) -> dict[str, Any]:
    """What ``compare --json`` writes."""
    terms = reference.conditioning
    return {
        "spec_digest": spec.digest,
        "reference": {
            "source": reference.provenance.source,
            "status": str(reference.status),
            "law": None if terms is None else terms.law,
            "oracle": None if terms is None else terms.oracle,
            "exact": None if terms is None else terms.exact,
            "locked_fraction": reference.locked_fraction,
        },
        "targets": {trial.target: trial.to_json() for trial in trials},
    }


def exit_code(trials: Collection[Trial], named: Iterable[str] = ()) -> ExitCode:
    """The exit code of several trials; ``named`` are the targets the user asked for by name.

    1 when any trial does not conform; else 3 when a backend is missing; else 2 when a target asked for
    by name, or every target, cannot represent the layer; else 0.
    """
    if any(trial.conforms is False for trial in trials):
        return ExitCode.DIFFERS
    if any(trial.status == "unavailable" for trial in trials):
        return ExitCode.BACKEND_MISSING
    refused = {trial.target for trial in trials if trial.status == "unsupported"}
    if refused & set(named) or len(refused) == len(trials):
        return ExitCode.BAD_INPUT
    return ExitCode.CONFORMS
