"""``--set`` for configurations that are dataclasses: values checked against the types of the fields."""

import dataclasses
import math
from collections.abc import Collection, Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from oscsim.errors import ConfigError

Config = TypeVar("Config")


def replaced(config: Config, options: Mapping[str, str], name: str, other: Collection[str] = ()) -> Config:
    """Return a dataclass with the fields that ``--set`` strings name changed.

    A value is read as JSON (``8``, ``false``, ``[0.2, 0.8]``), and where the field expects a word, as one.

    Parameters
    ----------
    name : what the configuration is of, for messages.
    other : fields that cannot be set here, because an option of their own does.

    Raises
    ------
    ConfigError
        unknown field (the message lists the known ones), or a value of another type.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Shape:
    ...     width: int = 8
    >>> replaced(Shape(), {"width": "16"}, "a shape")
    Shape(width=16)
    """
    hints = get_type_hints(type(config))
    known = [field.name for field in dataclasses.fields(config) if field.name not in other]  # pyright: ignore
    for key in options:
        if key not in known:
            raise ConfigError(f"--set: {name} has no option '{key}'; known: {', '.join(known)}")
    values = {key: _value(key, text, hints[key]) for key, text in options.items()}
    return dataclasses.replace(config, **values)  # pyright: ignore


def _value(key: str, text: str, hint: Any) -> Any:
    adapter: TypeAdapter[Any] = TypeAdapter(hint)
    for read in (adapter.validate_json, adapter.validate_python):  # as JSON, then as the word itself
        try:
            value = read(text, strict=True)
        except ValidationError:
            continue
        if not (isinstance(value, float) and not math.isfinite(value)):
            return value
    raise ConfigError(f"--set: given {key}={text[:40]}, expected {_expected(hint)}")


def _expected(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return " or ".join(str(word) for word in get_args(hint))
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "a word"}
    if get_origin(hint) is tuple:
        return f"a list [{', '.join(_expected(part) for part in get_args(hint))}]"
    return words.get(hint, str(hint))
