"""block_map: no tile with a pair that can lock is left out, against all pairs in float64."""

import itertools
import math
import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hw_targets.triton.ops import fused_table
from hw_targets.triton.ops.native.build import FOLDER
from hw_targets.triton.ops.ssa import ssa_attention
from hw_targets.triton.ops.tile_boxes import NORM_LIMIT, radius_growth
from hw_targets.triton.ops.tile_map import BlockMap, block_map, from_tensors
from hw_targets.triton.ops.tile_search import block_map_op, lockable_tiles
from hw_targets.triton.ops.tile_shape import tile_shape
from oscsim.errors import ConfigError

GROWTH = radius_growth(64, "accurate")


def tiles_of(lists, heads, n, rows, columns):
    """Both lists as one dense (heads, row tiles, column tiles) bool each."""
    row_start, row_columns, column_start, column_rows = (x.numpy() for x in lists)
    shape = (heads, -(-n // rows), -(-n // columns))
    by_row, by_column = np.zeros(shape, bool), np.zeros(shape, bool)
    for flat, (first, last) in enumerate(itertools.pairwise(row_start)):
        assert np.all(np.diff(row_columns[first:last]) > 0)
        by_row[flat // shape[1], flat % shape[1], row_columns[first:last]] = True
    for flat, (first, last) in enumerate(itertools.pairwise(column_start)):
        assert np.all(np.diff(column_rows[first:last]) > 0)
        by_column[flat // shape[2], column_rows[first:last], flat % shape[2]] = True
    assert row_start[-1] == len(row_columns) == len(column_rows) == column_start[-1]
    return by_row, by_column


def by_brute_force(omega, radius, valid, causal, rows, columns):
    """Tiles with a pair that locks, and tiles whose boxes are within the grown radius; float64, all pairs."""
    heads, n, _ = omega.shape
    shape = (heads, -(-n // rows), -(-n // columns))
    locked, near = np.zeros(shape, bool), np.zeros(shape, bool)
    for h, i, j in np.ndindex(shape):
        r = np.arange(i * rows, min(n, (i + 1) * rows))
        c = np.arange(j * columns, min(n, (j + 1) * columns))
        if causal and c[0] > r[-1]:
            continue
        r_in, c_in = r[valid[r]], c[valid[c]]
        if not len(r_in) or not len(c_in):
            continue
        a, b = omega[h, r_in], omega[h, c_in]
        squared = ((a[:, None] - b[None]) ** 2).sum(-1)
        seen = (c_in[None] <= r_in[:, None]) | (not causal)
        locked[h, i, j] = np.any(seen & (squared <= radius[h, r_in, None] ** 2))
        gap = np.maximum(np.maximum(b.min(0) - a.max(0), a.min(0) - b.max(0)), 0.0)
        near[h, i, j] = (gap**2).sum() <= (radius[h, r_in].max() * (1 + 1.01 * GROWTH)) ** 2 + 1e-18
    return locked, near


def search(omega, radius, valid, causal, rows, columns):
    """The op on numpy arrays; radius (heads, N) or (heads, 1), 0 = uncoupled."""
    inverse = np.divide(1.0, radius**2, out=np.zeros_like(radius), where=radius > 0)
    mask = None if valid.all() else torch.tensor(valid)[None]
    given = torch.tensor(omega)[None], torch.tensor(inverse)[None], mask
    return lockable_tiles(*given, causal, rows, columns, GROWTH)


@st.composite
def layers(draw):
    n, channels = draw(st.integers(1, 40)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["ramp", "clusters", "random", "lattice"]))
    omega = rng.standard_normal((2, n, channels)) * 0.02
    if kind == "ramp":
        omega[..., -1] += np.arange(n)
    elif kind == "clusters":
        omega += rng.choice([-100.0, 0.0, 3.0], (2, n, 1)) + draw(st.sampled_from([0.0, 1e6]))
    elif kind == "random":
        omega *= 50.0
    else:  # distances that equal the radius exactly
        omega = rng.integers(0, 12, (2, n, channels)).astype(float)
    radius = rng.choice([0.0, 0.5, 1.0, 3.0, 5.0], (2, n if draw(st.booleans()) else 1))
    valid = rng.random(n) < draw(st.sampled_from([1.0, 0.8, 0.1]))
    if draw(st.booleans()):
        omega = omega.astype(np.float32)
    return omega, radius, valid


@given(layers(), st.booleans(), st.sampled_from([(4, 4), (8, 4), (3, 7), (1, 1), (64, 64)]))
@settings(max_examples=120, deadline=None)
def test_no_locked_pair_is_left_out_and_only_near_boxes_are_kept(layer, causal, tile):
    omega, radius, valid = layer
    lists = search(omega, radius, valid, causal, *tile)
    by_row, by_column = tiles_of(lists, 2, omega.shape[1], *tile)
    np.testing.assert_array_equal(by_row, by_column)
    each = np.broadcast_to(radius, omega.shape[:2])
    locked, near = by_brute_force(omega.astype(np.float64), each, valid, causal, *tile)
    assert not np.any(locked & ~by_row)
    # the 44-bit allowance of huge frequencies may keep a little more
    if np.abs(omega).max() < 1e5:
        assert not np.any(by_row & ~near)


def test_a_ramp_with_a_window_of_128_keeps_five_tiles_per_row():
    n = 4096
    omega = torch.zeros(1, 2, n, 8)
    omega[..., 3] = torch.arange(n)
    omega[..., 5] = torch.randn(n, generator=torch.Generator().manual_seed(0)) * 0.01
    inverse = torch.full((1, 2, 1), 128.0**-2, dtype=torch.float64)
    row_start, _, column_start, _ = lockable_tiles(omega, inverse, None, False, 96, 96, GROWTH)
    counts = row_start.diff()
    assert counts.max() == 5 and counts.double().mean() > 4.8
    assert torch.equal(counts, column_start.diff())
    row_start, columns, *_ = lockable_tiles(omega, inverse, None, True, 96, 96, GROWTH)
    assert row_start.diff().max() == 3
    assert columns[-1] == (n - 1) // 96


def test_no_implementation_uses_its_product_form_further_out_than_the_bound_assumes():
    header = (FOLDER / "prepare.h").read_text()
    (native,) = re.findall(r"PRODUCT_LIMIT = ([0-9.]+)f", header)
    assert max(float(native), fused_table.NORM_LIMIT) <= NORM_LIMIT


def test_candidates_are_chunked_without_a_seam(monkeypatch):
    omega = torch.randn(1, 3, 100, 2, generator=torch.Generator().manual_seed(1))
    inverse = torch.full((1, 3, 1), 4.0, dtype=torch.float64)
    whole = lockable_tiles(omega, inverse, None, True, 8, 4, GROWTH)
    monkeypatch.setattr("hw_targets.triton.ops.tile_search.CHUNK", 7)
    for a, b in zip(whole, lockable_tiles(omega, inverse, None, True, 8, 4, GROWTH), strict=True):
        assert torch.equal(a, b)


def test_uncoupled_rows_keep_identical_tokens_only():
    omega = torch.arange(32.0).repeat(2).view(1, 1, 64, 1)
    options = {"alpha": 0.3, "gain": 0.0, "order_parameter": 1.0, "impl": "eager"}
    tile = block_map(omega, **options).rows
    lists = lockable_tiles(omega, torch.zeros(1, 1, 1, dtype=torch.float64), None, False, 8, 8, GROWTH)
    by_row, _ = tiles_of(lists, 1, 64, 8, 8)
    np.testing.assert_array_equal(by_row[0], np.tile(np.eye(4, dtype=bool), (2, 2)))
    far = torch.arange(3.0 * tile).view(1, 1, -1, 1)
    assert block_map(far, **options).active_tiles == 3


def test_everything_padded_is_an_empty_map():
    padding = torch.ones(1, 100, dtype=torch.bool)
    built = block_map(
        torch.full((1, 2, 100, 3), torch.nan),
        alpha=0.1,
        gain=1.0,
        order_parameter=1.0,
        padding=padding,
        impl="eager",
    )
    assert built.active_tiles == 0 and not built.row_start.any() and built.active_share == 0.0


def test_padding_does_not_widen_boxes():
    omega = torch.arange(256.0).view(1, 1, 256, 1).repeat(2, 1, 1, 1)
    omega[0, 0, ::3] = torch.nan
    padding = torch.zeros(2, 256, dtype=torch.bool)
    padding[0, ::3] = True
    inverse = torch.full((2, 1, 1), 10.0**-2, dtype=torch.float64)
    row_start, *_ = lockable_tiles(omega, inverse, ~padding, False, 16, 16, GROWTH)
    assert row_start.diff().max() == 3


def test_a_map_survives_the_way_through_tensors_and_says_what_it_holds():
    built = small_map()
    again = from_tensors(built.tensors())
    assert repr(again) == repr(built) and "active" in repr(built)
    assert torch.equal(again.column_rows, built.column_rows) and again.causal is built.causal
    assert 0 < built.active_share < 1
    assert built.active_tiles <= built.total_tiles


def ramp(n, slope=0.1):
    """Two channels, one of them a ramp; and the clusters at +-100 that a centred product would lose."""
    omega = 0.02 * torch.randn(1, 2, n, 2, generator=torch.Generator().manual_seed(3))
    omega[:, 0, :, 1] += slope * torch.arange(n)
    omega[:, 1] += 100.0 * torch.sign(torch.arange(n) % 150 - 70.0)[:, None]
    return omega


@pytest.mark.parametrize(
    ("impl", "precision", "causal"),
    [
        *itertools.product(["native"], ["accurate", "fast"], [False, True]),
        ("triton", "accurate", True),
        ("triton", "fast", False),
    ],
)
def test_leaving_tiles_out_changes_no_bit(impl, precision, causal):
    tile = max(tile_shape(impl, 2, 3, precision))
    n, heads = (400, 2) if impl == "native" else (2 * tile + 8, 1)  # the interpreter is slow
    omega = ramp(n)[:, :heads].requires_grad_()
    values = torch.randn(1, heads, n, 3, generator=torch.Generator().manual_seed(4)).requires_grad_()
    strength = {
        "alpha": torch.tensor([0.0, 3.0])[:heads],
        "gain": torch.tensor([1.5, 0.4])[:heads],
        "order_parameter": torch.rand(1, heads, n, generator=torch.Generator().manual_seed(5)),
    }
    padding = torch.zeros(1, n, dtype=torch.bool)
    padding[0, 100:125] = True
    options = {"causal": causal, "precision": precision, "impl": impl, "padding": padding}
    tiles = block_map(omega, **strength, **options, value_width=3)
    assert tiles.active_tiles < tiles.total_tiles
    results = []
    for chosen in (None, tiles):
        omega.grad = values.grad = None
        output = ssa_attention(omega, values, **strength, **options, block_map=chosen)
        output.square().sum().backward()
        results.append((output.detach(), omega.grad, values.grad))
    for dense, sparse in zip(*results, strict=True):
        assert torch.isfinite(dense).all() and torch.equal(dense, sparse)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"n": 255}, "N"),
        ({"causal": False}, "causal"),
        ({"heads": 1}, "heads"),
        ({"impl_tile": (8, 8)}, "tile"),
    ],
)
def test_a_map_of_another_call_is_refused(change, word):
    built = small_map()
    n, heads = change.get("n", 256), change.get("heads", 2)
    if "impl_tile" in change:
        lists = built.tensors()[1:]
        built = BlockMap(*change["impl_tile"], *lists, 1, 2, 256, True)
    omega, values = torch.zeros(1, heads, n, 2), torch.zeros(1, heads, n, 2)
    with pytest.raises(ConfigError, match=rf"(?s){word}.*expected.*build it"):
        built.check(omega, values, change.get("causal", True), "accurate", "eager")


def small_map():
    omega = torch.arange(256.0).view(1, 1, 256, 1).repeat(1, 2, 1, 2)
    return block_map(omega, alpha=0.0, gain=8.0, order_parameter=1.0, causal=True, impl="eager")


def test_the_op_obeys_torch_and_refuses_vmap():
    omega = torch.arange(200.0).view(1, 2, 100, 1)
    strengths = torch.zeros(2), torch.full((2,), 10.0), torch.ones(1, 2, 1)
    valid = torch.arange(100)[None] < 90
    torch.library.opcheck(block_map_op, (omega, *strengths, valid, True, 8, 4, 1e-3))
    with pytest.raises(ConfigError, match=r"torch\.vmap"):
        torch.vmap(lambda x: block_map_op(x, *strengths, None, True, 8, 4, 1e-3))(omega[None])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": -1.0}, "alpha: given -1"),
        ({"gain": math.inf}, "gain: given inf"),
        ({"order_parameter": math.nan}, "order_parameter: given nan"),
        ({"precision": "half"}, "precision: given 'half'"),
        ({"value_width": -3}, "value_width -3"),
        ({"omega": torch.zeros(2, 3, 4)}, "expected .batch, heads, N, D."),
        ({"omega": torch.zeros(1, 1, 0, 4)}, "N, D"),
        ({"omega": torch.zeros(0, 1, 3, 4)}, "at least one batch"),
        ({"omega": torch.zeros(1, 1, 3, 4, dtype=torch.int64)}, "expected floating point"),
    ],
)
def test_what_makes_no_map_is_refused(change, message):
    given = {"omega": torch.zeros(1, 1, 3, 4), "alpha": 0.5, "gain": 1.0, "order_parameter": 1.0, **change}
    with pytest.raises(ConfigError, match=message):
        block_map(given.pop("omega"), **given, impl="native")


def test_map_and_attention_compile_in_one_graph():
    omega = torch.arange(300.0).view(1, 2, 150, 1)
    values = torch.randn(1, 2, 150, 3, generator=torch.Generator().manual_seed(6))
    options = {"alpha": 0.1, "gain": 2.0, "order_parameter": 1.0, "impl": "native"}

    def attend(x):
        tiles = block_map(x, **options, value_width=3)
        return ssa_attention(x, values, block_map=tiles, **options)

    x = omega.clone().requires_grad_()
    compiled = torch.compile(attend, backend="aot_eager", fullgraph=True)(x)
    compiled.sum().backward()
    assert torch.equal(compiled, attend(omega)) and torch.isfinite(x.grad).all()
