"""Xacro files, expanded by the package xacro of ROS, of the extra `xacro`.

A xacro file is a program. It evaluates Python expressions (${...} and $(eval ...)), whose sandbox can be left, reads
the files that it includes or names (xacro:include, load_yaml), and sees environment variables ($(env ...)). It is run
only where the name of the file ends in .xacro, or where the user asks for it.
"""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any

from chainrule.errors import FormatError, ShapeError, import_optional, quoted, short_repr
from chainrule.formats import packages
from chainrule.formats.source import Content, FilePath, content_of, is_fenced
from chainrule.formats.xml import parse, root_tag

ROOTS = ("robot", "sdf", "mujoco")
_ONE_AT_A_TIME = threading.RLock()  # xacro keeps its state in its module
MAX_MESSAGES = 20
"""Lines of what xacro prints that are kept."""


def is_xacro(content: bytes, name: str) -> bool:
    """Whether there is something for xacro to do: an element of its own, or an expression.

    >>> is_xacro(b'<robot xmlns:xacro="x"><xacro:property name="a" value="1"/></robot>', "a")
    True
    >>> is_xacro(b'<robot xmlns:xacro="x" name="made by xacro"/>', "a")
    False
    """
    if b"xacro" not in content or root_tag(content) not in ROOTS:
        return False
    text = re.sub(rb"<!--(?:.*?-->|.*)", b"", content, flags=re.DOTALL)
    return re.search(rb"<xacro:|\$\{|\$\(", text) is not None


def is_robot(content: Content) -> bool:
    """Whether a xacro file makes a robot, and does not only define macros: its root element has a name."""
    try:
        return parse(content.data, content.name).get("name") is not None
    except FormatError:
        return False


def expand(
    path_or_text: FilePath,
    args: Mapping[str, object] | None = None,
    search_paths: Sequence[Path] = (),
    *,
    allowed: bool | None = None,
) -> tuple[Content, list[str]]:
    """The text that xacro makes, and notes on what it said.

    args: the file's arguments (xacro:arg). search_paths: folders in which $(find package) looks first. allowed: whether
    the program may be run; None allows it for a file whose name ends in .xacro.
    """
    content = content_of(path_or_text)
    _refuse_to_run(content, allowed)
    parse(content.data, content.name)  # refuses what no robot file needs, such as entities
    mappings = _Arguments(_texts(args))
    said = io.StringIO()
    with _ONE_AT_A_TIME, redirect_stderr(said), redirect_stdout(said):
        xacro = _import_xacro(content.name)
        with _found_by(xacro, content.path, search_paths):
            try:
                xacro.init_stacks(None if content.path is None else str(content.path))
                document = xacro.parse(content.data.decode("utf-8-sig"))
                xacro.process_doc(document, mappings=mappings)
                text = document.toxml(encoding="utf-8")
            except FormatError:
                raise
            except Exception as error:  # whatever the expressions in the file raise
                raise _as_format_error(error, xacro, content.name) from error
    lines = [line.strip() for line in said.getvalue().splitlines() if line.strip()]
    notes = [f"xacro says: {'; '.join(lines[:MAX_MESSAGES])}"] if lines else []
    unused = [name for name in _texts(args) if name not in mappings.asked]
    if unused:
        has = quoted(sorted(mappings.asked)) if mappings.asked else "none"
        notes.append(f"{content.name} does not use the arguments {quoted(unused)}; those that it uses are {has}")
    return Content(text, f"{content.name} (expanded)", content.path), notes


def _refuse_to_run(content: Content, allowed: bool | None) -> None:
    """Refuse a program that nobody asked to run."""
    itself = "run it yourself and give its result: xacro FILE > robot.urdf"
    if is_fenced():
        raise FormatError(f"{content.name} is a xacro file, a program, which is not run for strangers; {itself}")
    if allowed is None:
        allowed = content.path is not None and content.path.suffix.lower() == ".xacro"
        itself = "if you trust it, pass xacro=True, or give the file a name that ends in .xacro"
    if not allowed:
        raise FormatError(f"{content.name} is xacro inside, a program that can do anything you can; {itself}")


def _import_xacro(name: str) -> Any:
    otherwise = ", or run the program xacro on the file first"
    return import_optional("xacro", f"{name} is a xacro file, from which URDF is yet to be made: this", otherwise)


class _Arguments(dict[str, str]):
    """The arguments of a file, which note the names that it asks for."""

    def __init__(self, values: Mapping[str, str]) -> None:
        super().__init__(values)
        self.asked: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.asked.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return super().__getitem__(name)


def _texts(args: object) -> dict[str, str]:
    """Arguments as the texts that xacro takes: True is "true"."""
    if args is None:
        return {}
    if not isinstance(args, Mapping) or not all(isinstance(name, str) for name in args):
        raise ShapeError(
            f'args must be a dictionary of names and values, such as {{"hand": "true"}}, got {short_repr(args)}'
        )
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in args.items()}


@contextmanager
def _found_by(xacro: Any, near: Path | None, search_paths: Sequence[Path]) -> Iterator[None]:
    """Let $(find package) look where package:// addresses are looked for."""
    module = import_module("xacro.substitution_args")
    ours, names = _finder(near, search_paths), ("_eval_find",)
    kept = {name: getattr(module, name) for name in names if hasattr(module, name)}
    table = getattr(module, "_eval_dict", {})
    in_table = table.get("find")
    for name in kept:
        setattr(module, name, ours)
    if in_table is not None:
        table["find"] = ours
    try:
        yield
    finally:
        for name, function in kept.items():
            setattr(module, name, function)
        if in_table is not None:
            table["find"] = in_table


def _finder(near: Path | None, search_paths: Sequence[Path]) -> Any:
    def find(name: str) -> str:
        folder = next(packages.package_folders(name, near or Path.cwd(), search_paths), None)
        if folder is None:
            raise packages.not_found(f"package://{name}", near, search_paths)
        return str(folder.absolute())

    return find


def _as_format_error(error: Exception, xacro: Any, name: str) -> FormatError:
    """The error of an expression, a missing argument or a missing file, with the file that it is in."""
    cause = error
    while isinstance(getattr(cause, "exc", None), Exception):
        cause = cause.exc  # type: ignore[attr-defined]
    if isinstance(cause, FormatError):
        return FormatError(f"{name}: {cause}")
    if type(cause).__name__ == "ArgException" or (isinstance(cause, KeyError) and "arg" in str(error)):
        argument = str(cause).strip("'")
        return FormatError(f"{name} needs the argument {argument!r}; pass args={{{argument!r}: ...}}")
    try:
        place = Path(str(xacro.filestack[-1])).name
    except Exception:
        place = name
    message = " ".join(str(error).split()) or type(error).__name__
    kind = "" if type(error).__name__ == "XacroException" else f"{type(error).__name__}: "
    where = "" if place in (name, "None") else f" (in {place})"
    return FormatError(f"{name} cannot be expanded by xacro{where}: {kind}{message[:300]}")
