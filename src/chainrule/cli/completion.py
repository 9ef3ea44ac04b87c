"""`chainrule completion`: the script with which a shell completes commands, options and robots."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from chainrule.cli.console import OneOf, command, echo, json_option, print_json

PROGRAM = "chainrule"
VARIABLE = "_CHAINRULE_COMPLETE"
"""The variable that click's scripts set when the shell asks for completions."""

SHELLS = {
    "bash": 'eval "$(chainrule completion bash)"  # in ~/.bashrc',
    "zsh": 'eval "$(chainrule completion zsh)"  # in ~/.zshrc',
    "fish": "chainrule completion fish | source  # in ~/.config/fish/config.fish",
}
"""Shells, and the line that turns completion on."""


@command("chainrule completion bash", "chainrule completion zsh --json")
@click.argument("shell", type=OneOf("shell", SHELLS))
@json_option
def completion(shell: str, as_json: bool) -> None:
    """Print a script that completes commands, options and robots in a shell. It is for bash, zsh and fish.

    \b
    The line to write into the shell's own file:
      bash  eval "$(chainrule completion bash)"       ~/.bashrc
      zsh   eval "$(chainrule completion zsh)"        ~/.zshrc
      fish  chainrule completion fish | source        ~/.config/fish/config.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None  # click has these three
    script = kind(click.Group(), {}, PROGRAM, VARIABLE)
    text = script.source_template % script.source_vars()
    if as_json:
        print_json({"shell": shell, "line": SHELLS[shell], "script": text})
    else:
        echo(text)
