"""What a user's own file of constants may hold: rows that a formula asks for, in their unit."""

import difflib

from oscsim.energy.constants import Book, Constant
from oscsim.energy.formula_names import in_formulas
from oscsim.energy.node_names import PLANAR_ROWS, of_node, planar_row
from oscsim.energy.units import same_dimension

_TEMPLATE_NM = 65.0  # the node that has all rows of a planar node, with their units


def check_foreign(row: Constant, book: Book) -> None:
    """Raise ValueError for a row that no formula would use, or whose unit is of another kind.

    A row that replaces a shipped one has its dimension; one of a new node that of the same row at 65 nm, and
    a ``node_nm`` that is empty or the node of its name.
    """
    name, node = row.name, planar_row(row.name)
    if name not in book and node is None:
        nearest = difflib.get_close_matches(name, list(book), 1, 0.0)[0]
        rows = ", ".join(f"{one}_<n>nm" for one in PLANAR_ROWS)
        raise ValueError(
            f"no formula uses a constant of this name; the nearest is '{nearest}'. A file may replace "
            f"constants of docs/energy_constants.md, or add rows of a planar node: {rows}"
        )
    if name in book and not in_formulas([name]):
        raise ValueError("no formula uses this constant, it is there for reference; leave it out")
    if node is not None and row.node_nm not in (None, node[1]):
        raise ValueError(f"node_nm: given {row.node_nm:g}, its name says {node[1]:g}")
    like = book[name if name in book else of_node(node[0] if node else name, _TEMPLATE_NM)]
    if not same_dimension(row.unit, like.unit):
        raise ValueError(f"unit: given {row.unit!r}, expected one like {like.unit!r}, as of '{like.name}'")
