"""Where the closed form of a pair answers for a whole network, and where it does not: the regime map."""

from oscsim.regime.cell import Cell
from oscsim.regime.conventions import CONVENTIONS, self_consistent_order
from oscsim.regime.grid import Grid, sweep
from oscsim.regime.row import Row, csv_text, packaged_map, read_csv, rows_of
from oscsim.regime.run import Agreement, Run, simulate
from oscsim.regime.steady import Steady, steady_states

__all__ = [
    "CONVENTIONS",
    "Agreement",
    "Cell",
    "Grid",
    "Row",
    "Run",
    "Steady",
    "csv_text",
    "packaged_map",
    "read_csv",
    "rows_of",
    "self_consistent_order",
    "simulate",
    "steady_states",
    "sweep",
]
