"""Bytes to train on: where they come from, that they are what they should be, and how they are split.

>>> data = load_data("alice")
>>> data.train.shape, data.validation.shape, data.test.shape
(torch.Size([129951]), torch.Size([7219]), torch.Size([7220]))
"""

from .load import Data, load_data
from .sources import SOURCES, Source

__all__ = ["SOURCES", "Data", "Source", "load_data"]
