"""Does a circuit follow its own phase reduction, and how far is that from the closed form? Three laws."""

from oscsim.convergence.order import Order, fit_order
from oscsim.convergence.study import Law, Row, Study

__all__ = ["Law", "Order", "Row", "Study", "fit_order"]
