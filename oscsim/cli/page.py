"""A page whose text between two marks is written by a command, and everything else by people."""

from pathlib import Path

from oscsim.errors import ConfigError


def around_marks(path: str | Path, option: str, begin: str, end: str) -> tuple[str, str]:
    """Return what stands before and after the marked part of a page; neither holds a mark.

    Raises
    ------
    ConfigError
        no text, or not both marks in their order: nothing says which part may be replaced.
    """
    try:
        text = Path(path).read_bytes().decode()
    except UnicodeDecodeError:
        raise ConfigError(f"{option}: given {path}, which is no UTF-8 text; name a Markdown page") from None
    return around_marks_of(text, f"{option}: given {path}", begin, end)


def around_marks_of(text: str, given: str, begin: str, end: str) -> tuple[str, str]:
    """The same of a text; ``given`` says in the message where it is from."""
    before, begun, rest = text.partition(begin)
    _, ended, after = rest.partition(end)
    if not (begun and ended):
        raise ConfigError(
            f"{given}, expected a page with the marks {begin} and {end}, in this order; "
            "put both where the report belongs, or name another file"
        )
    return before, after
