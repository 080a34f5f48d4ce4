"""Arguments and options that several commands share."""

from enum import StrEnum
from typing import Annotated

import typer

SHIPPED = "shipped"


class Dynamics(StrEnum):
    """Names that ``export --dynamics`` takes."""

    PAIR = "pair"
    CLAMPED = "clamped"
    NETWORK = "network"


LayerFile = Annotated[str, typer.Argument(metavar="FILE.phase", help="A phase layer, see oscsim export.")]
Json = Annotated[str | None, typer.Option("--json", metavar="PATH|-", help="Write JSON there; - is stdout.")]
Text = Annotated[str, typer.Option(metavar="TEXT|@FILE", help="The passage, or @ and a file that holds it.")]
Block = Annotated[int, typer.Option(help="Block of the model, counted from 0.")]
ResultFile = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE.sync", help="Save the result.")
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="OPTION=VALUE", help="Target option; repeatable.")
]
TargetSettings = Annotated[
    list[str] | None, typer.Option("--set", metavar="TARGET.OPTION=VALUE", help="Target option; repeatable.")
]
Targets = Annotated[
    list[str] | None,
    typer.Option("--target", help="Repeat for several; default: those that promise the closed form."),
]
Checkpoint = Annotated[
    str, typer.Argument(help=f"A model file, or '{SHIPPED}' for the one that came with this package.")
]
"""``export CHECKPOINT``."""
_DATA = typer.Option(
    "--data",
    metavar="SOURCE",
    help="alice, enwiki-sample, enwiki-sample=FILE, enwik8=FILE, or the path of any file.",
)
Data = Annotated[str, _DATA]
OptionalData = Annotated[str | None, _DATA]
Device = Annotated[
    str | None, typer.Option(help="cpu, cuda or cuda:NUMBER; default: cuda where torch sees one.")
]
Threads = Annotated[int | None, typer.Option(help="CPU threads of torch; default: torch's own.")]
Implementation = Annotated[
    str | None, typer.Option("--impl", help="triton, native or eager; default: the device's own.")
]
