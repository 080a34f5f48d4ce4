"""A regime map: every cell, in blocks of seeds, each computed once however often the sweep is stopped."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from oscsim.errors import ConfigError
from oscsim.regime.blocks import BlockFolder
from oscsim.regime.cell import Cell
from oscsim.regime.row import Row, rows_of
from oscsim.regime.run import Run, simulate
from oscsim.regime.steady import LONGEST_SPAN

SEEDS_PER_BLOCK = 4
Report = Callable[[int, str], None]


@dataclass(frozen=True)
class Grid:
    """Every combination of these values is a cell; the defaults are the packaged map.

    Parameters
    ----------
    n, spread, gain, alpha : values of each, see :class:`Cell`; sorted, repetitions removed.
    seeds : networks per cell, with seeds 0, 1, ...

    Raises
    ------
    ConfigError
        an impossible value.

    >>> len(Grid(n=(2, 8), spread=(0.1,), gain=(1.0, 2.0)).cells)
    4
    """

    n: Sequence[int] = (2, 8, 32, 128, 256)
    spread: Sequence[float] = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5)
    gain: Sequence[float] = (0.6, 1.313, 2.6)
    alpha: Sequence[float] = (1.313,)
    seeds: int = 8

    def __post_init__(self) -> None:
        if not 1 <= self.seeds <= 10_000:
            raise ConfigError(f"seeds: given {self.seeds}, expected 1 to 10000")
        for name in ("n", "spread", "gain", "alpha"):
            object.__setattr__(self, name, tuple(sorted(set(getattr(self, name)))))
            if not getattr(self, name):
                raise ConfigError(f"{name}: given no value, expected at least one")
        self.cells  # noqa: B018 - refuses impossible values

    @property
    def cells(self) -> list[Cell]:
        """All of them, small networks first."""
        return [
            Cell(n, spread, gain, alpha)
            for n, alpha, gain, spread in product(self.n, self.alpha, self.gain, self.spread)
        ]

    @property
    def blocks(self) -> list[range]:
        """Seeds that are integrated side by side."""
        first = range(0, self.seeds, SEEDS_PER_BLOCK)
        return [range(seed, min(seed + SEEDS_PER_BLOCK, self.seeds)) for seed in first]


def sweep(
    grid: Grid,
    folder: str | None = None,
    report: Report | None = None,
    longest_span: float = LONGEST_SPAN,
) -> list[Row]:
    """Compute a regime map: the closed form against network ODEs, a row per cell and convention.

    Parameters
    ----------
    folder : where finished blocks are kept and looked for; None keeps nothing.
    report : called as ``report(done, text)`` after each of ``len(grid.cells) * len(grid.blocks)`` blocks.
    longest_span : of a run, on each network's own clock, see :func:`oscsim.regime.steady_states`.

    Raises
    ------
    SchemaError
        the folder holds something else, or results computed in another way.

    >>> rows = sweep(Grid(n=(2,), spread=(0.1,), gain=(1.313,), seeds=2))
    >>> [row.convention for row in rows]
    ['given', 'steady', 'one', 'self-consistent']
    """
    kept = None if folder is None else BlockFolder(folder, longest_span)
    rows, done = [], 0
    for cell in grid.cells:
        runs: list[Run] = []
        for seeds in grid.blocks:
            block = kept.load(cell, seeds) if kept is not None else None
            if block is None:
                block = simulate(cell, seeds, longest_span)
                if kept is not None:
                    kept.save(cell, seeds, block)
            runs += block
            done += 1
            if report is not None:
                report(done, str(cell))
        rows += rows_of(cell, runs)
    return rows
