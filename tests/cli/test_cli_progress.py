"""Progress of one step: what a long run says of itself appears on stderr while it lasts, and only then."""

import logging

import pytest

from oscsim.cli import progress

RUNNING = logging.getLogger("oscsim.progress")


@pytest.mark.parametrize("terminal", [False, True])
def test_a_running_step_is_heard(capsys, monkeypatch, terminal):
    monkeypatch.setattr(progress, "on_terminal", lambda: terminal)
    with progress.Steps(1)("lava"):
        RUNNING.info("%d time steps", 17)
    RUNNING.info("after the end")
    out, err = capsys.readouterr()
    assert out == "" and "after the end" not in err
    # on a terminal it takes the place of the line that was there, else it is a line of its own
    told = (
        "\r\x1b[2K[ 1/1] lava … 17 time steps\r\x1b[2K[ 1/1] lava  "
        if terminal
        else "[ 1/1] lava … 17 time steps\n"
    )
    assert told in err and err.endswith(" s\n")


def test_a_step_that_fails_is_not_heard_any_more(capsys):
    with pytest.raises(ValueError, match="broken"), progress.Steps(1)("lava"):
        raise ValueError("broken")
    RUNNING.info("after the end")
    assert capsys.readouterr().err == "" and not RUNNING.handlers and RUNNING.propagate
