"""What the commands share: their help, robots by name or file, progress, and printing.

All text is written here: `echo` for lines, `print_json` for JSON, `terminal` for tables. Names come from files, and may
hold what commands a terminal; it is shown as an escape, such as \\x1b.
"""

from __future__ import annotations

import functools
import json
import math
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from click.shell_completion import CompletionItem
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.text import Text

from chainrule.arguments import Array
from chainrule.display import text as display
from chainrule.errors import MAX_COMPARED, ChainruleError, ModelWarning, quoted, short_repr, visible

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

WIDTH_COLUMNS = 1000
"""The width of lines in a file or in a pipe."""

PATIENCE_S = 1.0
"""Seconds of work before progress is shown."""

EXIT_CODES = (
    ("0", "done"),
    ("1", "refused or failed; stderr has the reason, in a line that begins with \"error:\""),
    ("2", "the command is not typed as --help says"),
    ("130", "interrupted by Ctrl-C"),
)  # fmt: skip

DEGREES_WORDS = ("convert them with np.deg2rad, or call robot.degrees", "give --degrees")
"""The library's advice about angles that look like degrees, and that of the command line."""

Function = Callable[..., Any]


class Command(click.Command):
    """A command of chainrule: its help ends in examples and exit codes, and its errors name options.

    Parameters
    ----------
    examples
        Lines that can be typed as they are; a comment may follow after #.
    failure
        A second meaning of exit code 1, for a command that can answer no.
    keywords
        Words of the library's messages that are options of this command: {"path": "--output"}.
    codes
        Other meanings of exit codes, for a command that has its own.
    """

    def __init__(
        self,
        *args: Any,
        examples: Sequence[str] = (),
        failure: str = "",
        keywords: Mapping[str, str] | None = None,
        codes: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self.examples = tuple(examples)
        self.failure = failure
        self.keywords = dict(keywords or {})
        self.codes = dict(EXIT_CODES) | dict(codes or {})

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; errors and warnings of the library name its options, not its keywords."""
        show = warnings.showwarning

        said: set[str] = set()

        def show_in_option_words(message: Warning | str, *args: Any, **options: Any) -> None:
            words = self.in_option_words(str(message))
            if words not in said:
                show(words, *args, **options)
            said.add(words)

        try:
            with warnings.catch_warnings():
                warnings.showwarning = show_in_option_words
                return super().invoke(ctx)
        except ChainruleError as error:
            error.args = (self.in_option_words(str(error)),)
            raise

    def in_option_words(self, message: str) -> str:
        """A message of the library, with options in place of Python's keywords: --max-iterations for max_iterations."""
        message = re.sub(r"^[A-Za-z_]+: ", "", message)
        message = in_loading_words(message).replace(*DEGREES_WORDS)
        for keyword, option in self.keywords.items():
            message = re.sub(rf"(?<!\w){re.escape(keyword)}(?!\w)", option, message)
        for parameter in self.params:
            if isinstance(parameter, click.Option) and parameter.name:
                name, option = re.escape(parameter.name), parameter.opts[0]
                if parameter.is_flag:
                    flag = rf"(?<![\w.'\"-]){name}=(True( or {name}=False)?|\.\.\.)"
                    message = re.sub(flag, option, message)
                message = re.sub(rf"(?<![\w.'\"-]){name}=(?=\S)", f"{option} ", message)
                message = re.sub(rf"^{name}(?= (must|has|is|takes|are|needs)\b)", option, message)
                if re.search(r"[_\d]", parameter.name) or parameter.name == "dt":  # no word of English
                    message = re.sub(rf"(?<![\w.'\"-]){name}(?![\w.'\"(-])", option, message)
        return message

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options, and below them those that say how the robot is loaded."""
        records: dict[str, list[tuple[str, str]]] = {"Options": [], "Options of ROBOT": []}
        for parameter in self.get_params(ctx):
            record = None if isinstance(parameter, click.Argument) else parameter.get_help_record(ctx)
            if record is not None:
                title = "Options of ROBOT" if isinstance(parameter, LoadingOption) else "Options"
                records[title].append(record)
        for title, rows in records.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples and the exit codes."""
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}{line}\n")
        codes = [
            (code, f"{text}; {self.failure}" if code == "1" and self.failure else text)
            for code, text in self.codes.items()
        ]
        with formatter.section("Exit codes"):
            formatter.write_dl(codes)


def command(
    *examples: str,
    failure: str = "",
    keywords: Mapping[str, str] | None = None,
    codes: Mapping[str, str] | None = None,
) -> Callable[[Function], Command]:
    """A function as a command of chainrule: its docstring is the help, which ends in the examples."""
    decorate: Any = click.command(cls=Command, examples=examples, failure=failure, keywords=keywords, codes=codes)
    return decorate


