"""Tables of devices: what is read, and which file, line and column a problem is in."""

import csv
from importlib import resources

import pytest

from oscsim.energy.ring_fit import published_rings
from oscsim.energy.rings import RING_COLUMNS, load_rings
from oscsim.energy.validation.devices import CHIP_COLUMNS, load_chips
from oscsim.energy.validation.family import inferred
from oscsim.errors import SchemaError

HEADER = ",".join(CHIP_COLUMNS)
CHIP = "made-up ring,2025,10.0/x,45,1.0,100,400,3,1e9,0.01,1e-7,1e-9,a note"


def table(tmp_path, *lines):
    path = tmp_path / "chips.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def problem(path, load=load_chips):
    with pytest.raises(SchemaError) as error:
        load(path)
    return str(error.value)


def test_shipped_chips():
    chips = {chip.name: chip for chip in load_chips()}
    moy, lo = chips["Moy-1968-ROSC-Ising"], chips["Lo-48-all-to-all"]
    assert (moy.n_osc, moy.n_couplings, moy.power_w, moy.f_osc_hz) == (1968, 7607, 0.042, 1e9)
    assert (moy.vdd_v, moy.family, moy.settle_is_bound) == (None, "ring", True)
    assert (lo.vdd_v, lo.power_w, lo.settle_s, lo.settle_is_bound) == (1.2, None, None, False)
    assert (chips["Chou-4-LC"].family, chips["Chou-4-LC"].node_nm) == ("lc", None)
    assert chips["Haverkort-digital-ONN-506"].family == "digital"


def test_strict_rings_are_those_that_are_fitted():
    assert tuple(load_rings()) == published_rings()
    assert [ring.index for ring in published_rings()] == [1, 2, 3, 5, 6, 8, 10]
    third = published_rings()[2]
    assert (third.stages, third.width_um, third.length_um, third.vdd_v) == (19, 30.0, 0.25, 2.5)
    assert (third.supply_a, third.frequency_hz) == (0.01, 1.33e9)
    assert (third.measured_dbc, third.theory_dbc) == (-111.5, -111.8)


def test_cells_and_optional_columns(tmp_path):
    lines = (
        f"family,{HEADER},citation",
        f"lc,{CHIP},KEY",
        '"","# x",,,,,,,,,, <2e-8 ,,"two, cells\nof text",',
    )
    lc, other = load_chips(table(tmp_path, "# comment", "", *lines))
    assert (lc.family, lc.family_reason, lc.citation, lc.year) == ("lc", "given", "KEY", 2025)
    assert (lc.settle_s, lc.settle_is_bound, lc.line) == (1e-7, False, 4)
    assert (other.name, other.settle_s, other.settle_is_bound, other.n_osc) == ("# x", 2e-8, True, None)
    assert (other.source_note, other.line) == ("two, cells\nof text", 5)


