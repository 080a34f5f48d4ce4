"""What the public implementation of SSA is taken over by: its layer, its block, and its parameters.

github.com/HasiHays/OSN (MIT), osn_model.py; differences are listed in public_layer.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, strided

from oscsim.errors import SchemaError

from .public_block import DotProductAttention, PublicBlock
from .public_layer import PublicSynchronizationAttention


def public_compatible_layer(
    d_model: int, n_heads: int, sparsity_k: int | None = None, dropout: float = 0.0
) -> PublicSynchronizationAttention:
    """Return a layer that takes the public implementation's state dict and gives its outputs.

    Parameters
    ----------
    d_model, n_heads : width, and number of heads, which divides it.
    sparsity_k : keep the largest S of every row only; computed by dense torch then.
    dropout : share of the normalised weights dropped in training.

    Raises
    ------
    SpecError
        ``d_model`` is not a multiple of ``n_heads``, or an option is out of range.

    >>> sorted(name for name in public_compatible_layer(8, 2).state_dict() if "." not in name)
    ['K', 'alpha']
    """
    return PublicSynchronizationAttention(d_model, n_heads, sparsity_k, dropout)


def load_public_state_dict(layer: PublicSynchronizationAttention, state_dict: Mapping[str, Tensor]) -> None:
    """Copy the parameters of a layer of the public implementation; all or nothing.

    Parameters
    ----------
    layer : of :func:`public_compatible_layer`, changed in place; its dtype and device stay.
    state_dict : K (), alpha (n_heads,), both before softplus, and W_omega, W_theta, W_v, W_o .weight
        (d_model, d_model) and .bias (d_model,).

    Raises
    ------
    SchemaError
        an entry is missing, unknown, of another shape, or not finite.

    >>> layer = public_compatible_layer(8, 2)
    >>> load_public_state_dict(layer, public_compatible_layer(8, 2).state_dict())
    """
    expected = {name: tuple(tensor.shape) for name, tensor in layer.state_dict().items()}
    wrong = [f"{name} is missing" for name in expected if name not in state_dict]
    wrong += [f"{name} is unknown" for name in state_dict if name not in expected]
    for name in expected.keys() & state_dict.keys():
        given = state_dict[name]
        if not isinstance(given, Tensor) or given.layout is not strided or given.is_meta:
            wrong.append(f"{name} is no tensor with numbers of its own")
        elif tuple(given.shape) != expected[name]:
            wrong.append(f"{name} has shape {tuple(given.shape)}")
        # as the layer is going to hold them: 1e300 is no float32
        elif not (given.is_floating_point() and given.to(layer.K.dtype).isfinite().all()):
            wrong.append(f"{name} has entries that are not finite real numbers")
    if wrong:
        listed = ", ".join(f"{name} {shape}" for name, shape in expected.items())
        raise SchemaError(
            f"given a state dict in which {'; '.join(sorted(wrong))}; expected exactly {listed}; take the "
            "entries of one layer, without the prefix (such as 'ssa.') of the block around it"
        )
    layer.load_state_dict(dict(state_dict))


def public_compatible_block(d_model: int, n_heads: int, d_ff: int) -> PublicBlock:
    """Return a pre-norm block around :func:`public_compatible_layer`, which is its ``ssa``.

    >>> sum(parameter.numel() for parameter in public_compatible_block(512, 8, 2048).parameters())
    3152393
    """
    return PublicBlock(d_model, d_ff, "ssa", public_compatible_layer(d_model, n_heads))


def matched_transformer_block(d_model: int, n_heads: int, d_ff: int) -> PublicBlock:
    """Return the same block around softmax attention, ``attn``: K and one alpha per head fewer.

    >>> sum(parameter.numel() for parameter in matched_transformer_block(512, 8, 2048).parameters())
    3152384
    """
    return PublicBlock(d_model, d_ff, "attn", DotProductAttention(d_model, n_heads))
