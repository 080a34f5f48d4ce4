"""Every piece of advice that a refusal or a remedy gives works when it is followed to the letter."""

import re

import numpy as np
import pytest

from oscsim import ExplicitCoupling, FixedOrder, FrequencyCoupling, PhaseLayerSpec
from oscsim.energy import OscillatorHardware, load_constants
from oscsim.energy.estimate import EnergyError, Refusal
from oscsim.energy.oscillator_terms import hardware_book
from oscsim.energy.remedies import remedies
from oscsim.energy.report_rows import array_row
from oscsim.energy.schedule import schedule

BOOK = load_constants()
_OPTION = re.compile(r"--([a-z-]+) ([^\s,;)]+)")
_KINDS = {
    "pair": {}, "own clock": {"cell_clock": "own"}, "mutual": {"cell": "mutual"}, "network": {},
    "clamped": {},
}  # fmt: skip


def layer(kind, spread=0.3, **changes):
    """Three tokens, one head, one channel."""
    dynamics = kind if kind in ("network", "clamped") else "pair"
    omega = np.array([[[0.0], [spread], [-spread / 2]]])
    fields = {
        "omega": omega, "theta": np.array([[[0.0], [0.9], [2.0]]]), "values": np.ones((1, 3, 2)),
        "coupling": FrequencyCoupling(alpha=[0.1]), "gain": [1.0], "order_parameter": FixedOrder(r=[1.0]),
        "time_unit_s": 2e-8, "dynamics": dynamics,
    }  # fmt: skip
    if dynamics == "clamped":
        fields |= {"phase_0": np.full((1, 3, 1), 0.4), "rate": np.ones((1, 3, 1)), "duration": np.inf}
    return PhaseLayerSpec(**fields | changes)


def followed(advice, spec, options):
    """(layer, options) of each way that an advice names."""
    for way in re.split(r", or |; or ", advice):
        exported = re.search(r" \(in oscsim export: --time-unit (\S+)\)", way)
        here, left_out = way.replace(exported[0], "") if exported else way, ()
        for word in (" instead of ", " without "):
            here, _, names = here.partition(word)
            left_out += tuple(re.findall(r"--([a-z-]+)", names))
        given = {name.replace("-", "_"): _value(value) for name, value in _OPTION.findall(here)}
        for name in (name.replace("-", "_") for name in left_out):
            assert options[name] is not None
            given[name] = None
        if given:
            yield spec, options | given
        if exported:
            yield spec.replace(time_unit_s=float(exported[1])), options
        longer = re.search(r"lasts (\S+) times", way)
        if longer:
            yield spec.replace(duration=spec.duration * float(longer[1])), options


def _value(text):
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        return text


def row_of(spec, options):
    hardware = OscillatorHardware.of(**options)
    return array_row(spec, hardware, hardware_book(hardware, BOOK), spec.dynamics)


FAST = {
    "coupling": (1.0, {}), "coupling and tuning": (30.0, {}), "tuning": (3.0, {"epsilon": 0.3}),
    "own time unit": (30.0, {"time_unit_s": 1e-11}), "carrier at its end": (30.0, {"carrier_hz": 1e12}),
}  # fmt: skip


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("case", FAST)
def test_a_clock_that_is_advised_is_one(kind, case):
    spread, options = FAST[case]
    unit = 1e-14 if "carrier_hz" in options else 1e-11
    spec, options = layer(kind, spread, time_unit_s=unit), _KINDS[kind] | options
    if kind == "clamped":
        spec = spec.replace(duration=0.3)
    try:
        schedule(spec, OscillatorHardware(**options))
        assert case == "tuning"
    except EnergyError as error:
        ways = list(followed(str(error).partition("; set ")[2], spec, options))
        assert ways, str(error)
        for changed, given in ways:
            schedule(changed, OscillatorHardware.of(**given))
        assert "carrier-hz" not in str(error) or "epsilon" not in options