def cluster_options(function: Function) -> Function:
    """The options of work on more than one process; the function receives them as `cluster` and `workers`."""

    @click.option("--workers", type=click.IntRange(1), metavar="COUNT", help="Processes on this machine to work with.")
    @click.option("--cluster", metavar="ADDRESS", help="A Dask scheduler to work with, such as tcp://host:8786.")
    @functools.wraps(function)
    def with_cluster(*args: Any, cluster: str | None, workers: int | None, **options: Any) -> Any:
        if cluster is not None and workers is not None:
            raise click.UsageError("give either --cluster or --workers")
        return function(*args, cluster=cluster, workers=workers, **options)

    return with_cluster


# Robots


class LoadingOption(click.Option):
    """An option that says how ROBOT is loaded."""


class RobotName(click.ParamType[str]):
    """The name of a bundled robot, or a file; the shell completes both."""

    name = "robot"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The bundled robots whose names begin so, or files."""
        from chainrule.robot.library import robots

        known = [CompletionItem(name) for name in robots() if name.startswith(incomplete)]
        return known or [CompletionItem(incomplete, type="file")]


class XacroArgument(click.ParamType[object]):
    """An argument of a xacro file, KEY:=VALUE."""

    name = "key:=value"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """The key and the value."""
        if isinstance(value, tuple):
            return value
        key, separator, text = str(value).partition(":=")
        if not separator or not key.strip():
            self.fail(f"{value!r} should be a name and a value, such as hand:=true", param, ctx)
        return key.strip(), text


@dataclass(frozen=True)
class Loading:
    """The way in which a command loads robots: its options of `loading_options`."""

    floating: bool = False
    repair: bool = False
    strict: bool = False
    arguments: tuple[tuple[str, str], ...] = ()
    search_paths: tuple[str, ...] = ()
    xacro: bool = False

    def options(self) -> dict[str, Any]:
        """The options of `chainrule.load` that were asked for."""
        options: dict[str, Any] = {
            "floating_base": self.floating, "repair": self.repair, "check": "strict" if self.strict else "",
            "args": dict(self.arguments), "search_paths": self.search_paths, "xacro": self.xacro,
        }  # fmt: skip
        return {option: value for option, value in options.items() if value}

    def load(self, name: str) -> Robot:
        """A bundled robot or the robot of a file; warnings about its model are printed to stderr, a line each."""
        from chainrule.robot.library import load

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ModelWarning)
            robot = load(name, **self.options())
        for warning in caught:
            for line in self._lines(name, str(warning.message)):
                warn(line)
        return robot

    def _lines(self, name: str, message: str) -> list[str]:
        """A warning about a model as lines: one that counts many problems, or one for each that was repaired."""
        message = in_loading_words(message)
        heading, *problems = re.split(r"\n  - ", message.partition("\nPass ")[0])
        if not problems:
            return [message]
        if self.repair:
            return problems
        known = heading.removesuffix(":")
        return [f"{known}, the first: {problems[0]}. `chainrule doctor {name}` lists all, --repair mends what it can"]


LOADING_WORDS = {
    "check='strict'": "--strict", 'check="strict"': "--strict", 'check="warn"': "leave out --strict",
    " or check=False for no warning": "", "repair=True": "--repair", "the option 'args'": "--args",
    "the option 'search_paths'": "--search-path", "the option 'floating_base'": "--floating",
    "pass xacro=True": "pass --xacro",
}  # fmt: skip
"""Words of the library's messages about loading, and the options that they are."""


def in_loading_words(message: str) -> str:
    """A message about loading a robot, with options in place of Python's keywords."""
    for words, option in LOADING_WORDS.items():
        message = message.replace(words, option)
    return message


def loading_options(function: Function) -> Function:
    """The options of loading robots; the function receives them as `loading`."""

    @click.option("--floating", cls=LoadingOption, is_flag=True, help="Free the base: six more degrees of freedom.")
    @click.option("--repair", cls=LoadingOption, is_flag=True, help="Mend what is wrong in the file, and say how.")
    @click.option("--strict", cls=LoadingOption, is_flag=True, help="Refuse a file in which anything is wrong.")
    @click.option(
        "--args", "arguments", cls=LoadingOption, multiple=True, type=XacroArgument(),
        help="An argument of a xacro file; may be repeated.",
    )  # fmt: skip
    @click.option("--xacro", cls=LoadingOption, is_flag=True, help="Run xacro in a file of any name, if you trust it.")
    @click.option(
        "--search-path", "search_paths", cls=LoadingOption, multiple=True,
        type=click.Path(exists=True, file_okay=False), help="A folder of packages, for package:// files; repeatable.",
    )  # fmt: skip
    @functools.wraps(function)
    def with_loading(*args: Any, **options: Any) -> Any:
        loading = Loading(**{field.name: options.pop(field.name) for field in fields(Loading)})
        if loading.repair and loading.strict:
            raise click.UsageError("give either --repair or --strict")
        return function(*args, loading=loading, **options)

    return with_loading


