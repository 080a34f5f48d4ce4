"""The benchmark's gate: its float64 answers against other formulas, and what it lets through and does not."""

import math
from dataclasses import replace

import pytest
import torch
from ssa_oracle import Case as Oracle
from ssa_oracle import attention, gradients

from hw_targets.triton.bench import gate, kuramoto_reference, ssa_reference
from hw_targets.triton.bench.contenders import contender, names
from hw_targets.triton.bench.options import CASES, BenchOptions
from hw_targets.triton.bench.reference import Expected, Rounding, over_rows, worst
from hw_targets.triton.bench.session import Session, step_count
from hw_targets.triton.bench.workload import build
from hw_targets.triton.ops import eager
from oscsim.errors import ConfigError

OPTIONS = BenchOptions(impl="eager", heads=2, channels=8, memory=False, repeats=3)
SIZES = {"ssa": (17,), "ssa-causal": (33,), "ssa-prefix": (33,), "ssa-sparse": (320,), "kuramoto": (33,)}


def checks(case="ssa", **changes):
    return gate.check_case(CASES[case], replace(OPTIONS, **changes), SIZES[case])


@pytest.mark.parametrize("case", ["ssa", "ssa-prefix"])
def test_reference_is_the_definition(case, monkeypatch):
    load = build(CASES[case], 33, OPTIONS, batch=2)
    rounding = Rounding.of(OPTIONS)
    monkeypatch.setattr(ssa_reference, "EDGE_SMOOTHING", 1e-9)  # 1/S, as the oracle's own derivative
    given = {name: x.detach().double() for name, x in load.learned.items()}
    oracle = Oracle(
        given["omega"], given["values"], given["alpha"], given["gain"], given["order_parameter"],
        CASES[case].causal,
    )  # fmt: skip
    causal = CASES[case].causal
    output = ssa_reference.forward(load.learned, causal, rounding)
    torch.testing.assert_close(output.value, attention(oracle), rtol=1e-10, atol=1e-12)
    expected = gradients(oracle, load.d_output.double())
    for name, (value, allowed) in ssa_reference.gradients(
        load.learned, load.d_output, causal, rounding
    ).items():
        wanted = expected["order" if name == "order_parameter" else name]
        torch.testing.assert_close(value, wanted, rtol=1e-7, atol=1e-9, msg=name)
        assert (allowed >= 0).all()


