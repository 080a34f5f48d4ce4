"""Networks: all heads and channels in one group, looked at until they rest or their average stands."""

from hw_targets.brian2.circuits.lowering import CircuitLowering
from hw_targets.brian2.circuits.outcome import Outcome, film, outcome
from hw_targets.brian2.circuits.simulation import Simulation
from oscsim.circuits.network_readout import network_reading
from oscsim.circuits.readout import Reading
from oscsim.spec import PhaseLayerSpec


def run_network(spec: PhaseLayerSpec, lowering: CircuitLowering) -> Outcome:
    """``S = J (1/D) sum_l Re <exp(i(theta_i - theta_j))>``."""
    (part,) = lowering.classes
    simulation = Simulation(lowering, part.batches, part.spacing)
    readings: list[Reading] = []

    def judge(last: bool) -> bool:
        readings.append(network_reading(spec, lowering.circuit, simulation.record(), lowering.skip, last))
        return readings[-1].done

    simulation.run(part.looks, judge)
    pictures = film(spec, lowering, simulation.record())
    return outcome(lowering, readings[-1], f"{simulation.cycles:.4g}", pictures)
