"""Which publication and which device a row is, whatever its name: one that was seen never validates."""

import re
from collections.abc import Sequence
from functools import cache
from urllib.parse import unquote

from oscsim.energy.rings import PublishedRing, load_rings
from oscsim.energy.validation.devices import Chip, load_chips

# Publications whose numbers a fit or a prior has seen: key, DOI, how addresses of other kinds name it.
_SEEN = (
    ("moy", "10.1038/s41928-022-00749-3", r"s41928-022-00749-3"),
    ("hajimiri", "10.1109/4.766813", r"(?<!\d)766813(?!\d)"),
)
_DOI = re.compile(r"10\.\d+/[^\s?#,;)\]]+")
_NATURE = re.compile(r"nature\.com/articles/([\w-]+)")
_SAME_POWER, _SAME_FREQUENCY, _SAME_NUMBER = 0.05, 0.02, 0.01  # published numbers are rounded


def doi_of(text: str) -> str:
    """The DOI in a text or an address, in lower case; the text itself where there is none.

    >>> doi_of("https://doi.org/10.1038/S41928-022-00749-3"), doi_of("nature.com/articles/s41928-022-00749-3")
    ('10.1038/s41928-022-00749-3', '10.1038/s41928-022-00749-3')
    """
    plain = unquote(text).casefold().strip()
    if (found := _DOI.search(plain)) is not None:
        return found[0].removesuffix(".pdf").rstrip("./")
    nature = _NATURE.search(plain)
    return plain if nature is None else f"10.1038/{nature[1]}"


def publication(chip: Chip) -> str:
    """What tells a publication from others: its DOI, else its citation, else the name of the device."""
    return doi_of(chip.doi) or chip.citation.casefold().strip() or chip.name.casefold()


def seen(chip: Chip) -> bool:
    """Whether the model was fitted to a device, or made with it in view: by publication, name or numbers."""
    return _seen_publication(chip) or _is_calibration_chip(chip) or _is_fitted_ring(chip)


def sources(chips: Sequence[Chip]) -> list[str]:
    """For every chip what it counts as: rows of one publication, or with the same numbers, are one."""
    found: list[str] = []
    for place, chip in enumerate(chips):
        alike = (
            found[other]
            for other in range(place)
            if publication(chips[other]) == publication(chip) or _same_device(chips[other], chip)
        )
        found.append(next(alike, publication(chip)))
    return found


def _seen_publication(chip: Chip) -> bool:
    """Names count only where there is no DOI that tells more."""
    where, name = unquote(f"{chip.doi} {chip.citation}").casefold(), chip.name.casefold()
    for key, doi, address in _SEEN:
        named = not chip.doi.strip() and re.search(rf"\b{key}\b", name) is not None
        cited = chip.citation.casefold().strip() == key
        if named or cited or doi_of(chip.doi) == doi or re.search(address, where):
            return True
    return False


def _is_calibration_chip(chip: Chip) -> bool:
    """The number of oscillators, and of couplings or the power with it."""
    for known in _calibration_chips():
        if chip.n_osc != known.n_osc:
            continue
        if chip.n_couplings == known.n_couplings or _near(chip.power_w, known.power_w, _SAME_POWER):
            return True
    return False


def _is_fitted_ring(chip: Chip) -> bool:
    """Frequency and power of one oscillator, those of a ring of the table."""
    if chip.n_couplings or not chip.n_osc or chip.power_w is None:
        return False
    power = chip.power_w / chip.n_osc
    return any(
        _near(chip.f_osc_hz, ring.frequency_hz, _SAME_FREQUENCY) and _near(power, _power(ring), _SAME_POWER)
        for ring in _rings()
    )


@cache
def _calibration_chips() -> tuple[Chip, ...]:
    return tuple(chip for chip in load_chips() if _seen_publication(chip))


@cache
def _rings() -> tuple[PublishedRing, ...]:
    return tuple(load_rings())


def _power(ring: PublishedRing) -> float:
    return ring.vdd_v * ring.supply_a


def _same_device(one: Chip, other: Chip) -> bool:
    """Nothing that both publish differs, and a power or an energy is among it."""
    names = ("node_nm", "n_osc", "n_couplings", "f_osc_hz", "power_w", "energy_per_solution_j")
    pairs = {name: (getattr(one, name), getattr(other, name)) for name in names}
    both = {name: pair for name, pair in pairs.items() if None not in pair}
    measured = "power_w" in both or "energy_per_solution_j" in both
    return "n_osc" in both and measured and all(_near(*pair, _SAME_NUMBER) for pair in both.values())


def _near(one: float | None, other: float | None, share: float) -> bool:
    if one is None or other is None:
        return False
    return abs(one - other) <= share * abs(other)
