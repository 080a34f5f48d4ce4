"""Which kind of oscillator a published chip has, where its name or note says so without doubt."""

import re
from typing import Literal

Family = Literal["ring", "lc", "relaxation", "digital"]
FAMILIES: tuple[Family, ...] = ("ring", "lc", "relaxation", "digital")
# A name is short and says what the chip is; a note says many things, so its words have to be plainer.
_IN_NAME: dict[Family, str] = {
    "ring": r"(?i:\bROSCs?\b|\brings?\b)",
    "lc": r"\bLC\b",
    "relaxation": r"(?i:\brelaxation\b)",
    "digital": r"(?i:\bFPGA\b|\bdigital\b)",
}
_IN_NOTE: dict[Family, str] = {
    "ring": r"(?i:\bROSCs?\b|\bring[- ]oscillators?\b)",
    "lc": r"\bLC\b",
    "relaxation": r"(?i:\brelaxation[- ]oscillators?\b)",
    "digital": r"(?i:\bFPGA\b|\b(fully|all)[- ]digital\b|\bemulat(ed|ion|or)\b)",
}


def inferred(name: str, note: str) -> tuple[Family | None, str]:
    """(family, how it is known); (None, why not) where there is no word for it, or words for several.

    >>> inferred("Moy-1968-ROSC-Ising", "1968 oscillators")[0]
    'ring'
    >>> inferred("Lo-48-all-to-all", "weights -14..+14")
    (None, 'neither name nor note names ring, LC or relaxation oscillators; give column family')
    """
    found: list[Family] = [
        family
        for family in FAMILIES
        if re.search(_IN_NAME[family], name) or re.search(_IN_NOTE[family], note)
    ]
    if len(found) == 1:
        return found[0], "read from name or note"
    if not found:
        return None, "neither name nor note names ring, LC or relaxation oscillators; give column family"
    return None, f"name and note speak of {' and '.join(found)}; give column family"
