"""Sections of a plan of what sends spikes: oscillators, held sources, synapses, and their clock."""

import numpy as np

from hw_targets.lava.formats import NumberFormat
from hw_targets.lava.held import Held, Schedule
from hw_targets.lava.network import Network
from hw_targets.lava.plan_entries import Entries, digits, fingerprint_of
from hw_targets.lava.program import STAGES, NetworkProgram

# An oscillator looks up one sine and one cosine per stage.
STAGE_LOOKUPS = 2


def network_entries(net: Network, program: NetworkProgram, form: NumberFormat) -> Entries:
    """The oscillators, their synapses and frames."""
    return {
        "oscillators": len(net.theta),
        **_oscillators(program, form),
        "rotating_frame_rad_per_time_unit": [digits(x) for x in net.frame.ravel()],
        "own_clock_per_time_unit": [digits(x) for x in net.clock],
    }


def held_entries(these: Held, program: NetworkProgram, form: NumberFormat) -> Entries:
    """Free oscillators, held sources, and the synapses between them."""
    return {
        "free_oscillators": len(these.free),
        "held_sources": len(these.sources),
        "cancelling_sources": int((~these.resolved).sum()),
        **_oscillators(program, form),
    }


def _oscillators(program: NetworkProgram, form: NumberFormat) -> Entries:
    """What a process of oscillators and its synapses get."""
    return {
        "process": "PhaseOscillators",
        "process_model": form.tag,
        f"{program.synapses}_processes": 2,
        "delay_steps": program.delay_steps,
        "theta": fingerprint_of(program.theta),
        "drift": fingerprint_of(program.drift),
        "gain": fingerprint_of(program.gain),
        "weights": fingerprint_of(program.weights),
    }


def network_clock(net: Network, program: NetworkProgram, form: NumberFormat, most_chunks: int) -> Entries:
    """Own-clock step, time steps of Lava, and a mean-field guess of when the network rests."""
    stages, chunk = STAGES[program.integrator], program.chunk
    rows = np.abs(net.matrix).sum(axis=1)
    weakest = rows[rows > 0].min(initial=np.inf)
    # the most weakly driven oscillator relaxes at most at the sum of its couplings
    time = np.log(1.0 / form.residual) / weakest if np.isfinite(weakest) else 0.0
    return {
        "own_clock_step": digits(form.step),
        "lava_steps_per_step": stages,
        "steps_per_look": chunk,
        "steps_longest": chunk * most_chunks,
        "lava_steps_longest": program.lava_steps(chunk * most_chunks),
        "predicted_settling_own_clock": digits(time),
        "residual": digits(form.residual),
        "resolution": digits(form.resolution),
    }


def held_clock(these: Held, steps: Schedule, program: NetworkProgram, form: NumberFormat) -> Entries:
    """Steps that every oscillator makes, and how long they are on its own clock."""
    moving = steps.pace[steps.pace > 0]
    return {
        "own_clock_step": digits(form.step * moving.max(initial=0.0)),
        "own_clock_step_slowest": digits(form.step * moving.min(initial=1.0)) if len(moving) else 0.0,
        "lava_steps_per_step": STAGES[program.integrator],
        "steps": steps.steps,
        "lava_steps": program.lava_steps(steps.steps),
        "run_to_rest": int(steps.to_rest.sum()),
        "standing_still": len(these.free) - len(moving),
        "residual": digits(form.residual),
    }


def network_resources(heads: int, program: NetworkProgram) -> Entries:
    """What is stored, and the most that one Lava time step does; a run's counters say what it did.

    Every channel has its own copy of a head's N x N matrix, for cosines and for sines: 2 D N^2 synapses.
    """
    count, reached = len(program.theta), program.fan_out
    return {
        "neurons": count,
        "synapses": 2 * int(reached.sum()),
        "synapses_per_head": 2 * int(reached.sum()) // heads,
        "synapses_not_zero": 2 * int(np.count_nonzero(program.weights)),
        "neuron_updates_per_lava_step": count,
        "sine_lookups_per_lava_step": STAGE_LOOKUPS * count,
        "most_spikes_per_lava_step": 2 * int((reached > 0).sum()),
        "most_synaptic_operations_per_lava_step": 2 * int(reached.sum()),
        "bits_per_graded_spike": program.payload_bits,
    }
