"""What a folder may hold when a run begins or goes on; what is refused is refused before anything is lost."""

from dataclasses import replace

import pytest

from models.training.folder import locked
from oscsim.errors import ConfigError, SchemaError


def _contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _refused(tiny, folder, expected, error=ConfigError, **changes):
    before = _contents(folder)
    with pytest.raises(error) as caught:
        tiny.run(folder, **changes)
    assert expected in str(caught.value)
    assert _contents(folder) == before


def test_an_interrupted_run_says_how_far_its_checkpoint_is_and_goes_on(tiny, tmp_path, same_run):
    def stop(step, *_):
        if step == 8:
            raise KeyboardInterrupt

    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt, match=r"checkpoint\.safetensors holds step 5 of 12: resume"):
        tiny.run(folder, stop)
    assert tiny.run(folder)[1:] == (5, 7, False)
    same_run(folder)


def test_a_complete_run_is_left_as_it_is(tiny, tmp_path):
    first = tiny.run(tmp_path)
    assert first[1:] == (0, 12, False)
    before = _contents(tmp_path)
    again = tiny.run(tmp_path)
    assert again[1:] == (12, 0, True) and again.results == first.results
    assert _contents(tmp_path) == before


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"learning_rate": 0.02}, "training.learning_rate 0.02 (the run has 0.03)"),
        ({"steps": 13, "seed": 1}, "training.seed 1 (the run has 0); training.steps 13 (the run has 12)"),
        ({"betas": (0.9, 0.99)}, "training.betas [0.9, 0.99] (the run has [0.9, 0.95])"),
        ({"shape": "wider"}, "config.width 5 (the run has 4)"),
        ({"source": "other"}, "data.sha256 "),
        ({"kind": "other"}, "model 'tinier' (the run has 'tiny')"),
        ({"resume": False}, "given a folder that already holds a run"),
    ],
    ids=str,
)
def test_another_run_is_refused_with_what_differs(tiny, begun, change, expected):
    given = {
        "wider": tiny.TinyConfig(width=5),
        "other": tiny.data(seed=1)
        if "source" in change
        else type("Other", (tiny.TinyLanguageModel,), {"name": "tinier"}),
    }
    changes = {
        key: given.get(value, value) if isinstance(value, str) else value for key, value in change.items()
    }
    _refused(tiny, begun, expected, **changes)


def test_a_foreign_folder_is_refused(tiny, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    _refused(tiny, tmp_path, "holds thesis.tex and no checkpoint.safetensors")
    (tmp_path / "thesis.tex").rename(tmp_path / "checkpoint.safetensors")
    _refused(tiny, tmp_path, "checkpoint.safetensors", SchemaError)
    _refused(tiny, tmp_path, "already holds a run", resume=False)


def test_nothing_is_removed_from_a_folder_that_is_refused(tiny, begun, tmp_path):
    """Of an editor, of a user; and with a run in the folder, what another kind of file is unfinished of."""
    names = (".results.json.swp", ".log.csv.bak", ".log.csv.abcdefgh", ".checkpoint.safetensors.ABCDEFGH")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    for name in names:
        (foreign / name).write_text("years of work")
        (begun / name).write_text("years of work")
    _refused(tiny, foreign, "holds .checkpoint.safetensors.ABCDEFGH, .log.csv.abcdefgh, .log.csv.bak and no")
    _refused(tiny, foreign, "and no checkpoint.safetensors", resume=False)
    _refused(tiny, begun, "already holds a run", resume=False)
    _refused(tiny, begun, "training.seed 1", seed=1)


def test_only_what_a_killed_process_was_writing_is_removed(tiny, begun):
    kept = (".results.json.swp", ".log.csv.bak", ".log.csv.abcdefg_9", ".other.csv.abcdefgh")
    removed = (".results.json.abcdefgh", ".checkpoint.safetensors.a_1b2c3d", ".wall_time.json.________")
    for name in (*kept, *removed):
        (begun / name).write_text("")
    (begun / ".log.csv.a_folder").mkdir()
    tiny.run(begun)
    names = {entry.name for entry in begun.iterdir()}
    assert names >= {*kept, ".log.csv.a_folder"} and not names & {*removed}


def test_a_finished_model_is_no_run(tiny, unbroken, tmp_path):
    (tmp_path / "checkpoint.safetensors").write_bytes((unbroken / "model.safetensors").read_bytes())
    _refused(tiny, tmp_path, "this is a finished model", SchemaError)


def test_a_folder_that_is_a_file_is_refused(tiny, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError, match="file"):
        tiny.run(tmp_path / "file")


def test_an_altered_log_is_refused(tiny, begun):
    log = begun / "log.csv"
    log.write_text(log.read_text().replace("0", "1"))
    with pytest.raises(SchemaError, match=r"log\.csv: given a log that differs"):
        tiny.run(begun)
    log.unlink()
    with pytest.raises(SchemaError, match=r"log\.csv: given a log that differs"):
        tiny.run(begun)


def test_two_processes_never_train_in_one_folder(tiny, begun):
    with locked(begun):
        _refused(tiny, begun, "another process trains in this folder")
    assert tiny.run(begun).steps_before == 5


def test_the_name_of_the_data_may_change_and_the_bytes_may_not(tiny, begun):
    renamed = replace(tiny.data(), name="moved")
    assert tiny.run(begun, source=renamed).results["data"]["name"] == "moved"
