"""``python -m oscsim.cli.lava_budget SEED``: measure the error budget of target lava again, for its page.

Rewrites the tables between the two marks of docs/targets/lava_budget.md and the picture beside it; takes some
minutes. Run in the folder of the project.
"""

import sys
from pathlib import Path

from hw_targets.lava.budget.study import whole_table
from hw_targets.lava.budget.table import markdown, png
from oscsim.cli.guard import ExitCode
from oscsim.cli.progress import say
from oscsim.errors import ConfigError, OscsimError
from oscsim.io import atomic_write
from oscsim.reference import solve

PAGE = Path("docs/targets/lava_budget.md")
PICTURE = Path("docs/images/lava_budget.png")
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def renewed(page: str, seed: int, tables: str) -> str:
    """The page with new tables between its marks.

    >>> renewed(f"a {BEGIN} old {END} z", 7, "new").splitlines()[2]
    'Measured with seed 7.'
    """
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\nMeasured with seed {seed}.\n\n{tables}\n\n{END}{after}"


def main(seed: int) -> None:
    """Measure, and write page and picture.

    Raises
    ------
    ConfigError
        a negative seed, another folder than that of the project, or a page without its marks.
    """
    if seed < 0:
        raise ConfigError(f"seed: given {seed}, expected an integer of at least 0")
    checked_page()
    rows = list(whole_table(seed, solve, say))
    # read after measuring: whoever edits the page meanwhile keeps the edit
    page = renewed(checked_page(), seed, markdown(rows))
    atomic_write(PAGE, page.encode())
    atomic_write(PICTURE, png(rows))
    outside = [row for row in rows if not 0.5 <= row.ratio <= 2.0]
    say(f"{len(rows)} cells, {len(outside)} off by more than a factor of two: {outside}")


def checked_page() -> str:
    """The page as it is, with its two marks."""
    missing = [str(path) for path in (PAGE, PICTURE.parent) if not path.exists()]
    if missing:
        raise ConfigError(
            f"{', '.join(missing)}: not in {Path.cwd()}; expected the folder of the project, change to it"
        )
    page = PAGE.read_text(encoding="utf-8")
    if not 0 <= page.find(BEGIN) < page.find(END):
        raise ConfigError(f"{PAGE}: given without its marks, expected {BEGIN} and {END} around the tables")
    return page


def command(arguments: list[str]) -> int:
    """Exit code of ``python -m oscsim.cli.lava_budget`` with these arguments."""
    try:
        if len(arguments) != 1 or not arguments[0].removeprefix("-").isdecimal():
            given = " ".join(arguments) or "nothing"
            raise ConfigError(
                f"seed: given {given}, expected one integer: python -m oscsim.cli.lava_budget SEED"
            )
        main(int(arguments[0]))
    except (OscsimError, OSError) as error:
        say(f"error: {error}")
        return int(ExitCode.BAD_INPUT)
    return int(ExitCode.CONFORMS)


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:]))
