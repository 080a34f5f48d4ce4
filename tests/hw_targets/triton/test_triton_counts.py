"""Counts of plans against the section work, against the arrays of a launch, and against loops over tiles."""

import math

import numpy as np
import pytest

from hw_targets import get_target
from hw_targets.triton.network_loop import run_heads

TARGET = get_target("triton")


def lowered(spec, **options):
    return TARGET.lower(spec, TARGET.config(**options)).lowered


@pytest.mark.parametrize("changes", [{}, {"dynamics": "clamped", "duration": 1.0}, {"mask": "causal"}])
def test_tile_kernels_count_their_work_and_their_arrays(explicit, changes):
    found = lowered(explicit(2, 37, 3, **changes), block_m=16)
    counts, work = found.plan.counts(), found.plan["work"]
    for event, name in (
        ("multiply_accumulates", "multiply_adds"), ("additions", "additions"),
        ("multiplications", "multiplications"), ("special_functions", "special_functions"),
    ):  # fmt: skip
        assert counts[f"{event}.float32"] == work[name] and counts.details(event) == ("float32",)
    assert counts["bytes.l2"] == work["bytes_loaded"] + work["bytes_stored"]
    moved = 0
    for launch in found.launches:
        for name in launch.memory:
            shape, kind = found.buffers.get(name, (None, None))
            array = found.arrays[name] if shape is None else np.empty(shape, kind)
            moved += array.nbytes
    assert counts["bytes.hbm"] == moved


@pytest.mark.parametrize("mask", ["full", "causal"])
@pytest.mark.parametrize(
    ("precision", "kinds"),
    [("accurate", (("float16", 3), ("bfloat16", 6))), ("fast", (("float16", 1), ("bfloat16", 1)))],
)
def test_the_fused_op_counts_products_by_type_tile_by_tile(layer, mask, precision, kinds):
    plan = lowered(layer(2, 300, 20, mask=mask), precision=precision).plan
    counts, (rows, columns) = plan.counts(), plan["op"]["tile"]
    products = {"float16": 0, "bfloat16": 0}
    (frequency, per_frequency), (value, per_value) = kinds
    for _ in range(2):  # heads
        for first in range(0, 300, rows):
            for start in range(0, 300, columns):
                products[frequency] += rows * columns * per_frequency * 32  # S: every tile, 20 in 32 lanes
                if mask == "causal" and start > first + rows - 1:
                    continue
                products[frequency] += rows * columns * per_frequency * 32
                products[value] += rows * columns * per_value * 16  # five columns in 16 lanes
    for kind, number in products.items():
        assert counts[f"multiply_accumulates.{kind}"] == number
    assert counts["multiply_accumulates.float32"] == plan["work"]["polynomial"]
    assert counts["special_functions.float32"] == plan["work"]["special_functions"]
    assert counts["bytes.l2"] > counts["bytes.hbm"] > plan["work"]["bytes_stored"]


def test_without_idle_lanes_products_are_those_of_the_work_section(layer):
    spec = layer(1, 40, 32, values=np.ones((1, 40, 16)))
    plan = lowered(spec, precision="fp32").plan
    assert plan.counts()["multiply_accumulates.float32"] == (
        plan["work"]["multiply_adds"] + plan["work"]["polynomial"]
    )


@pytest.mark.parametrize(("sizes", "growth"), [((4, 128, 16), 2), ((2, 256, 16), 4)], ids=["H", "N^2"])
def test_products_scale_with_heads_and_pairs(layer, sizes, growth):
    small, large = (lowered(layer(*size)).plan.counts() for size in ((2, 128, 16), sizes))
    assert large["multiply_accumulates.float16"] == growth * small["multiply_accumulates.float16"]
    assert large["special_functions.float32"] == growth * small["special_functions.float32"]


def test_products_scale_with_channels(layer):
    few, many = (lowered(layer(1, 64, channels)).plan.counts() for channels in (16, 64))
    assert many["multiply_accumulates.float16"] == 4 * few["multiply_accumulates.float16"]
    assert many["multiply_accumulates.bfloat16"] == few["multiply_accumulates.bfloat16"]


def test_a_network_is_counted_as_long_as_it_is_planned_to_run(layer):
    """The launches of the real loop, with a network that comes to rest at the planned step."""
    spec = layer(2, 5, 2, omega=np.zeros((2, 5, 2)), dynamics="network", gain=np.array([1.0, 0.1]))
    found = lowered(spec)
    needed, (heads, count, width) = found.plan["steps"]["predicted"], found.arrays["phase"].shape
    taken = np.zeros(heads, int)

    def advance(active, steps):
        taken[active] += steps
        moving = taken[active] < np.array(needed)[active]
        velocity = np.zeros((len(active), count, width), np.float32)
        velocity[moving, 0] = 1.0  # one moves against the others
        path = np.cumsum(np.ones(steps))[None, :, None, None] * velocity[:, None]
        return path.astype(np.float32), velocity

    run_heads(spec, found, advance)
    work, counts = found.plan["work"], found.plan.counts()
    share = taken.sum() / heads
    assert (taken >= needed).all() and counts["multiply_accumulates.float32"] == pytest.approx(
        share * work["multiply_adds_per_step"]
    )
    assert counts["bytes.hbm"] > share * work["bytes_stored_per_step"]


def test_a_network_that_cannot_lock_is_counted_with_the_most_steps(layer):
    spec = layer(1, 2, 1, omega=np.array([[[0.0], [50.0]]]), dynamics="network")
    plan = lowered(spec, max_steps=1000).plan
    assert plan["steps"]["predicted"] == [1000]
    assert plan.counts()["special_functions.float32"] == 1000 * plan["work"]["special_functions_per_step"]


def test_a_prediction_is_the_time_of_the_weakest_row(layer):
    """Two equal oscillators: the pull of each is the unit of time, rest is ln(1e6) away, steps are 1/4."""
    spec = layer(1, 2, 1, omega=np.zeros((1, 2, 1)), dynamics="network")
    rows = 2.0  # the diagonal, which pulls nothing, is half of what sets the unit
    assert lowered(spec).plan["steps"]["predicted"] == [math.ceil(math.log(1e6) * rows * 4.0)]
