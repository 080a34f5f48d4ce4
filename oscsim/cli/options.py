"""Reading what a user typed: texts, ``--set`` options, output names."""

import json
from collections.abc import Iterable
from typing import Any

from oscsim.errors import ConfigError
from oscsim.io import read_regular
from oscsim.target import AbstractTarget, TargetConfig


def read_text(given: str, option: str = "--text") -> str:
    """The passage of an option: itself, or the content of FILE for ``@FILE`` (UTF-8, final line break cut).

    >>> read_text("Alice")
    'Alice'
    """
    file = text_file(given)
    if file is None:
        return given
    try:
        text = read_regular(file).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{option}: {file} is not UTF-8 text (byte {error.start}); expected a text file"
        ) from None
    return text.removesuffix("\n")


def text_file(given: str) -> str | None:
    """FILE of ``--text @FILE``, None for a passage.

    >>> text_file("@alice.txt")
    'alice.txt'
    """
    return given[1:] if given.startswith("@") else None


def data_file(source: str | None) -> str | None:
    """The file behind ``--data``, None where the source is none.

    >>> data_file("enwik8=enwik8.zip"), data_file("a=b.txt"), data_file("alice")
    ('enwik8.zip', 'a=b.txt', None)
    """
    if source is None or source in ("alice", "enwiki-sample"):
        return None
    name, equals, path = source.partition("=")
    return path if equals and name in ("enwiki-sample", "enwik8") else source


def split_settings(settings: Iterable[str]) -> dict[str, str]:
    """``name=value`` strings as a dictionary.

    >>> split_settings(["dt=1e-3"])
    {'dt': '1e-3'}
    """
    options: dict[str, str] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not (name and equals):
            raise ConfigError(f"--set: given {setting!r}, expected option=value")
        if name in options:
            raise ConfigError(f"--set: option '{name}' is given twice; give it once")
        options[name] = value
    return options


def target_config(target: AbstractTarget[Any], options: dict[str, str]) -> TargetConfig:
    """The configuration that ``--set`` strings describe.

    A value is read as JSON (``8``, ``true``, ``null``, ``[1, 2]``); what is no JSON is taken as a string,
    and so is JSON where the option itself expects a string. pydantic checks the result.

    Raises
    ------
    ConfigError
        unknown option (the message lists the known ones) or impossible value.
    """
    fields = target.config_class.model_fields
    return target.config(**{
        name: value if name in fields and fields[name].annotation is str else read_option(value)
        for name, value in options.items()
    })  # fmt: skip


def read_option(value: str) -> Any:
    """One value of ``--set``: JSON, or the text itself.

    >>> read_option("8"), read_option("null"), read_option("ring")
    (8, None, 'ring')
    """
    try:
        return json.loads(value)
    except ValueError:
        return value
    except RecursionError:
        raise ConfigError(
            f"--set: given {value[:20]}…, {len(value)} characters of brackets inside brackets; "
            "expected a number, a word or a short list"
        ) from None


def settings_by_target(settings: Iterable[str], names: Iterable[str]) -> dict[str, dict[str, str]]:
    """``TARGET.option=value`` strings, sorted by target.

    >>> settings_by_target(["brian2.dt=1"], ["triton", "brian2"])
    {'triton': {}, 'brian2': {'dt': '1'}}
    """
    grouped: dict[str, dict[str, str]] = {name: {} for name in names}
    for setting, value in split_settings(settings).items():
        name, dot, option = setting.partition(".")
        if name not in grouped or not dot:
            known = ", ".join(grouped)
            raise ConfigError(
                f"--set: given {setting}={value}, expected TARGET.option=value with TARGET one of {known}"
            )
        grouped[name][option] = value
    return grouped
