"""Which constants a formula asks for, found in the source: the others are there for reference only."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

_OF_NODE = re.compile(r"_\d+nm$")
_LETTERS = 3  # of a name with gaps: fewer, as in f"{name}_{node:g}nm", say nothing


def in_formulas(names: Iterable[str]) -> list[str]:
    """Those of some constants whose name, or name without its node, stands in the code of the energy model.

    >>> in_formulas(["wire_cap", "supply_45nm", "h200_tdp", "loihi1_synaptic_op_presilicon"])
    ['wire_cap', 'supply_45nm', 'h200_tdp']
    """
    whole, gapped = _literals()
    return [
        name
        for name in names
        if name in whole
        or _OF_NODE.sub("", name) in whole
        or any(pattern.fullmatch(name) for pattern in gapped)
    ]


@cache
def _literals() -> tuple[frozenset[str], tuple[re.Pattern[str], ...]]:
    """(strings, patterns of strings with gaps) of every module next to this one, documentation apart."""
    whole: set[str] = set()
    gapped: set[str] = set()
    for path in Path(__file__).parent.rglob("*.py"):
        for node in _code(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                gapped |= _pattern(node)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                whole.add(node.value)
    return frozenset(whole), tuple(re.compile(pattern) for pattern in sorted(gapped))


def _code(tree: ast.Module) -> Iterator[ast.AST]:
    """Everything but strings that stand alone."""
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return (node for node in ast.walk(tree) if id(node) not in alone)


def _pattern(text: ast.JoinedStr) -> set[str]:
    parts = [part.value if isinstance(part, ast.Constant) else None for part in text.values]
    letters = sum(character.isalpha() for part in parts if part for character in str(part))
    if letters < _LETTERS:
        return set()
    return {"".join(r"\w+" if part is None else re.escape(str(part)) for part in parts)}
