"""``python -m oscsim.cli.lava_budget``: the page and the picture of the measured budget."""

from pathlib import Path

import pytest

from hw_targets.lava.budget.study import Measured
from oscsim.cli import lava_budget
from oscsim.cli.lava_budget import BEGIN, END, PAGE, PICTURE, command

ROWS = [Measured("S locked", bits, 10, None, 2.0**-bits, 2.0**-bits) for bits in (16, 20)]


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """A folder with a page and a place for the picture; nothing is measured in it."""
    monkeypatch.chdir(tmp_path)
    for path in (PAGE, PICTURE):
        path.parent.mkdir(parents=True)
    PAGE.write_text(f"before {BEGIN} old {END} after")
    monkeypatch.setattr(lava_budget, "whole_table", lambda *_: iter(ROWS))
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [([], "given nothing"), (["1", "2"], "given 1 2"), (["x"], "given x"), (["-3"], "given -3")],
)
def test_a_seed_that_is_none_is_refused(arguments, said: str, project, capsys) -> None:
    assert command(arguments) == 2
    assert said in capsys.readouterr().err
    assert "old" in PAGE.read_text()


def test_another_folder_is_refused_before_anything_is_measured(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lava_budget, "whole_table", lambda *_: pytest.fail("measured"))
    assert command(["7"]) == 2
    assert "expected the folder of the project" in capsys.readouterr().err


def test_a_page_without_marks_is_refused(project, capsys) -> None:
    PAGE.write_text(f"{END} {BEGIN}")
    assert command(["7"]) == 2
    assert "marks" in capsys.readouterr().err


def test_edits_made_while_it_measures_are_kept(project, monkeypatch) -> None:
    def edited(*_: object) -> list[Measured]:
        PAGE.write_text(f"new before {BEGIN} old {END} new after")
        return ROWS

    monkeypatch.setattr(lava_budget, "whole_table", edited)
    assert command(["7"]) == 0
    page = PAGE.read_text()
    assert page.startswith("new before") and page.endswith("new after")
    assert "seed 7" in page and "old" not in page
    assert PICTURE.read_bytes()[1:4] == b"PNG"


def test_the_page_of_the_project_explains_its_tables() -> None:
    page = (Path(__file__).parents[2] / PAGE).read_text(encoding="utf-8")
    for part in ("## The words of", "## Measured", BEGIN, END, "## Formulas", "## Not predicted"):
        assert page.count(part) == 1, part
