"""Squared mismatches by direct differences."""

import torch

from models.osn.mismatch import squared_mismatch, visible_pairs


def test_mismatch_survives_an_offset_that_the_expanded_square_does_not():
    spread = torch.tensor([[0.0], [1.0 / 64]])
    assert squared_mismatch(spread + 4096.0)[0, 1].item() == 2.0**-12


def test_gradients_match_finite_differences():
    omega = torch.randn(2, 5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    assert torch.autograd.gradcheck(squared_mismatch, [omega.requires_grad_()])


def test_an_encoder_sees_all_other_tokens():
    assert torch.equal(visible_pairs(False, torch.zeros(1, 3, 3)), ~torch.eye(3, dtype=torch.bool))
