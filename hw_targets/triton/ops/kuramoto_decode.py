"""Causal decoding of Kuramoto attention: tokens come in any chunks, and only their rows are computed."""

from __future__ import annotations

import math
from numbers import Real
from typing import NamedTuple

import torch
from torch import Tensor

from hw_targets.triton.ops import kuramoto_features as features
from hw_targets.triton.ops.growing import Growing
from hw_targets.triton.ops.kuramoto import check_tokens, inverse_temperature
from hw_targets.triton.ops.kuramoto_problem import compute_dtype
from hw_targets.triton.ops.kuramoto_values import read
from oscsim.errors import ConfigError

ROWS = 64
"""New tokens are computed this many at a time, so that a long prompt needs memory O(N) too."""


class _Kept(NamedTuple):
    """All that is remembered, replaced as a whole when a call succeeds: a refused one changes nothing."""

    key: Growing = Growing()
    value: Growing = Growing()
    removed: Growing = Growing()


class KuramotoCache:
    """What causal Kuramoto attention remembers of the tokens so far: their keys and phases, memory O(N k).

    Appending tokens gives their rows of :func:`kuramoto_attention` with ``causal=True`` over everything
    appended so far, in any chunks, equal within rounding of float32 (float64 when theta is). A token costs
    O(N k), on any device. Inference only: no gradients.

    Parameters
    ----------
    drift : omega (heads, k), rad per position; the first token is position 0.
    tau : inverse temperature, a number or (heads,).

    Raises
    ------
    ConfigError
        drift or tau of another kind or shape; in :meth:`append` tokens that do not fit them or the ones
        before. A refused call leaves the cache as it was.

    >>> cache = KuramotoCache(torch.zeros(1, 1), tau=0.0)
    >>> one = torch.ones(1, 1, 1, 1)
    >>> _ = cache.append(0.0 * one, one, one)
    >>> cache.append(torch.pi / 2 * one, one, one).item(), len(cache)
    (-0.5, 2)
    """

    def __init__(self, drift: Tensor, *, tau: Tensor | float) -> None:
        _check(drift, tau)
        self.drift, self.tau = drift.detach(), tau
        self.reset()

    def __len__(self) -> int:
        return len(self._kept.key)

    def reset(self) -> None:
        """Forget all tokens; the next ones may have another batch size."""
        self._kept = _Kept()

    @torch.no_grad()
    def append(
        self, theta: Tensor, gate_q: Tensor, gate_k: Tensor, *, padding: Tensor | None = None
    ) -> Tensor:
        """Take new tokens in and return their tangent increments.

        Parameters
        ----------
        theta, gate_q, gate_k : (batch, heads, new, k), as for :func:`kuramoto_attention`.
        padding : (batch, new) bool, True = padded: no part in anything, increment 0 (prompts of unequal
            length). Such a token still counts as a position.

        Returns
        -------
        (batch, heads, new, k), in the dtype of theta.
        """
        check_tokens(theta, gate_q, gate_k, self.drift)
        tau = inverse_temperature(self.tau, theta)
        removed = self._removed_tokens(theta, padding)
        kind, first = compute_dtype(theta), len(self)
        positions = torch.arange(first, first + theta.shape[2], device=theta.device)
        gone = removed[:, None, :, None]
        phase, target, source = (torch.where(gone, 0.0, x.to(kind)) for x in (theta, gate_q, gate_k))
        at = features.rotations(phase, features.drift_angles(self.drift, positions))
        key, value = features.key(at, source), features.value(at)
        before = self._kept
        before.key.fits("theta", key)
        kept = _Kept(before.key.longer(key), before.value.longer(value), before.removed.longer(gone))
        query = features.query(at, target, tau) / math.sqrt(theta.shape[3])
        mean = [_mean(kept, rows, first + i * ROWS) for i, rows in enumerate(query.split(ROWS, dim=2))]
        real, imaginary = torch.cat(mean, dim=2).chunk(2, dim=-1)
        tangent, _ = read(at.theta, (real, imaginary))
        result = torch.where(gone, 0.0, tangent).to(theta.dtype)
        self._kept = kept
        return result

    def select(self, indices: Tensor) -> None:
        """Keep or repeat these sequences of the batch, (new batch,) whole numbers (beam search)."""
        if len(self) == 0:
            raise ConfigError("select: given an empty cache, expected tokens; append some first")
        if indices.dim() != 1 or indices.is_floating_point() or indices.dtype == torch.bool:
            raise ConfigError(
                f"indices: given {tuple(indices.shape)} {indices.dtype}, expected (new batch,) whole numbers"
            )
        batch = self._kept.key.view().shape[0]
        if len(indices) == 0 or int(indices.min()) < 0 or int(indices.max()) >= batch:
            raise ConfigError(
                f"indices: given {indices.tolist()}, expected at least one, each in 0..{batch - 1}"
            )
        self._kept = _Kept(*(part.selected(indices) for part in self._kept))

    def _removed_tokens(self, theta: Tensor, padding: Tensor | None) -> Tensor:
        expected = (theta.shape[0], theta.shape[2])
        if padding is None:
            return torch.zeros(expected, dtype=torch.bool, device=theta.device)
        if padding.shape != expected or padding.dtype != torch.bool:
            given = f"{tuple(padding.shape)} {padding.dtype}"
            raise ConfigError(f"padding: given {given}, expected {expected} torch.bool, True = padded")
        return padding.to(theta.device)


def _check(drift: Tensor, tau: Tensor | float) -> None:
    """ConfigError unless drift is (heads, k) and tau a number or (heads,), finite."""
    if not isinstance(drift, Tensor):
        raise ConfigError(f"drift: given {drift!r}, expected a tensor (heads, k), floating point")
    if drift.dim() != 2 or not drift.is_floating_point():
        raise ConfigError(
            f"drift: given {tuple(drift.shape)} {drift.dtype}, expected (heads, k), floating point"
        )
    if not isinstance(tau, (Tensor, Real)) or isinstance(tau, bool):
        raise ConfigError(f"tau: given {tau!r}, expected a number or a tensor (heads,)")
    for name, given in (("drift", drift), ("tau", inverse_temperature(tau, drift[None, :, None]))):
        if not bool(given.isfinite().all()):
            raise ConfigError(f"{name}: given NaN or infinity, expected finite numbers")


def _mean(kept: _Kept, query: Tensor, first: int) -> Tensor:
    """G of some rows, the first of them token ``first``."""
    last = first + query.shape[2]
    score = query @ kept.key.view()[:, :, :last].mT
    rows = torch.arange(first, last, device=score.device)
    hidden = torch.arange(last, device=score.device) > rows[:, None]
    hidden = hidden | kept.removed.view()[:, :, :last, 0].unsqueeze(-2)
    # the lowest number, not -inf: a padded row has no source at all
    score = score.masked_fill(hidden, torch.finfo(score.dtype).min)
    return torch.softmax(score, dim=-1) @ kept.value.view()[:, :, :last]
