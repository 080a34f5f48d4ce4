"""The energy pages do what they say: their Python runs, their files load, their JSON keys exist."""

import re
from pathlib import Path
from typing import get_args

import pytest

from oscsim import FixedOrder, FrequencyCoupling, PhaseLayerSpec
from oscsim.energy import OscillatorHardware, load_constants
from oscsim.energy.constants_file import COLUMNS
from oscsim.energy.report import energy_report
from oscsim.energy.row import StatusCode
from oscsim.energy.validation.devices import CHIP_COLUMNS, CHIP_OPTIONAL, load_chips
from oscsim.energy.validation.replay import replay

DOCS = Path(__file__).parents[3] / "docs"
PAGES = sorted(DOCS.glob("energy*.md"))
MAIN = (DOCS / "energy.md").read_text(encoding="utf-8")


def blocks(text, kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_of_a_page_runs(page, capsys):
    text = page.read_text(encoding="utf-8")
    for block in blocks(text, "python"):
        exec(compile(block, str(page), "exec"), {})
        printed = capsys.readouterr().out.splitlines()
        assert printed
        if after := re.match(r"\n+```text\n(.*?)^```$", text.split(block)[1][3:], re.DOTALL | re.MULTILINE):
            assert after[1].splitlines() == printed, "paste into the page:\n" + "\n".join(printed)


def test_pages_show_python_and_what_it_prints():
    assert len(blocks(MAIN, "python")) >= 1 and len(blocks(MAIN, "csv")) == 2
    assert re.search(r"^```python\n[^`]*^```\n\n```text\nEstimate ", MAIN, re.MULTILINE)


def test_a_file_of_constants_as_on_the_page_loads(tmp_path):
    text = next(block for block in blocks(MAIN, "csv") if block.startswith("name,value"))
    assert text.splitlines()[0].split(",") == list(COLUMNS)
    (path := tmp_path / "own.csv").write_text(text, encoding="utf-8")
    name = text.splitlines()[1].split(",")[0]
    own, shipped = load_constants(path)[name], load_constants()[name]
    assert own != shipped and own.unit == shipped.unit and own.citation == "MINE"


def test_a_file_of_chips_as_on_the_page_is_replayed(tmp_path):
    text = next(block for block in blocks(MAIN, "csv") if block.startswith("name,year"))
    assert set(text.splitlines()[0].split(",")) == {*CHIP_COLUMNS, *CHIP_OPTIONAL}
    (path := tmp_path / "chips.csv").write_text(text, encoding="utf-8")
    (chip,) = load_chips(path)
    assert chip.settle_is_bound and chip.vdd_v is not None
    (row,) = [row for row in replay(load_constants(), path).rows if row.device == chip.name]
    assert row.role == "independent" and row.predicted is not None


def found(content, path):
    """Whether a path as ``rows[].total`` leads somewhere, in any row."""
    here = [content]
    for part in path.split("."):
        name, many = part.removesuffix("[]"), part.endswith("[]")
        here = [one[name] for one in here if name in one]
        here = [each for one in here for each in one] if many else here
    return bool(here)


def test_json_has_every_key_of_the_page_and_no_other():
    fields = {
        "omega": [[[0.0], [0.6]]], "theta": [[[0.0], [0.0]]], "gain": [1.0], "dynamics": "pair",
        "coupling": FrequencyCoupling(alpha=[0.0]), "order_parameter": FixedOrder(r=[1.0]),
    }  # fmt: skip
    hardware = OscillatorHardware(accuracy=0.001, epsilon=0.02)  # finer than eight bits: refused
    report = energy_report(PhaseLayerSpec(**fields), hardware, {}, load_constants(), accuracies=(0.05,))
    content, table = report.to_json(), MAIN.partition("## JSON")[2]
    cells = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    keys = [key for cell in cells for key in cell.split("`")[1::2]]
    assert len(keys) >= 15
    assert [key for key in keys if not found(content, key)] == []
    named = {re.split(r"[\[.]", key)[0] for key in keys}
    assert set(content) - named == set()
    inner = {key.removeprefix("rows[].").removesuffix("[]") for key in keys if key.startswith("rows[].")}
    assert {key for row in content["rows"] for key in row} - inner <= {"name"}


def test_the_page_has_every_status_code():
    codes = re.search(r"`rows\[\]\.status_code\[\]` \| [^:]*: (.*?) \|$", MAIN, re.MULTILINE)
    assert codes is not None and set(codes[1].split(", ")) == set(get_args(StatusCode))
