"""The AMX engine with emulated tile instructions: its layouts, splits and blocks, on any AVX-512 machine."""

import ctypes
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from ssa_rounding import tolerances

from hw_targets.triton.ops import eager, native_ssa
from hw_targets.triton.ops.native import build
from hw_targets.triton.ops.problem import SSAProblem

# Weights keep two bfloat16 parts, 2^-17 of themselves.
WEIGHT_ROUNDING = 2.0**-17
CASES = [(1, 1, 5), (17, 5, 33), (63, 16, 16), (130, 64, 64), (100, 128, 48), (97, 40, 128)]


def problem(n: int, channels: int, width: int, causal: bool) -> SSAProblem:
    draw = torch.Generator().manual_seed(n)
    one = torch.ones(1, 1, n if causal else 1, dtype=torch.float64)
    return SSAProblem(
        omega=torch.randn(1, 1, n, channels, generator=draw) * 1.05 / (2 * channels) ** 0.5,
        values=torch.randn(1, 1, n, width, generator=draw),
        inverse_square=one,
        selectivity=1.2 * one,
        coupled=one > 0,
        valid=None,
        causal=causal,
        precision="accurate",
    )


@pytest.fixture(scope="module")
def emulated(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The engine's own source, compiled with tiles_emulated.h in place of tiles_amx.h."""
    folder = tmp_path_factory.mktemp("emulated")
    for path in (*build.FOLDER.glob("*.h"), build.FOLDER / "schedule.cpp"):
        shutil.copy(path, folder)
    engine = (build.FOLDER / "engine_amx.cpp").read_text()
    entry = (Path(__file__).parent / "emulated_tiles.cpp").read_text()
    (folder / "emulated.cpp").write_text(f"#define OSCSIM_EMULATED_TILES\n{engine}\n{entry}")
    return ctypes.CDLL(str(build.compiled(folder)))


@pytest.fixture
def engines(emulated: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, ...]]:
    """Those that the emulated library offers here: itself, or none without AVX-512."""
    monkeypatch.setattr(native_ssa, "library", lambda: emulated)
    native_ssa.engines.cache_clear()
    yield native_ssa.engines()
    native_ssa.engines.cache_clear()


def test_it_is_offered_exactly_where_it_can_run(engines: tuple[str, ...]) -> None:
    assert engines == (("emulated",) if torch.backends.cpu.get_cpu_capability() == "AVX512" else ())


def test_forward_and_gradients_equal_the_normal_form(engines: tuple[str, ...]) -> None:
    for engine in engines:
        for (n, channels, width), causal in ((case, causal) for case in CASES for causal in (False, True)):
            given = problem(n, channels, width, causal)
            d_output = torch.randn(given.values.shape, generator=torch.Generator().manual_seed(5))
            exact, allowed = tolerances(given, d_output, eager.mask(given), torch.ones(()), WEIGHT_ROUNDING)
            with native_ssa.using(engine):
                output, total = native_ssa.forward(given)
                found = {"output": output, "total": total}
                found |= native_ssa.backward(given, output, total, d_output)._asdict()
            for name, expected in exact.items():
                value = found[name].double()
                value = value.sum(-1) if value.dim() > expected.dim() else value
                assert (value - expected).abs().max() <= allowed[name], (name, n, channels, width, causal)


def test_a_lone_oscillator_keeps_its_value_to_the_last_bit(engines: tuple[str, ...]) -> None:
    for engine in engines:
        given = problem(40, 8, 16, False)
        given.omega[...] = 10.0 * torch.arange(40.0)[:, None]
        with native_ssa.using(engine):
            assert torch.equal(native_ssa.forward(given).output, given.values)
