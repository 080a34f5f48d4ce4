"""``python -m oscsim.cli.lava_budget SEED``: measure the error budget of target lava again, for its page.

Rewrites the tables between the two marks of docs/targets/lava_budget.md and the picture beside it; takes some
minutes. Run in the folder of the project.
"""

import sys
from pathlib import Path

from hw_targets.lava.budget.study import whole_table
from hw_targets.lava.budget.table import markdown, png
from oscsim.cli.progress import say
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
    """Measure, and write page and picture."""
    page = PAGE.read_text(encoding="utf-8")
    rows = list(whole_table(seed, solve, say))
    PAGE.write_text(renewed(page, seed, markdown(rows)), encoding="utf-8")
    PICTURE.write_bytes(png(rows))
    outside = [row for row in rows if not 0.5 <= row.ratio <= 2.0]
    say(f"{len(rows)} cells, {len(outside)} off by more than a factor of two: {outside}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
