"""The layer on a digital accelerator: eight-bit integers at 7 nm, dense, every operation counted."""

from oscsim import pair_terms
from oscsim.counts import Counts
from oscsim.coupling import ExplicitCoupling
from oscsim.energy.baselines.int8 import int8_error
from oscsim.energy.baselines.pricing import Price, constant_price, happening, priced, terms_of, unusable
from oscsim.energy.constants import Book
from oscsim.energy.estimate import Estimate, Refusal, Scope, Term
from oscsim.energy.units import Quantity, quantity
from oscsim.energy.valuation import Valuation
from oscsim.spec import PhaseLayerSpec

NAME = "digital int8, 7 nm"
BOUNDARY = "arithmetic and on-chip memory, dynamic, whole layer"
SYNCHRONIZATION_ONLY = "synchronization only"
REST = "row normalisation and values"

_BYTES_PER_ACCESS = 8.0
# The smallest of these that holds one head; a larger layer is spread over banks of the last.
_MEMORIES = ((8 * 1024, "sram_8KB_64b_7nm"), (32 * 1024, "sram_32KB_64b_7nm"), (2**20, "sram_1MB_64b_7nm"))
_TABLE_MEMORY = "sram_8KB_64b_7nm"
_NOTES = (
    "dense: cells that cannot lock are computed too",
    "left out: control, shifters, registers, wires, leakage, and memory off the chip",
)


def digital_estimate(spec: PhaseLayerSpec, book: Book, accuracy: float) -> Estimate | Refusal:
    """Energy of the pair law, row normalisation and values in eight-bit integers.

    A multiply-accumulate costs a product, a sum and the movement of its operand:
    ``E = n_mac (e_mul8 + e_add32) + n_add e_add32 + n_mul e_mul8 + n_table share e_sram
    + (bytes + operand bytes / reuse) e_sram / 8``.

    Parameters
    ----------
    accuracy : wanted error of S at condition 1; integers that cannot give it are refused.
    """
    if spec.dynamics != "pair":
        return Refusal(
            NAME, f"it computes the closed form of pair layers, this layer is a {spec.dynamics} one"
        )
    reached = int8_error(spec)
    if reached > accuracy:
        return Refusal(
            NAME,
            f"eight bits give S of this layer to {reached:.2g} at condition 1, asked {accuracy:.2g}; "
            f"no public price of wider integers at 7 nm is used here",
        )
    counts = synchronization_counts(spec) + digital_rest(spec)[0]
    scope = Scope(NAME, "estimate", BOUNDARY, reached, notes=_NOTES)
    return priced(scope, counts, _prices(_memory(spec)), book)


def synchronization_counts(spec: PhaseLayerSpec) -> Counts:
    """Operations that turn frequencies into S, all unmasked cells of all heads.

    Per cell: D differences and D squares summed; the coupling by table; J^2, d^2/(K r)^2, their difference,
    whose sign says whether the cell locks; the root by table; S stored.
    """
    cells, explicit = _cells(spec), isinstance(spec.coupling, ExplicitCoupling)
    channels, rows = spec.n_channels, _rows(spec)
    return Counts(
        {
            "multiply_accumulates.int8": cells * channels,
            "additions.int32": cells * (channels + 1),
            "multiplications.int8": 2 * cells,
            "special_functions.int8": cells * (1 if explicit else 2),
            "bytes.operand": 2 * cells * channels,
            "bytes.sram": cells * (2 if explicit else 1) + 2 * rows * channels,
        }
    )


def digital_rest(spec: PhaseLayerSpec) -> tuple[Counts, list[Term]]:
    """Row normalisation and weighted values, with their terms, for hardware whose output is S.

    ``y_i = (sum_j S_ij V_j) / sum_k S_ik``: a sum and D_v multiply-accumulates per cell, a reciprocal by
    table and D_v products per row; without values the weights themselves, one product per cell.
    """
    cells, rows = _cells(spec), _rows(spec)
    width = 0 if spec.values is None else spec.values.shape[2]
    written = rows * width if width else cells
    counts = Counts(
        {
            "multiply_accumulates.int8": cells * width,
            "additions.int32": cells,
            "multiplications.int8": written,
            "special_functions.int8": rows,
            "bytes.operand": cells * width,
            "bytes.sram": cells + written,
        }
    )
    return counts, terms_of(_prices(_memory(spec)), counts)


def rest_left_out(spec: PhaseLayerSpec, book: Book) -> tuple[tuple[str, str], ...]:
    """Empty where :func:`digital_rest` can be priced; else what ``Scope.left_out`` has to say.

    The boundary is then ``SYNCHRONIZATION_ONLY``.
    """
    used = happening(_prices(_memory(spec)), digital_rest(spec)[0])
    reasons = unusable((name for price in used for name in price.constants), book)
    return ((REST, "; ".join(reasons)),) if reasons else ()


def _prices(memory: str) -> list[Price]:
    return [
        constant_price("multiply_accumulates.int8", "n (e_mul8 + e_add32)", "int8_mul_7nm", "int32_add_7nm"),
        constant_price("additions.int32", "n e_add32", "int32_add_7nm"),
        constant_price("multiplications.int8", "n e_mul8", "int8_mul_7nm"),
        Price(
            "special_functions.int8",
            "n e_sram share, look-ups in a table",
            (_TABLE_MEMORY, "table_access_share"),
            lambda v: v(_TABLE_MEMORY) * v("table_access_share"),
        ),
        Price("bytes.sram", "bytes e_sram / 8", (memory,), lambda v: _per_byte(v, memory)),
        Price(
            "bytes.operand",
            "bytes e_sram / (8 reuse)",
            (memory, "operand_reuse"),
            lambda v: _per_byte(v, memory) / v("operand_reuse"),
        ),
    ]


def _per_byte(v: Valuation, memory: str) -> Quantity:
    return v(memory) * quantity(1.0 / _BYTES_PER_ACCESS, "operation/byte")


def _memory(spec: PhaseLayerSpec) -> str:
    count, width = spec.n_oscillators, 0 if spec.values is None else spec.values.shape[2]
    size = count * (2 * spec.n_channels + width + count)
    return next((name for largest, name in _MEMORIES if size <= largest), _MEMORIES[-1][1])


def _cells(spec: PhaseLayerSpec) -> int:
    return spec.n_heads * int(pair_terms.unmasked(spec).sum())


def _rows(spec: PhaseLayerSpec) -> int:
    return spec.n_heads * int(spec.valid.sum())
