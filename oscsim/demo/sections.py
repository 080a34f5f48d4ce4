"""The demo: one real layer, solved, run on every target and compared (no model, no backend is imported)."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from oscsim.demo.circuit import STEPS, OnChip, on_chip
from oscsim.demo.energy import layer_energy
from oscsim.demo.layers import (
    Cells,
    clamped_layer,
    most_selective_head,
    network_layer,
    pick_cells,
    settling_layer,
)
from oscsim.energy.report import EnergyReport
from oscsim.errors import SpecError
from oscsim.reference import solve
from oscsim.result import SyncResult
from oscsim.spec import PhaseLayerSpec
from oscsim.target import AbstractTarget, TargetConfig
from oscsim.trial import Trial, attempt, comparison_json

SHORTEST_TEXT, LONGEST_TEXT = 64, 512
SAMPLES = 4096  # stored phases of the settling cells: the slowest decides how long all of them run
Step = Callable[[str], AbstractContextManager[None]]


@dataclass(frozen=True)
class Subject:
    """What the demo is about.

    Parameters
    ----------
    text : the passage; checkpoint : facts about the model, plain JSON; block : which layer of it.
    layer : that layer on that text, dynamics "pair".
    """

    text: str
    checkpoint: dict[str, Any]
    block: int
    layer: PhaseLayerSpec


@dataclass(frozen=True)
class Section:
    """One layer with its reference and what every target made of it."""

    name: str
    layer: PhaseLayerSpec
    reference: SyncResult
    trials: tuple[Trial, ...]

    @property
    def results(self) -> dict[str, SyncResult]:
        """Results of the targets that have one."""
        return {trial.target: trial.result for trial in self.trials if trial.result is not None}

    def to_json(self) -> dict[str, Any]:
        """The content of ``compare --json`` and a digest of every answer."""
        answers = {"closed_form": self.reference, **self.results}
        return {
            **comparison_json(self.layer, self.reference, self.trials),
            "sync_digests": {name: _digest(result.sync.tobytes()) for name, result in answers.items()},
        }


@dataclass(frozen=True)
class Outcome:
    """Everything the report shows: sections "pair", "clamped", "cells" and "network"."""

    subject: Subject
    cells: Cells
    sections: Mapping[str, Section]
    mean_field: SyncResult  # the pair closed form of the network section's oscillators
    network_head: int
    chip: OnChip
    energy: EnergyReport  # of the whole layer

    @property
    def trials(self) -> list[Trial]:
        """Those of all sections, the circuit's last."""
        return [*(trial for section in self.sections.values() for trial in section.trials), self.chip.trial]

    @property
    def labels(self) -> list[str]:
        """The section of every trial."""
        return [*(name for name, section in self.sections.items() for _ in section.trials), "circuit"]

    @property
    def conforms(self) -> bool:
        """Whether every target ran and agrees with the exact answer of every section."""
        return all(trial.conforms for trial in self.trials)

    def approximation_errors(self) -> dict[str, float]:
        """Mean ``|S_network - S_closed_form|`` per target over off-diagonal pairs: a finding, no verdict."""
        terms = self.mean_field.conditioning
        assert terms is not None  # solve always sets it; narrows the type
        pairs = terms.unmasked & ~np.eye(len(terms.unmasked), dtype=bool)
        return {
            name: float(np.abs(result.sync - self.mean_field.sync)[:, pairs].mean())
            for name, result in self.sections["network"].results.items()
        }

    def to_json(self) -> dict[str, Any]:
        """The content of ``result.json``, without pictures and times."""
        return {
            "schema_version": 1,
            "text": self.subject.text,
            "text_digest": _digest(self.subject.text.encode()),
            "checkpoint": self.subject.checkpoint,
            "block": self.subject.block,
            "conforms": self.conforms,
            "sections": {name: section.to_json() for name, section in self.sections.items()},
            "network_approximation_error": self.approximation_errors(),
            "circuit": self.chip.to_json(),
            "energy": self.energy.to_json(),
        }


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def check_text(text: str) -> str:
    """Refuse a passage the demo cannot show.

    Raises
    ------
    SpecError
        fewer than 64 or more than 512 bytes of UTF-8.
    """
    length = len(text.encode())
    if not SHORTEST_TEXT <= length <= LONGEST_TEXT:
        raise SpecError(
            f"--text: given {length} bytes, expected {SHORTEST_TEXT} to {LONGEST_TEXT}; "
            "for other lengths use oscsim export and oscsim compare"
        )
    return text


def run(
    subject: Subject,
    targets: Sequence[AbstractTarget[Any]],
    circuit: AbstractTarget[Any],
    step: Step,
    counted: Sequence[AbstractTarget[Any]] = (),
) -> Outcome:
    """Solve, run and compare every layer of the demo; ``step(name)`` shows progress around each piece.

    Parameters
    ----------
    counted : targets that are not run, but whose plans are counted for the energies as well.
    """
    cells = pick_cells(subject.layer)
    network, head = network_layer(subject.layer)
    layers = {
        "pair": subject.layer,
        "clamped": clamped_layer(subject.layer),
        "cells": settling_layer(cells),
        "network": network,
    }
    sections = {name: _section(name, layer, targets, step) for name, layer in layers.items()}
    chosen = most_selective_head(sections["pair"].reference.sync)
    chip = on_chip(subject.layer, chosen, circuit, step)
    with step("energy: counts and constants"):
        energy = layer_energy(subject.layer, (*targets, circuit, *counted))
    return Outcome(subject, cells, sections, solve(network.replace(dynamics="pair")), head, chip, energy)


def step_count(targets: Sequence[AbstractTarget[Any]]) -> int:
    """How often :func:`run` calls ``step``."""
    return 4 * (1 + len(targets)) + STEPS + 1


def _section(name: str, layer: PhaseLayerSpec, targets: Sequence[AbstractTarget[Any]], step: Step) -> Section:
    with step(f"{name}: closed form"):
        reference = solve(layer)
    trials = []
    for target in targets:
        with step(f"{name}: {target.name}"):
            trials.append(attempt(target, _config(target, name), layer, reference))
    return Section(name, layer, reference, tuple(trials))


def _config(target: AbstractTarget[Any], section: str) -> TargetConfig:
    """The defaults; where phases over time are drawn, as many of them as the target can store."""
    stores = section == "cells" and "trajectory_samples" in target.config_class.model_fields
    return target.config(trajectory_samples=SAMPLES) if stores else target.config()
