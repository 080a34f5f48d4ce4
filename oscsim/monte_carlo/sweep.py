"""A study, point by point: each computed once however often it is stopped."""

from collections.abc import Callable

from oscsim.monte_carlo.levels import Simulate, read_chips
from oscsim.monte_carlo.points import PointFolder
from oscsim.monte_carlo.row import Row, row_of
from oscsim.monte_carlo.score import Score, ideal_layer, score
from oscsim.monte_carlo.study import Study

Report = Callable[[int, str], None]
_AT_ONCE = 8  # chips between two reports; networks are integrated together


def sweep(
    study: Study, folder: str | None = None, report: Report | None = None, simulate: Simulate | None = None
) -> list[Row]:
    """Run every chip of every point and compare it with the ideal layer: a row per point.

    Parameters
    ----------
    folder : where finished points are kept and looked for; None keeps nothing.
    report : called as ``report(done, text)`` after some chips, of :func:`chip_count` in all.
    simulate : runs a layer as a circuit; level "circuit" needs it.

    Raises
    ------
    SchemaError
        the folder holds something else, or results computed in another way.
    LoweringError
        a layer that no circuit of the family can be.
    """
    kept = None if folder is None else PointFolder(folder)
    ideal, where = ideal_layer(study.spec)
    rows, done = [], 0
    for point in study.points:
        designs = study.designs(point)
        scores = kept.load(study, point) if kept is not None else None
        if scores is None:
            scores = list[Score]()
            for first in range(0, len(designs), _AT_ONCE):
                some = designs[first : first + _AT_ONCE]
                readings = read_chips(study.spec, some, study.level, simulate)
                scores += [score(reading, ideal, where) for reading in readings]
                if report is not None:
                    report(done + len(scores), point.label)
            if kept is not None:
                kept.save(study, point, scores)
        elif report is not None:
            report(done + len(designs), point.label)
        done += len(designs)
        rows.append(row_of(point, study.level, scores, study.spec.dynamics != "pair"))
    return rows


def chip_count(study: Study) -> int:
    """Chips of all points together."""
    return sum(len(study.designs(point)) for point in study.points)
