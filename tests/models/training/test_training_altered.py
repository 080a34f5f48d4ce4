"""A checkpoint that was edited and sealed again is refused with the reason, and no file is touched."""

import shutil

import numpy as np
import pytest

from models.checkpoint import KIND, SCHEMA_VERSION
from oscsim.errors import SchemaError
from oscsim.io import read_file, write_file


def _resealed(path, change):
    header, arrays = read_file(path, KIND, (SCHEMA_VERSION,))
    body = {key: value for key, value in header.items() if key not in ("kind", "schema_version")}
    change(body, arrays)
    write_file(path, KIND, SCHEMA_VERSION, body, arrays)


@pytest.fixture(scope="module")
def halfway(tiny, tmp_path_factory):
    """A run that was interrupted after the checkpoint of step 5."""

    def stop(step, *_):
        if step == 6:
            raise KeyboardInterrupt

    folder = tmp_path_factory.mktemp("halfway")
    with pytest.raises(KeyboardInterrupt):
        tiny.run(folder, stop)
    return folder


@pytest.fixture(params=["halfway", "complete", "measured_again"])
def folder(request, halfway, unbroken, tmp_path):
    """A run on its way, one that is complete, and one that has only to be measured."""
    copy = tmp_path / "run"
    shutil.copytree(halfway if request.param == "halfway" else unbroken, copy)
    if request.param == "measured_again":
        (copy / "results.json").unlink()
    return copy


def _refused(tiny, folder, change, expected):
    _resealed(folder / "checkpoint.safetensors", change)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(SchemaError, match=expected) as caught:
        tiny.run(folder)
    assert str(caught.value).startswith(f"{folder / 'checkpoint.safetensors'}: ")
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


STATES = [
    ({"step": "5"}, "given step '5', expected a multiple of 5 from 0 to 12, or 12; the file was altered"),
    ({"step": 5.0}, "given step 5.0"),
    ({"step": True}, "given step True"),
    ({"step": None}, "given step None"),
    ({"step": -1}, "given step -1"),
    ({"step": 99}, "given step 99"),
    ({"step": 6}, "given step 6, expected a multiple"),
    (
        {"step": 0},
        "given an optimiser state of 4 parameters that does not fit, expected none before the first",
    ),
    ({"log": {}}, "given the log {}, expected its bytes"),
    ({"log": []}, r"given the log \[\]"),
    ({"log": {"bytes": "x", "sha256": ""}}, "given the log"),
    ({"log": {"bytes": -1, "sha256": ""}}, "given the log"),
    ({"log": {"bytes": 3, "sha256": 4}}, "given the log"),
    ({"environment": []}, r"given the environment \[\]"),
    ({"environments": {}}, "given the environments {}"),
    ({"environments": []}, r"given the environments \[\], expected a list of them with the last"),
    ({"environments": [1]}, r"given the environments \[1\]"),
    ({"identity": []}, r"given the identity \[\], expected the state of a run"),
    ({"optimiser": "head.weight"}, "given the optimiser 'head.weight', expected a list"),
    ({"optimiser": [1]}, r"given the optimiser \[1\]"),
    ({"optimiser": ["scale"]}, "given an optimiser state of embedding.weight"),
]


@pytest.mark.parametrize(("change", "expected"), STATES, ids=lambda value: str(value)[:40])
def test_a_state_that_no_run_has_written_is_refused(tiny, folder, change, expected):
    _refused(tiny, folder, lambda header, _: header["training"].update(change), expected)


def test_a_missing_entry_is_refused(tiny, folder):
    _refused(
        tiny, folder, lambda header, _: header["training"].pop("log"), "given no log, expected the state"
    )


@pytest.mark.parametrize("change", [{"model": "tinier"}, {"config": {}}], ids=str)
def test_a_description_of_another_model_is_refused(tiny, folder, change):
    _refused(
        tiny, folder, lambda header, _: header.update(change), "expected the model and the config of the"
    )


def _set(name, value):
    return lambda _, arrays: arrays.update({name: value(arrays[name])})


def _spoiled(value):
    def spoil(array):
        array = array.copy()
        array.flat[0] = value
        return array

    return spoil


ARRAYS = {
    "nan": (_set("optimiser.exp_avg.head.weight", _spoiled(np.nan)), "of head.weight .* expected finite"),
    "infinity": (_set("optimiser.exp_avg_sq.head.bias", _spoiled(np.inf)), "of head.bias .* expected finite"),
    "negative": (_set("optimiser.exp_avg_sq.scale", _spoiled(-1.0)), "of scale .* which are not negative"),
    "int64": (_set("optimiser.exp_avg.scale", np.int64), "of scale .* expected float32 step, exp_avg"),
    "shape": (_set("optimiser.exp_avg.head.bias", lambda array: array[:3]), r"of head.bias .* \(256,\)"),
    "no steps": (_set("optimiser.step.scale", lambda array: array * 0.0), "of scale .* a step from 1 to"),
    "more steps": (_set("optimiser.step.scale", lambda array: array + 1.0), "of scale .* a step from 1 to"),
    "half a step": (_set("optimiser.step.scale", lambda array: array - 0.5), "of scale .* a step from 1 to"),
    "part": (lambda _, arrays: arrays.pop("optimiser.exp_avg.scale"), "of scale .* expected float32 step"),
    "parameter": (
        lambda _, arrays: [arrays.pop(f"optimiser.{key}.scale") for key in ("step", "exp_avg", "exp_avg_sq")],
        "an optimiser state of scale .*, expected that of 4 parameters after step",
    ),
    "all": (
        lambda header, arrays: [arrays.pop(name) for name in [*arrays] if name.startswith("optimiser.")]
        and header["training"].pop("optimiser"),
        "an optimiser state of 0 parameters .*, expected that of the trained parameters after step",
    ),
    "unknown": (lambda _, arrays: arrays.update({"more": np.ones(2)}), "given the array 'more'; expected"),
    "unknown moment": (
        lambda _, arrays: arrays.update({"optimiser.max.scale": np.ones((), np.float32)}),
        "given an optimiser state of scale .*, expected parameters of this model only",
    ),
    "unknown parameter": (
        lambda _, arrays: arrays.update({"model.more": np.ones(2, np.float32)}),
        "differ from the model .* more",
    ),
    "a parameter's nan": (_set("model.scale", lambda array: array * np.nan), "given scale with NaN"),
}  # fmt: skip


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_no_run_has_written_are_refused(tiny, folder, name):
    _refused(tiny, folder, *ARRAYS[name])


def test_a_parameter_that_was_never_trained_needs_no_state(tiny, tmp_path):
    class Model(tiny.TinyLanguageModel):
        def __init__(self, config):
            super().__init__(config)
            self.spare = tiny.nn.Linear(2, 2)

    def stop(step, *_):
        if step == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tiny.run(tmp_path, stop, kind=Model)
    assert tiny.run(tmp_path, kind=Model)[1:] == (5, 7, False)
    assert tiny.run(tmp_path, kind=Model).already_complete
