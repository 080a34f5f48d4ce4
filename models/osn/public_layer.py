"""The layer of the public implementation of SSA, with its parameter names, on the exact op.

github.com/HasiHays/OSN (MIT), osn_model.py. What is different: the op forms frequency differences directly
and adds no 1e-8 to the threshold and to the row sum. Row sums are at least S_ii = 1, and a threshold near
1e-8 has J near 1e-8 and so has S: either changes outputs by about 1e-8 of the values at most. In the
backward pass the slope at the locking edge is smooth instead of infinite.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from hw_targets.triton.ops import Implementation, order_parameter, ssa_attention
from oscsim import PhaseLayerSpec
from oscsim.errors import SpecError

from .phase_layer import one_passage, phase_layer


class PublicSynchronizationAttention(nn.Module):
    """Bidirectional SSA without position, d_model/n_heads frequency channels per head.

    omega = W_omega x, theta = W_theta x, V = W_v x, all with bias and split into heads
    y_i = W_o concat_h( sum_j S_ij V_j / sum_j S_ij ),  S of alpha_h = softplus(alpha), K = softplus(K)  [SSA]

    with r = mean over channels of |mean_j e^{i theta_j}| over all tokens. Attributes: ``implementation``, who
    computes: "triton", "native", "eager", or None for the device's own; "eager" with ``sparsity_k``, as no
    other can. Build it with :func:`models.osn.public_compatible_layer`.
    """

    def __init__(
        self, d_model: int, n_heads: int, sparsity_k: int | None = None, dropout: float = 0.0
    ) -> None:
        super().__init__()
        if n_heads < 1 or d_model < 1 or d_model % n_heads:
            raise SpecError(
                f"given d_model {d_model} and {n_heads} heads; expected a multiple of the heads; change one"
            )
        if (sparsity_k is not None and sparsity_k < 1) or not 0.0 <= dropout < 1.0:
            raise SpecError(
                f"given sparsity_k {sparsity_k} and dropout {dropout}; expected None or at least 1, and "
                "0 <= dropout < 1; change one"
            )
        self.n_heads, self.sparsity_k, self.dropout = n_heads, sparsity_k, dropout
        self.implementation: Implementation | None = None if sparsity_k is None else "eager"
        self.K = nn.Parameter(torch.tensor(1.0))
        self.alpha = nn.Parameter(torch.ones(n_heads))
        self.W_omega = nn.Linear(d_model, d_model)
        self.W_theta = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def oscillators(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return frequencies (rad per time unit), phases (rad) and values, (B, H, N, d_model/H) each."""
        values = self._per_head(self.W_v(x))
        # a frequency off by a bfloat16 step would lock other pairs
        with torch.autocast(x.device.type, enabled=False):
            full = x.to(self.W_omega.weight.dtype)
            return self._per_head(self.W_omega(full)), self._per_head(self.W_theta(full)), values

    def forward(self, x: Tensor) -> Tensor:
        """Map (B, N, d_model) to the same shape."""
        omega, theta, values = self.oscillators(x)
        heads = ssa_attention(
            omega,
            values,
            alpha=functional.softplus(self.alpha),
            gain=functional.softplus(self.K),
            order_parameter=order_parameter(theta),
            dropout=self.dropout if self.training else 0.0,
            top_k=self.sparsity_k,
            impl=self.implementation,
        )
        return self.W_o(heads.transpose(1, 2).flatten(-2))

    @torch.no_grad()
    def to_spec(self, x: Tensor, dynamics: str = "pair", **fields: Any) -> PhaseLayerSpec:
        """Return the phase layer of one passage, (N, d_model) or (1, N, d_model), before W_o.

        Raises
        ------
        SpecError
            the input is not one passage, ``sparsity_k`` is set, or a field is refused.

        >>> PublicSynchronizationAttention(8, 2).to_spec(torch.zeros(5, 8)).mask
        'full'
        """
        if self.sparsity_k is not None:
            raise SpecError(
                f"given sparsity_k {self.sparsity_k}; expected None: oscillators synchronize with all that "
                "lock to them; build the layer without it"
            )
        oscillators = self.oscillators(one_passage(x, self.W_v.in_features))
        gain = functional.softplus(self.K).expand(self.n_heads)
        alpha = functional.softplus(self.alpha)
        return phase_layer(oscillators, alpha, gain, causal=False, fields={"dynamics": dynamics, **fields})

    def _per_head(self, flat: Tensor) -> Tensor:
        return flat.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
