"""Names of constants that belong to one CMOS node, as ``supply_65nm``: which a user may add for another."""

import re

# Of planar transistors: what another node needs, each with the row of 65 nm that has its unit.
PLANAR_ROWS = (
    "gate_cap_per_width", "supply", "ring_width", "coupler_unit_width", "cell_pitch", "leakage_per_width",
)  # fmt: skip
# Nodes with numbers of another kind, per fin or from a fit to rings: no planar row of these may be added.
FIN_NM = (14.0, 7.0)
FITTED_NM = 250.0
_NAME = re.compile(r"(\w+?)_(\d+(?:\.\d+)?)nm")


def of_node(name: str, node_nm: float) -> str:
    """The name of a constant of a node.

    >>> of_node("supply", 65.0)
    'supply_65nm'
    """
    return f"{name}_{node_nm:g}nm"


def planar_row(name: str) -> tuple[str, float] | None:
    """(what, node in nm) of a row that another planar node may have; None for any other name.

    >>> planar_row("supply_180nm"), planar_row("supply_14nm"), planar_row("suply_180nm")
    (('supply', 180.0), None, None)
    """
    found = _NAME.fullmatch(name)
    if found is None or found[1] not in PLANAR_ROWS:
        return None
    node = float(found[2])
    if node <= 0.0 or node in (*FIN_NM, FITTED_NM) or of_node(found[1], node) != name:
        return None
    return found[1], node
