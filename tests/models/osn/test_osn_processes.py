"""Two processes that share a batch have the losses and the gradient of one."""

import os
import subprocess
import sys
from pathlib import Path

import torch

from models.osn import OSNConfig, OSNLanguageModel

# a quarter of 16 is two passages each; of 4, one, which the second process does not have
BATCHES = (16, 4)

CHILD = """
import sys
import torch
import torch.distributed.nn.functional  # before the group is there, see models.training.processes
sys.path.insert(0, sys.argv[3])
from test_osn_processes import gradients
rank, meeting = int(sys.argv[1]), sys.argv[2]
torch.distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
found = gradients(rank, 2)
for gradient, penalty in found:
    torch.distributed.all_reduce(gradient)
    gradient /= 2
torch.save(found, f"{meeting}-{rank}")
torch.distributed.destroy_process_group()
"""


def gradients(rank, world):
    """Cross-entropy and gradient of this process in one vector, and the penalty, for every batch."""
    found = []
    for batch in BATCHES:
        torch.manual_seed(0)
        # the target is out of reach: every head pulls
        shape = OSNConfig(width=8, heads=2, hidden=8, context=12, dropout=0.0, locked_target=(0.9, 0.95))
        model = OSNLanguageModel(shape).double()
        model.use("eager")
        tokens = torch.randint(256, (batch, 13))[rank::world]
        losses = model.losses(tokens[:, :-1], tokens[:, 1:])
        (losses.cross_entropy + losses.penalty).backward()
        parts = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
        vector = torch.cat([losses.cross_entropy.detach().view(1), *(part.flatten() for part in parts)])
        found.append((vector, losses.penalty.detach()))
    return found


def test_two_processes_have_the_gradient_of_one(tmp_path):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    meeting = str(tmp_path / "meeting")
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, str(rank), meeting, str(Path(__file__).parent)], env=environment
        )
        for rank in range(2)
    ]
    assert [child.wait(timeout=120) for child in children] == [0, 0]
    for rank in range(2):
        found = torch.load(f"{meeting}-{rank}")
        for (vector, penalty), (expected, alone) in zip(found, gradients(0, 1), strict=True):
            assert alone > 0.1
            # float64 sums in another order
            torch.testing.assert_close(vector, expected, atol=1e-12, rtol=1e-12)
            torch.testing.assert_close(penalty, alone, atol=0, rtol=1e-12)


def test_a_batch_of_fewer_than_four_passages_still_has_a_penalty():
    torch.manual_seed(0)
    model = OSNLanguageModel(OSNConfig(width=8, heads=2, hidden=8, context=12, locked_target=(0.9, 0.95)))
    tokens = torch.randint(256, (1, 13))
    assert model.losses(tokens[:, :-1], tokens[:, 1:]).penalty > 0
