"""``oscsim generate``: let a model continue a text."""

import sys
import unicodedata
from typing import Annotated

import typer

from oscsim.cli import arguments as arg
from oscsim.cli.files import check_distinct
from oscsim.cli.model_file import checked_implementation, chosen_device, load_model, models_needed, named
from oscsim.cli.options import read_text, text_file
from oscsim.cli.output import Output
from oscsim.cli.streams import stdout_errors


def generate(
    checkpoint: arg.Checkpoint,
    prompt: Annotated[
        str, typer.Option(metavar="TEXT|@FILE", help="What to continue; empty: start after a line break.")
    ] = "",
    count: Annotated[int, typer.Option("--bytes", help="Bytes to add.")] = 200,
    temperature: Annotated[float, typer.Option(help="Of the draws; 0 takes the likeliest byte.")] = 0.8,
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 0,
    impl: arg.Implementation = None,
    device: arg.Device = None,
    threads: arg.Threads = None,
    json: arg.Json = None,
) -> None:
    """Let a model continue a text, byte by byte; the same seed gives the same text.

    What is no UTF-8, and control characters other than line break and tab, are shown as replacement
    characters; the bytes themselves are in the JSON.
    """
    out = Output(json)
    check_distinct({"CHECKPOINT": named(checkpoint), "--prompt": text_file(prompt)}, {"--json": json})
    given = read_text(prompt, "--prompt").encode("utf-8", "surrogateescape")
    place = chosen_device(device, threads)
    model, facts = load_model(checkpoint, {"--json": json})
    with models_needed():
        from models.generate import generate as continued
    model.to(place).use(checked_implementation(impl, place))
    added = continued(model, given, count, temperature, seed)
    out.write_json({
        "model": model.name, "checkpoint": facts["name"], "sha256": facts["sha256"],
        "prompt": shown(given), "text": shown(added), "bytes_hex": added.hex(),
        "temperature": temperature, "seed": seed, "device": place,
    })  # fmt: skip
    if not out.json_on_stdout:
        _write(shown(given + added))


def shown(data: bytes) -> str:
    r"""Bytes as text that a terminal can be given.

    >>> shown(b"caf\xc3\xa9 \xff \x1b[2J\n")
    'café � �[2J\n'
    """
    text = data.decode("utf-8", "replace")
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) == "Cc" and c not in "\n\t" else c
        for c in text
    )


def _write(text: str) -> None:
    """On stdout as it is, neither wrapped nor styled, in whatever encoding stdout has."""
    encoding = sys.stdout.encoding or "utf-8"
    with stdout_errors():
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding) + "\n")
        sys.stdout.flush()
