"""A run leaves no trace in Brian2, in the interpreter or in later runs."""

import gc
import subprocess
import sys
import warnings

import brian2
import numpy as np
import pytest

import hw_targets.brian2.run as runner
from hw_targets.registry import get_target
from oscsim import FrequencyCoupling, PhaseLayerSpec, SyncStatus
from oscsim.errors import TargetRunError
from oscsim.target import ConvergenceWarning

TARGET = get_target("brian2")
SPEC = PhaseLayerSpec(
    omega=[[[0.0], [0.5], [2.0]]],
    theta=[[[0.0], [0.0], [1.0]]],
    coupling=FrequencyCoupling([0.0]),
    gain=[1.5],
    values=[[[1.0], [2.0], [4.0]]],
)


@pytest.mark.parametrize("dynamics", ["pair", "network", "clamped"])
def test_globals_are_put_back_and_runs_repeat(dynamics):
    executable = TARGET.lower(SPEC.replace(dynamics=dynamics))
    before = (brian2.prefs.codegen.target, float(brian2.defaultclock.dt), gc.get_freeze_count())
    first, second = executable.run(), executable.run()
    assert (brian2.prefs.codegen.target, float(brian2.defaultclock.dt), gc.get_freeze_count()) == before
    for name in ("sync", "locked", "weights", "output", "order_parameter"):
        assert np.array_equal(getattr(first, name), getattr(second, name)), name
    assert first.provenance.plan_digest == executable.plan.digest
    assert first.provenance.spec_digest == executable.plan.spec_digest
    assert first.provenance.versions["brian2"] == brian2.__version__


def test_importing_the_backend_keeps_the_hooks_of_the_program():
    code = (
        "import sys, warnings\n"
        "from hw_targets.registry import get_target\n"
        "from oscsim import FrequencyCoupling, PhaseLayerSpec\n"
        "alike = FrequencyCoupling([0.0])\n"
        "spec = PhaseLayerSpec(omega=[[[0.0]]], theta=[[[0.0]]], gain=[1.0], coupling=alike)\n"
        "hooks = sys.excepthook, warnings.showwarning\n"
        "get_target('brian2').lower(spec).run()\n"
        "assert 'brian2' in sys.modules and hooks == (sys.excepthook, warnings.showwarning)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_backends_own_words_reach_the_user(monkeypatch):
    def broken(spec, lowering):
        raise RuntimeError("no such integrator")

    monkeypatch.setitem(runner._RUN, "pair", broken)
    before = brian2.prefs.codegen.target, gc.get_freeze_count()
    with pytest.raises(TargetRunError, match="no such integrator"):
        TARGET.lower(SPEC).run()
    assert (brian2.prefs.codegen.target, gc.get_freeze_count()) == before


def test_not_finite_is_failed(monkeypatch):
    def broken(spec, lowering):
        outcome = runner.run_pair(spec, lowering)
        outcome.sync[0, 1, 0] = np.nan
        return outcome

    monkeypatch.setitem(runner._RUN, "pair", broken)
    with pytest.warns(ConvergenceWarning, match="failed"):
        assert TARGET.lower(SPEC).run().status is SyncStatus.FAILED


def test_a_settled_run_warns_about_nothing():
    TARGET.lower(SPEC).run()  # parsing is cached: deprecations inside the backend are not ours
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        warnings.simplefilter("error", RuntimeWarning)
        TARGET.lower(SPEC).run()
