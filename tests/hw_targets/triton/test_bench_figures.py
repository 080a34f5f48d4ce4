"""From seconds to figures: medians, paired ratios, exponents, tables; with clocks that are made up."""

import csv
import io
import json
from dataclasses import replace

import pytest
import torch

from hw_targets.triton.bench import block, machine, memory, plot, report, session
from hw_targets.triton.bench.clock import BUDGET_S, Spread, exponent, interleaved, paired_ratio, spread
from hw_targets.triton.bench.contender import BOTH, FORWARD, Contender
from hw_targets.triton.bench.gate import Check
from hw_targets.triton.bench.options import CASES, BenchOptions
from hw_targets.triton.bench.results import Report, Row
from hw_targets.triton.bench.work import gbytes, teraflop
from hw_targets.triton.bench.workload import build

OPTIONS = BenchOptions(impl="eager", heads=2, channels=8, memory=False, repeats=3)


class Watch:
    """A clock that the contenders themselves move."""

    def __init__(self):
        self.now, self.log = 0.0, []

    def __call__(self):
        return self.now

    def contender(self, name, *seconds):
        left = list(seconds)

        def call():
            self.log.append(name)
            self.now += left.pop(0) if len(left) > 1 else left[0]
            return torch.zeros(1)

        return Contender(name, call, (), torch.zeros(1))


def test_rounds_are_interleaved_and_warm_up_is_not_counted():
    watch = Watch()
    pair = [watch.contender("a", 9.0, 9.0, 1.0, 2.0, 3.0), watch.contender("b", 0.5)]
    samples = interleaved(pair, FORWARD, 3, watch)
    assert samples == {"a": [1.0, 2.0, 3.0], "b": [0.5] * 3}
    assert watch.log == ["a", "a", "b", "b", *("a", "b") * 3]
    assert paired_ratio(samples["a"], samples["b"]) == Spread(4.0, 3.0, 5.0)


def test_short_calls_are_gathered_and_long_ones_stop_early():
    watch = Watch()
    samples = interleaved(
        [watch.contender("a", 0.001), watch.contender("b", BUDGET_S / 4.5)], FORWARD, 20, watch
    )
    assert len(samples["a"]) == 20 and len(samples["b"]) == 4
    assert samples["a"] == pytest.approx([0.001] * 20)
    assert watch.log.count("a") == 2 + 20 * 20


def test_spread_and_exponent():
    assert spread([3.0]) == Spread(3.0, 3.0, 3.0)
    assert spread([5.0, 1.0, 2.0, 3.0, 4.0]) == Spread(3.0, 2.0, 4.0)
    assert exponent([1024, 4096, 16384], [1.0, 4.0**1.1, 16.0**1.1]) == pytest.approx(1.1)
    assert exponent([64], [1.0]) is None


def made_up():
    rows = []
    for n in (1024, 2048, 4096):
        for name, seconds in (("oscsim", 1e-3 * n), ("SDPA float32", 1e-6 * n**2)):
            for what in (FORWARD, BOTH):
                ratio = seconds / (1e-6 * n**2)
                rows.append(Row(
                    "ssa", n, name, what, Spread(seconds, 0.9 * seconds, 1.1 * seconds),
                    Spread(ratio, 0.9 * ratio, 1.1 * ratio), Spread(1.0, 1.0, 1.0), n / seconds, 5,
                    2**20 * (1 if name == "oscsim" else 2),
                ))  # fmt: skip
    good = Check("ssa", 33, "output", 1e-7, 1e-5)
    return Report(
        OPTIONS, machine.facts(OPTIONS), [{"case": "ssa", "n": 1024, "locked_share": 0.3}], [good], rows
    )


def test_exponents_of_a_report():
    found = {(e["contender"], e["what"]): e["exponent"] for e in made_up().exponents()}
    assert found["oscsim", FORWARD] == pytest.approx(1.0)
    assert found["SDPA float32", BOTH] == pytest.approx(2.0)


def test_csv_has_one_line_per_row():
    given = made_up()
    rows = list(csv.DictReader(io.StringIO(report.csv_text(given))))
    assert tuple(rows[0]) == report.CSV_COLUMNS
    assert len(rows) == len(given.rows)
    assert float(rows[0]["median_s"]) == given.rows[0].seconds.median
    assert float(rows[0]["ratio_to_sdpa_high"]) == pytest.approx(1.1 * float(rows[0]["ratio_to_sdpa"]))


def test_json_and_markdown():
    given = made_up()
    content = json.loads(json.dumps(given.to_json()))
    assert content["schema"] == "oscsim-bench-1" and content["passed"]
    assert len(content["rows"]) == 12 and len(content["exponents"]) == 4
    text = report.markdown(given)
    assert text.count("\n| ssa |") == 12
    assert "| 0.5 |" in text  # memory over SDPA's
    assert "N^1.00" in text and "locked share 0.3" in text
    assert "| peak MiB | mem/SDPA |" in text


def test_memory_that_was_not_measured_has_no_columns():
    given = made_up()
    given.rows = [replace(row, peak_bytes=None) for row in given.rows]
    text = report.markdown(given)
    assert "peak MiB" not in text and "mem/SDPA" not in text
    assert {line.count("|") for line in text.splitlines() if line.startswith("|")} == {10}


def test_steps_are_counted_as_they_are_shown():
    assert session.step_count(replace(OPTIONS, cases=("ssa",), sizes=(8, 9), memory=False)) == 1 + 1 + 2 * 3
    assert session.step_count(replace(OPTIONS, cases=("ssa",), sizes=(8, 9), memory=True)) == 1 + 1 + 2 * 5


def test_nothing_shows_a_speed_after_a_failed_check():
    given = made_up()
    given.checks.append(Check("ssa", 33, "gradient by omega", 2.0, 1e-5))
    assert "| ssa |" not in report.markdown(given)
    assert "gradient by omega: error 2, allowed 1e-05" in report.markdown(given)
    assert len(report.csv_text(given).splitlines()) == 1
    assert given.to_json()["rows"] == []


def test_picture():
    assert plot.png(made_up()).startswith(b"\x89PNG")


@pytest.mark.parametrize("name", list(CASES))
def test_nominal_work_counts_pairs_and_passes(name):
    load = build(CASES[name], 64, OPTIONS)
    assert teraflop(load, BOTH) == pytest.approx(3.5 * teraflop(load, FORWARD))
    assert gbytes(load, BOTH) == pytest.approx(2 * gbytes(load, FORWARD))
    if name == "ssa":
        assert teraflop(load, FORWARD) == pytest.approx(2 * 2 * 2 * 64 * 64 * 8 / 1e12)


def test_memory_of_a_process_of_its_own_counts_the_scores_of_the_eager_twin():
    options = replace(OPTIONS, heads=1, channels=4)
    n = 1024
    load = build(CASES["ssa"], n, options)
    peak = memory.peak_bytes(load, "oscsim", FORWARD, options)
    assert 3 * 4 * n * n < peak < 30 * 4 * n * n


def test_blocks_on_a_small_table():
    rows = block.measure(OPTIONS, table=((8, 2), (16, 1)), width=64)
    assert {(row["n"], row["batch"]) for row in rows} == {(8, 2), (16, 1)}
    assert len(rows) == 8
    assert all(row["tokens_per_s"] > 0 for row in rows)


def test_machine_names_what_a_figure_depends_on():
    facts = machine.facts(replace(OPTIONS, impl="eager"))
    for name in ("date", "cpu", "threads", "torch", "allocator", "huge_pages", "implementation"):
        assert facts[name]