def robot_options(function: Function, **given: Any) -> Function:
    """ROBOT and the options of loading it; the function receives the loaded `robot`, or None where it is left out.

    `given` goes to `click.argument`.
    """

    @click.argument("robot", type=RobotName(), **given)
    @loading_options
    @functools.wraps(function)
    def with_robot(*args: Any, robot: str | None, loading: Loading, **options: Any) -> Any:
        return function(*args, robot=None if robot is None else loading.load(robot), **options)

    return with_robot


# Values of options


class OneOf(click.ParamType[str]):
    """One of some names, which the shell completes; `what` says what they are names of."""

    def __init__(self, what: str, known: Iterable[str]) -> None:
        self.name = what
        self.known = known

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """The names, as they stand in the help."""
        return f"[{'|'.join(self.known)}]"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name, which must be known."""
        names = list(self.known)
        if value not in names:
            close = get_close_matches(str(value)[:MAX_COMPARED], names, n=1, cutoff=0.5)
            hint = f"did you mean {close[0]!r}?" if close else f"there are: {quoted(names, len(names))}"
            self.fail(f"there is no {self.name} {short_repr(value)}; {hint}", param, ctx)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The names that begin so."""
        return [CompletionItem(name) for name in self.known if name.startswith(incomplete)]


class PositiveNumber(click.ParamType[float]):
    """A finite number above zero; `unit` stands in the help."""

    def __init__(self, unit: str) -> None:
        self.name = unit

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        try:
            number = float(str(value))
        except ValueError:
            number = math.nan
        if not 0 < number < math.inf:
            self.fail(f"must be a number of {self.name} above 0, got {short_repr(value)}", param, ctx)
        return number


class Count(click.IntRange):
    """A whole number above zero, also written as 1e9."""

    def __init__(self) -> None:
        super().__init__(min=1)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number."""
        if isinstance(value, str) and re.fullmatch(r"\d+(\.\d*)?[eE]\+?\d{1,2}", value):
            exact = Decimal(value)
            value = int(exact) if exact == exact.to_integral_value() else value
        return int(super().convert(value, param, ctx))


class Numbers(click.ParamType[object]):
    """Numbers separated by commas or spaces, such as "0.1,0.2" or "0 90"; `count` of them where that is given."""

    name = "numbers"

    def __init__(self, count: int | None = None) -> None:
        self.count = count

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Array | None:
        """The numbers as an array."""
        if value is None or isinstance(value, np.ndarray):
            return value
        words = str(value).replace(",", " ").split()
        try:
            numbers = np.array([float(word) for word in words])
        except ValueError:
            self.fail(f"{value!r} should be numbers separated by commas, such as 0.1,0.2,0.3", param, ctx)
        if self.count is not None and len(numbers) != self.count:
            hint = f"; with commas between, such as {','.join(['0.1'] * self.count)}" if len(numbers) == 1 else ""
            self.fail(f"takes {self.count} numbers, got {len(numbers)}{hint}", param, ctx)
        return numbers


NUMBERS = Numbers()


class OutputFile(click.ParamType[str]):
    """A file to write, refused before any work where its folder is missing or its suffix is another."""

    name = "file"

    def __init__(self, *suffixes: str) -> None:
        self.suffixes = suffixes

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The path of the file."""
        path = Path(str(value))
        if self.suffixes and path.suffix.lower() not in self.suffixes:
            known = " or ".join(filter(None, (", ".join(self.suffixes[:-1]), self.suffixes[-1])))
            self.fail(f"the file must end in {known}, got {str(value)!r}", param, ctx)
        if path.is_dir():
            self.fail(f"{str(value)!r} is a folder; name a file", param, ctx)
        if not path.parent.is_dir():
            self.fail(f"there is no folder {str(path.parent)!r}; make it first", param, ctx)
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            self.fail(f"{str(value)!r} cannot be written here", param, ctx)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Files, as the shell completes them."""
        return [CompletionItem(incomplete, type="file")]


class PictureFile(OutputFile):
    """A picture to write, refused before any work where Matplotlib cannot write it."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The path of the file."""
        from chainrule.plots.canvas import refuse_unwritable

        path = super().convert(value, param, ctx)
        refuse_unwritable(path)
        return path


PICTURE = PictureFile(".png", ".pdf", ".svg")
MOTION = OutputFile(".npz", ".csv", ".parquet")


