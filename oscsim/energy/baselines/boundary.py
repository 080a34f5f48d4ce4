"""What a row of a comparison includes: a core is not compared with a board without saying so."""

from collections.abc import Sequence

from oscsim.energy.estimate import Estimate, Refusal

BOARD = "board (GPU, memory, regulators), whole layer"


def boundary_note(results: Sequence[Estimate | Refusal]) -> str:
    """One sentence: which rows include what; empty where no row has an energy.

    >>> boundary_note([Refusal("digital int8, 7 nm", "no constants")])
    ''
    """
    rows: dict[str, list[str]] = {}
    for result in results:
        if isinstance(result, Estimate):
            rows.setdefault(result.boundary, []).append(result.name)
    if not rows:
        return ""
    if len(rows) == 1:
        return f"Every row includes the same: {next(iter(rows))}."
    parts = [f"{', '.join(names)}: {boundary}" for boundary, names in rows.items()]
    whole = [name for boundary, names in rows.items() if boundary.startswith("board") for name in names]
    warning = f" Of these only {', '.join(whole)} includes a whole board." if whole else ""
    return f"The rows include different things, so their ratio is no advantage: {'; '.join(parts)}.{warning}"
