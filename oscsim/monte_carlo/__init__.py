"""Monte Carlo over chip instances: what imperfect hardware does to the read-out of a layer."""

from oscsim.monte_carlo.levels import LEVELS, Reading, read_chips
from oscsim.monte_carlo.random_layer import random_layer
from oscsim.monte_carlo.row import Row, csv_text
from oscsim.monte_carlo.study import Point, Study, contributions, swept
from oscsim.monte_carlo.sweep import sweep

__all__ = [
    "LEVELS",
    "Point",
    "Reading",
    "Row",
    "Study",
    "contributions",
    "csv_text",
    "random_layer",
    "read_chips",
    "sweep",
    "swept",
]
