"""The table of constants: complete, honest about its sources, and the same as on its page."""

import csv
import itertools
import re
from importlib import resources
from pathlib import Path

import pytest
from relative import relative

from oscsim.counts import Counts
from oscsim.energy import OscillatorHardware, load_constants
from oscsim.energy.constants import Book, ConstantError
from oscsim.energy.constants_file import COLUMNS
from oscsim.energy.formula_names import in_formulas
from oscsim.energy.oscillator_terms import hardware_book, oscillator_terms
from oscsim.energy.scaling import FIN_NM, PLANAR_NM
from oscsim.energy.tables import HOW_WORDS, PAGE, RANGE_WORDS, constants_markdown, renewed
from oscsim.energy.units import magnitude
from oscsim.energy.validation.replay import replay
from oscsim.energy.valuation import Nominal
from oscsim.errors import ConfigError

PROJECT = Path(__file__).parents[3]
BOOK = load_constants()
KEY = re.compile(r"\[([A-Z][A-Z0-9]+)\]")


def shipped(name):
    text = (resources.files("oscsim.energy") / name).read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


@pytest.fixture(scope="module")
def references():
    lines = (PROJECT / "docs/references.md").read_text(encoding="utf-8").splitlines()
    return [line.split("|")[1].strip() for line in lines if line.startswith("| ")]


def test_every_key_is_a_reference_once(references):
    notes = " ".join(constant.note for constant in BOOK.values())
    notes += " ".join(row["source_note"] for row in shipped("chips.csv"))
    cited = {constant.citation for constant in BOOK.values()} | set(KEY.findall(notes))
    cited |= {row["citation"] for row in shipped("chips.csv")} | {"HAJIMIRI"}  # the rings are from one paper
    assert cited <= set(references), sorted(cited - set(references))
    assert len(references) == len(set(references))


def test_rings_say_where_they_are_from():
    text = (resources.files("oscsim.energy") / "rings.csv").read_text(encoding="utf-8")
    assert "Hajimiri" in text.splitlines()[0] and len(shipped("rings.csv")) == 7


@pytest.mark.parametrize("constant", BOOK.values(), ids=lambda constant: constant.name)
def test_every_number_says_how_it_was_obtained(constant):
    assert constant.how in HOW_WORDS and constant.range_from in RANGE_WORDS
    if constant.how in ("exact", "chosen"):
        assert constant.low == constant.high
    if constant.range_from == "exact":
        assert constant.low == constant.value == constant.high
    if constant.how == "prior":
        assert constant.note, "a design range without its reason"
        assert constant.low < constant.high
    if constant.range_from == "spread":
        assert constant.note, "a spread of unnamed sources"
    if constant.how == "derived":
        assert constant.note or constant.conditions


def test_every_row_has_every_column_and_no_other():
    for row in shipped("constants.csv"):
        assert set(row) == set(COLUMNS), row["name"]


def test_loihi_2_has_no_number():
    with pytest.raises(ConstantError, match="no public number exists"):
        BOOK.usable("loihi2_event_energy")


def test_recalled_numbers_are_refused_unless_asked_for(tmp_path):
    file = tmp_path / "recalled.csv"
    file.write_text(f"{','.join(COLUMNS)}\nwire_cap,2e-16,1e-16,3e-16,F/um,,,,,me,recalled,assumed,\n")
    with pytest.raises(ConstantError, match="from memory"):
        load_constants(file).usable("wire_cap")
    assert load_constants(file, allow_recalled=True).usable("wire_cap").how == "recalled"
    assert not [c.name for c in BOOK.values() if c.how == "recalled"], "a shipped number has a source"


