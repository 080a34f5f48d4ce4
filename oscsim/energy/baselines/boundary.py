"""What a row of a comparison includes: a core is not compared with a board without saying so."""

from collections.abc import Sequence

from oscsim.energy.estimate import Estimate, Refusal

BOARD = "board (GPU, memory, regulators), whole layer"


def boundary_note(results: Sequence[Estimate | Refusal]) -> str:
    """One sentence: whether the rows include the same and are as accurate; empty where no row has an energy.

    What each of them includes is its own ``boundary``.

    >>> boundary_note([Refusal("digital int8, 7 nm", "no constants")])
    ''
    """
    rows = [result for result in results if isinstance(result, Estimate)]
    if not rows:
        return ""
    boundaries = list(dict.fromkeys(row.boundary for row in rows))
    errors = [row.accuracy for row in rows if row.accuracy is not None]
    apart = f"errors of S differ ({min(errors):.1g} to {max(errors):.1g})" if len(set(errors)) > 1 else ""
    if len(boundaries) == 1:
        same = f"Every row includes the same: {boundaries[0]}"
        return f"{same}; {apart}, so their ratio is no advantage." if apart else f"{same}."
    what = "The rows include different things" + (f" and their {apart}" if apart else "")
    boards = [row.name for row in rows if row.boundary.startswith("board")]
    whole = f" Only {', '.join(boards)} includes a whole board." if boards else ""
    return f"{what}, so their ratio is no advantage.{whole}"
