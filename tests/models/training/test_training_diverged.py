"""NaN and infinity stop a run, are traced to where they begin, and reach no file."""

import numpy as np
import pytest
import torch
from torch import nn

from models.checkpoint import read_checkpoint
from models.training import TrainingDiverged


def _diverges(tiny, folder, kind, **changes):
    with pytest.raises(TrainingDiverged) as caught:
        tiny.run(folder, kind=kind, **changes)
    names = {path.name for path in folder.iterdir()}
    assert names <= {"checkpoint.safetensors", "log.csv", "tensorboard", "wall_time.json"}
    header, arrays = read_checkpoint(folder / "checkpoint.safetensors")
    assert all(np.isfinite(array).all() for array in arrays.values())
    text = (folder / "log.csv").read_text()
    assert "nan" not in text and "inf" not in text
    step = header["training"]["step"]
    good = f"the last good checkpoint, of step {step}, is {folder / 'checkpoint.safetensors'};"
    assert good in str(caught.value)
    return str(caught.value).split("; ")[0], step


def test_a_layer_is_named(tiny, tmp_path):
    kind = tiny.SpoiledLanguageModel
    message, step = _diverges(tiny, tmp_path, kind, checkpoint_every=1)
    assert message == "step 3: NaN or infinity, first in the output of layer drop.1 (Spoiled)"
    assert step == 2


def test_it_can_be_looked_at_again_from_the_checkpoint(tiny, tmp_path):
    first = _diverges(tiny, tmp_path, tiny.SpoiledLanguageModel, checkpoint_every=1)
    # a new process passes the layer three times before it spoils anything: two steps further
    assert first[1] == 2
    assert _diverges(tiny, tmp_path, tiny.SpoiledLanguageModel, checkpoint_every=1)[1] == 4


def test_a_gradient_is_named(tiny, tmp_path):
    class Model(tiny.TinyLanguageModel):
        def forward(self, tokens):
            # sqrt of a product that is zero: 0 forwards, 0 * infinity backwards
            return super().forward(tokens) + (self.scale * 0.0).abs().sqrt()

    message, step = _diverges(tiny, tmp_path, Model)
    assert (message, step) == ("step 1: NaN or infinity, first in the gradient of scale", 0)


def test_a_parameter_is_named_before_it_is_saved(tiny, tmp_path):
    kind = tiny.TinyLanguageModel
    # a rate beyond float32: the first step puts every parameter out of range
    changes = {"learning_rate": 1e39, "warm_up": 0, "steps": 5}
    message, step = _diverges(tiny, tmp_path / "save", kind, checkpoint_every=1, **changes)
    assert message.startswith("step 1: NaN or infinity, first in parameter ") and step == 0
    message, step = _diverges(tiny, tmp_path / "next", kind, **changes)
    assert message.startswith("step 2: NaN or infinity, first in parameter ") and step == 0


def test_a_loss_or_penalty_without_a_layer_is_named(tiny, tmp_path):
    class Model(tiny.TinyLanguageModel):
        def losses(self, tokens, targets):
            found = super().losses(tokens, targets)
            return found._replace(penalty=found.cross_entropy / 0.0)

    message, _ = _diverges(tiny, tmp_path, Model)
    assert message == "step 1: NaN or infinity, first in the penalty"


def test_held_out_bytes_without_a_finite_loss_stop_the_run(tiny, tmp_path):
    class Model(tiny.TinyLanguageModel):
        def forward(self, tokens):
            return super().forward(tokens) * (1.0 if self.training else float("nan"))

    message, step = _diverges(tiny, tmp_path, Model)
    assert (message, step) == ("step 6: NaN or infinity, first in the loss of held-out bytes", 5)


def test_a_norm_out_of_range_is_named(tiny, tmp_path):
    class Huge(torch.autograd.Function):
        @staticmethod
        def forward(ctx, inputs):
            return inputs.clone()

        @staticmethod
        def backward(ctx, gradient):
            return gradient.sign() * 3e38  # finite, but not the norm of two of them

    class Model(tiny.TinyLanguageModel):
        def __init__(self, config):
            super().__init__(config)
            self.far = nn.Parameter(torch.zeros(2))

        def losses(self, tokens, targets):
            return super().losses(tokens, targets)._replace(penalty=Huge.apply(self.far).sum())

    message, _ = _diverges(tiny, tmp_path, Model)
    assert message == "step 1: NaN or infinity, first in the norm of all gradients"