def test_kuramoto_reference_is_the_definition():
    load = build(CASES["kuramoto"], 17, OPTIONS, batch=2)
    given = {name: x.detach().double().requires_grad_(True) for name, x in load.learned.items()}
    theta = given["theta"]
    steps = torch.arange(17, dtype=torch.float64)
    turn = given["drift"][:, None, None] * (steps[:, None] - steps)[..., None]
    difference = theta[:, :, :, None] - theta[:, :, None]
    gates = given["gate_q"][:, :, :, None] * given["gate_k"][:, :, None]
    score = (gates * torch.cos(difference + turn)).sum(-1) * given["tau"][:, None, None] / math.sqrt(8)
    weight = score.masked_fill(steps > steps[:, None], -torch.inf).softmax(-1)
    wanted = -(weight[..., None] * difference.sin()).sum(dim=3)
    wanted_gradients = torch.autograd.grad((wanted * load.d_output).sum(), list(given.values()))
    rounding = Rounding.of(OPTIONS)
    output = kuramoto_reference.forward(load.learned, True, rounding)
    torch.testing.assert_close(output.value, wanted, rtol=1e-10, atol=1e-12)
    got = kuramoto_reference.gradients(load.learned, load.d_output, True, rounding)
    for name, gradient in zip(given, wanted_gradients, strict=True):
        torch.testing.assert_close(got[name].value, gradient, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("case", list(CASES))
def test_a_right_build_passes(case):
    assert [str(check) for check in checks(case) if not check.ok] == []


@pytest.mark.parametrize("change", [{"precision": "fast"}, {"dtype": "bfloat16"}])
@pytest.mark.parametrize("case", ["ssa-prefix", "kuramoto"])
def test_a_right_build_in_16_bits_passes(case, change):
    assert [str(check) for check in checks(case, **change) if not check.ok] == []


def scaled(result, **factors):
    return result._replace(**{name: getattr(result, name) * factor for name, factor in factors.items()})


def one_element(result):
    result.output[0, 1, 5, 2] += 0.02
    return result


WRONG = {
    "output 0.1 % off": ("forward", lambda r: scaled(r, output=1.001), "output"),
    "one element": ("forward", one_element, "output"),
    "not a number": ("forward", lambda r: scaled(r, output=float("nan")), "output"),
    "omega 5 % off": ("backward", lambda r: scaled(r, omega=1.05), "omega"),
    "values 0.1 % off": ("backward", lambda r: scaled(r, values=1.001), "values"),
    "radius 10 % off": ("backward", lambda r: scaled(r, log_inverse_square=1.1), "gain"),
    "selectivity turned": ("backward", lambda r: scaled(r, selectivity=-1.0), "alpha"),
}


@pytest.mark.parametrize("wrong", list(WRONG))
@pytest.mark.parametrize("case", ["ssa", "ssa-prefix"])
def test_a_wrong_build_is_rejected(case, wrong, monkeypatch):
    which, spoil, named = WRONG[wrong]
    right = getattr(eager, which)
    monkeypatch.setattr(eager, which, lambda *args: spoil(right(*args)))
    failed = [check for check in checks(case) if not check.ok]
    assert any(named in check.tensor for check in failed), failed


@pytest.mark.parametrize("change", [{"precision": "fast"}, {"dtype": "bfloat16"}])
def test_zero_gradients_never_pass_in_16_bits(change, monkeypatch):
    right = eager.backward
    monkeypatch.setattr(
        eager,
        "backward",
        lambda *args: scaled(right(*args), omega=0.0, values=0.0, log_inverse_square=0.0, selectivity=0.0),
    )
    failed = {check.tensor.split(",")[0] for check in checks(**change) if not check.ok}
    assert failed >= {"gradient by omega", "gradient by values"}


def test_a_map_that_changes_a_bit_is_rejected(monkeypatch):
    right = eager.forward

    def spoiled(problem):
        result = right(problem)
        return result if problem.tiles is None else scaled(result, output=1 + 2.0**-23)

    monkeypatch.setattr(eager, "forward", spoiled)
    failed = [check.tensor for check in checks("ssa-sparse") if not check.ok]
    assert failed[0] == "output, against all tiles"


def test_no_speed_after_a_failed_gate(monkeypatch, steps):
    right = eager.backward
    monkeypatch.setattr(eager, "backward", lambda *args: scaled(right(*args), omega=-1.0))
    monkeypatch.setattr(gate, "DENSE_SIZES", (17,))
    report = Session(replace(OPTIONS, cases=("ssa",), sizes=(16,)), steps).run()
    assert report.failed and not report.rows
    content = report.to_json()
    assert not content["passed"]
    assert content["rows"] == content["exponents"] == content["blocks"] == []


def test_sampled_rows_at_the_measured_size_are_part_of_the_gate(monkeypatch, steps):
    """A build that is right at the gate's sizes and wrong at the measured one."""
    right = eager.forward

    def spoiled(problem):
        result = right(problem)
        return scaled(result, output=1.01) if problem.omega.shape[2] == 40 else result

    monkeypatch.setattr(eager, "forward", spoiled)
    monkeypatch.setattr(gate, "DENSE_SIZES", (17,))
    report = Session(replace(OPTIONS, cases=("ssa",), sizes=(24, 40)), steps).run()
    assert [check.n for check in report.failed] == [40]
    assert report.to_json()["rows"] == []


@pytest.fixture
def steps():
    from contextlib import nullcontext

    return lambda name: nullcontext()


def test_steps_are_counted(steps, monkeypatch):
    seen = []

    def step(name):
        seen.append(name)
        return steps(name)

    monkeypatch.setattr(gate, "DENSE_SIZES", (17,))
    options = replace(OPTIONS, cases=("ssa", "kuramoto"), sizes=(16, 24, 32))
    report = Session(options, step).run()
    assert len(seen) == step_count(options)
    assert {row.what for row in report.rows} == {"forward", "forward+backward"}
    assert {(e["from"], e["to"]) for e in report.exponents()} == {(16, 32)}
    assert [check for check in report.checks if "public formula" in check.tensor] == []
    assert any(row.contender == "public formula" for row in report.rows)


def test_the_baselines_compute_the_case():
    for case in ("ssa", "kuramoto"):
        load = build(CASES[case], 64, OPTIONS)
        chosen, _ = names(load, OPTIONS)
        for name in chosen[1:]:
            given = contender(name, load, OPTIONS)
            assert not given.comparable or gate.check_rows(load, given, OPTIONS).ok, name


def test_a_baseline_that_does_not_fit_is_named(monkeypatch):
    from hw_targets.triton.bench import memory_limit

    load = build(CASES["ssa"], 64, OPTIONS)
    monkeypatch.setattr(memory_limit, "available", lambda device: 1)
    chosen, notes = names(load, OPTIONS)
    assert "public formula" not in chosen
    assert any("GiB are free" in note for note in notes)


def test_about_thirty_percent_lock_at_any_width():
    for channels in (2, 8, 64):
        load = build(CASES["ssa"], 256, replace(OPTIONS, channels=channels))
        assert 0.25 < load.facts["locked_share"] < 0.35


def test_worst_takes_the_largest_ratio_and_refuses_shapes_and_nan():
    two = torch.tensor([1.0, 1.0], dtype=torch.float64)
    expected = Expected(two, torch.tensor([0.1, 1.0], dtype=torch.float64))
    assert worst(torch.tensor([1.05, 1.2]), expected)[1] == pytest.approx(0.1)
    assert worst(torch.tensor([1.0]), expected)[0] == math.inf
    assert worst(torch.tensor([1.0, math.inf]), expected)[0] == math.inf
    assert worst(torch.tensor([1.0, 2.0]), Expected(two, torch.zeros(2)))[1] == 0.0
    assert float(over_rows(torch.ones(4), 0)) == 8.0


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"sizes": (1,)}, "--n"),
        ({"cases": ("ssb",)}, "--case"),
        ({"cases": ()}, "--case"),
        ({"impl": "cuda"}, "--impl"),
        ({"device": "cuda", "impl": "native"}, "--impl"),
        ({"engine": "avx512"}, "--engine"),
        ({"precision": "exact"}, "--precision"),
        ({"dtype": "float64"}, "--dtype"),
        ({"heads": 0}, "--heads"),
        ({"repeats": 2}, "--repeats"),
        ({"channels": 129}, "--channels"),
    ],
)
def test_options_nobody_can_run(change, word):
    with pytest.raises(ConfigError, match=word):
        replace(OPTIONS, **change).checked()
