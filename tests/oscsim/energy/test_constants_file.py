"""Files of constants: what is read, what is refused and where, and a planar node of one's own."""

import pytest
from relative import relative

from oscsim.counts import Counts
from oscsim.energy import ConstantError, OscillatorHardware, Scope, load_constants, try_estimate
from oscsim.energy.constants_file import COLUMNS
from oscsim.energy.oscillator_terms import hardware_book, oscillator_terms
from oscsim.energy.scaling import supply_voltage
from oscsim.energy.units import magnitude
from oscsim.energy.valuation import Nominal

HEADER = ",".join(COLUMNS)
ROW = "supply_65nm,1.2,1.1,1.3,V,65,,,,a user,prior,assumed,"
# node 180 nm: value, low, high, unit
OWN = {
    "gate_cap_per_width": "1.5e-15,1e-15,2e-15,F/um", "supply": "1.8,1.6,2,V", "ring_width": "2,1,3,um",
    "coupler_unit_width": "0.6,0.5,1,um", "cell_pitch": "40,30,50,um",
    "leakage_per_width": "1e-11,1e-12,1e-10,A/um",
}  # fmt: skip


def table(tmp_path, *lines, header=HEADER):
    path = tmp_path / "own.csv"
    path.write_text("\n".join((header, *lines)) + "\n", encoding="utf-8")
    return path


def own_node(node, rows=OWN):
    return [f"{name}_{node}nm,{OWN[name]},{node},,,,a user,prior,assumed," for name in rows]


def estimated(book, node, couplers=0.0):
    counts = {"oscillators": 1.0, "oscillator_cycles": 10.0, "array_seconds": 1e-8}
    if couplers:
        counts |= {"couplers.1": couplers, "coupling_cycles.1": 10.0 * couplers, "wire_spans": couplers}
        counts["wire_span_cycles"] = 10.0 * couplers
    hardware = OscillatorHardware(node_nm=node)
    scope = Scope("array", "estimate", "array")
    return try_estimate(
        scope, Counts(counts), oscillator_terms(hardware, Counts(counts)), hardware_book(hardware, book)
    )


def test_a_row_on_top_with_a_mark_of_a_spreadsheet_and_another_unit(tmp_path):
    path = tmp_path / "own.csv"
    path.write_bytes(
        b"\xef\xbb\xbf"
        + f"{HEADER}\r\n# mine\r\n{ROW.replace('1.2,1.1,1.3,V', '1200,1100,1300,mV')}\r\n".encode()
    )
    assert load_constants(path)["supply_65nm"].value == 1200.0
    before, after = (estimated(book, 65).total.value_j for book in (load_constants(), load_constants(path)))
    assert after > before


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((ROW.replace("supply", "suply"),), "line 2: constant 'suply_65nm': no formula uses"),
        ((ROW.replace("supply", "suply"),), "the nearest is 'supply_65nm'"),
        ((ROW.replace("supply_65nm", ""),), "line 2: name: given ''"),
        ((ROW.replace("supply_65nm", "supply_065nm"),), "no formula uses"),
        ((ROW.replace("supply_65nm", "hbm2_device"),), "'hbm2_device': no formula uses this constant"),
        ((ROW.replace("supply_65nm", "ring_width_14nm"),), "no formula uses"),
        ((ROW.replace("supply_65nm", "supply_90nm"),), "node_nm: given 65, its name says 90"),
        ((ROW + ",more",), "line 2: 14 cells, expected 13"),
        (("supply_65nm,1.1",), "line 2: 2 cells"),
        ((), "a header and no constants"),
        ((ROW, ROW), "line 3: name: given 'supply_65nm', expected a name of its own; line 2 has it too"),
        ((ROW.replace("a user", " "),), "line 2: constant 'supply_65nm': citation: given nothing"),
        ((ROW.replace(",V,", ",J/conversion,"),), "constant 'supply_65nm': unit: given 'J/conversion'"),
        ((ROW.replace(",V,", ",2*V,"),), "constant 'supply_65nm': unit '2*V'"),
        ((ROW.replace("1.2,1.1,1.3", "1e200,1e199,1e201"),), "'supply_65nm': given 1e+199 to 1e+201 V"),
        ((ROW.replace("1.2,1.1", "nan,1.1"),), "value: given 'nan', expected a finite number"),
        (("room_temperature,27,26,28,degC,,,,,a user,prior,assumed,",), "given 'degC', expected one"),
        ((ROW.replace("65,,,,", "65,,,bits=a..9,"),), "valid: given 'a', expected a finite number"),
    ],
)  # fmt: skip
def test_every_problem_has_a_place(tmp_path, lines, words):
    path = table(tmp_path, *lines)
    with pytest.raises(ConstantError) as error:
        load_constants(path)
    assert str(error.value).startswith(f"{path}: ") and words in str(error.value), str(error.value)


def test_no_file_and_no_header(tmp_path):
    with pytest.raises(ConstantError, match=r"missing\.csv: cannot be read as a table of constants"):
        load_constants(tmp_path / "missing.csv")
    with pytest.raises(ConstantError, match="line 1: missing columns: 'citation'"):
        load_constants(table(tmp_path, ROW, header=HEADER.replace("citation,", "")))


def test_a_node_of_ones_own(tmp_path):
    refusal = estimated(load_constants(), 180, 3.0).reason
    advice = [f"{name}_180nm" for name in OWN]
    assert all(name in refusal for name in advice)  # what the refusal asks for works, and no less
    book = load_constants(table(tmp_path, *own_node(180)))
    found = {item.name: item.interval.value_j for item in estimated(book, 180, 3.0).items}
    stage = book["ring_cycle_energy_factor"].value * book["ring_node_load"].value * 1.5e-15 * 2.0
    assert found["oscillators"] == relative(10 * book["ring_stages"].value * stage * 1.8**2)
    assert found["couplers"] == relative(30 * book["ring_node_load"].value * 1.5e-15 * 0.6 * 1.8**2)
    assert found["wires"] == relative(30 * book["wire_cap"].value * 40.0 * 1.8**2)
    assert found["leakage"] == relative(1e-8 * 1e-11 * (5 * 2.0 + 3 * 0.6) * 1.8)
    assert "130 nm, it holds from 22 to 65" in estimated(book, 130).reason  # nothing between 65 and 180


@pytest.mark.parametrize("left_out", OWN)
def test_what_a_node_lacks_is_named(tmp_path, left_out):
    book = load_constants(table(tmp_path, *own_node(180, [name for name in OWN if name != left_out])))
    assert f"still missing: {left_out}_180nm" in estimated(book, 180, 3.0).reason


def test_inside_the_rule_a_row_of_the_node_goes_first(tmp_path):
    book = load_constants(table(tmp_path, *own_node(28, ["supply"])))
    ratio = (
        estimated(book, 28).items[2].interval.value_j
        / estimated(load_constants(), 28).items[2].interval.value_j
    )
    assert ratio == relative((1.8 / magnitude(supply_voltage(28, Nominal(load_constants())), "V")) ** 2)
    assert estimated(book, 32).total.value_j == estimated(load_constants(), 32).total.value_j
