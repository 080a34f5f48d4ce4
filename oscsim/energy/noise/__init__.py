"""Phase noise and the energy below which it spoils a read-out (docs/energy_oscillators.md, Noise floor)."""

from oscsim.energy.noise.floor import NoiseFloor, noise_floor
from oscsim.energy.noise.replay import RingReplay, replay_phase_noise
from oscsim.energy.noise.verdict import verdict

__all__ = ["NoiseFloor", "RingReplay", "noise_floor", "replay_phase_noise", "verdict"]
