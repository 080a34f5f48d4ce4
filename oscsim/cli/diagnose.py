"""``oscsim diagnose``: order, locking, frequencies and attention of a model by depth."""

from typing import Annotated, Any

import typer

from oscsim.cli import arguments as arg
from oscsim.cli.files import check_distinct, check_suffix, checked_path
from oscsim.cli.model_file import chosen_device, load_model, models_needed, named
from oscsim.cli.options import data_file, read_text, text_file
from oscsim.cli.output import Output
from oscsim.errors import ConfigError
from oscsim.io import atomic_write

_DEFAULT_DATA = "alice"


def diagnose(
    checkpoint: arg.Checkpoint,
    data: arg.OptionalData = None,
    text: Annotated[
        str | None, typer.Option(metavar="TEXT|@FILE", help="A text in place of the data's validation bytes.")
    ] = None,
    passages: Annotated[int, typer.Option(help="At most so many passages of one context.")] = 16,
    plot: Annotated[str | None, typer.Option(metavar="FILE.png", help="A panel per quantity.")] = None,
    device: arg.Device = None,
    threads: arg.Threads = None,
    json: arg.Json = None,
) -> None:
    """Look into a model, block by block: local and global order, locked fraction, |omega|, entropy.

    A quantity the model does not have is left out. Measured on evenly spaced passages of the validation
    bytes (of alice, where nothing is named) or of a text.
    """
    out = Output(json)
    checked_path(plot, "--plot")
    check_suffix(plot, "--plot", ".png")
    if data is not None and text is not None:
        raise ConfigError("--text: given together with --data; expected one of them; leave the other out")
    inputs = {"CHECKPOINT": named(checkpoint), "--data": data_file(data)}
    written = {"--plot": plot, "--json": json}
    check_distinct({**inputs, "--text": text and text_file(text)}, written)
    if passages < 1:
        raise ConfigError(f"--passages: given {passages}, expected at least 1")
    place = chosen_device(device, threads)
    model, facts = load_model(checkpoint, written)
    with models_needed():
        from models import diagnostics
    name, tokens = _tokens(model, data, text)
    cut = diagnostics.cut(tokens, model.config.context, passages)
    diagnosis = diagnostics.diagnose(model.to(place), cut)
    out.write_json({
        "checkpoint": facts["name"], "sha256": facts["sha256"], "data": name, "device": place,
        **diagnosis.to_json(),
    })  # fmt: skip
    if plot is not None:
        from models.diagnostics_plot import png

        atomic_write(plot, png({f"{facts['name']}, {model.name}, on {name}": diagnosis}))
    _show(out, diagnosis, f"{diagnosis.passages} passages of {diagnosis.length} bytes of {name}")


def _tokens(model: Any, data: str | None, text: str | None) -> tuple[str, Any]:
    """Where the bytes come from, and the bytes."""
    if text is not None:
        return "the text", model.encode(read_text(text).encode("utf-8", "surrogateescape"))
    with models_needed():
        from models.data import load_data
    loaded = load_data(data or _DEFAULT_DATA, model.config.context)
    return f"{loaded.name} (validation)", loaded.validation


def _show(out: Output, diagnosis: Any, passages: str) -> None:
    titles = [f"{q.title}, {q.unit}" if q.unit else q.title for q in diagnosis.quantities]
    rows = [
        [depth, *(block.get(q.key) for q in diagnosis.quantities)]
        for depth, block in enumerate(diagnosis.blocks)
    ]
    out.facts(diagnosis.model, [("measured on", passages)])
    out.table(["block", *titles], rows)
