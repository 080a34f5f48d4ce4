"""The circuit target: oscillator circuits of voltages and currents, integrated by Brian2."""

from hw_targets.brian2.circuits.config import CircuitConfig
from hw_targets.brian2.circuits.lowering import CircuitLowering
from hw_targets.brian2.circuits.plan import lower_layer
from hw_targets.brian2.target import interpreter_hooks_kept
from oscsim.circuits.validity import announce
from oscsim.errors import TargetUnavailable
from oscsim.result import SyncResult
from oscsim.spec import PhaseLayerSpec
from oscsim.target import AbstractTarget, Executable, Plan, for_this_python


class CircuitTarget(AbstractTarget[CircuitConfig]):
    """LC, ring, relaxation and Stuart-Landau circuits (docs/circuits.md, docs/targets/brian2.md).

    >>> CircuitTarget().config(mu=0.1).family
    'lc'
    """

    name = "circuit"
    config_class = CircuitConfig
    packages = ("brian2",)
    install_command = "pip install -e '.[brian2]'"

    def _lower(self, spec: PhaseLayerSpec, config: CircuitConfig) -> "CircuitExecutable":
        plan, lowered = lower_layer(spec, config)
        return CircuitExecutable(self, spec, config, plan, lowered)


class CircuitExecutable(Executable):
    """A lowered layer; every run starts afresh from the spec's initial state."""

    def __init__(
        self,
        target: CircuitTarget,
        spec: PhaseLayerSpec,
        config: CircuitConfig,
        plan: Plan,
        lowered: CircuitLowering,
    ) -> None:
        self.plan = plan
        self._target, self._spec, self._config, self._lowered = target, spec, config, lowered

    def run(self) -> SyncResult:
        """Simulate the circuits; see :class:`oscsim.target.Executable`."""
        self._target.require()
        try:
            with interpreter_hooks_kept():
                from hw_targets.brian2.circuits.run import run_layer
        except ImportError as error:
            reason = f"importing it failed ({error})"
            command = for_this_python(self._target.install_command)
            raise TargetUnavailable(self._target.name, reason, command) from error
        announce(self._target.name, self._lowered.circuit.warnings)
        return run_layer(self._spec, self._config, self.plan, self._lowered)
