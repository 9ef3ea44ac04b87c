"""The group of commands, and the entry point `chainrule`.

A command's file is imported when the command is called. `chainrule --help` imports none of them: it reads the
docstrings from the text of the files.
"""

from __future__ import annotations

import ast
import io
import os
import re
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import click
from click.exceptions import NoArgsIsHelpError

from chainrule import __version__
from chainrule.errors import ChainruleError

COMMANDS = (
    "about", "bench", "cache", "compare", "completion", "convert", "dataset", "demo", "doctor", "equations", "export",
    "ik", "info", "jacobian", "manipulability", "plan", "plot", "pose", "show", "simulate", "studio", "study", "table",
    "torque", "workspace",
)  # fmt: skip
"""Commands of the package; the function NAME in the file NAME.py beside this one."""

PROGRAM = "chainrule"

WORDS = {
    "fk": "pose", "fkine": "pose", "kinematics": "pose", "inverse_kinematics": "ik", "ikine": "ik",
    "id": "torque", "rnea": "torque", "rne": "torque", "dynamics": "torque", "gravity": "torque", "sim": "simulate",
    "run": "simulate", "list": "info", "robots": "info", "joints": "info", "links": "info", "check": "doctor",
    "validate": "doctor", "diff": "compare", "codegen": "export", "view": "show", "teach": "studio", "gui": "studio",
    "help": "--help", "version": "--version",
}  # fmt: skip
"""Words that people try, and the command that each is here."""

NUMBERS = ("--xyz", "--q", "--q0")
"""Options whose numbers people give without a name."""

EXTRA_NUMBERS = re.compile(r"unexpected extra arguments? \(([-+\d.,e ]+)\)")

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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is asked for; for a word of others, an error that names it."""
        word = args[0] if args else ""
        if word in WORDS and word not in self.commands:
            raise click.UsageError(f"No such command {word!r}; that is `{PROGRAM} {WORDS[word]}`", ctx)
        return super().resolve_command(ctx, args)

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

    ROBOT is a bundled robot's name or a file: URDF, xacro, MJCF, SDF, .toml or .json. With --json, a number that is not
    finite is null, and an infinite one "Infinity" or "-Infinity". The commands exit with 0 when done, 1 when refused or
    failed, 2 when typed wrongly, 130 when interrupted. `chainrule COMMAND --help` has examples.

    \b
    Examples:
      chainrule demo                      # a tour in seconds
      chainrule info panda                # joints, limits and masses of a robot
      chainrule torque panda --q ready    # the torques that hold it
    """


def main() -> NoReturn:
    """Run the command line; errors of chainrule are printed as one line, not as a traceback."""
    _escape_unknown_letters()
    try:
        code = _run()
        _flush()
    except BrokenPipeError:  # whoever read stdout has had enough, as `head` has
        code = EXIT_REFUSED
    except OSError as error:
        _complain(f"error: {error}")
        code = EXIT_REFUSED
    _abandon_unwritable()
    sys.exit(code)


def _run() -> int:
    """Run the command; its exit code."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            code = cli(prog_name=PROGRAM, standalone_mode=False)
        return code if isinstance(code, int) else 0
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else EXIT_REFUSED
    except NoArgsIsHelpError as error:  # `chainrule` alone: the help, which is no error message
        _complain(error.format_message())
        return error.exit_code
    except click.ClickException as error:
        _complain(f"error: {_one_line(error)}")
        return error.exit_code
    except click.Abort:
        _complain("interrupted")
        return EXIT_INTERRUPTED
    except MemoryError as error:
        _complain(f"error: out of memory: {str(error) or 'this is more than the machine has'}; ask for less")
        return EXIT_REFUSED
    except ChainruleError as error:
        _complain(f"error: {error}")
        return EXIT_REFUSED


def _one_line(error: click.ClickException) -> str:
    """An error of click as one line: the option first, and the command whose help says more."""
    message = error.format_message().removesuffix(".")
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter):
        message = re.sub(r"^Invalid value for '?([^\s':]*)[^:]*: ", r"\1: ", message)
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is not None and (numbers := EXTRA_NUMBERS.search(message)):
        options = {name for parameter in context.command.params for name in parameter.opts}
        option = next((option for option in NUMBERS if option in options), None)
        message += f"; numbers have an option: {option} {numbers[1].replace(' ', ',')}" if option else ""
    return message if context is None else f"{message} (see {context.command_path} --help)"


def _complain(text: str) -> None:
    """Print to stderr."""
    from chainrule.cli.console import echo

    echo(text, err=True)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """A warning as one line, in place of Python's two, which name a line of the library."""
    from chainrule.cli.console import warn

    warn(str(message))


def _escape_unknown_letters() -> None:
    """Let letters that the terminal's encoding does not have be written as escapes, such as \\u03c4."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _flush() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


def _abandon_unwritable() -> None:
    """Let what cannot be written go nowhere, so that Python does not try again at the end, and complain."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    main()
