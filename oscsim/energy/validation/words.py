"""Numbers, rows and summaries of a validation as text: the cells of every table."""

from collections.abc import Sequence

from oscsim.energy.validation.row import Row
from oscsim.energy.validation.summary import Summary

ROW_COLUMNS = ("device", "predicted (low, median, high)", "published", "ratio", "covered", "role")
SUMMARY_COLUMNS = ("quantity", "n_used_in_fit", "n_independent", "covered", "median ratio", "verdict")
_PREFIXES = (
    (1e-18, "a"),
    (1e-15, "f"),
    (1e-12, "p"),
    (1e-9, "n"),
    (1e-6, "u"),
    (1e-3, "m"),
    (1.0, ""),
    (1e3, "k"),
)
NONE = "–"


def number(value: float | None, unit: str) -> str:
    """With three digits and a prefix; decibels with one decimal, their unit is in the heading.

    >>> number(0.042, "W"), number(2.1e-9, "J"), number(-111.5, "dBc/Hz"), number(None, "J")
    ('42 mW', '2.1 nJ', '-111.5', '–')
    """
    if value is None:
        return NONE
    if unit.startswith("dB"):
        return f"{value:.1f}"
    fitting = [entry for entry in _PREFIXES if abs(value) >= 0.9995 * entry[0]]
    scale, prefix = fitting[-1] if fitting else _PREFIXES[0]
    return f"{value / scale:.3g} {prefix}{unit}"


def row_cells(row: Row) -> list[str]:
    """A row under ``ROW_COLUMNS``; the reason stands where a prediction would."""
    said = NONE if row.reason else ""
    if row.predicted is not None:
        ends = (row.predicted.low, row.predicted.median, row.predicted.high)
        said = ", ".join(number(end, row.unit) for end in ends)
    ratio = NONE if row.ratio is None else f"{row.ratio:.2g}"
    covered = {True: "yes", False: "no", None: "upper bound" if row.compared else NONE}[row.covered]
    if row.uninformative:
        covered += " (uninformative)"
    role = row.role if row.compared else NONE
    published = f"{'at most ' if row.published_bound else ''}{number(row.published, row.unit)}"
    return [row.label, said, published, ratio, covered, role]


def remarks(rows: Sequence[Row]) -> list[str]:
    """Why there is no comparison and what predictions rest on; devices of which the same is true together."""
    devices: dict[str, dict[str, None]] = {}
    for row in rows:
        for text in filter(None, (row.reason, *row.notes)):
            devices.setdefault(text, {})[row.device] = None
    everyone = {row.device for row in rows}
    return [
        f"{'all' if len(everyone) > 1 and everyone == set(names) else ', '.join(names)}: {text}"
        for text, names in devices.items()
    ]


def summary_cells(one: Summary) -> list[str]:
    """A summary under ``SUMMARY_COLUMNS``."""
    share = NONE if one.share_covered is None else f"{one.covered} of {one.n_independent}"
    ratio = NONE if one.median_ratio is None else f"{one.median_ratio:.2g}"
    return [one.quantity, str(one.n_used_in_fit), str(one.n_independent), share, ratio, one.verdict]
