"""File formats of robots: for each, the suffixes of its files, how it is recognized, its reader and its writer.

How to add a format:

1. Write `read(path) -> Model` in a file of this folder: build the parts, hand them to `Model.build`, and raise
   `FormatError` with the place in the file where something is wrong. `formats.source.read` gives the content of a path.
   Options of its own that users may give to `chainrule.load` are keywords of `read`; list them in `reads_with`.
2. Write `write(model, path) -> None` if robots can be saved in it; refuse what it cannot express.
3. Register it: `register(Format("name", (".suffix",), read, write))`. If another format has the same suffix, give it
   `sniff(content, source)` as well, which recognizes the content of its own files. With `roots`, the names of its root
   elements in XML, or with `sniff`, its texts and bytes are recognized too.

From then on `chainrule.load` reads such files and `robot.save` writes them. tests/formats/test_recipe_format.py follows
these steps from outside the package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from chainrule.errors import FormatError
from chainrule.formats import source
from chainrule.formats.recognition import refuse_foreign
from chainrule.formats.source import Content, FilePath
from chainrule.formats.xml import root_tag
from chainrule.model import Model

WrittenPath = str | PathLike[str]
LOADING_OPTIONS = ("floating_base", "check", "repair")
"""Options of every format: they change what was read."""

SURROUNDINGS = ("search_paths", "xacro")
"""Options that formats without a use for them ignore."""


def _is_whole(content: Content) -> bool:
    return True


@dataclass(frozen=True)
class Format:
    """A file format of robots."""

    name: str
    suffixes: tuple[str, ...]
    """Endings of its files, in lower case and with the dot."""
    read: Callable[..., Model]
    """The model in a file, from its path (or its `source.Content`, which `source.read` takes as well)."""
    write: Callable[[Model, WrittenPath], None] | None = None
    """Writes a model to a file; None where robots cannot be saved in this format."""
    sniff: Callable[[bytes, str], bool] | None = None
    """Whether content, with its name for messages, is of this format; None for the format that is assumed."""
    options: tuple[str, ...] = LOADING_OPTIONS
    """Names of the options that `chainrule.load` takes for it, besides those of its reader."""
    has_notes: bool = True
    """Whether the notes of a model are warnings for whoever loads the file."""
    is_exact: bool = False
    """Whether every model that is written comes back the same."""
    also_reads: tuple[str, ...] = ()
    """Endings of further files, which it reads but does not write."""
    roots: tuple[str, ...] = ()
    """Names of its root element, if it is XML."""
    reads_with: tuple[str, ...] = ()
    """Names of the options that its reader takes as keywords."""
    is_whole: Callable[[Content], bool] = _is_whole
    """Whether content of this format is a robot, and not a part of one that other files include."""
    without_inexpressible: Callable[[Model], tuple[Model, list[str]]] | None = None
    """The model without what the format cannot express, and sentences on what is lost; None where nothing is."""
    base_is_world: bool = False
    """Whether the base of its models is the world, to which a robot is fixed."""


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


def format_by_name(name: str) -> Format:
    """The format of a name."""
    return _FORMATS[name]


def all_options() -> tuple[str, ...]:
    """Names of the options that `chainrule.load` takes for some format."""
    own = (name for form in formats() for name in (*form.options, *form.reads_with))
    return tuple(dict.fromkeys((*own, *SURROUNDINGS)))


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
    text = path.name if isinstance(path, Content) else source.path_of(path)
    suffix = _suffix(path)
    shared = [form for form in formats() if suffix in (*form.suffixes, *form.also_reads)]
    if not shared:
        raise FormatError(f"cannot tell the format of {text!r}: robots come as {either(readable_suffixes())} files")
    if len(shared) == 1:
        return shared[0]
    content, name, _ = source.read(path)
    sniffed = (form for form in shared if form.sniff is not None and form.sniff(content, name))
    assumed = (form for form in shared if form.sniff is None)
    form = next(sniffed, None) or next(assumed, None)
    if form is None:
        names = either(tuple(form.name for form in shared))
        raise FormatError(f"cannot tell the format of {text!r}: its content is not {names}")
    return form


def format_of_content(content: Content) -> Format | None:
    """The format that content has by itself, whatever the name of its file; None where it has none."""
    tag = root_tag(content.data)
    if tag is not None:
        candidates = [form for form in formats() if tag in form.roots]
    else:
        candidates = [form for form in formats() if not form.roots and form.sniff is not None]
    sniffed = (form for form in candidates if form.sniff is not None and form.sniff(content.data, content.name))
    assumed = (form for form in candidates if form.sniff is None)
    return next(sniffed, None) or next(assumed, None)


def reader_of(content: Content) -> Format:
    """The format to read content with: the one that it has by itself, else the one of its file's suffix.

    Content that is known to be something else, such as a mesh or a web page, is refused with what it looks like.
    """
    form = format_of_content(content)
    if form is not None:
        return form
    suffix = "" if content.path is None else content.path.suffix.lower()
    is_known = suffix in readable_suffixes()
    refuse_foreign(content.data, content.name, "" if is_known else suffix)
    if is_known:
        return reader_for(content)
    if content.path is not None:
        return reader_for(content.path)  # which says what files there are
    names = either(tuple(form.name for form in formats()))
    beginning = content.data[:40].decode(errors="replace")
    raise FormatError(f"{content.name} is no robot that can be read: it begins with {beginning!r}, and is not {names}")


def writer_for(path: WrittenPath) -> Format:
    """The format to write a file in, by its suffix."""
    suffix = _suffix(path)
    for form in formats():
        if form.write is not None and suffix in form.suffixes:
            return form
    name = Path(source.path_of(path)).name
    exact, others = (either(writable_suffixes(is_exact=is_exact)) for is_exact in (True, False))
    raise FormatError(f"cannot tell the format from {name!r}: end it in {exact} (or {others})")


def read(path: FilePath) -> Model:
    """The model in a file, whatever its format."""
    return reader_for(path).read(path)


def write(model: Model, path: WrittenPath) -> None:
    """Write a model to a file, in the format that the file's suffix names."""
    form = writer_for(path)
    assert form.write is not None
    form.write(model, path)


