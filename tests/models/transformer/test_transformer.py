"""The transformer baseline: rotary positions, causality, shape."""

import math

import pytest
import torch

from models.transformer import RotaryAttention, TransformerConfig, TransformerLanguageModel
from models.transformer.attention import rotary_angles, rotate
from oscsim.errors import ConfigError, SpecError

SMALL = TransformerConfig(width=16, heads=2, blocks=2, hidden=24, context=16)


def test_attention_is_softmax_of_rotated_products() -> None:
    torch.manual_seed(0)
    layer, hidden = RotaryAttention(8, 2).double(), torch.randn(1, 7, 8).double()
    query, key, value = (layer.projection(hidden)[0].view(7, 3, 2, 4).permute(1, 2, 0, 3)).unbind(0)
    rows = torch.zeros(2, 7, 4).double()
    for head in range(2):
        for t in range(7):
            scores = []
            for u in range(t + 1):
                angle = [(t - u) * 10_000.0 ** (-2 * j / 4) for j in range(2)]
                product = 0.0
                for j, phi in enumerate(angle):
                    q, k = query[head, t, [j, j + 2]], key[head, u, [j, j + 2]]
                    # the rotation by t and u leaves a rotation by t - u
                    product = product + math.cos(phi) * (q * k).sum()
                    product = product + math.sin(phi) * (q[0] * k[1] - q[1] * k[0])
                scores.append(product / 2.0)
            rows[head, t] = torch.stack(scores).softmax(0) @ value[head, : t + 1]
    expected = layer.output(rows.transpose(0, 1).flatten(1))
    assert (layer(hidden)[0] - expected).abs().max() < 1e-6  # angles are float32
    mixed = layer.weights(hidden)[0] @ value
    assert (mixed - rows).abs().max() < 1e-6


def test_rotation_keeps_lengths() -> None:
    vectors = torch.randn(2, 5, 8)
    turned = rotate(vectors, rotary_angles(5, 8, 10_000.0, torch.device("cpu")))
    assert torch.allclose(turned.norm(dim=-1), vectors.norm(dim=-1), atol=1e-5)
    assert torch.equal(turned[:, 0], vectors[:, 0]) and not torch.equal(turned[:, 1], vectors[:, 1])


def test_no_row_changes_by_a_bit_when_later_bytes_do() -> None:
    torch.manual_seed(0)
    model, tokens = TransformerLanguageModel(SMALL), torch.randint(256, (2, 16))
    before = model(tokens)
    changed = tokens.clone()
    changed[:, 8:] = torch.randint(256, (2, 8))
    assert torch.equal(model(changed)[:, :8], before[:, :8])
    assert not torch.equal(model(changed)[:, 8:], before[:, 8:])


def test_the_order_of_bytes_matters() -> None:
    torch.manual_seed(0)
    model = TransformerLanguageModel(SMALL)
    there, back = model(torch.tensor([[5, 9, 7]])), model(torch.tensor([[9, 5, 7]]))
    assert not torch.allclose(there[:, -1], back[:, -1], atol=1e-3)


def test_dropout_is_for_training_only() -> None:
    torch.manual_seed(0)
    model = TransformerLanguageModel(TransformerConfig(width=16, heads=2, dropout=0.5))
    tokens = torch.randint(256, (1, 16))
    assert not torch.equal(model(tokens), model(tokens))
    rows = model.diagnose(tokens)
    assert rows == model.diagnose(tokens) and model.training
    assert all(0 < row["attention_entropy"] < 4 for row in rows) and len(rows) == 4
    model.eval()
    assert torch.equal(model(tokens), model(tokens))


def test_there_is_no_choice_of_implementation() -> None:
    model = TransformerLanguageModel(SMALL)
    model.use(None)
    with pytest.raises(ConfigError, match="given 'eager' for a transformer"):
        model.use("eager")


def test_odd_heads_are_refused() -> None:
    with pytest.raises(SpecError, match="expected an even number of channels per head"):
        RotaryAttention(6, 2)
    with pytest.raises(SpecError, match="blocks: given 0"):
        TransformerConfig(blocks=0)
