"""Settling of the same layer once: what a clock or a circuit changes does not change times in time units."""

from collections import OrderedDict
from collections.abc import Callable

from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.settling import Settling
from oscsim.spec import PhaseLayerSpec

_KEPT = 16  # results: those of one report
# All that a network's settling may depend on; the others are of its clock and its circuit.
_MATTERS = ("accuracy", "edge_band", "cell", "cell_clock", "read_out", "stop")

Settles = Callable[[PhaseLayerSpec, OscillatorHardware], Settling]


def once(settling: Settles) -> Settles:
    """The same function, which remembers its last results by layer and wanted accuracy.

    Parameters
    ----------
    settling : in time units of the layer, so that carrier and time unit change nothing.
    """
    known: OrderedDict[tuple[object, ...], Settling] = OrderedDict()

    def remembered(spec: PhaseLayerSpec, hardware: OscillatorHardware) -> Settling:
        key = (spec.digest, *(getattr(hardware, name) for name in _MATTERS))
        if key not in known:
            known[key] = settling(spec, hardware)
            while len(known) > _KEPT:
                known.popitem(last=False)
        return known[key]

    return remembered
