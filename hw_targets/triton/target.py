"""The triton target: the fused op or closed-form tiles for pair and clamped layers, steps for networks."""

from dataclasses import dataclass

from hw_targets.triton.attention_plan import lower_attention
from hw_targets.triton.config import TritonConfig
from hw_targets.triton.network_plan import lower_network
from hw_targets.triton.plan import LARGEST_WIDTH, Lowered, require_at_most
from hw_targets.triton.tile_plan import lower_tiles
from oscsim.coupling import FrequencyCoupling
from oscsim.result import SyncResult
from oscsim.spec import PhaseLayerSpec
from oscsim.target import AbstractTarget, Executable, Plan


@dataclass(frozen=True, eq=False)
class TritonExecutable(Executable):
    """A layer lowered to kernel launches."""

    target: "TritonTarget"
    spec: PhaseLayerSpec
    config: TritonConfig
    lowered: Lowered

    @property
    def plan(self) -> Plan:  # type: ignore[override]
        """Tiles, grids, number formats and counts."""
        return self.lowered.plan

    def run(self) -> SyncResult:
        """Launch the kernels, compiled on a GPU or interpreted on the CPU (see ``TritonConfig.device``)."""
        self.target.require()
        from hw_targets.triton.run import run_layer

        return run_layer(self.spec, self.config, self.lowered)


class TritonTarget(AbstractTarget[TritonConfig]):
    """Tiled float32 kernels; the same source runs compiled on a GPU and interpreted on a CPU.

    >>> from oscsim import FrequencyCoupling
    >>> spec = PhaseLayerSpec(omega=[[[0.0], [0.6]]] * 2, theta=[[[0.0], [0.0]]] * 2,
    ...                       coupling=FrequencyCoupling(alpha=[0.0, 0.0]), gain=[1.0, 2.0])
    >>> TritonTarget().lower(spec).plan["op"]["name"]
    'ssa_attention'
    """

    name = "triton"
    config_class = TritonConfig
    packages = ("torch", "triton")
    install_command = "pip install -e '.[triton]'"

    def _lower(self, spec: PhaseLayerSpec, config: TritonConfig) -> TritonExecutable:
        require_at_most("channels per head", spec.n_channels, LARGEST_WIDTH)
        if spec.values is not None:
            require_at_most("value width", spec.values.shape[2], LARGEST_WIDTH)
        return TritonExecutable(self, spec, config, _lowered(spec, config))


def _lowered(spec: PhaseLayerSpec, config: TritonConfig) -> Lowered:
    if spec.dynamics == "network":
        return lower_network(spec, config)
    if spec.dynamics == "pair" and isinstance(spec.coupling, FrequencyCoupling):
        return lower_attention(spec, spec.coupling, config)
    return lower_tiles(spec, config)
