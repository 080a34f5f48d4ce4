"""Every kernel compiles ahead of time, without a GPU, for three architectures and does not spill."""

import json
import os
import subprocess
import sys
import textwrap

SCRIPT = textwrap.dedent(
    """
    import json, re, subprocess, sys, tempfile
    from pathlib import Path

    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from hw_targets.triton.run import load_kernels

    POINTERS = {"identity": "*i32", "active": "*i8", "locked": "*i8", "heads": "*i32"}
    SCALARS = {"n": "i32", "width": "i32", "steps": "i32", "step": "fp32"}
    TILE = {"BLOCK_M": 32, "BLOCK_N": 32}
    PAIR = {"CHANNELS": 64, "PARTS": 3, "VALUES": 64, "CAUSAL": False, **TILE}
    READ = {"CHANNELS": 64, "VALUES": 64, "LANES": 16, **TILE}
    FLOW = {"CAUSAL": True, "LANES": 16, **TILE}
    COUPLING = {"CHANNELS": 64, "PARTS": 3, "CAUSAL": True, **TILE}
    VARIANTS = [
        ("explicit_pair", PAIR, 8),
        ("explicit_pair", PAIR | {"CAUSAL": True, "VALUES": 128}, 8),
        ("explicit_pair", PAIR | {"CAUSAL": True, "VALUES": 0}, 8),
        ("frequency_coupling", COUPLING, 8),
        ("clamped_flow", FLOW, 8),
        ("clamped_readout", READ | {"VALUES": 128}, 8),
        ("network_steps", {"COUNT": 16, "WIDTH": 16, "LANES": 16}, 4),
    ]
    TARGETS = [GPUTarget("cuda", 80, 32), GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64)]
    BIN = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"

    def spilled(compiled, target):
        if target.backend == "hip":
            return sum(int(n) for n in re.findall(r"[vs]gpr_spill_count:\\s+(\\d+)", compiled.asm["amdgcn"]))
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "k.ptx").write_text(compiled.asm["ptx"])
            command = [BIN / "ptxas", "-v", f"--gpu-name=sm_{target.arch}{'a' * (target.arch == 90)}",
                       f"{folder}/k.ptx", "-o", f"{folder}/k.cubin"]
            text = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        return sum(int(n) for n in re.findall(r"(\\d+) bytes spill stores", text))

    kernels = load_kernels(False)
    for target in TARGETS:
        chosen = VARIANTS if target.arch == 90 else [VARIANTS[0], *VARIANTS[3:]]
        for name, constants, warps in chosen:
            kernel = getattr(kernels, name)
            kinds = {a: POINTERS.get(a, SCALARS.get(a, "*fp32")) for a in kernel.arg_names}
            source = ASTSource(
                fn=kernel,
                signature={a: "constexpr" if a in constants else kind for a, kind in kinds.items()},
                constexprs={(kernel.arg_names.index(a),): value for a, value in constants.items()},
            )
            compiled = triton.compile(source, target=target, options={"num_warps": warps})
            row = [str(target.arch), name, spilled(compiled, target), compiled.metadata.shared]
            print(json.dumps(row))
    """
)


def test_every_kernel_compiles_for_sm_80_sm_90_and_gfx942_without_spills(tmp_path):
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        env=environment | {"TRITON_CACHE_DIR": str(tmp_path)},
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    assert {(arch, name) for arch, name, *_ in rows} == {
        (arch, name)
        for arch in ("80", "90", "gfx942")
        for name in (
            "explicit_pair",
            "frequency_coupling",
            "clamped_flow",
            "clamped_readout",
            "network_steps",
        )
    }
    assert [row for row in rows if row[2] > 0] == []
    # 48 KiB of shared memory need no opt-in anywhere
    assert max(row[3] for row in rows) <= 48 * 1024


def test_interpreted_and_compiled_kernels_share_a_process():
    script = (
        "import triton\n"
        "from hw_targets.triton.run import load_kernels\n"
        "from triton.runtime.interpreter import InterpretedFunction\n"
        "from triton.runtime.jit import JITFunction\n"
        "assert type(load_kernels(True).explicit_pair) is InterpretedFunction\n"
        "assert type(load_kernels(False).explicit_pair) is JITFunction\n"
        "assert not triton.knobs.runtime.interpret\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
    refused = subprocess.run(
        [sys.executable, "-c", "from hw_targets.triton.run import load_kernels; load_kernels(False)"],
        env=environment | {"TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "TRITON_INTERPRET is set, expected it unset to run on a GPU" in refused.stderr
