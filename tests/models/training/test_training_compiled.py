"""A compiled step computes what an eager one does."""

import pytest
import torch
from torch._inductor import config

from oscsim.errors import TargetRunError

# torch's own compiler uses what torch deprecates
pytestmark = pytest.mark.filterwarnings("ignore:.*script_method.*:DeprecationWarning")


def test_a_compiled_run_follows_the_eager_one(tiny, tmp_path):
    shape = tiny.TinyConfig(dropout=0.0)
    rows = {}
    for compiled in (False, True):
        folder = tmp_path / str(compiled)
        tiny.run(folder, shape=shape, compile=compiled, steps=4, validate_every=4)
        lines = (folder / "log.csv").read_text().splitlines()[1:]
        rows[compiled] = [[float(number or 0.0) for number in line.split(",")] for line in lines]
    assert len(rows[True]) == 2
    for row, expected in zip(rows[True], rows[False], strict=True):
        assert row == pytest.approx(expected, abs=1e-5)  # float32 sums of about 7 bits in another order


def test_a_compiled_run_is_reproducible_and_can_be_resumed(tiny, tmp_path):
    def stop(step, *_):
        if step == 8:
            raise KeyboardInterrupt

    tiny.run(tmp_path / "whole", compile=True)
    with pytest.raises(KeyboardInterrupt):
        tiny.run(tmp_path / "parts", stop, compile=True)
    torch.compiler.reset()  # as in a new process
    tiny.run(tmp_path / "parts", compile=True)
    for name in ("model.safetensors", "checkpoint.safetensors", "log.csv"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_missing_compiler_is_said_in_one_line(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(config.cpp, "cxx", ("/nowhere/c++",))
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))  # nothing compiled before
    torch.compiler.reset()
    with pytest.raises(TargetRunError, match=r"compile: torch\.compile failed: .*compiler") as caught:
        tiny.run(tmp_path / "run", compile=True, steps=1)
    assert str(caught.value).endswith("; train without compile") and "\n" not in str(caught.value)
