"""200 random layers, frozen before any target was written: the exam nobody may tune to.

``frozen_spec(i)`` depends on i only (numpy's Philox stream, stable across versions); the digests in
``frozen_digests.txt`` pin them, so a change of the generator is a failing test, not a new exam.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np

from oscsim import EmpiricalOrder, ExplicitCoupling, FixedOrder, FrequencyCoupling, PhaseLayerSpec

COUNT = 200
DIGESTS = Path(__file__).with_name("frozen_digests.txt")
Rng = np.random.Generator


def frozen_spec(index: int) -> PhaseLayerSpec:
    """The layer number ``index``: 60 % pair, 30 % clamped, 10 % network."""
    rng = np.random.Generator(np.random.Philox(20261129 + index))
    dynamics = ("pair",) * 6 + ("clamped",) * 3 + ("network",)
    if dynamics[index % 10] == "network":
        return PhaseLayerSpec(**_rounded(_network(rng)))
    heads, channels = int(rng.integers(1, 5)), int(rng.integers(1, 9))
    count = int(np.exp(rng.uniform(0.0, math.log(48.99))))
    gain = np.exp(rng.uniform(-1.0, 1.5, heads))
    if rng.random() < 0.05:
        gain[0] = 0.0
    fields = _layer(rng, heads, count, channels, gain)
    if dynamics[index % 10] == "clamped":
        fields |= _clamped(rng, fields)
    return PhaseLayerSpec(**_rounded(fields))


def _rounded(fields: dict[str, Any]) -> dict[str, Any]:
    """Nine decimals: the last bit of exp() depends on the processor, the frozen digests must not."""
    return {name: _round(value) for name, value in fields.items()}


def _round(value: Any) -> Any:
    if isinstance(value, ExplicitCoupling):
        return ExplicitCoupling(matrix=value.matrix.round(9))
    if isinstance(value, FrequencyCoupling):
        return FrequencyCoupling(alpha=value.alpha.round(9))
    if isinstance(value, FixedOrder):
        return FixedOrder(r=value.r.round(9))
    if isinstance(value, float):
        return round(value, 9)
    return value.round(9) if isinstance(value, np.ndarray) and value.dtype == np.float64 else value


def _layer(rng: Rng, heads: int, count: int, channels: int, gain: np.ndarray) -> dict[str, Any]:
    spread = np.exp(rng.uniform(-2.0, 0.7)) * max(gain.max(), 0.1) / math.sqrt(2 * channels)
    omega = spread * rng.standard_normal((heads, count, channels))
    if rng.random() < 0.2:  # two tight clusters far apart
        omega = 0.1 * omega + 50.0 * rng.choice([-1.0, 1.0], (heads, count, 1))
    if rng.random() < 0.2:  # a common offset
        omega += 30.0 * rng.standard_normal((heads, 1, channels))
    if rng.random() < 0.15:  # identical tokens
        omega[:, count // 2 :] = omega[:, :1]
    explicit = rng.random() < 0.25
    coupling = (
        ExplicitCoupling(matrix=rng.standard_normal((heads, count, count)))
        if explicit
        else FrequencyCoupling(alpha=np.exp(rng.uniform(-3.0, 0.5, heads)) / np.square(gain.max() + 0.1))
    )
    fixed = rng.random() < 0.3
    padding = rng.random(count) < 0.3
    padding[0] = False
    return {
        "omega": omega,
        "theta": rng.uniform(-math.pi, math.pi, (heads, count, channels)),
        "values": rng.standard_normal((heads, count, int(rng.integers(1, 6)))),
        "coupling": coupling,
        "gain": gain,
        "order_parameter": FixedOrder(r=rng.uniform(0.0, 1.0, heads)) if fixed else EmpiricalOrder(),
        "mask": "causal" if rng.random() < 0.5 else "full",
        "padding": padding if rng.random() < 0.2 else None,
    }


def _clamped(rng: Rng, fields: dict[str, Any]) -> dict[str, Any]:
    shape = fields["omega"].shape
    unit = 1.0 / max(fields["gain"].max() * shape[1], 0.1)
    return {
        "dynamics": "clamped",
        "duration": math.inf if rng.random() < 0.3 else float(unit * rng.uniform(0.0, 5.0)),
        "phase_0": rng.uniform(-math.pi, math.pi, shape) if rng.random() < 0.5 else None,
        "rate": rng.standard_normal(shape) if rng.random() < 0.5 else None,
    }


def _network(rng: Rng) -> dict[str, Any]:
    """Either two oscillators on one channel, or a network narrow enough to lock completely."""
    pair = rng.random() < 0.5
    count, channels = (2, 1) if pair else (int(rng.integers(3, 17)), int(rng.integers(1, 4)))
    gain = np.exp(rng.uniform(-0.5, 1.0, 2))
    spread = (1.0 if pair else 0.15) * gain[:, None, None]
    return {
        "omega": spread * rng.standard_normal((2, count, channels)),
        "theta": rng.uniform(-0.8, 0.8, (2, count, channels)),
        "values": rng.standard_normal((2, count, 3)),
        "coupling": FrequencyCoupling(alpha=rng.uniform(0.0, 0.5, 2) / np.square(gain)),
        "gain": gain,
        "mask": "full" if pair or rng.random() < 0.7 else "causal",
        "dynamics": "network",
    }


if __name__ == "__main__":
    DIGESTS.write_text("".join(f"{frozen_spec(i).digest}\n" for i in range(COUNT)))
