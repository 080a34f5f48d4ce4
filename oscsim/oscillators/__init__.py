"""Oscillator families as dimensionless equations; circuits, netlists and phase reduction are made of them."""

from oscsim.oscillators.lc import LC
from oscsim.oscillators.oscillator import Oscillator
from oscsim.oscillators.relaxation import Relaxation
from oscsim.oscillators.ring import Ring
from oscsim.oscillators.stuart_landau import StuartLandau
from oscsim.oscillators.user import UserOscillator

__all__ = ["LC", "Oscillator", "Relaxation", "Ring", "StuartLandau", "UserOscillator"]
