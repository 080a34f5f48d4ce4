"""Write what the demo found: report.html, result.json and, on request, one PNG."""

import hashlib
import platform
import time
from pathlib import Path
from typing import Any

from oscsim.cli.output import json_text
from oscsim.demo.gallery import gallery, readme_picture
from oscsim.demo.report import render
from oscsim.demo.sections import Outcome
from oscsim.doctor import package_versions
from oscsim.io import atomic_write

REPORT, RESULT = "report.html", "result.json"


def write_demo(outcome: Outcome, folder: str, picture: str | None = None) -> dict[str, Any]:
    """Draw everything first, then write each file under a temporary name and rename it.

    Returns
    -------
    the content of ``result.json``.
    """
    pictures = gallery(outcome)
    versions = {name: version for name, version in package_versions().items() if version is not None}
    content = {
        **outcome.to_json(),
        "picture_digests": {name: hashlib.sha256(svg.encode()).hexdigest() for name, svg in pictures.items()},
        "versions": {"python": platform.python_version(), **versions},
        "platform": platform.platform(),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
    }
    page = render(outcome, pictures, _facts(outcome, content))
    extra = None if picture is None else readme_picture(outcome)
    Path(folder).mkdir(parents=True, exist_ok=True)
    atomic_write(Path(folder) / REPORT, page.encode())
    atomic_write(Path(folder) / RESULT, json_text(content).encode())
    if picture is not None and extra is not None:
        Path(picture).parent.mkdir(parents=True, exist_ok=True)
        atomic_write(picture, extra)
    return content


def _facts(outcome: Outcome, content: dict[str, Any]) -> dict[str, Any]:
    """Name -> value of the table at the end of the report."""
    layer, checkpoint = outcome.subject.layer, outcome.subject.checkpoint
    bits = checkpoint.get("record", {}).get("test_bits_per_byte")
    return {
        "Model": f"{checkpoint['name']}, SHA-256 {checkpoint['sha256']}",
        **({} if bits is None else {"Bits per byte (test text)": f"{bits:.3f}"}),
        "Layer": f"block {outcome.subject.block}: {layer.n_heads} heads, {layer.n_oscillators} tokens, "
        f"{layer.n_channels} channels per head, {layer.mask} mask",
        "Passage": f"{len(outcome.subject.text.encode())} bytes, SHA-256 {content['text_digest']}",
        **{f"Layer digest, {name}": s.layer.digest for name, s in outcome.sections.items()},
        "Layer digest, circuit": outcome.chip.layer.digest,
        "Versions": ", ".join(f"{name} {version}" for name, version in content["versions"].items()),
        "Platform": content["platform"],
        "Finished": content["finished"],
    }
