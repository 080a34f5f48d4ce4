"""The same layer on hardware that is not made of oscillators: a GPU, a digital accelerator, Loihi."""

from oscsim.energy.baselines.boundary import boundary_note
from oscsim.energy.baselines.digital import digital_estimate, digital_rest, rest_left_out
from oscsim.energy.baselines.gpu import gpu_estimate
from oscsim.energy.baselines.loihi import loihi_estimate

__all__ = [
    "boundary_note", "digital_estimate", "digital_rest", "gpu_estimate", "loihi_estimate", "rest_left_out",
]  # fmt: skip
