"""Compiles kernels for GPUs that are not here and counts what the compiled code holds.

Run as a process of its own (compile_report.py starts it): with TRITON_INTERPRET set nothing compiles.
NVIDIA figures come from the assembler's disassembly, AMD ones from the metadata in the assembly.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from hw_targets.triton.compile_cases import Case, cases
from hw_targets.triton.run import load_kernels

TARGETS = {
    "sm_80": GPUTarget("cuda", 80, 32),
    "sm_90": GPUTarget("cuda", 90, 32),
    "gfx942": GPUTarget("hip", "gfx942", 64),
}
_TOOLS = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
_MATRIX = ("HGMMA", "HMMA")


class Figures(NamedTuple):
    """What one compiled kernel holds.

    Parameters
    ----------
    registers : per thread (AMD: vector registers).
    spills : instructions that move registers to or from memory (AMD: spilled registers).
    shared_bytes : shared memory per program.
    matrix : matrix instructions by name.
    per_score, special_per_score : instructions and special-function operations of the inner loop, per score
        and thread; None where there is no such loop or no disassembly.
    """

    registers: int
    spills: int
    shared_bytes: int
    matrix: dict[str, int]
    per_score: float | None
    special_per_score: float | None


def measure(case: Case) -> Figures:
    """Compile one case and count."""
    kernel = getattr(load_kernels(False), case.launch.kernel)
    names = kernel.arg_names
    signature, constants = case.signature(names), case.launch.constants
    # what a call passes: tensors start at multiples of 16 bytes, padded sizes are multiples of 128
    aligned = [name for name, kind in signature.items() if kind.startswith("*") or name == "padded"]
    source = ASTSource(
        fn=kernel,
        signature=signature,
        constexprs={(names.index(name),): value for name, value in constants.items()},
        attrs={(names.index(name),): [["tt.divisibility", 16]] for name in aligned},
    )
    options = {"num_warps": case.launch.warps, "num_stages": case.launch.stages}
    compiled: Any = triton.compile(source, target=TARGETS[case.architecture], options=options)
    if case.architecture.startswith("gfx"):
        return _amd(compiled)
    return _nvidia(compiled, case)


def _amd(compiled: Any) -> Figures:
    assembly = compiled.asm["amdgcn"]

    def field(name: str) -> int:
        return max((int(n) for n in re.findall(rf"\.{name}:\s+(\d+)", assembly)), default=0)

    # scalar registers spill to lanes of a vector register, not to memory
    products = dict(Counter(re.findall(r"\b(v_mfma)_", assembly)))
    return Figures(
        field("vgpr_count"), field("vgpr_spill_count"), compiled.metadata.shared, products, None, None
    )


def _nvidia(compiled: Any, case: Case) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "kernel.cubin")
        file.write_bytes(compiled.asm["cubin"])
        usage, listing = (_tool("--dump-resource-usage", file), _tool("-sass", file))
    registers = max(int(n) for n in re.findall(r"REG:(\d+)", usage))
    code = [(int(where, 16), text) for where, text in re.findall(r"/\*([0-9a-f]{4,})\*/\s+(.*?);", listing)]
    counts = Counter(_name(text) for _, text in code)
    spills = counts["STL"] + counts["LDL"]
    matrix = {name: counts[name] for name in _MATRIX if counts[name]}
    loop = inner_loop(code)
    if not loop or case.tile is None or not matrix:
        return Figures(registers, spills, compiled.metadata.shared, matrix, None, None)
    scores = case.tile[0] * case.tile[1] / (32 * case.launch.warps)
    special = sum(_name(text) == "MUFU" for text in loop)
    return Figures(registers, spills, compiled.metadata.shared, matrix, len(loop) / scores, special / scores)


def inner_loop(code: list[tuple[int, str]]) -> list[str]:
    """Instructions of the loop with the largest share of matrix products; [] if there is none.

    >>> inner_loop([(0, "MOV R1, R2"), (16, "HMMA.16816.F32 R4, R5"), (32, "@P0 BRA 0x10"), (48, "EXIT")])
    ['HMMA.16816.F32 R4, R5', '@P0 BRA 0x10']
    """
    loops = []
    for where, text in code:
        jump = re.search(r"\bBRA\b.*?0x([0-9a-f]+)", text)
        if jump and int(jump.group(1), 16) < where:
            loops.append([text for at, text in code if int(jump.group(1), 16) <= at <= where])
    share = [sum(_name(text) in _MATRIX for text in loop) / len(loop) for loop in loops]
    return loops[share.index(max(share))] if loops and max(share) > 0 else []


def _name(text: str) -> str:
    """Instruction without predicate and modifiers."""
    return re.sub(r"^@!?U?P\w+\s+", "", text).split()[0].split(".")[0]


def _tool(option: str, file: Path) -> str:
    command = [_TOOLS / "cuobjdump", option, file]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main(arguments: Iterable[str]) -> None:
    """One JSON line per case; arguments "architecture:width", then words a case must all contain."""
    selected, words = [a for a in arguments if ":" in a], [a for a in arguments if ":" not in a]
    for architecture, width in (a.split(":") for a in selected):
        for case in cases(architecture, int(width)):
            text = f"{case.op}, {case.launch.kernel}, {case.options}"
            if all(word in text for word in words):
                launch = {"warps": case.launch.warps, "stages": case.launch.stages, "tile": case.tile}
                row = {"architecture": architecture, "width": case.width, "op": case.op}
                row |= {"kernel": case.launch.kernel, "options": case.options, **launch}
                print(json.dumps(row | measure(case)._asdict()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