def words_by_name(option: str, words: Iterable[str], example: str) -> dict[str, str]:
    """Words such as elbow=q3 as a dictionary."""
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (equals and name and value):
            raise click.UsageError(f"{option} {word}: give a name, an equals sign and a value, such as {example}")
        found[name] = value
    return found


# Options that several commands have

json_option = click.option("--json", "as_json", is_flag=True, help="Print one line of JSON instead of text.")

degrees_option = click.option(
    "--degrees", is_flag=True, help="Angles and their rates are in degrees, those that are printed too."
)
link_option = click.option("--link", help="A link or frame; the end-effector if left out.")
plot_option = click.option("--plot", type=PICTURE, help="A picture to write: .png, .pdf or .svg.")


# Printing


def visible_lines(text: str) -> str:
    """Lines of text, in which only the ends of lines and tabs command the terminal."""
    return "".join(c if c in "\n\t" else visible(c) for c in text)


def echo(text: object, *, err: bool = False) -> None:
    """Print lines of text, to stdout or to stderr."""
    click.echo(visible_lines(str(text)), file=sys.stderr if err else sys.stdout)


def warn(message: str) -> None:
    """Print a warning to stderr, as one line."""
    echo(f"warning: {' '.join(message.split())}", err=True)


def print_json(facts: Any) -> None:
    """Print one line of JSON, which has only finite numbers: nan is null, infinities are "Infinity" and "-Infinity"."""
    echo(json.dumps(_without_nonfinite(facts), allow_nan=False))


def _without_nonfinite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nonfinite(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return _without_nonfinite(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_without_nonfinite(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


class PlainConsole(Console):
    """A console of rich through which only rich itself commands the terminal, and which breaks no word.

    It is as wide as the terminal, or as COLUMNS says; lines in a file or a pipe are not broken.
    """

    def __init__(self, **options: Any) -> None:
        fits = "COLUMNS" in os.environ or (sys.stdout is not None and sys.stdout.isatty())
        super().__init__(highlight=False, emoji=False, width=None if fits else WIDTH_COLUMNS, **options)

    def print(self, *objects: Any, **options: Any) -> None:
        """Print text with markup, broken between words, and tables."""
        broken = [_break_lines(x, self.width) if isinstance(x, str) else x for x in objects]
        super().print(*broken, overflow="ignore", crop=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of text, with what commands the terminal shown as escapes."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible_lines(segment.text))


def _break_lines(markup: str, width: int) -> Text:
    """Lines of text with markup, broken between words."""
    lines = []
    for line in Text.from_markup(markup, emoji=False).split("\n", allow_blank=True):
        breaks, start, end = [], 0, 0
        for word in re.finditer(r"\s*\S+", line.plain):
            if word.end() - start > width and end > start:
                start = word.end() - len(word[0].lstrip())
                breaks.append(start)
            end = word.end()
        for part in line.divide(breaks):
            part.rstrip()
            lines.append(part)
    return Text("\n").join(lines)


class ConsoleTable:
    """A table to print: in pieces below one another where it is wider than the terminal."""

    def __init__(self, *header: str, title: str = "", names: int = 1) -> None:
        self.header, self.title, self.names = header, title, names
        self.rows: list[tuple[str, ...]] = []

    def add_row(self, *cells: str) -> None:
        """Add a row of texts, in which nothing is markup."""
        self.rows.append(cells)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        table = display.Table(self.header, self.rows, self.title, self.names)
        for line in display.table_lines(table, options.max_width, len(self.rows)):
            yield Text(line, no_wrap=True)


def terminal() -> PlainConsole:
    """The console on standard output."""
    return PlainConsole()


def plain(text: str) -> str:
    """Text from a file, with nothing in it that is markup or that commands the terminal."""
    return escape(visible(text))


def report_files(*paths: object) -> None:
    """Print the names of files that were written, to stderr; None stands for one that was not asked for."""
    for path in paths:
        if path is not None:
            echo(f"written: {visible(str(path))}", err=True)


@contextmanager
def progress(doing: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal's stderr what long work is at, once it takes a second: the value is called with each step."""
    console = Console(stderr=True) if sys.stderr is not None and sys.stderr.isatty() else None
    if console is None or console.is_dumb_terminal:
        yield lambda step: None
        return
    from rich.live import Live
    from rich.spinner import Spinner

    started = time.monotonic()

    class Patient:
        """A spinner with the step and the time, which appears late."""

        step = ""
        spinner = Spinner("line")

        def __rich__(self) -> RenderableType:
            elapsed = time.monotonic() - started
            if elapsed < PATIENCE_S:
                return ""
            self.spinner.update(text=f"{doing}{self.step}, {elapsed:.0f} s")
            return self.spinner

    shown = Patient()

    def at(step: str) -> None:
        shown.step = f": {plain(step)}" if step else ""

    with Live(shown, console=console, transient=True, refresh_per_second=8):
        yield at
