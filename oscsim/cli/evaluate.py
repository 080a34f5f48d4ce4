"""``oscsim evaluate``: bits per byte of a model on held-out bytes."""

from enum import StrEnum
from typing import Annotated

import typer

from oscsim.cli import arguments as arg
from oscsim.cli.files import check_distinct
from oscsim.cli.model_file import checked_implementation, chosen_device, load_model, models_needed, named
from oscsim.cli.options import data_file
from oscsim.cli.output import Output
from oscsim.errors import TargetRunError


class Split(StrEnum):
    """Parts of the data that no model is trained on."""

    VALIDATION = "validation"
    TEST = "test"


def evaluate(
    checkpoint: arg.Checkpoint,
    data: arg.Data,
    split: Annotated[Split, typer.Option(help="Which held-out part.")] = Split.TEST,
    impl: arg.Implementation = None,
    device: arg.Device = None,
    threads: arg.Threads = None,
    json: arg.Json = None,
) -> None:
    """Measure a model: the mean code length of held-out bytes, with its standard error over windows.

    The part is cut into windows of one context that do not overlap; every byte is predicted from those
    before it in its window.
    """
    out = Output(json)
    check_distinct({"CHECKPOINT": named(checkpoint), "--data": data_file(data)}, {"--json": json})
    place = chosen_device(device, threads)
    model, facts = load_model(checkpoint, {"--json": json})
    with models_needed():
        from models.data import load_data
        from models.evaluate import standard_error, window_bits
    context = model.config.context
    loaded = load_data(data, context)
    model.to(place).use(checked_implementation(impl, place))
    bits = window_bits(model, getattr(loaded, split))
    if not bits.isfinite().all():
        raise TargetRunError(
            f"{facts['name']}: bits per byte are not finite; expected numbers; train the model again"
        )
    source = facts["record"].get("data")
    trained_on = source.get("sha256") if isinstance(source, dict) else None
    content = {
        "model": model.name, "checkpoint": facts["name"], "sha256": facts["sha256"],
        "data": loaded.name, "data_sha256": loaded.digest, "split": str(split),
        "trained_on_this_data": trained_on == loaded.digest if trained_on else None,
        "bits_per_byte": bits.mean().item(), "standard_error": standard_error(bits),
        "windows": len(bits), "context": context, "device": place,
    }  # fmt: skip
    out.write_json(content)
    shown = {**content, "bits_per_byte": f"{content['bits_per_byte']:.4f}"}
    out.facts(checkpoint, [(name.replace("_", " "), value) for name, value in shown.items()])
