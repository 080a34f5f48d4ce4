"""What a simulated oscillator costs: ``python -m hw_targets.brian2.circuits.bench``.

Microseconds of one core per oscillator and carrier cycle, read-out included, the median of three runs.
"""

import statistics
import time

import numpy as np

from hw_targets.brian2.circuits.config import CircuitConfig
from hw_targets.brian2.circuits.lowering import CircuitLowering, lower
from hw_targets.brian2.circuits.simulation import Simulation
from hw_targets.brian2.run import numpy_codegen
from oscsim.coupling import FrequencyCoupling
from oscsim.spec import PhaseLayerSpec

# oscillators per network, heads (a coupling matrix each), channels of each, steps per cycle (None: from the
# phase accuracy)
_CASES = (
    (64, 8, 8, None),
    (256, 4, 16, None),
    (256, 4, 16, 48),
    (256, 64, 1, None),
    (1024, 1, 1, None),
    (1024, 1, 1, 48),
)
_CYCLES, _REPEATS = 20, 3
_CARRIER_HZ, _EPSILON = 1e9, 0.02


def layer(count: int, heads: int, channels: int) -> PhaseLayerSpec:
    """Networks of LC tanks, all coupled to all."""
    rng = np.random.default_rng(0)
    shape = (heads, count, channels)
    return PhaseLayerSpec(
        omega=0.3 * rng.standard_normal(shape),
        theta=rng.uniform(-1.0, 1.0, shape),
        coupling=FrequencyCoupling(np.zeros(heads)),
        gain=np.ones(heads),
        dynamics="network",
        carrier_hz=_CARRIER_HZ,
        time_unit_s=1.0 / (2.0 * np.pi * _CARRIER_HZ * _EPSILON),
    )


def seconds(lowering: CircuitLowering) -> float:
    """One run of _CYCLES carrier cycles, start of Brian2 included."""
    part = lowering.classes[0]
    begin = time.perf_counter()
    with numpy_codegen():
        Simulation(lowering, part.batches, part.spacing).run((_CYCLES,), lambda last: last)
    return time.perf_counter() - begin


def main() -> None:
    """Print one line per case."""
    print(f"{'N':>5} {'heads':>6} {'channels':>9} {'steps':>6}   us per oscillator-cycle")
    for count, heads, channels, steps in _CASES:
        lowering = lower(layer(count, heads, channels), CircuitConfig(mu=0.1, steps_per_cycle=steps))
        seconds(lowering)  # code generation is cached after this
        median = statistics.median(seconds(lowering) for _ in range(_REPEATS))
        cost = median / (_CYCLES * count * heads * channels) * 1e6
        print(f"{count:>5} {heads:>6} {channels:>9} {lowering.ticks.steps:>6}   {cost:.2f}", flush=True)


if __name__ == "__main__":
    main()
