"""The brian2 target: phase-level oscillator circuits with physical units."""

import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from hw_targets.brian2.config import Brian2Config
from hw_targets.brian2.plan import Lowered, lower_layer
from oscsim.errors import TargetUnavailable
from oscsim.result import SyncResult
from oscsim.spec import PhaseLayerSpec
from oscsim.target import AbstractTarget, Executable, Plan, for_this_python


class Brian2Target(AbstractTarget[Brian2Config]):
    """Phase oscillators integrated by Brian2 (docs/targets/brian2.md).

    >>> Brian2Target().config(step=0.05).step
    0.05
    """

    name = "brian2"
    config_class = Brian2Config
    packages = ("brian2",)
    install_command = "pip install -e '.[brian2]'"

    def _lower(self, spec: PhaseLayerSpec, config: Brian2Config) -> "Brian2Executable":
        plan, lowered = lower_layer(spec, config)
        return Brian2Executable(self, spec, config, plan, lowered)


class Brian2Executable(Executable):
    """A lowered layer; every run starts afresh from the spec's initial state."""

    def __init__(
        self, target: Brian2Target, spec: PhaseLayerSpec, config: Brian2Config, plan: Plan, lowered: Lowered
    ) -> None:
        self.plan = plan
        self._target, self._spec, self._config, self._lowered = target, spec, config, lowered

    def run(self) -> SyncResult:
        """Simulate the circuits; see :class:`oscsim.target.Executable`."""
        self._target.require()
        try:
            with interpreter_hooks_kept():
                from hw_targets.brian2.run import run_layer
        except ImportError as error:
            reason = f"importing it failed ({error})"
            command = for_this_python(self._target.install_command)
            raise TargetUnavailable(self._target.name, reason, command) from error
        return run_layer(self._spec, self._config, self.plan, self._lowered)


@contextmanager
def interpreter_hooks_kept() -> Iterator[None]:
    """Undo what importing Brian2 does to the whole program: it catches warnings and uncaught exceptions."""
    excepthook, showwarning = sys.excepthook, warnings.showwarning
    try:
        yield
    finally:
        sys.excepthook = excepthook
        if warnings.showwarning is not showwarning:
            logging.captureWarnings(False)
