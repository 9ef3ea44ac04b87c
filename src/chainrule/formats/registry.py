"""File formats of robots: for each, the suffixes of its files, how it is recognized, its reader and its writer.

How to add a format:

1. Write `read(path) -> Model` in a file of this folder: build the parts, hand them to `Model.build`, and raise
   `FormatError` with the place in the file where something is wrong. `formats.source.read` gives the content of a path.
2. Write `write(model, path) -> None` if robots can be saved in it; refuse what it cannot express.
3. Register it: `register(Format("name", (".suffix",), read, write))`. If another format has the same suffix, give it
   `sniff(content, source)` as well, which recognizes the content of its own files.

From then on `chainrule.load` reads such files and `robot.save` writes them. tests/formats/test_recipe_format.py follows
these steps from outside the package.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from chainrule.errors import FormatError
from chainrule.formats import source
from chainrule.model import Model

FilePath = str | PathLike[str]


@dataclass(frozen=True)
class Format:
    """A file format of robots."""

    name: str
    suffixes: tuple[str, ...]
    """Endings of its files, in lower case and with the dot."""
    read: Callable[[FilePath], Model]
    """The model in a file."""
    write: Callable[[Model, FilePath], None] | None = None
    """Writes a model to a file; None where robots cannot be saved in this format."""
    sniff: Callable[[bytes, str], bool] | None = None
    """Whether content, with its name for messages, is of this format; None for the format that is assumed."""
    options: tuple[str, ...] = ("check", "repair")
    """Names of the options that `chainrule.load` takes for it."""
    has_notes: bool = True
    """Whether the notes of a model are warnings for whoever loads the file."""
    is_exact: bool = False
    """Whether every model that is written comes back the same."""
    also_reads: tuple[str, ...] = ()
    """Endings of further files, which it reads but does not write."""


_FORMATS: dict[str, Format] = {}


def register(form: Format) -> None:
    """Add a format, or replace the one of the same name."""
    for suffix in (*form.suffixes, *form.also_reads):
        if not suffix.startswith(".") or suffix != suffix.lower():
            raise FormatError(f"format {form.name!r}: the suffix {suffix!r} should begin with a dot, in lower case")
    _FORMATS[form.name] = form


def formats() -> tuple[Format, ...]:
    """All formats, in the order of their registration."""
    return tuple(_FORMATS.values())


def readable_suffixes() -> tuple[str, ...]:
    """Suffixes of files that can be read."""
    return tuple(dict.fromkeys(suffix for form in formats() for suffix in (*form.suffixes, *form.also_reads)))


def writable_suffixes(*, is_exact: bool) -> tuple[str, ...]:
    """Suffixes of files that can be written, in formats that are exact or in those that are not."""
    written = (form for form in formats() if form.write is not None and form.is_exact is is_exact)
    return tuple(dict.fromkeys(suffix for form in written for suffix in form.suffixes))


def reader_for(path: FilePath) -> Format:
    """The format to read a file with, by its suffix, and by its content where formats share the suffix.

    >>> reader_for("arm.urdf").name
    'urdf'
    """
    text = source.path_of(path)
    suffix = _suffix(path)
    shared = [form for form in formats() if suffix in (*form.suffixes, *form.also_reads)]
    if not shared:
        raise FormatError(f"cannot tell the format of {text!r}: robots come as {_either(readable_suffixes())} files")
    if len(shared) == 1:
        return shared[0]
    content, name, _ = source.read(path)
    sniffed = (form for form in shared if form.sniff is not None and form.sniff(content, name))
    assumed = (form for form in shared if form.sniff is None)
    form = next(sniffed, None) or next(assumed, None)
    if form is None:
        names = _either(tuple(form.name for form in shared))
        raise FormatError(f"cannot tell the format of {text!r}: its content is not {names}")
    return form


def writer_for(path: FilePath) -> Format:
    """The format to write a file in, by its suffix."""
    suffix = _suffix(path)
    for form in formats():
        if form.write is not None and suffix in form.suffixes:
            return form
    name = Path(source.path_of(path)).name
    exact, others = (_either(writable_suffixes(is_exact=is_exact)) for is_exact in (True, False))
    raise FormatError(f"cannot tell the format from {name!r}: end it in {exact} (or {others})")


def read(path: FilePath) -> Model:
    """The model in a file, whatever its format."""
    return reader_for(path).read(path)


def write(model: Model, path: FilePath) -> None:
    """Write a model to a file, in the format that the file's suffix names."""
    form = writer_for(path)
    assert form.write is not None
    form.write(model, path)


def _suffix(path: FilePath) -> str:
    return Path(source.path_of(path)).suffix.lower()


def _either(words: tuple[str, ...]) -> str:
    """A list of words with "or" before the last."""
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


# --- the formats of chainrule; each reader is imported by its first use -------------------------------------------


def _read_urdf(path: FilePath) -> Model:
    from chainrule.formats.urdf import from_urdf

    return from_urdf(path)


def _write_urdf(model: Model, path: FilePath) -> None:
    from chainrule.formats.urdf import to_urdf

    source.write(path, to_urdf(model))


def _read_mjcf(path: FilePath) -> Model:
    from chainrule.formats.mjcf.reader import from_mjcf

    return from_mjcf(path)


def _is_mjcf(content: bytes, name: str) -> bool:
    from chainrule.formats.xml import parse

    return parse(content, name).tag == "mujoco"


def _read_native(path: FilePath) -> Model:
    from chainrule.formats.native import from_native

    return from_native(path)


def _write_native(model: Model, path: FilePath) -> None:
    from chainrule.formats.native import save

    save(model, path)


URDF_OPTIONS = ("floating_base", "check", "repair")
register(Format("urdf", (".urdf",), _read_urdf, _write_urdf, options=URDF_OPTIONS, also_reads=(".xml",)))
register(Format("mjcf", (".xml",), _read_mjcf, sniff=_is_mjcf))
register(Format("native", (".toml", ".json"), _read_native, _write_native, has_notes=False, is_exact=True))
