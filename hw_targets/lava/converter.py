"""The converter: time and amplitude scaling that a layer gets where its configuration leaves them open.

**Amplitude** (``payload_bits``): as wide as the synaptic sums allow, so that none can saturate.

**Time** (``steps_per_turn``): quantisation error is balanced. Truncation falls with the number of steps, the
phase bits that roundings take grow with it; neither matters below the error of the sine, which no number of
steps changes. So: the fewest steps whose own error is at most ``SHARE`` of the sine's; where there are none,
the number whose own error is least among those that ``max_steps`` can pay for. It pays for a number when a
cell at the edge of the format's own band still finishes; if it pays for none, the fewest that a promise can
be made with.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.chip import check_cells, check_formats
from hw_targets.lava.config import LavaConfig
from hw_targets.lava.duration import Timing, edge_steps
from hw_targets.lava.formats import NumberFormat, number_format, sine_options
from hw_targets.lava.picks import Picked
from hw_targets.lava.program import NetworkProgram
from hw_targets.lava.promises import lost_phase, step_errors
from hw_targets.lava.sums import checked_row_sum, payload_that_fits, sum_bits
from oscsim.spec import PhaseLayerSpec
from oscsim.target import Row
from oscsim.tolerance import (
    EDGE_BAND,
    FLOAT64_EPSILON,
    LARGEST_AVERAGING_ERROR,
    LARGEST_EPSILON,
    sine_table_error,
)

Array = NDArray[np.float64]

COUNTS = tuple(2**k for k in range(4, 11))
WIDEST_PAYLOAD = 16
# An error a tenth as large is not seen beside the other one.
SHARE = 0.1


@dataclass(frozen=True)
class Converted:
    """A configuration with nothing left open, and the reason of each pick as a row of the plan."""

    config: Picked
    rows: dict[str, Row]


@dataclass(frozen=True)
class StepErrors:
    """What limits a number of steps, in units of epsilon: its own two errors, and that of the sine."""

    truncation: float
    lost_phase: float
    sine: float

    @property
    def own(self) -> float:
        """What the number of steps is to blame for."""
        return self.truncation + self.lost_phase


def converted(spec: PhaseLayerSpec, config: LavaConfig, matrix: Array | None = None) -> Converted:
    """Every open option filled in for this layer, after a look at what the chip cannot hold at all.

    Parameters
    ----------
    matrix : (M, M) couplings that become synapses; None where cells send no spikes.

    Raises
    ------
    LoweringError
        a format or a synaptic sum exceeds a limit; names it and the smallest change that fits.
    """
    widest = {"payload_bits": config.payload_bits or WIDEST_PAYLOAD, "steps_per_turn": COUNTS[0]}
    full = Picked.model_construct(**{**dict(config), **widest})
    check_formats(full)
    if matrix is None:
        check_cells(spec, full)
    rows: dict[str, Row] = {}
    if config.number_format == "fixed_point":
        most = 0 if matrix is None else checked_row_sum(spec, matrix, config)
        payload = config.payload_bits or min(WIDEST_PAYLOAD, payload_that_fits(most, sum_bits(config)))
        rows["payload_bits"] = _payload_row(config, payload, most)
        full = full.having(payload_bits=payload)
    full, rows["steps_per_turn"] = _with_steps(spec, config, full)
    return Converted(full, rows)


def _payload_row(config: LavaConfig, payload: int, row_sum: int) -> Row:
    """The width of spikes; beside it what a spike and a weight round away, where there are sums of them."""
    given, bits = config.payload_bits is not None, sum_bits(config)
    values: dict[str, Any] = {"value": payload, "given": given}
    why = "no synaptic sums"
    if row_sum:
        largest, limit = row_sum * ((1 << (payload - 1)) - 1), (1 << (bits - 1)) - 1
        terms = {
            "spike": float(f"{4.0 * 2.0**-payload:.3g}"),
            "weight": float(f"{2.0**-config.weight_bits:.3g}"),
        }
        values |= {"largest_synaptic_sum": largest, "largest_that_fits": limit, **terms}
        rounding = ", ".join(f"{name} {value:g}" for name, value in terms.items())
        why = f"synaptic sums up to {largest} of {limit}; rounding: {rounding}"
    return Row(f"{payload} ({'given' if given else 'picked, widest that fits'}: {why})", values)


def gain_row(config: LavaConfig, program: NetworkProgram) -> dict[str, Row]:
    """The exponent of the gains (hw_targets/lava/synapses.py picks it) as a row of the plan."""
    if config.number_format == "floating_point":
        return {}
    given, largest = config.gain_shift is not None, int(np.abs(program.gain).max(initial=0))
    why = "given" if given else f"picked, finest with parameter_bits {config.parameter_bits}"
    values = {"value": program.gain_shift, "given": given, "largest_mantissa": largest}
    return {"gain_shift": Row(f"{program.gain_shift} ({why}: largest mantissa {largest})", values)}


def _with_steps(spec: PhaseLayerSpec, config: LavaConfig, full: Picked) -> tuple[Picked, Row]:
    """The number of steps, given or picked, and its errors beside it."""
    given = config.steps_per_turn
    steps, why = pick_steps(full, spec) if given is None else (given, "given")
    error = step_error(full.having(steps_per_turn=steps), spec)
    terms = {
        "truncation": float(f"{error.truncation:.3g}"),
        "lost_phase": float(f"{error.lost_phase:.3g}"),
        "sine": float(f"{error.sine:.3g}"),
    }
    balance = ", ".join(f"{name} {value:g}" for name, value in terms.items())
    row = Row(
        f"{steps} ({why}: {balance})", {"value": steps, "given": given is not None, "reason": why, **terms}
    )
    return full.having(steps_per_turn=steps), row


def pick_steps(config: Picked, spec: PhaseLayerSpec) -> tuple[int, str]:
    """Steps per turn for a layer in this format (the module says how), and which case it was."""
    error = {count: step_error(config.having(steps_per_turn=count), spec) for count in COUNTS}
    for count in COUNTS:
        if error[count].own <= SHARE * error[count].sine:
            return count, "picked, fewest that the sine hides"
    paid = [count for count in COUNTS if affordable(config.having(steps_per_turn=count))]
    if paid:
        best = min(paid, key=lambda count: error[count].own)
        cut = "" if paid == list(COUNTS) else " that max_steps pays for"
        return best, f"picked, least error{cut}"
    promising = [n for n in COUNTS if error[n].truncation <= min(LARGEST_EPSILON, LARGEST_AVERAGING_ERROR)]
    return (promising or COUNTS[-1:])[0], "picked, fewest, as max_steps cuts the band"


def step_error(config: Picked, spec: PhaseLayerSpec) -> StepErrors:
    """The errors that a number of steps balances, as the promise of a run counts them."""
    step = 2 * np.pi / config.steps_per_turn
    truncation = sum(step_errors(config, step, spec.dynamics))
    if config.number_format == "floating_point":
        return StepErrors(truncation, 0.0, FLOAT64_EPSILON)
    interpolated, to_nearest = sine_options(config)
    sine = sine_table_error(
        config.sine_bits, config.payload_bits, interpolated=interpolated, to_nearest=to_nearest
    )
    return StepErrors(truncation, lost_phase(config), 2.0 * sine)


def affordable(config: Picked) -> bool:
    """Whether max_steps are enough for a cell at the edge of the band that the format itself has."""
    timing = timing_of(config, number_format(config))
    return edge_steps(max(EDGE_BAND, 2.0 * timing.resolution), timing) <= config.max_steps


def timing_of(config: Picked, form: NumberFormat) -> Timing:
    """What decides the number of steps of a cell."""
    return Timing(
        form.step,
        form.residual,
        form.resolution,
        form.nearest,
        form.slope,
        config.max_steps,
        config.integrator,
    )
