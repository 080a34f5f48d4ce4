"""Every error a user can meet; a message says what was given, what was expected, what to do."""


class OscsimError(Exception):
    """Base of all errors raised on purpose by this project."""


class SpecError(OscsimError, ValueError):
    """A value that no phase layer can have: names the field, what was given, what was expected."""


class SchemaError(OscsimError, ValueError):
    """A file that is not what it claims to be: foreign, truncated, altered, or of another version."""


class ConfigError(OscsimError, ValueError):
    """A target configuration with an unknown option or an impossible value."""


class LoweringError(OscsimError, ValueError):
    """A valid layer that this target cannot represent: names the limit and the nearest valid choice."""


class TargetRunError(OscsimError, RuntimeError):
    """A backend failed while running: carries the original exception text."""


class TargetUnavailable(OscsimError, RuntimeError):
    """The backend of a target is not installed: says which command installs it.

    Attributes
    ----------
    command : str
        The shell command that installs the missing backend.
    """

    def __init__(self, target: str, reason: str, command: str) -> None:
        super().__init__(f"target '{target}' is not available: {reason}. Install it with: {command}")
        self.target = target
        self.command = command
