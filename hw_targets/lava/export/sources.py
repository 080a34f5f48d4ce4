"""Our own source files as a package that stands alone: copied, with their imports renamed."""

import ast
import re
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "oscillators"
"""Name of the package in an exported folder."""

ROOTS = ("hw_targets.lava", "oscsim")
# What a copied file may need from elsewhere.
ELSEWHERE = ("lava", "numpy")
PROCESSES = "hw_targets.lava.processes"
ENTRIES = (PROCESSES, "hw_targets.lava.runtime", "hw_targets.lava.export.read_out")


def standalone(entries: tuple[str, ...] = ENTRIES) -> dict[str, str]:
    """Files of the package (name in the folder -> text): the entries and everything of ours they import.

    Raises
    ------
    ImportError
        a file imports something that is neither ours, nor Python's, Lava's or numpy's.
    """
    waiting, texts = [*entries], dict[str, str]()
    while waiting:
        module = waiting.pop()
        if module in texts:
            continue
        path = _path(module)
        texts[module] = path.read_text(encoding="utf-8")
        waiting += _ours(module, texts[module])
        if module == PROCESSES:  # Lava looks for process models in every file there
            waiting += [f"{module}.{file.stem}" for file in sorted(path.parent.glob("[!_]*.py"))]
    files = {f"{PACKAGE}/{_place(module)}": _renamed(text) for module, text in texts.items()}
    for folder in {Path(name).parent for name in files}:
        files.setdefault(f"{folder}/__init__.py", "")
    return files


def renamed(module: str) -> str:
    """Name of one of our modules in the exported package.

    >>> renamed("hw_targets.lava.processes.pair_cells"), renamed("oscsim.errors")
    ('oscillators.processes.pair_cells', 'oscillators.errors')
    """
    for root in ROOTS:
        if module.startswith(f"{root}."):
            return f"{PACKAGE}{module.removeprefix(root)}"
    raise ImportError(f"{module}: expected a module of {' or '.join(ROOTS)}")


def _place(module: str) -> str:
    parts = renamed(module).split(".")[1:]
    return "/".join(parts) + ("/__init__.py" if _path(module).name == "__init__.py" else ".py")


def _path(module: str) -> Path:
    found = find_spec(module)
    if found is None or found.origin is None:
        raise ImportError(f"{module}: no such file")
    return Path(found.origin)


def _ours(module: str, text: str) -> list[str]:
    """Our modules that a file imports when it runs."""
    needed = []
    for name in _imports(ast.parse(text)):
        if name.startswith(tuple(f"{root}." for root in ROOTS)):
            needed.append(name)
        elif not _known(name):
            raise ImportError(f"{module} imports {name}, which an exported layer does not have")
    return needed


def _known(name: str) -> bool:
    import sys

    top = name.split(".", maxsplit=1)[0]
    return top in ELSEWHERE or top in sys.stdlib_module_names


def _imports(tree: ast.AST) -> list[str]:
    """Names of imported modules, those under ``if TYPE_CHECKING`` left out."""
    names = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.append(node.module)
        else:
            names += _imports(node)
    return names


def _renamed(text: str) -> str:
    """The text with our package names replaced; oscsim's in imports only, where nothing else is called so."""
    text = text.replace("hw_targets.lava", PACKAGE)
    return re.sub(r"^(\s*(?:from|import)\s+)oscsim\b", rf"\1{PACKAGE}", text, flags=re.MULTILINE)
