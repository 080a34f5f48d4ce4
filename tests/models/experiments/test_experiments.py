"""The experiments: what is planned, how results are compared, and that runs are done once."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from models.experiments import depth
from models.experiments import throughput as measured
from models.experiments.plan import DATA, LEARNING_RATES, REFERENCES, SEEDS, Run, planned, tuning
from models.experiments.report import BEGIN, END
from models.experiments.report_files import Finished, write_report
from models.experiments.summary import by_seed, compressors, paired_difference
from models.experiments.work import work
from models.presets import preset
from oscsim.errors import ConfigError, OscsimError


def test_every_variant_has_its_seeds_and_only_one_change() -> None:
    runs = planned("tiny")
    assert len({run.name for run in runs}) == len(runs) == 14
    for run in runs:
        config, training = preset(run.model, "tiny")
        assert run.training == replace(training, seed=run.training.seed)
        changed = [key for key in vars(config) if getattr(config, key) != getattr(run.config, key)]
        assert len(changed) == (1 if "," in run.variant else 0)
        assert run.variant in (*LEARNING_RATES, *REFERENCES)
    counts = {variant: sum(run.variant == variant for run in runs) for variant in REFERENCES}
    assert counts == {
        "kuramoto": 3, "osn": 3, "kuramoto, no gates": 3,
        "kuramoto, value projection": 1, "kuramoto, no feed-forward": 1,
    }  # fmt: skip


def test_tuning_uses_a_seed_of_its_own_and_equal_budgets() -> None:
    runs = tuning("tiny")
    assert not {run.training.seed for run in runs} & set(SEEDS)
    assert len({run.training.steps for run in runs}) == 1
    assert {run.model: sum(other.model == run.model for other in runs) for run in runs} == dict.fromkeys(
        LEARNING_RATES, 4
    )


def test_presets_train_with_a_learning_rate_that_was_tried() -> None:
    for model, rates in LEARNING_RATES.items():
        assert preset(model, "tiny")[1].learning_rate in rates


def test_the_interval_is_that_of_students_paired_test() -> None:
    rng = np.random.default_rng(0)
    these, those = rng.normal(2.4, 0.01, 5), rng.normal(2.3, 0.01, 5)
    found = paired_difference(dict(enumerate(these)), dict(enumerate(those)))
    expected = stats.ttest_rel(these, those).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.pairs == 5 and found.mean == pytest.approx((these - those).mean())
    single = paired_difference({1: 2.0, 2: 5.0}, {1: 1.5})
    assert (single.mean, single.low, single.high, single.pairs) == (0.5, None, None, 1)


def test_compressors_reach_what_they_should() -> None:
    random = np.random.default_rng(0).integers(0, 256, 5000, dtype=np.uint8).tobytes()
    assert all(8.0 < bits < 9.0 for bits in compressors(random).values())
    assert all(bits < 0.2 for bits in compressors(bytes(5000)).values())


def small(seed: int, steps: int = 2) -> Run:
    config, training = preset("kuramoto", "tiny")
    config = replace(config, width=8, heads=2, blocks=1, hidden=8, context=16)
    return Run("kuramoto", "kuramoto", config, replace(training, seed=seed, steps=steps, batch=2))


def test_runs_are_done_once_and_reported(tmp_path) -> None:
    runs = [small(1), small(2)]
    news: list[tuple[str, int, float]] = []
    first = work(runs, "alice", tmp_path / "runs", 2, lambda *what: news.append(what))
    assert {name for name, step, _ in news if step == 2} == {"kuramoto-s1", "kuramoto-s2"}
    again = work(runs, "alice", tmp_path / "runs", 1, lambda *_: None)
    assert again == first  # wall time included: nothing was trained again
    page = tmp_path / "results.md"
    marks = f"{BEGIN}\nstale\n{END}\nbetween\n{depth.BEGIN}\n{depth.END}"
    page.write_text(f"before\n{marks}\nafter\n")
    other = [replace(run, variant="transformer") for run in runs]
    done = Finished(tmp_path / "runs", runs)
    rows = [*done.rows, *({**row, "variant": "transformer"} for row in done.rows)]
    assert by_seed(rows, "transformer", "seed") == {1: 1, 2: 2}
    both = Finished(tmp_path / "runs", [*other, *runs])
    tried = Finished(tmp_path / "runs", [replace(run, variant="kuramoto, lr") for run in runs])
    for run in other:  # the same results under another variant's name
        assert (tmp_path / "runs" / run.name.replace("transformer", "kuramoto")).is_dir()
        (tmp_path / "runs" / run.name).symlink_to(tmp_path / "runs" / f"kuramoto-s{run.training.seed}")
    for run in tried.runs:
        (tmp_path / "runs" / run.name).symlink_to(tmp_path / "runs" / f"kuramoto-s{run.training.seed}")
    write_report(both, tried, "alice", page, tmp_path / "tables", tmp_path)
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "stale" not in text
    assert "| transformer | +0.000 (+0.000 to +0.000) |" in text and "gzip -9" in text
    table = list(csv.DictReader(io.StringIO((tmp_path / "tables" / "runs.csv").read_text())))
    results = json.loads((tmp_path / "runs" / "kuramoto-s2" / "results.json").read_text())
    assert [line["seed"] for line in table] == ["1", "2", "1", "2"]
    assert float(table[3]["test_bits_per_byte"]) == results["test_bits_per_byte"]
    for name in ("results", "depth"):
        assert (tmp_path / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
    blocks = list(csv.DictReader(io.StringIO((tmp_path / "tables" / "depth.csv").read_text())))
    assert len(blocks) == 4 and 0 < float(blocks[0]["local_order"]) <= 1
    assert "| kuramoto | local order |" in text and "between" in text


def test_a_report_of_unfinished_runs_is_refused(tmp_path) -> None:
    with pytest.raises(ConfigError, match="not there; expected a finished run"):
        _ = Finished(tmp_path, [small(7)]).results


def test_a_failing_run_stops_the_experiment_with_its_message(tmp_path) -> None:
    broken = small(1, steps=0)
    with pytest.raises(ConfigError, match="steps: given 0, expected"):
        work([broken], "alice", tmp_path, 1, lambda *_: None)


def test_throughput_is_measured_after_the_gate(monkeypatch) -> None:
    monkeypatch.setattr(measured, "SIZES", ((9, 2), (17, 1)))
    seen: list[int] = []
    lines = measured.throughput("cpu", 2, seen.append)
    assert [line.tokens for line in lines] == seen == [9, 17]
    for line in lines:
        assert line.osn.median > 0 and line.transformer.median > 0 and line.osn_bytes is None
        assert line.time_ratio.median == pytest.approx(line.transformer.median / line.osn.median, rel=2.0)
    monkeypatch.setattr(measured, "GATE", 0.0)
    with pytest.raises(OscsimError, match="is off by"):
        measured.throughput("cpu", 2, seen.append)
    assert len(seen) == 2  # nothing was timed


def test_more_seeds_are_more_runs() -> None:
    assert len(planned("1m", range(1, 6))) == 4 * 5 + 2


def test_the_data_are_the_wikipedia_sample() -> None:
    assert DATA == "enwiki-sample"


def test_results_of_another_plan_or_of_other_data_are_refused(tmp_path) -> None:
    work([small(1)], "alice", tmp_path / "runs", 1, lambda *_: None)
    other = small(1)
    changed = replace(other, training=replace(other.training, learning_rate=1.0))
    with pytest.raises(ConfigError, match="it was trained with another plan"):
        _ = Finished(tmp_path / "runs", [changed]).results
    page, done = tmp_path / "page.md", Finished(tmp_path / "runs", [other])
    page.write_text(f"{BEGIN}\n{END}\n{depth.BEGIN}\n{depth.END}\n")
    text = tmp_path / "other.txt"
    text.write_bytes(bytes(range(256)) * 10)
    with pytest.raises(ConfigError, match="expected the data that kuramoto-s1 was trained on"):
        write_report(done, done, str(text), page, tmp_path / "tables", tmp_path)
    assert not (tmp_path / "tables").exists()


def test_a_difference_needs_a_common_seed() -> None:
    with pytest.raises(ConfigError, match="expected a common one"):
        paired_difference({1: 2.0}, {2: 2.0})
