"""Where an error comes from, as tables for people."""

from rich.text import Text

from oscsim.circuits import CircuitDesign
from oscsim.cli.explain import BudgetCheck, Explained, Unexplained
from oscsim.cli.output import Output
from oscsim.cli.progress import say
from oscsim.convergence.chain import Chain
from oscsim.target import TargetConfig


def show_explanation(out: Output, explained: Explained, config: TargetConfig) -> None:
    """As tables for people; on stderr why there is none."""
    if isinstance(explained, Unexplained):
        say(f"--explain: the run is done, but not where its error comes from: {explained.reason}")
    elif isinstance(explained, Chain):
        _show_chain(out, explained, isinstance(config, CircuitDesign) and bool(config.imperfect))
    else:
        _show_budget(out, explained)


def _show_budget(out: Output, check: BudgetCheck) -> None:
    budget = check.budget
    out.print(Text("where the error of S comes from, predicted (docs/targets/lava_budget.md):"))
    rows = [[source.name, source.rms, ", ".join(source.options) or None] for source in budget.sources]
    cancels = any(source.rms > 1.01 * budget.rms for source in budget.sources)
    note = "biases of opposite sign cancel" if cancels else None
    rows += [["together", budget.rms, note], ["measured", check.measured, "against the exact answer"]]
    out.table(("source", "rms", "set by"), rows)
    out.print(Text(f"{int(budget.where.sum())} pairs: self-pairs and those inside the band are left out"))
    if budget.wrong_locks is not None:
        out.print(Text(f"wrong lock decisions: {budget.wrong_locks} predicted, {check.wrong_locks} measured"))
    if budget.order_rms is not None:
        out.print(Text(
            f"order parameter, rms: {budget.order_rms:.2g} predicted, {check.order_measured:.2g} measured"
        ))  # fmt: skip
    bottleneck, better = budget.bottleneck, check.improvement
    if bottleneck is not None:
        out.print(Text(f"bottleneck: {bottleneck.name}"))
        out.print(Text(
            "no change of one source's options is predicted to help" if better is None else
            f"smaller with {better.settings}: {better.rms_then:.2g} predicted instead of {better.rms_now:.2g}"
        ))  # fmt: skip


_STEPS = {
    "own law": "the phase reduction of the perfect circuit, not a sine",
    "quantised": "with the codes and connections that the chip has",
    "mismatched": "with mismatch, parasitics, delay and stuck couplers",
    "circuit": "the waveforms themselves, not their phase reduction",
}


def _show_chain(out: Output, chain: Chain, imperfect: bool) -> None:
    """A perfect chip has two steps: the others change nothing."""
    out.print(Text("where the error of S comes from, step by step from the closed form:"))
    links = [link for link in chain.links if imperfect or link.name in ("own law", "circuit")]
    rows = [[link.name, _STEPS[link.name], link.rms, link.largest, link.lock_changes] for link in links]
    total = ["all together", "from the closed form to the waveforms", chain.total_rms, None, None]
    out.table(("step to", "what it is", "rms", "largest", "locks changed"), [*rows, total])
    out.print(
        Text(
            f"{chain.compared} pairs compared (self-pairs i = j are left out), {chain.in_band} more too "
            f"close to the edge for this chip; the squares of the steps are {chain.explained:.0%} of the "
            "square of the total"
        )
    )
    if chain.undecided:
        say(
            f"the law of {', '.join(chain.undecided)} did not converge (a network that hardly moves, or "
            "sources that drift apart): these steps and their neighbours are not known"
        )
