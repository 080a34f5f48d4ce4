"""The lava target: phase layers on Lava processes, in integers or in float64."""

from hw_targets.lava.config import LavaConfig
from hw_targets.lava.plan import Lowered, lower
from oscsim.result import SyncResult
from oscsim.spec import PhaseLayerSpec
from oscsim.target import AbstractTarget, Executable


class LavaExecutable(Executable):
    """A layer lowered for Lava."""

    def __init__(self, target: "LavaTarget", lowered: Lowered) -> None:
        self._target = target
        self.lowered = lowered
        self.plan = lowered.plan

    def run(self) -> SyncResult:
        """Run on Lava's processes (see Executable.run)."""
        self._target.require()
        from hw_targets.lava.run import run

        return run(self.lowered)


class LavaTarget(AbstractTarget[LavaConfig]):
    """Oscillators as Lava processes: wrapping phase accumulators, sine tables, graded spikes.

    pair and clamped layers become arrays of phase cells, a network exchanges graded cosine and sine spikes
    through Dense processes. Every process has a fixed-point and a floating-point model; ``number_format``
    selects one.

    >>> LavaTarget().config().number_format
    'fixed_point'
    """

    name = "lava"
    config_class = LavaConfig
    packages = ("lava-nc",)
    install_command = (
        "pip install --no-deps --ignore-requires-python lava-nc==0.10.0 "
        "&& pip install 'networkx>=3' 'asteval>=1'"
    )

    def _lower(self, spec: PhaseLayerSpec, config: LavaConfig) -> LavaExecutable:
        return LavaExecutable(self, lower(spec, config))