def test_byte_order_mark_and_windows_lines(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"\xef\xbb\xbf" + f"{HEADER}\r\n{CHIP}\r\n".encode())
    assert [chip.name for chip in load_chips(path)] == ["made-up ring"]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((), "the file is empty"),
        (("# only", ""), "the file is empty"),
        ((HEADER,), "a header and no devices"),
        ((HEADER.replace("vdd_v,", ""), CHIP), "line 1: missing columns: 'vdd_v'; columns are name,year"),
        ((f"{HEADER},vdd", f"{CHIP},1"), "line 1: unknown columns: 'vdd'"),
        ((f"{HEADER},name", f"{CHIP},x"), "line 1: repeated columns: 'name'"),
        ((HEADER.replace(",", ";"), CHIP), "line 1: unknown columns"),
        (("#", HEADER, CHIP, CHIP.upper()), "line 4: name: given 'MADE-UP RING', expected a name of its"),
        ((HEADER, CHIP.replace("made-up ring", " ")), "line 2: name"),
        ((HEADER, CHIP + ",1"), "line 2: 14 cells, expected 13"),
        ((HEADER, CHIP.replace("45,1.0", "45nm,1.0")), "line 2: node_nm: given '45nm', expected a number"),
        ((HEADER, CHIP.replace("45,1.0", "45,-1.0")), "line 2: vdd_v: given '-1.0'"),
        ((HEADER, CHIP.replace("45,1.0", "0,1.0")), "node_nm: given '0'"),
        ((HEADER, CHIP.replace("45,1.0", "nan,1.0")), "node_nm: given 'nan'"),
        ((HEADER, CHIP.replace("45,1.0", "inf,1.0")), "node_nm: given 'inf'"),
        ((HEADER, CHIP.replace("100,400", "1_00,400")), "n_osc: given '1_00'"),
        ((HEADER, CHIP.replace("100,400", "100.5,400")), "n_osc: given '100.5', expected a whole number"),
        ((HEADER, CHIP.replace("100,400", "100,9901")), "n_couplings: given '9901', expected at most one"),
        ((HEADER, CHIP.replace("400,3", "400,17")), "coupling_bits: given '17', expected at most 16"),
        ((HEADER, CHIP.replace("1e-7", "<")), "settle_s: given '<'"),
        ((HEADER, CHIP.replace("1e-7", "<-1")), "settle_s: given '-1'"),
        ((f"{HEADER},family", f"{CHIP},memristor"), "family: given 'memristor', expected one of ring, lc"),
        ((HEADER, CHIP, 'x,"open'), "line 3: no comma-separated text"),
        ((HEADER, CHIP, 'x,"a"b,c'), "line 3: no comma-separated text"),
    ],
)  # fmt: skip
def test_every_problem_has_a_place(tmp_path, lines, words):
    path = table(tmp_path, *lines)
    message = problem(path)
    assert message.startswith(f"{path}: ") and words in message, message


def test_other_encodings_and_no_files(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(f"{HEADER}\n{CHIP}\n".encode() + CHIP.replace("made-up", "r\u00f6ng").encode("latin-1"))
    assert "line 3: no UTF-8 text" in problem(path)
    path.write_bytes(HEADER.encode("utf-16"))
    assert "line 1: no UTF-8 text" in problem(path)
    assert "a directory" in problem(tmp_path)
    with pytest.raises(FileNotFoundError):
        load_chips(tmp_path / "missing.csv")


def test_rings_have_no_empty_cells(tmp_path):
    header = ",".join(RING_COLUMNS)
    ring = "3,19,10,0.25,20,0.25,2.5,10,1.33e9,-111.5,-111.8,x"
    for good, bad, words in [
        ("-111.5", "", "meas_L1MHz_dbc: given '', expected a number"),
        ("19", "4", "n_stage: given '4', expected an odd number"),
        ("2.5", "-2.5", "vdd_v: given '-2.5'"),
    ]:
        path = table(tmp_path, header, ring.replace(good, bad, 1))
        assert words in problem(path, load_rings)


def test_every_shipped_column_is_read():
    text = (resources.files("oscsim.energy") / "chips.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    for row, chip in zip(rows, load_chips(), strict=True):
        for column, cell in row.items():
            value = getattr(chip, column)
            if column in ("family", "citation"):  # inferred, or the DOI, where they are empty
                assert value == cell or not cell
                continue
            read = value if isinstance(value, str) else float("nan") if value is None else float(value)
            assert read == (cell if isinstance(value, str) else float(cell)) if cell else value in (None, "")


@pytest.mark.parametrize(
    ("name", "note", "family"),
    [
        ("A ring chip", "", "ring"),
        ("chip", "1000 ring oscillators, all to all", "ring"),
        ("chip", "ring-shaped network of springs", None),
        ("4-LC", "", "lc"),
        ("ROSC", "compared with LC", None),
        ("relaxation-16", "", "relaxation"),
        ("chip", "fully digital", "digital"),
        ("ring-64", "implemented on an FPGA", None),
        ("alchemy", "calculus", None),
    ],
)
def test_family_only_where_there_is_no_doubt(name, note, family):
    assert inferred(name, note)[0] == family


@pytest.mark.parametrize("sign", ["<", "<=", "≤", "<= "])
def test_every_way_to_write_an_upper_bound(tmp_path, sign):
    (bound,) = load_chips(table(tmp_path, HEADER, CHIP.replace("1e-7", f"{sign}1e-7")))
    assert (bound.settle_s, bound.settle_is_bound) == (1e-7, True)


def test_a_bound_without_a_number_names_its_sign(tmp_path):
    assert "a number after <=" in problem(table(tmp_path, HEADER, CHIP.replace("1e-7", "<=")))
