"""The robot file in a folder: a package, a Gazebo model, or a download with meshes and robots in it."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from chainrule.errors import FormatError, quoted
from chainrule.formats import registry
from chainrule.formats.sdf.config import file_of_model
from chainrule.formats.source import Content, read
from chainrule.formats.xml import parse

MAX_ENTRIES = 10_000
"""Entries of a folder that are looked at."""


def robot_file(folder: Path) -> Path:
    """The one robot file in a folder, or in the folders directly inside it.

    A Gazebo model is what its model.config says. Of several files, MJCF scenes (scene.xml), which put a floor around a
    robot of their own folder, are left out; so are parts that others include, xacro files that only define macros, and
    those beside the URDF that was made of them. The file with the folder's name is preferred.
    """
    found = robot_files(folder)
    if not found:
        raise FormatError(
            f"{str(folder)!r} is a folder without a robot file; robots come as "
            f"{registry.either(registry.readable_suffixes())} files: give the path of a robot file in it"
        )
    names = {folder.name, folder.name.removesuffix("_description"), folder.name.removesuffix("_support")}
    named = [path for path in found if _stem(path) in names]
    if len(found) > 1 and len(named) == 1:
        return named[0]
    if len(found) > 1:
        listed = quoted([str(path.relative_to(folder)) for path in found], 20)
        raise FormatError(
            f"{str(folder)!r} is a folder with {len(found)} robot files: {listed}; give the path of one of them, such "
            f"as {str(found[0])!r}"
        )
    return found[0]


def robot_files(folder: Path) -> list[Path]:
    """The robot files in a folder, or else those in the folders directly inside it, chosen as `robot_file` says."""
    config = folder / "model.config"
    if config.is_file():
        return [file_of_model(config)]
    found = _robots_in(folder)
    return found or [path for inside in _entries(folder) if inside.is_dir() for path in _robots_in(inside)]


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(islice((entry for entry in folder.iterdir() if not entry.name.startswith(".")), MAX_ENTRIES))
    except OSError as error:
        raise FormatError(f"cannot read the folder {str(folder)!r}: {error.strerror}") from error


def _robots_in(folder: Path) -> list[Path]:
    """The files of a folder that hold a robot of their own."""
    suffixes = registry.readable_suffixes()
    formats: dict[Path, registry.Format] = {}
    included: set[Path] = set()
    for path in _entries(folder):
        if path.suffix.lower() not in suffixes or not path.is_file():
            continue
        try:
            content = Content(*read(path))
            form = registry.format_of_content(content)
        except FormatError:
            continue
        if form is None or not form.is_whole(content):
            continue
        formats[path] = form
        if form.name == "mjcf":
            included |= _included_by(content)
    robots = [path for path in formats if path.resolve() not in included or len(formats) == 1]
    scenes = {path for path in formats if formats[path].name == "mjcf" and _includes_robot(path, formats)}
    if scenes:
        robots = [path for path in formats if path not in scenes]
    stems = {_stem(path) for path in robots if formats[path].name != "xacro"}
    return [path for path in robots if formats[path].name != "xacro" or _stem(path) not in stems]


def _includes_robot(path: Path, formats: dict[Path, registry.Format]) -> bool:
    """Whether an MJCF file is a scene around another robot of its folder."""
    if "scene" not in path.stem.lower():
        return False
    inner = _included_by(Content(*read(path)))
    return any(other.resolve() in inner for other in formats)


def _included_by(content: Content) -> set[Path]:
    """The files that an MJCF file includes."""
    assert content.path is not None
    root = parse(content.data, content.name)
    files = [str(element.get("file") or "") for element in root.element.iter("include")]
    return {(content.path.parent / file).resolve() for file in files if file}


def _stem(path: Path) -> str:
    """The name before its endings: "arm" of arm.urdf.xacro."""
    return path.name.partition(".")[0]
