"""A run of the benchmark: the gate of every case first, then the clocks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import torch

from hw_targets.triton.bench import block, clock, gate, machine, memory
from hw_targets.triton.bench.contender import OURS, SDPA, Contender
from hw_targets.triton.bench.contenders import contender, names, ours
from hw_targets.triton.bench.options import CASES, BenchOptions, Case
from hw_targets.triton.bench.results import Report, Row
from hw_targets.triton.bench.work import gbytes, teraflop
from hw_targets.triton.bench.workload import Workload, build
from oscsim.errors import ConfigError, TargetUnavailable

Step = Callable[[str], AbstractContextManager[None]]


@dataclass(frozen=True)
class Session:
    """A checked set of options and what shows progress."""

    options: BenchOptions
    step: Step

    def run(self) -> Report:
        """Measure everything, or stop after a gate that failed."""
        with self.step(f"load {self.options.implementation} (compiles on first use)"):
            require_device(self.options.device)
            require_engine(self.options.engine)
            report = Report(self.options, machine.facts(self.options))
        for case in self.cases():
            with self.step(f"{case.name}: gate"):
                report.checks += gate.check_case(case, self.options)
        if report.failed:
            return report
        for case in self.cases():
            for n in self.options.sizes_of(case):
                if report.failed:
                    return report
                self._measure(case, n, report)
        if self.options.device == "cuda":
            with self.step("whole blocks"):
                report.blocks = block.measure(self.options)
        return report

    def cases(self) -> list[Case]:
        """The cases asked for."""
        return [CASES[name] for name in self.options.cases]

    def _measure(self, case: Case, n: int, report: Report) -> None:
        with self.step(f"{case.name}, N = {n}: inputs, rows against float64"):
            load = build(case, n, self.options)
            report.inputs.append({"case": case.name, "n": n, **load.facts})
            report.checks.append(gate.check_rows(load, ours(load, self.options), self.options))
        if report.failed:
            return
        chosen, notes = names(load, self.options)
        report.notes += [note for note in notes if note not in report.notes]
        contenders = [contender(name, load, self.options) for name in chosen]
        contenders = [c for c in contenders if self._computes_the_case(load, c, report)]
        for what in dict.fromkeys(what for c in contenders for what in c.passes()):
            taking_part = [c for c in contenders if what in c.passes()]
            with self.step(f"{case.name}, N = {n}: {what}, {', '.join(c.name for c in taking_part)}"):
                samples = clock.interleaved(taking_part, what, self.options.repeats)
            peaks: dict[str, int] = {}
            if measures_memory(self.options):
                with self.step(f"{case.name}, N = {n}: {what}, memory"):
                    peaks = {c.name: memory.peak_bytes(load, c.name, what, self.options) for c in taking_part}
            report.rows += [self._row(load, c, what, samples, peaks.get(c.name)) for c in taking_part]

    def _computes_the_case(self, load: Workload, given: Contender, report: Report) -> bool:
        """Whether a baseline may be shown: it must compute what it is compared with, roughly."""
        if given.name == OURS or not given.comparable:
            return True
        check = gate.check_rows(load, given, self.options)
        if not check.ok:
            report.notes.append(f"{given.name}: left out, it does not compute this case here: {check}")
        if given.note:
            note = f"{given.name}: {given.note}"
            report.notes += [] if note in report.notes else [note]
        return check.ok

    def _row(
        self, load: Workload, given: Contender, what: str, samples: dict[str, list[float]], peak: int | None
    ) -> Row:
        mine = samples[given.name]
        seconds = clock.spread(mine)
        return Row(
            case=load.case.name,
            n=load.n,
            contender=given.name,
            what=what,
            seconds=seconds,
            to_sdpa=clock.paired_ratio(mine, samples[SDPA]) if SDPA in samples else None,
            to_ours=clock.paired_ratio(mine, samples[OURS]),
            tokens_per_s=load.tokens / seconds.median,
            rounds=len(mine),
            peak_bytes=peak,
            tflops=teraflop(load, what) / seconds.median,
            gbytes_per_s=gbytes(load, what) / seconds.median,
            note=given.note,
        )


def step_count(options: BenchOptions) -> int:
    """Steps that :meth:`Session.run` shows when nothing fails."""
    sizes = sum(len(options.sizes_of(CASES[name])) for name in options.cases)
    per_size = 1 + 2 * (1 + measures_memory(options))  # inputs, then both passes
    return 1 + len(options.cases) + per_size * sizes + (options.device == "cuda")


def measures_memory(options: BenchOptions) -> bool:
    """Whether peak memory was asked for and this machine can tell."""
    return options.memory and memory.measurable(options.device)


def on_this_machine(options: BenchOptions, device: str | None, flex: bool | None) -> BenchOptions:
    """Fill in what was not asked for: the GPU where torch sees one, and FlexAttention on a GPU."""
    gpu = device == "cuda" or (device is None and options.impl != "native" and torch.cuda.is_available())
    return replace(options, device="cuda" if gpu else "cpu", flex=gpu if flex is None else flex)


def require_device(device: str) -> None:
    """TargetUnavailable when a GPU was asked for and torch sees none."""
    if device == "cuda" and not torch.cuda.is_available():
        raise TargetUnavailable(
            "triton",
            "--device cuda was asked for and torch sees no GPU",
            "pip install torch, in a build for your GPU",
        )


def require_engine(engine: str | None) -> None:
    """ConfigError when an instruction set was asked for that this machine lacks."""
    if engine is None:
        return
    from hw_targets.triton.ops import native_ssa

    known = native_ssa.engines()
    if engine not in known:
        raise ConfigError(
            f"--engine: given {engine!r}, expected one of {', '.join(known)}, which this machine has; "
            f"leave it out to take {known[-1]}"
        )
