"""The tiny model, once for all tests of training."""

import sys
from importlib import util
from pathlib import Path

import pytest

PATH = Path(__file__).with_name("tiny_run.py")


def _load():
    spec = util.spec_from_file_location("tiny_run", PATH)
    module = util.module_from_spec(spec)
    sys.modules["tiny_run"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def tiny():
    return _load()


@pytest.fixture(scope="session")
def unbroken(tiny, tmp_path_factory):
    """The folder of a run that nobody interrupted."""
    folder = tmp_path_factory.mktemp("unbroken")
    tiny.run(folder)
    return folder


@pytest.fixture(scope="session")
def same_run(unbroken):
    """Compare a folder with the unbroken run, byte by byte where no time is written."""

    def compare(folder):
        for name in ("checkpoint.safetensors", "model.safetensors", "log.csv"):
            assert (folder / name).read_bytes() == (unbroken / name).read_bytes(), name
        assert sorted(entry.name for entry in folder.iterdir()) == sorted(
            entry.name for entry in unbroken.iterdir()
        )

    return compare


@pytest.fixture
def begun(tiny, tmp_path):
    """A run that was interrupted after step 6."""

    def stop(step, *_):
        if step == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tiny.run(tmp_path / "run", stop)
    return tmp_path / "run"