def asked():
    """Names that formulas ask for: arrays of every family and node, and the replay of published devices."""
    names = set()

    class Recorder(Book):
        def usable(self, name, **conditions):
            names.add(name)
            return super().usable(name, **conditions)

        def replaced(self, constants):
            return Recorder(super().replaced(constants).values())

    book = Recorder(BOOK.values())
    counts = Counts({
        "oscillators": 4.0, "oscillator_cycles": 9.0, "couplers.4": 3.0, "coupling_cycles.4": 9.0,
        "wire_spans": 3.0, "wire_span_cycles": 9.0, "array_seconds": 1e-6, "programming_writes.4": 7.0,
        "phase_conversions.8": 4.0, "dac_conversions.8": 4.0,
    })  # fmt: skip
    for family, node in itertools.product(("ring", "lc", "relaxation"), (250, *PLANAR_NM, *FIN_NM)):
        hardware = OscillatorHardware(family=family, node_nm=node, carrier_hz=1e9)
        for term in oscillator_terms(hardware, counts):
            term.of(Nominal(hardware_book(hardware, book)))
    replay(book)
    return names & set(BOOK)


def test_the_page_says_which_constants_no_formula_uses():
    used = set(in_formulas(BOOK))
    assert len(asked()) > 40 and asked() <= used
    unused = [name for name in BOOK if name not in used]
    assert {"loihi1_synaptic_op_presilicon", "hbm2_device", "adc_enob7to9_highspeed_median"} <= set(unused)
    (line,) = [x for x in constants_markdown(BOOK).splitlines() if x.startswith("No formula uses these")]
    assert re.findall(r"`(\w+)`", line) == unused


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("phase_readout_step", 8, 10),
        ("adc_enob7to9_highspeed_median", 7, 6),
        ("adc_enob5to7_highspeed_median", 6, 8),
        ("tdc_8b_design_estimate", 8, 9),
    ],
)
def test_validity_is_checked(name, inside, outside):
    BOOK.usable(name, bits=inside)
    with pytest.raises(ConstantError, match="it holds for"):
        BOOK.usable(name, bits=outside)
    with pytest.raises(ConstantError, match="say which it is"):
        BOOK.usable(name)


def test_derived_numbers_follow_from_their_sources():
    def of(name):
        return BOOK.usable(name).value

    assert of("landauer_300K") == relative(of("boltzmann") * 300.0 * 0.6931471805599453, rel=1e-3)
    adders = of("int8_add_7nm") / of("int8_add_45nm"), of("fp32_add_7nm") / of("fp32_add_45nm")
    derived = BOOK["int32_add_7nm"]
    assert (derived.low, derived.high) == relative([of("int32_add_45nm") * x for x in adders], rel=0.01)
    assert derived.value == relative((derived.low * derived.high) ** 0.5, rel=0.01)
    for device in ("h200", "a100"):
        power = of(f"{device}_tdp") / of(f"{device}_bf16_peak")
        assert of(f"{device}_bf16_flop") == relative(power, rel=0.01)
    ring = next(row for row in shipped("rings.csv") if row["idx"] == "3")
    cycle = float(ring["vdd_v"]) * float(ring["isup_ma"]) * 1e-3 / float(ring["f0_hz"])
    kappa = cycle / (19 * 71.8e-15 * float(ring["vdd_v"]) ** 2)
    assert of("ring_cycle_energy_factor") == relative(kappa, rel=0.01)


def test_units_are_those_of_the_event_that_is_priced():
    per = {
        "loihi1_synaptic_op": "J/operation",
        "loihi1_hop_east_west": "J/hop",
        "phase_readout_step": "J/conversion",
    }
    for name, unit in per.items():
        assert magnitude(BOOK[name].quantity(), unit) == BOOK[name].value


def test_page_is_up_to_date():
    page = (PROJECT / PAGE).read_text(encoding="utf-8")
    assert renewed(page, BOOK) == page, "run python -m oscsim.energy.tables"
    assert "recalled" in page and "loihi2_event_energy" in page


def test_page_without_marks_is_refused():
    with pytest.raises(ConfigError, match="marks"):
        renewed("no marks", BOOK)


def test_table_has_a_line_for_each_constant():
    lines = [line for line in constants_markdown(BOOK).splitlines() if line.startswith("| `")]
    assert len(lines) == len(BOOK)
    assert all(line.replace("\\|", "").count("|") == 8 for line in lines)
