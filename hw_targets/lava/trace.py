"""Every state after every Lava time step, read through the `states` port: for tests and for looking closer.

A run without a trace sends nothing of this; the numbers are those of the run all the same.
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.plan import LoweredCells, LoweredHeld, LoweredNetwork
from hw_targets.lava.runtime import lava_session

Array = NDArray[np.float64]


def traced_cells(lowered: LoweredCells) -> Array:
    """The record of every cell after every Lava time step, (steps, len(ROWS), cells), as program.ROWS.

    Cells are in the order of the program. Numbers are those of the format, integers in fixed point (float64
    holds them exactly).

    Raises
    ------
    TargetRunError
        a model failed or the time ran out.
    """
    from hw_targets.lava.processes.pair_cells import PairCells

    program, form, config = lowered.program, lowered.number_format, lowered.config
    build = partial(PairCells, program=program, arithmetic=form.arithmetic, trace=True)
    with lava_session(build, form.tag, config.timeout_s, config.stall_s) as session:
        states = session.run(program.lava_steps, session.process.states, messages=program.lava_steps)
    return np.stack(states)


def traced_network(lowered: LoweredNetwork | LoweredHeld, lava_steps: int) -> Array:
    """Rows of every oscillator after every Lava time step, (lava_steps, len(NETWORK_ROWS), M).

    Raises
    ------
    TargetRunError
        a model failed or the time ran out.
    """
    from hw_targets.lava.processes.phase_oscillators import network_processes

    form, config = lowered.number_format, lowered.config
    build = partial(network_processes, lowered.program, form.arithmetic, trace=True)
    with lava_session(build, form.tag, config.timeout_s, config.stall_s) as session:
        states = session.run(lava_steps, session.process.states, messages=lava_steps)
    return np.stack(states)
