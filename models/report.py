"""Show a training record."""

from __future__ import annotations

from typing import Any

from rich.table import Table


def record_table(record: dict[str, Any]) -> Table:
    """Return a training record as a table: bits per character and locked fractions.

    >>> record = {"bits_per_character": 2.0, "bits_without_synchronization": 4.0,
    ...           "bits_without_block": [3.0], "locked_fraction": [[0.25, 0.5]]}
    >>> record_table(record).row_count
    4
    """
    table = Table(title="On held-out text")
    table.add_column("measured")
    table.add_column("value", justify="right")
    bits = record["bits_per_character"]
    table.add_row("bits per character", f"{bits:.3f}")
    silent = record["bits_without_synchronization"]
    table.add_row("… with the synchronization path of every block zeroed", _cost(silent, bits))
    for block, alone in enumerate(record["bits_without_block"]):
        table.add_row(f"… of block {block} alone", _cost(alone, bits))
    for block, heads in enumerate(record["locked_fraction"]):
        shares = "  ".join(f"{share:.3f}" for share in heads)
        table.add_row(f"locked fraction of the pairs j < i, heads of block {block}", shares)
    return table


def _cost(silent: float, bits: float) -> str:
    return f"{silent:.3f} ({silent - bits:+.3f})"
