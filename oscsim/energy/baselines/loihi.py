"""The Loihi-style program at energies of Loihi 1: a fit to its silicon, and nothing of Loihi 2."""

from oscsim.counts import Counts
from oscsim.energy.baselines.pricing import Price, accuracy_note, constant_price, priced
from oscsim.energy.constants import Book
from oscsim.energy.estimate import Estimate, Refusal, Scope

NAME = "Loihi 2 program at Loihi 1 energies"
BOUNDARY = "cores, dynamic"
_WITHOUT = "; sine look-ups and static power left out"

_NO_PRICE = (
    ("sine_lookups", "the neuron that was measured looks up no sine; a phase neuron costs more than this"),
    ("programming_writes", "loading the program: once per layer, and no energy of it is public"),
    ("bytes.readout", "the record leaves the chip once; no energy per byte of its links is public"),
    ("time_steps", "static power needs the time of one step, which nobody published for this program"),
)
_OFF_CHIP = (
    ("read-out", "S is computed from the record, off the chip"),
    ("row normalisation and values", "off the chip; digital_rest counts them"),
)
_NOTES = (
    "no public energy per event of Loihi 2 exists: these are Loihi 1's (14 nm), not scaled",
    "a fit to silicon; ranges reach to what was simulated before silicon, a minimum for synaptic operations",
    "an update was measured for a leaky integrate-and-fire neuron; a phase neuron does more",
)


def loihi_estimate(
    counts: Counts, book: Book, accuracy: float | None = None, asked: float | None = None
) -> Estimate | Refusal:
    """Dynamic energy of the cores: events of a lava plan times energies per event of Loihi 1.

    ``E = updates (e_access + e_update) + operations e_synapse + spikes e_spike + messages e_message
    + hops (e_east_west + e_north_south) / 2``. Energies are a fit to silicon [SANAFE], those of hops [LOIHI];
    ranges reach to what was simulated before silicon.

    Parameters
    ----------
    counts : of a lava plan.
    accuracy : what the plan promises of S. asked : what was wanted of every row of the comparison.

    >>> from oscsim.energy import load_constants
    >>> result = loihi_estimate(Counts({"neuron_updates": 1e6, "sine_lookups": 1e6}), load_constants())
    >>> result.kind, result.boundary, result.left_out[0][0]
    ('inherited', 'cores, dynamic; sine look-ups and static power left out', 'sine_lookups')
    """
    left_out = (*((event, why) for event, why in _NO_PRICE if _happens(counts, event)), *_OFF_CHIP)
    notes = (*_NOTES, *accuracy_note(accuracy, asked))
    boundary = BOUNDARY + (_WITHOUT if _happens(counts, "sine_lookups") else "")
    return priced(Scope(NAME, "inherited", boundary, accuracy, left_out, notes), counts, _prices(), book)


def _happens(counts: Counts, event: str) -> bool:
    return counts.get(event, counts.total(event)) > 0.0


def _prices() -> list[Price]:
    update = ("loihi1_soma_access", "loihi1_soma_update")
    hops = ("loihi1_hop_east_west", "loihi1_hop_north_south")
    return [
        constant_price("neuron_updates", "updates (e_access + e_update)", *update),
        constant_price("synaptic_operations.dense", "operations e_synapse", "loihi1_synaptic_op"),
        constant_price("synaptic_operations.sparse", "operations e_synapse", "loihi1_synaptic_op_sparse"),
        constant_price("spikes", "spikes e_spike", "loihi1_spike_out"),
        constant_price("messages", "messages e_message", "loihi1_axon_message"),
        Price(
            "hops", "hops (e_east_west + e_north_south) / 2", hops, lambda v: (v(hops[0]) + v(hops[1])) / 2.0
        ),
    ]
