"""Pair layers with frequency coupling run on the fused op: one spec, three precisions."""

import numpy as np
import pytest
import torch
from frozen_specs import frozen_spec

from hw_targets import get_target
from hw_targets.triton import attention_run
from oscsim import FrequencyCoupling, compare, solve
from oscsim.tolerance import FLOAT32, SIXTEEN_BIT

PAIRS = [
    number
    for number in range(60)
    if frozen_spec(number).dynamics == "pair" and isinstance(frozen_spec(number).coupling, FrequencyCoupling)
]


@pytest.mark.parametrize("precision", ["accurate", "fast", "fp32"])
@pytest.mark.parametrize("number", PAIRS)
def test_frozen_layers_conform_in_every_precision(run, number, precision):
    spec = frozen_spec(number)
    result = run(spec, precision=precision)
    assert result.accuracy == (SIXTEEN_BIT if precision == "fast" else FLOAT32)
    comparison = compare(result, solve(spec))
    assert comparison.status == "conforms", comparison


def test_the_precisions_differ_and_fast_is_the_coarsest(layer, run):
    spec = layer(2, 100, 8)
    exact = solve(spec)
    errors = {p: np.abs(run(spec, precision=p).sync - exact.sync) for p in ("accurate", "fast", "fp32")}
    inside = exact.conditioning.condition < 20
    worst = {p: error[inside].max() for p, error in errors.items()}
    assert worst["fast"] > 30 * max(worst["accurate"], worst["fp32"]) > 0
    assert not np.array_equal(errors["accurate"], errors["fp32"])


def test_a_coarse_run_cannot_pass_for_an_accurate_one(layer, run):
    from dataclasses import replace

    spec = layer(2, 60, 8)
    claimed = replace(run(spec, precision="fast"), accuracy=FLOAT32)
    assert compare(claimed, solve(spec)).status == "differs"


def test_it_is_the_op_that_computes(layer, run, monkeypatch):
    seen = []

    def spy(name, op):
        def call(*arguments, **options):
            seen.append((name, options["impl"], options["precision"]))
            return op(*arguments, **options)

        return call

    for name in ("ssa_attention", "synchronization_matrix"):
        monkeypatch.setattr(attention_run, name, spy(name, getattr(attention_run, name)))
    run(layer(1, 5, 2), precision="fp32")
    assert seen == [("synchronization_matrix", "triton", "fp32"), ("ssa_attention", "triton", "fp32")]


def test_a_layer_without_values_has_no_output(layer, run):
    result = run(layer(1, 9, 2, values=None))
    assert result.output is None and result.sync.shape == (1, 9, 9)


def test_later_tokens_change_no_bit_of_a_causal_layer(layer, run):
    spec = layer(1, 40, 2, mask="causal")
    omega = spec.omega.copy()
    omega[:, 30:] += 3.0
    first, second = run(spec), run(spec.replace(omega=omega))
    assert np.array_equal(first.sync[:, :30], second.sync[:, :30])
    assert np.array_equal(first.output[:, :30], second.output[:, :30])


def test_torch_keeps_its_settings(layer):
    before = torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_num_threads()
    get_target("triton").lower(layer(1, 5, 1)).run()
    assert before == (torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_num_threads())
