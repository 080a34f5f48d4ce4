"""A Kuramoto block as a phase layer of clamped oscillators."""

import numpy as np
import pytest
import torch

from models.kuramoto import KuramotoConfig, KuramotoLanguageModel
from oscsim import compare, integrate, solve
from oscsim.errors import SpecError

TEXT = "coupled oscillators"


def model_of(step: str) -> KuramotoLanguageModel:
    torch.manual_seed(2)
    return KuramotoLanguageModel(
        KuramotoConfig(width=8, heads=2, blocks=2, hidden=12, phase_spread=1.5, step=step)
    )


def test_a_flow_block_computes_what_clamped_oscillators_do() -> None:
    model = model_of("flow")
    inputs = model.layer_inputs(model.encode(TEXT).unsqueeze(0))
    for block in (0, 1):
        spec = model.to_spec(TEXT, block)
        chosen = model.typed_blocks()[block]
        with torch.no_grad():
            step = chosen.attention.split(chosen.synchronization_step(inputs[block]))[0]
        expected = solve(spec).phase - spec.theta
        # float32 weights, rates and sources: a pull is off by some eps, the flow amplifies by at most e^|x|
        assert np.abs(step.double().numpy() - expected).max() < 2e-5
        assert np.abs(expected).max() > 0.05
        assert compare(integrate(spec), solve(spec)).status == "conforms"


def test_an_euler_block_takes_one_step_of_the_same_equation() -> None:
    model = model_of("euler")
    spec = model.to_spec(TEXT, 1, duration=1e-6)
    theta = model.layer_inputs(model.encode(TEXT).unsqueeze(0))[1]
    block = model.typed_blocks()[1]
    with torch.no_grad():
        pull = block.attention.split(
            block.rate(torch.cat([theta.cos(), theta.sin()], -1)) * block.attention(theta)
        )
    slope = (solve(spec).phase - spec.theta) / 1e-6
    assert np.abs(slope - pull[0].double().numpy()).max() < 1e-4  # second order: 1e-6 of the slope's change


def test_what_is_no_coupling_of_phases_is_refused() -> None:
    model = KuramotoLanguageModel(KuramotoConfig(width=8, heads=2, values="projection"))
    with pytest.raises(SpecError, match="learned value projection"):
        model.to_spec(TEXT)
    with pytest.raises(SpecError, match="given block 4; expected 0 to 3"):
        model.to_spec(TEXT, 4)
    with pytest.raises(SpecError, match="empty passage"):
        model.to_spec("")
    with pytest.raises(SpecError, match="given tokens between 300 and 300"):
        model.to_spec(torch.tensor([300]))
