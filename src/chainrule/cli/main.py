"""The group of commands, and the entry point `chainrule`.

A command's file is imported when the command is called. `chainrule --help` imports none of them: it reads the
docstrings from the text of the files.
"""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import click

from chainrule import __version__
from chainrule.errors import ChainruleError

COMMANDS = (
    "about", "bench", "cache", "demo", "equations", "export", "ik", "info", "pose", "simulate", "torque", "workspace",
)  # fmt: skip
"""Commands of the package; the function NAME in the file NAME.py beside this one."""

EXIT_REFUSED = 1
EXIT_INTERRUPTED = 130


class CommandFile(click.Command):
    """A command whose file is not imported yet: its name, and its help for the list of commands."""

    def get_short_help_str(self, limit: int = 45) -> str:
        """The first sentence of the docstring of the command's function, read from the text of its file."""
        text = Path(__file__).with_name(f"{self.name}.py").read_text(encoding="utf-8")
        functions = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
        self.help = next(ast.get_docstring(function) for function in functions if function.name == self.name)
        return super().get_short_help_str(limit)

    def load(self) -> click.Command:
        """The command itself."""
        command: click.Command = getattr(import_module(f"chainrule.cli.{self.name}"), str(self.name))
        return command


class CommandGroup(click.Group):
    """Commands, some of them in files that are imported on demand."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, imported."""
        command = super().get_command(ctx, cmd_name)
        return command.load() if isinstance(command, CommandFile) else command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        click.Group(commands=self.commands).format_commands(ctx, formatter)


@click.group(
    cls=CommandGroup,
    commands={name: CommandFile(name) for name in COMMANDS},
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="chainrule")
def cli() -> None:
    """Kinematics and dynamics of robots.

    ROBOT is a bundled robot's name or a file: .urdf, .xml (URDF or MJCF), .toml or .json.
    """


def main() -> NoReturn:
    """Run the command line; errors of chainrule are printed as one line, not as a traceback."""
    try:
        code = cli(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except click.Abort:
        click.echo("interrupted", err=True)
        code = EXIT_INTERRUPTED
    except (ChainruleError, OSError) as error:
        click.echo(f"error: {error}", err=True)
        code = EXIT_REFUSED
    sys.exit(code)


if __name__ == "__main__":
    main()
