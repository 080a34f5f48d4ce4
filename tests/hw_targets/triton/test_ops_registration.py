"""The attention op as torch sees it: autograd, fake tensors, compilation, vmap."""

import pytest
import torch
from ssa_oracle import random_case

from hw_targets.triton.ops import ssa_attention
from hw_targets.triton.ops.ssa_op import ssa_attention_op
from oscsim.errors import ConfigError


@pytest.mark.parametrize("impl", ["eager", "native"])
@pytest.mark.parametrize("rows", [False, True])
def test_opcheck(impl: str, rows: bool) -> None:
    given = random_case(7, causal=True, rows=rows).arguments(torch.float32)
    order = given["order_parameter"]
    order = order if rows else order.detach()[..., None].requires_grad_()
    valid = torch.tensor([[True] * 7, [True] * 5 + [False] * 2])
    seed = torch.tensor(3)
    arguments = (given["omega"], given["values"], given["alpha"], given["gain"], order, valid, [], seed)
    torch.library.opcheck(ssa_attention_op, (*arguments, True, "accurate", "smooth", 0.03, 0.1, 0, 0, impl))


@pytest.mark.parametrize("impl", ["eager", "native"])
def test_compiles_without_a_graph_break_and_gives_the_same_numbers(impl: str) -> None:
    case = random_case(33, causal=True, rows=True)

    def loss(given: dict) -> torch.Tensor:
        rest = {name: x for name, x in given.items() if name not in ("omega", "values")}
        return ssa_attention(given["omega"] * 1.0, given["values"], **rest, impl=impl).square().sum()

    plain, compiled = case.arguments(torch.float32), case.arguments(torch.float32)
    expected = loss(plain)
    expected.backward()
    value = torch.compile(loss, fullgraph=True, backend="aot_eager")(compiled)
    value.backward()
    assert torch.equal(value, expected)
    for name in ("omega", "values", "alpha", "gain", "order_parameter"):
        assert torch.equal(compiled[name].grad, plain[name].grad), name


def test_vmap_is_refused_with_what_to_do() -> None:
    def one(omega: torch.Tensor) -> torch.Tensor:
        return ssa_attention(omega, omega, alpha=1.0, gain=1.0, order_parameter=1.0, impl="eager")

    with pytest.raises(ConfigError, match=r"pass \(batch, heads, N"):
        torch.vmap(one)(torch.randn(2, 1, 1, 3, 4))


def test_16_bit_values_keep_their_type_and_autocast_changes_nothing() -> None:
    given = random_case(9).arguments(torch.float32)
    rest = {name: given[name] for name in ("alpha", "gain", "order_parameter")}
    values = given["values"].detach().bfloat16().requires_grad_()
    output = ssa_attention(given["omega"], values, **rest, impl="eager")
    output.sum().backward()
    assert output.dtype == torch.bfloat16 and values.grad.dtype == torch.bfloat16
    with torch.autocast("cpu", torch.bfloat16):
        inside = ssa_attention(given["omega"], values, **rest, impl="eager")
    assert torch.equal(inside, output)
