"""Which cells of a layer the batches of a circuit are, in words."""

from collections import defaultdict

import numpy as np

from oscsim.circuits.array import OscillatorArray

_SHOWN = 4  # cells that share a batch and are named one by one


def batch_names(array: OscillatorArray) -> list[str]:
    """What each batch stands for: pair cells, several where equal cells share one, or head and channel.

    >>> from oscsim import FixedOrder, FrequencyCoupling, PhaseLayerSpec
    >>> from oscsim.circuits import oscillator_array
    >>> spec = PhaseLayerSpec(omega=[[[0.0], [0.5]]], theta=[[[0.0], [0.0]]], gain=[1.0],
    ...     coupling=FrequencyCoupling(alpha=[0.0]), order_parameter=FixedOrder(r=[1.0]))
    >>> batch_names(oscillator_array(spec))[1]
    'head 0, i 0, j 1 (and i 1, j 0)'
    """
    if array.dynamics != "pair":
        heads, channels = np.indices(array.cell.shape)
        places = dict(
            zip(array.cell.ravel().tolist(), zip(heads.flat, channels.flat, strict=True), strict=True)
        )
        return ["head {}, channel {}".format(*places[batch]) for batch in range(array.batches)]
    cells: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for head, i, j in np.argwhere(array.cell >= 0).tolist():
        cells[int(array.cell[head, i, j])].append((head, i, j))
    return [_cells(cells[batch]) for batch in range(array.batches)]


def _cells(cells: list[tuple[int, int, int]]) -> str:
    (head, i, j), *others = cells
    text = f"head {head}, i {i}, j {j}"
    if all(i == j for _, i, j in cells):
        text += f", self-pair{'s' if others else ''} (i = j)"
    if not others:
        return text
    named = [f"i {i}, j {j}" if at == head else f"head {at}, i {i}, j {j}" for at, i, j in others[:_SHOWN]]
    more = f", and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
    return f"{text} (and {'; '.join(named)}{more})"


def census(array: OscillatorArray) -> str:
    """Why a layer takes so many oscillators.

    >>> from oscsim import FixedOrder, FrequencyCoupling, PhaseLayerSpec
    >>> from oscsim.circuits import oscillator_array
    >>> spec = PhaseLayerSpec(omega=[[[0.0], [0.5]]], theta=[[[0.0], [0.0]]], gain=[1.0],
    ...     coupling=FrequencyCoupling(alpha=[0.0]), order_parameter=FixedOrder(r=[1.0]))
    >>> census(oscillator_array(spec))
    '4 cells, 2 of them self-pairs (i = j); distinct ones: 2, of 2 oscillators each'
    """
    if array.dynamics == "pair":
        built = array.cell >= 0
        own = int(np.trace(built, axis1=1, axis2=2).sum())
        return (
            f"{int(built.sum())} cells, {own} of them self-pairs (i = j); distinct ones: {array.batches}, "
            "of 2 oscillators each"
        )
    heads, channels = array.cell.shape
    each = f"{array.size} oscillators"
    if array.dynamics == "clamped":
        each = f"{array.size // 2} driven and {array.size // 2} held oscillators"
    return f"{heads} heads x {channels} channels, {each} each"
