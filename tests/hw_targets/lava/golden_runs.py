"""The same program through the golden model and through Lava, as one array of every state at every step."""

from dataclasses import replace

import numpy as np

from hw_targets.lava.config import LavaConfig
from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.golden import Golden, stacked
from hw_targets.lava.plan import lower
from hw_targets.lava.program import NETWORK_ROWS, ROWS, CellProgram, NetworkProgram
from hw_targets.lava.trace import traced_cells, traced_network
from oscsim import FrequencyCoupling, PhaseLayerSpec

# Small enough for paper: a turn is 256, the sine table has eight entries of magnitude 7 (45 degrees: 4.95),
# mantissas have 4 bits, a turn has 8 steps, so rates are shifted by 4 + 3 - (8 - 3) = 2.
SMALL = {
    "phase_bits": 8,
    "sine_bits": 3,
    "payload_bits": 4,
    "parameter_bits": 4,
    "steps_per_turn": 8,
    "rounding": "nearest",
    "interpolation": "linear",
}
DEFAULT = SMALL | {
    "phase_bits": 24,
    "sine_bits": 10,
    "payload_bits": 16,
    "parameter_bits": 16,
    "steps_per_turn": 64,
}


def ints(*values) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def cells(phase, mismatch, coupling, steps, integrator="runge_kutta") -> CellProgram:
    """Cells from lists of integers, the longest-running first."""
    numbers = (np.array(one, dtype=np.int64) for one in (phase, mismatch, coupling, steps))
    return CellProgram(*numbers, order=np.arange(len(phase)), integrator=integrator)


def golden_cells(program: CellProgram, form=SMALL) -> np.ndarray:
    """(steps, rows, cells) of the golden model."""
    numbers = (program.phase, program.mismatch, program.coupling, program.steps)
    record = stacked(Golden(**form).cells(*numbers, program.integrator), program.lava_steps)
    return np.stack([record[name] for name in ROWS], axis=1)


def golden_network(program: NetworkProgram, lava_steps: int, form=SMALL) -> np.ndarray:
    """(steps, rows, oscillators) of the golden model."""
    numbers = (program.theta, program.drift, program.gain, program.gain_shift, program.weights)
    motion = Golden(**form).network(*numbers, program.integrator, program.delay_steps > 0)
    record = stacked(motion, lava_steps)
    return np.stack([record[name] for name in NETWORK_ROWS], axis=1)


def lava_cells(program: CellProgram, form=SMALL) -> np.ndarray:
    """(steps, rows, cells) of the Lava process, in any format."""
    lowered = _lowered("pair", form)
    return traced_cells(replace(lowered, program=program))


def lava_network(program: NetworkProgram, lava_steps: int, form=SMALL) -> np.ndarray:
    """(steps, rows, oscillators) of the Lava processes, in any format."""
    return traced_network(replace(_lowered("network", form), program=program), lava_steps)


def _lowered(dynamics: str, form):
    """Any lowered layer, with the arithmetic replaced: formats for paper are too coarse for a real one."""
    spec = PhaseLayerSpec(
        omega=[[[0.0], [0.5]]],
        theta=[[[0.0], [0.4]]],
        coupling=FrequencyCoupling(alpha=[0.0]),
        gain=[1.0],
        dynamics=dynamics,
    )
    # 100,000 time steps take half a minute on a quiet machine
    lowered = lower(spec, LavaConfig(timeout_s=1200.0))
    arithmetic = replace(lowered.number_format, arithmetic=FixedPoint(**form))
    return replace(lowered, number_format=arithmetic)
