"""Diagnostics against sums written out, and at the ends of their ranges."""

import cmath
import math

import pytest
import torch

import oscsim
from models.osn import OSNConfig, OSNLanguageModel

KEYS = {"local_order", "global_order", "locked_fraction", "mean_abs_omega", "attention_entropy"}


def _model(causal=True):
    torch.manual_seed(9)
    model = OSNLanguageModel(OSNConfig(width=12, blocks=2, heads=2, hidden=12, context=17, causal=causal))
    tokens = torch.randint(256, (1, 17))
    model.prepare(tokens)
    return model.double(), tokens


@pytest.mark.parametrize("causal", [True, False])
def test_diagnostics_are_those_of_the_solved_phase_layer(causal):
    model, tokens = _model(causal)
    for block, measured in enumerate(model.diagnose(tokens)):
        spec = model.to_spec(tokens[0], block=block)
        weights, locked = oscsim.solve(spec).weights, oscsim.solve(spec).locked
        heads, n, channels = spec.omega.shape
        local = globally = entropy = inside = 0.0
        for h in range(heads):
            for c in range(channels):
                phasors = [cmath.exp(1j * spec.theta[h, t, c]) for t in range(n)]
                globally += abs(sum(phasors)) / n
                local += (
                    sum(
                        abs(sum(w * p for w, p in zip(weights[h, t], phasors, strict=True))) for t in range(n)
                    )
                    / n
                )
            for t in range(n):
                entropy -= sum(w * math.log2(w) for w in weights[h, t] if w > 0)
                others = range(t) if causal else [u for u in range(n) if u != t]
                inside += sum(bool(locked[h, t, u]) for u in others)
        pairs = n * (n - 1) / (2 if causal else 1)
        assert set(measured) == KEYS
        expected = {
            "local_order": local / heads / channels,
            "global_order": globally / heads / channels,
            "locked_fraction": inside / heads / pairs,
            "mean_abs_omega": abs(spec.omega[..., 1:]).mean(),
            "attention_entropy": entropy / heads / n,
        }
        assert measured == pytest.approx(expected, abs=1e-9)


def test_identical_oscillators_are_in_order_and_attend_evenly():
    model, tokens = _model(causal=False)
    with torch.no_grad():
        for layer in (model.layer(0), model.layer(1)):
            for parameter in (layer.frequency.weight, layer.phase.weight, layer.ramp):
                parameter.zero_()
    for measured in model.diagnose(tokens):
        assert measured == pytest.approx(
            {"local_order": 1.0, "global_order": 1.0, "locked_fraction": 1.0, "mean_abs_omega": 0.0,
             "attention_entropy": math.log2(17)}
        )  # fmt: skip
