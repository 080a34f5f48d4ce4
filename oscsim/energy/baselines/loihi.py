"""The Loihi-style program at energies of Loihi 1: two published sets of numbers, and nothing of Loihi 2."""

from collections.abc import Callable

import numpy as np

from oscsim.counts import Counts
from oscsim.energy.baselines.refusal import estimate_or_list
from oscsim.energy.constants import Book
from oscsim.energy.estimate import Estimate, Refusal, Scope, Term
from oscsim.energy.units import Quantity, magnitude, quantity
from oscsim.energy.valuation import Valuation

NAME = "Loihi 2 program at Loihi 1 energies"
BOUNDARY = "cores, dynamic"

# Fit to silicon [SANAFE], and what was simulated before silicon [LOIHI] in its place.
_SYNAPSE = {"dense": "loihi1_synaptic_op", "sparse": "loihi1_synaptic_op_sparse"}
_SYNAPSE_BEFORE = "loihi1_synaptic_op_presilicon"
_UPDATE_BEFORE = "loihi1_neuron_update_active_presilicon"

_NO_PRICE = (
    ("sine_lookups", "the neuron that was measured looks up no sine; a phase neuron costs more than this"),
    ("time_steps", "static power needs the time of one step, which nobody published for this program"),
)
_OFF_CHIP = (
    ("read-out", "S is computed from the record, off the chip"),
    ("row normalisation and values", "off the chip; digital_rest counts them"),
)
_NOTES = (
    "no public energy per event of Loihi 2 exists: these are Loihi 1's (14 nm), not scaled",
    "the best value is the fit to silicon; half of the draws behind the range use what was simulated before "
    "silicon (a minimum for synaptic operations)",
    "an update was measured for a leaky integrate-and-fire neuron; a phase neuron does more",
)


def loihi_estimate(
    counts: Counts, book: Book, accuracy: float | None = None, asked: float | None = None
) -> Estimate | Refusal:
    """Dynamic energy of the cores: events of a lava plan times energies per event of Loihi 1.

    ``E = updates (e_access + e_update) + operations e_synapse + spikes e_spike + messages e_message + hops
    (e_east_west + e_north_south) / 2``; half of the draws use the updates and operations of before silicon.

    Parameters
    ----------
    counts : of a lava plan.
    accuracy : what the plan promises of S. asked : what was wanted of every row of the comparison.

    >>> from oscsim.energy import load_constants
    >>> result = loihi_estimate(Counts({"neuron_updates": 1e6, "sine_lookups": 1e6}), load_constants())
    >>> result.kind, result.boundary, result.left_out[0][0]
    ('inherited', 'cores, dynamic', 'sine_lookups')
    """
    left_out = (*((event, why) for event, why in _NO_PRICE if counts.total(event) > 0.0), *_OFF_CHIP)
    notes = (*_NOTES, *_accuracy_note(accuracy, asked))
    scope = Scope(NAME, "inherited", BOUNDARY, accuracy, left_out, notes)
    rows = [row for row in _ROWS if counts.get(row[0], 0.0) > 0.0]
    terms = [
        Term(event, formula, _term(counts[event], unit, price), (event,))
        for event, unit, formula, _, price in rows
    ]
    return estimate_or_list(scope, counts, terms, (name for row in rows for name in row[3]), book)


Price = Callable[[Valuation], Quantity]


def either(fit: Price, before: str) -> Price:
    """A price known twice: best value of the fit, draws of one and of the other in equal parts.

    The same draws of every such price come from before silicon, since the two sets of numbers are two answers
    to one question.
    """

    def price(v: Valuation) -> Quantity:
        first, second = fit(v), v(before)
        if np.ndim(first.magnitude) == 0:
            return first
        mixed = first.magnitude.copy()
        mixed[::2] = magnitude(second, str(first.units))[::2]
        return quantity(mixed, str(first.units))

    return price


def _term(count: float, unit: str, price: Price) -> Price:
    return lambda v: quantity(count, unit) * price(v)


def _update(v: Valuation) -> Quantity:
    return v("loihi1_soma_access") + v("loihi1_soma_update")


def _mean_hop(v: Valuation) -> Quantity:
    return (v("loihi1_hop_east_west") + v("loihi1_hop_north_south")) / 2.0


def _of(name: str) -> Price:
    return lambda v: v(name)


# event, its unit, formula, constants, price of one
_ROWS: tuple[tuple[str, str, str, tuple[str, ...], Price], ...] = (
    (
        "neuron_updates",
        "update",
        "updates (e_access + e_update); before silicon: updates e_active",
        ("loihi1_soma_access", "loihi1_soma_update", _UPDATE_BEFORE),
        either(_update, _UPDATE_BEFORE),
    ),
    *(
        (
            f"synaptic_operations.{kind}",
            "operation",
            f"{kind} operations e_synapse; before silicon: a minimum",
            (name, _SYNAPSE_BEFORE),
            either(_of(name), _SYNAPSE_BEFORE),
        )
        for kind, name in _SYNAPSE.items()
    ),
    ("spikes", "spike", "spikes e_spike", ("loihi1_spike_out",), _of("loihi1_spike_out")),
    ("messages", "message", "messages e_message", ("loihi1_axon_message",), _of("loihi1_axon_message")),
    (
        "hops",
        "hop",
        "hops (e_east_west + e_north_south) / 2",
        ("loihi1_hop_east_west", "loihi1_hop_north_south"),
        _mean_hop,
    ),
)


def _accuracy_note(accuracy: float | None, asked: float | None) -> tuple[str, ...]:
    if accuracy is None or asked is None or accuracy <= asked:
        return ()
    return (f"less accurate than asked: this plan promises {accuracy:.2g}, asked {asked:.2g}",)
