"""What a complete run has left is read before it is called complete; the wall time stops nothing."""

import json
import shutil

import pytest

from models.checkpoint import KIND, SCHEMA_VERSION
from models.training import WallTimeWarning
from oscsim.errors import SchemaError
from oscsim.io import read_file, write_file


@pytest.fixture
def complete(unbroken, tmp_path):
    return shutil.copytree(unbroken, tmp_path / "run")


def _made_again(tiny, folder, damaged, expected):
    """Both files, when the user does what the message says."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(SchemaError, match=expected) as caught:
        tiny.run(folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert str(caught.value).startswith(f"{folder / damaged}: ")
    assert f"remove {folder / 'results.json'} and resume it" in str(caught.value)
    (folder / "results.json").unlink()
    outcome = tiny.run(folder)
    assert outcome[1:] == (12, 0, False)
    assert tiny.run(folder) == (outcome.results, 12, 0, True)


def _without_time(folder):
    results = json.loads((folder / "results.json").read_text())
    return {key: value for key, value in results.items() if key != "wall_time_s"}


@pytest.mark.parametrize(
    "content", ["", "{", "{}", "[]", "null", "7", '"a"', "[" * 100_000, "\x00", '{"wall_time_s": 1}']
)
def test_damaged_results_are_named_and_made_again(tiny, complete, unbroken, same_run, content):
    (complete / "results.json").write_text(content)
    _made_again(tiny, complete, "results.json", r"results\.json: ")
    same_run(complete)
    assert _without_time(complete) == _without_time(unbroken)


@pytest.mark.parametrize(
    "change",
    [
        {"test_bits_per_byte": 0.1}, {"model": "osn"}, {"seed": 1}, {"training": None}, {"environment": []},
        {"environments": []}, {"parameters": "many"}, {"wall_time_s": "long"}, {"wall_time_s": -1.0},
        {"data": {}},
    ],
    ids=str,
)  # fmt: skip
def test_results_of_another_run_are_named(tiny, complete, change):
    path = complete / "results.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    _made_again(tiny, complete, "results.json", f"given {next(iter(change))} .*, expected that of")


def test_results_of_an_earlier_version_are_fine(tiny, complete):
    path = complete / "results.json"
    results = json.loads(path.read_text())
    del results["environments"]
    path.write_text(json.dumps(results))
    assert tiny.run(complete) == (results, 12, 0, True)


@pytest.mark.parametrize("content", [b"", b"garbage", b"PK\x03\x04" * 20])
def test_a_damaged_model_is_named_and_made_again(tiny, complete, unbroken, same_run, content):
    (complete / "model.safetensors").write_bytes(content)
    _made_again(tiny, complete, "model.safetensors", r"model\.safetensors: ")
    same_run(complete)


def _of_another_seed(tiny, folder, path):
    tiny.run(folder / "other", seed=1)
    shutil.copy(folder / "other" / "model.safetensors", path)


def _of_a_run(tiny, folder, path):
    shutil.copy(path.with_name("checkpoint.safetensors"), path)


def _resealed(change):
    def edit(tiny, folder, path):
        header, arrays = read_file(path, KIND, (SCHEMA_VERSION,))
        body = {key: value for key, value in header.items() if key not in ("kind", "schema_version")}
        change(body, arrays)
        write_file(path, KIND, SCHEMA_VERSION, body, arrays)

    return edit


EDITS = {
    "another seed": (_of_another_seed, "of another run, expected this run's model"),
    "a state": (_of_a_run, "given the state or the model of another run"),
    "record": (_resealed(lambda header, _: header.update(record={})), "of another run"),
    "numbers": (
        _resealed(lambda header, _: header["record"].update(test_bits_per_byte=None)), "without measurements"
    ),
    "data": (_resealed(lambda header, _: header["record"].update(data=[])), "of another run"),
    "parameter": (
        _resealed(lambda _, arrays: arrays.update({"model.scale": arrays["model.scale"] * 2})),
        "given a scale that differs from the checkpoint's",
    ),
    "missing": (_resealed(lambda _, arrays: arrays.pop("model.scale")), "first scale: None"),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_a_model_of_another_run_is_named(tiny, complete, tmp_path, name):
    edit, expected = EDITS[name]
    edit(tiny, tmp_path, complete / "model.safetensors")
    _made_again(tiny, complete, "model.safetensors", expected)


TIMES = [
    None, "", "{}", "[]", '"long"', "7", "[" * 100_000, '{"wall_time_s": null}', '{"wall_time_s": "1"}',
    '{"wall_time_s": 1e999}', '{"wall_time_s": NaN}', '{"wall_time_s": -1}', '{"wall_time_s": true}',
    '{"wall_time_s": 1' + "0" * 400 + "}",
]  # fmt: skip


@pytest.mark.parametrize("content", TIMES, ids=lambda content: str(content)[:25])
def test_a_lost_wall_time_stops_no_run(tiny, tmp_path, same_run, content):
    def stop(step, *_):
        if step == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tiny.run(tmp_path, stop)
    path = tmp_path / "wall_time.json"
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    with pytest.warns(WallTimeWarning, match=r"wall_time\.json: .* its wall time is not known any more"):
        outcome = tiny.run(tmp_path)
    assert outcome[1:] == (5, 7, False) and outcome.results["wall_time_s"] is None
    assert json.loads(path.read_text()) == {"wall_time_s": None}
    assert tiny.run(tmp_path) == (outcome.results, 12, 0, True)
    same_run(tmp_path)