def test_a_tuning_that_fails_at_an_epsilon_is_not_passed_over():
    spec = layer("pair", 3.0)
    with pytest.raises(EnergyError, match=r"frequencies: .*; set --time-unit-s .* instead of --epsilon, or"):
        schedule(spec, OscillatorHardware(epsilon=0.3))


@pytest.mark.parametrize("spread", [0.3, 30.0])
def test_where_nothing_is_coupled_a_time_unit_is_advised_that_works(spread):
    spec, options = layer("pair", spread, gain=[0.0], time_unit_s=1e-11), {"epsilon": 0.1}
    with pytest.raises(EnergyError, match="nothing in this layer is coupled") as error:
        schedule(spec, OscillatorHardware(**options))
    ways = list(followed(str(error.value).partition("; set ")[2], spec, options))
    assert len(ways) == 1
    schedule(ways[0][0], OscillatorHardware.of(**ways[0][1]))


@pytest.mark.parametrize(("duration", "options", "faster"), [
    (0.05, {}, True), (1e-6, {}, False), (0.05, {"epsilon": 0.3}, False), (1e-6, {"carrier_hz": 1e11}, False),
])  # fmt: skip
def test_a_run_that_is_too_short_is_not_sent_where_no_option_goes(duration, options, faster):
    spec = layer("clamped", duration=duration, time_unit_s=1e-8)
    with pytest.raises(EnergyError, match="duration: ") as error:
        schedule(spec, OscillatorHardware(**options))
    for changed, given in followed(str(error.value).partition("; set ")[2], spec, options):
        schedule(changed, OscillatorHardware.of(**given))
    assert ("--carrier-hz" in str(error.value)) == faster


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("size", [1.0, 300.0])
def test_a_read_out_that_is_advised_has_a_price(kind, size):
    j = size * (np.ones((1, 3, 3)) + np.eye(3))
    spec = layer(kind, coupling=ExplicitCoupling(matrix=j), time_unit_s=2e-7 * size)
    options = _KINDS[kind] | {"accuracy": 0.001 * size**0.5}
    answer = row_of(spec, options).answer
    assert isinstance(answer, Refusal) and "read-out bits" in answer.reason
    ways = list(followed(answer.reason.partition("reach 9: ")[2], spec, options))
    assert len(ways) == (2 if size == 1.0 else 1)
    for changed, given in ways:
        assert not isinstance(row_of(changed, given).answer, Refusal)


LOUD = {
    "default": {}, "time unit": {"time_unit_s": 1e-7}, "stages": {"stages": 5, "width_um": 0.5},
    "relaxation": {"family": "relaxation"}, "band": {"edge_band": 0.02, "accuracy": 0.004},
}  # fmt: skip


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("case", LOUD)
def test_what_helps_against_noise_is_enough_as_it_is_spelled(kind, case):
    options = {"accuracy": 0.007, "readout_bits": 9} | _KINDS[kind] | LOUD[case]
    if kind in ("network", "clamped"):
        options.pop("edge_band", None)
    spec, hardware = layer(kind), OscillatorHardware.of(**options)
    row = row_of(spec, options)
    found = remedies(row, spec, hardware, BOOK)
    assert found or "noise" not in row.status_codes
    for remedy in found:
        assert kind not in ("network", "clamped") or "--edge-band" not in remedy.option
        (way,) = followed(remedy.option, spec, options)
        helped = row_of(*way)
        assert helped.oscillators.value_j >= helped.floor_interval.value_j
    if case == "time unit" and kind == "pair":
        assert any("instead of --time-unit-s" in remedy.option for remedy in found)
    if case == "stages" and kind == "pair":
        assert any(remedy.option == "--family lc without --stages, --width-um" for remedy in found)


def test_a_wider_band_is_for_pairs_only():
    spec = layer("clamped")
    options = {"accuracy": 1e-4, "readout_bits": 9}
    found = remedies(row_of(spec, options), spec, OscillatorHardware.of(**options), BOOK)
    assert not any("--edge-band" in remedy.option for remedy in found)
