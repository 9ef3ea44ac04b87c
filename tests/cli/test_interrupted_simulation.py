"""A simulation that Ctrl-C ends is told to the shell."""

from click.testing import CliRunner

import chainrule as cr
from chainrule.cli import simulate as command


def test_an_interrupted_simulation_exits_with_130(monkeypatch):
    from dataclasses import replace

    motion = replace(cr.load("pendulum").simulate([0.5], None, 0.01), status="interrupted")
    monkeypatch.setattr(command, "run", lambda *_, **__: motion)
    result = CliRunner().invoke(command.simulate, ["pendulum"])
    assert result.exit_code == 130
    assert "interrupted" in result.output
    monkeypatch.setattr(command, "run", lambda *_, **__: replace(motion, status="finished"))
    assert CliRunner().invoke(command.simulate, ["pendulum"]).exit_code == 0