def without_inexpressible(model: Model, path: WrittenPath) -> tuple[Model, list[str]]:
    """The model without what the format of a file cannot express, and sentences on what is lost."""
    form = writer_for(path)
    return (model, []) if form.without_inexpressible is None else form.without_inexpressible(model)


def _suffix(path: FilePath) -> str:
    place = path.path or path.name if isinstance(path, Content) else source.path_of(path)
    return Path(place).suffix.lower()


def either(words: tuple[str, ...]) -> str:
    """List of words with "or" before the last."""
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


# --- the formats of chainrule; each reader is imported by its first use -------------------------------------------


def _losses(form: str) -> Callable[[Model], tuple[Model, list[str]]]:
    def without(model: Model) -> tuple[Model, list[str]]:
        from chainrule.formats.losses import without_inexpressible

        return without_inexpressible(model, form)

    return without


def _read_urdf(path: FilePath) -> Model:
    from chainrule.formats.urdf import from_urdf

    return from_urdf(path)


def _write_urdf(model: Model, path: WrittenPath) -> None:
    from chainrule.formats.urdf import to_urdf

    source.write(path, to_urdf(model))


def _read_mjcf(path: FilePath) -> Model:
    from chainrule.formats.mjcf import from_mjcf

    return from_mjcf(path)


def _write_mjcf(model: Model, path: WrittenPath) -> None:
    from chainrule.formats.mjcf_writer import to_mjcf

    source.write(path, to_mjcf(model))


def _is_mjcf(content: bytes, name: str) -> bool:
    return root_tag(content) == "mujoco"


def _read_native(path: FilePath) -> Model:
    from chainrule.formats.native import from_native

    return from_native(path)


def _write_native(model: Model, path: WrittenPath) -> None:
    from chainrule.formats.native import save

    save(model, path)


def _read_sdf(path: FilePath, search_paths: Sequence[Path] = (), model: str | None = None) -> Model:
    from chainrule.formats.sdf import from_sdf

    return from_sdf(path, search_paths, model)


def _write_sdf(model: Model, path: WrittenPath) -> None:
    from chainrule.formats.sdf.writer import to_sdf

    source.write(path, to_sdf(model))


def _read_xacro(
    path: FilePath, args: Any = None, search_paths: Sequence[Path] = (), xacro: bool | None = None
) -> Model:
    from chainrule.formats.xacro import expand

    content, notes = expand(path, args, search_paths, allowed=xacro)
    form = reader_of(content)
    given = {"search_paths": search_paths} if "search_paths" in form.reads_with else {}
    model = form.read(content, **given)
    return replace(model, notes=(*notes, *model.notes))


def _is_xacro(content: bytes, name: str) -> bool:
    from chainrule.formats.xacro import is_xacro

    return is_xacro(content, name)


def _is_xacro_robot(content: Content) -> bool:
    from chainrule.formats.xacro import is_robot

    return is_robot(content)


def _is_native(content: bytes, name: str) -> bool:
    """Whether the text has the line that every file of this format has, in TOML or in JSON."""
    return (
        re.search(rb"""^[ \t\r{]*(["']?)format\1\s*[=:]\s*["']chainrule|"format"\s*:\s*"chainrule""", content, re.M)
        is not None
    )


register(
    Format(
        "urdf", (".urdf",), _read_urdf, _write_urdf, also_reads=(".xml",), roots=("robot",),
        without_inexpressible=_losses("urdf"),
    )
)  # fmt: skip
register(
    Format(
        "mjcf", (".xml",), _read_mjcf, _write_mjcf, sniff=_is_mjcf, roots=("mujoco",), base_is_world=True,
        without_inexpressible=_losses("mjcf"),
    )
)  # fmt: skip
register(
    Format("native", (".toml", ".json"), _read_native, _write_native, sniff=_is_native, has_notes=False, is_exact=True)
)
register(
    Format(
        "sdf", (".sdf",), _read_sdf, _write_sdf, also_reads=(".world",), roots=("sdf",),
        reads_with=("search_paths", "model"), base_is_world=True, without_inexpressible=_losses("sdf"),
    )
)  # fmt: skip
register(
    Format(
        "xacro", (".xacro",), _read_xacro, sniff=_is_xacro, roots=("robot", "sdf", "mujoco"),
        reads_with=("args", "search_paths", "xacro"), is_whole=_is_xacro_robot,
    )
)  # fmt: skip
