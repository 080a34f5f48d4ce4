"""The spice target: oscillator circuits as netlists, run by ngspice."""

from hw_targets.spice.config import SpiceConfig
from hw_targets.spice.lowering import Lowered
from hw_targets.spice.plan import layer_netlist, lower_layer
from hw_targets.spice.process import PROGRAM, version
from hw_targets.spice.run import run_layer
from oscsim.circuits.validity import announce
from oscsim.result import SyncResult
from oscsim.spec import PhaseLayerSpec
from oscsim.target import AbstractTarget, Availability, Executable, Plan


class SpiceTarget(AbstractTarget[SpiceConfig]):
    """Circuits in an independent, public simulator (docs/targets/spice.md).

    >>> SpiceTarget().config(family="ring").reltol
    1e-06
    """

    name = "spice"
    config_class = SpiceConfig
    packages = ()
    install_command = "apt-get install ngspice"

    def availability(self) -> Availability:
        """Whether the program ``ngspice`` is on the path, and its version."""
        found = version()
        reason = "" if found else f"the program {PROGRAM} is not on the path"
        return Availability(found is not None, found or "", reason, self.install_command)

    def _lower(self, spec: PhaseLayerSpec, config: SpiceConfig) -> "SpiceExecutable":
        plan, lowered = lower_layer(spec, config)
        return SpiceExecutable(self, spec, plan, lowered)


class SpiceExecutable(Executable):
    """A lowered layer; every run starts afresh from the spec's initial state."""

    def __init__(self, target: SpiceTarget, spec: PhaseLayerSpec, plan: Plan, lowered: Lowered) -> None:
        self.plan = plan
        self._target, self._spec, self._lowered = target, spec, lowered

    @property
    def netlist(self) -> str:
        """The whole layer as one netlist."""
        return layer_netlist(self._spec, self._lowered)

    def run(self) -> SyncResult:
        """Simulate the circuits; see :class:`oscsim.target.Executable`."""
        self._target.require()
        announce(self._target.name, self._lowered.circuit.warnings)
        return run_layer(self._spec, self.plan, self._lowered)
