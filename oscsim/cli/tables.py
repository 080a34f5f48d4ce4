"""What the commands print for people."""

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from oscsim.cli.describe import summary
from oscsim.cli.output import Output
from oscsim.cli.progress import say
from oscsim.result import SyncResult
from oscsim.target import Plan
from oscsim.tolerance import LARGEST_EPSILON
from oscsim.trial import Trial


def show_info(out: Output, path: str, facts: dict[str, Any]) -> None:
    """The facts of ``oscsim info``."""
    out.facts(path, [(name.replace("_", " "), value) for name, value in facts.items()])


def show_plan(out: Output, plan: Plan) -> None:
    """The plan as the target prints it."""
    out.print(Text(str(plan)))


def show_result(out: Output, result: SyncResult, saved: str | None) -> None:
    """Status and the numbers of one result."""
    content = summary(result)
    hidden = ("arrays", "settings", "versions", "seeds", "counters")
    rows = [(name.replace("_", " "), value) for name, value in content.items() if name not in hidden]
    rows = [(name, value if name != "accuracy epsilon" else _promise(result)) for name, value in rows]
    rows += [(name.replace("_", " "), count) for name, count in content["counters"].items()]
    rows += [*content["arrays"].items(), ("saved", saved)]
    given = [(name, value) for name, value in rows if value is not None]
    out.facts(f"{result.provenance.source}: {result.status}", given)


def _promise(result: SyncResult) -> float | str:
    """What a result says of its own accuracy; an epsilon that could reject nothing is no promise."""
    epsilon = result.accuracy.epsilon
    if epsilon <= LARGEST_EPSILON:
        return epsilon
    where = "circuits.md" if "family" in result.provenance.settings else "spec.md"
    return f"no promise (see docs/{where})"


def show_trials(out: Output, trials: Sequence[Trial], labels: Sequence[str] = ()) -> None:
    """One row per trial; what went wrong follows on stderr, one line each."""
    columns = (
        "target", "status", "max error", "tolerance", "worst ratio", "excluded", "locked agreement",
        "locked", "seconds",
    )  # fmt: skip
    keys = (
        "max_abs_error", "tolerance", "worst_ratio", "excluded_pairs", "locked_agreement", "locked_fraction",
        "wall_s",
    )  # fmt: skip
    rows = []
    for index, trial in enumerate(trials):
        entry = trial.to_json()
        name = f"{labels[index]} on {trial.target}" if labels else trial.target
        rows.append([name, trial.status, *(entry[key] for key in keys)])
    out.table(columns, rows)
    for index, trial in enumerate(trials):
        entry = trial.to_json()
        name = f"{labels[index]} on {trial.target}" if labels else trial.target
        if trial.status == "finding":
            out.print(Text(
                f"finding: {name}: mean approximation error {entry['mean_abs_error']:.3g} "
                f"({trial.comparison.oracle if trial.comparison else ''})"
            ))  # fmt: skip
        for problem in entry["problems"]:
            say(f"{name}: {trial.status}: {problem}")


def show_doctor(out: Output, content: dict[str, Any]) -> None:
    """Machine, packages, targets and everything else that was checked."""
    out.facts("machine", content["machine"].items())
    out.facts(
        "packages", [(name, version or "not installed") for name, version in content["packages"].items()]
    )
    findings = [*content["targets"].items(), *content["checks"].items()]
    out.facts("checks", [(name, f"{'ok' if f['ok'] else 'MISSING'}: {f['detail']}") for name, f in findings])
    for name, finding in findings:
        if not finding["ok"]:
            say(f"{name}: {finding['detail']}. To fix it: {finding['fix']}")
