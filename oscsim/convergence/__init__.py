"""Does a circuit follow its own phase reduction, and how far is that from the closed form? Three laws."""

from oscsim.convergence.order import Order, fit_order
from oscsim.convergence.row import Row
from oscsim.convergence.study import Law, Study

__all__ = ["Law", "Order", "Row", "Study", "fit_order"]
