"""Files that robot files name by a package: package://, model:// and file:// addresses, and $(find ...) of xacro."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from os import PathLike
from pathlib import Path
from urllib.parse import unquote

from chainrule.errors import FormatError, ShapeError, short_repr
from chainrule.formats.source import is_there, may_read, path_of

SCHEMES = ("package://", "model://", "file://")
"""Beginnings of the addresses that are resolved here."""

PREFIX_VARIABLES = ("AMENT_PREFIX_PATH",)
"""Environment variables of folders that have packages in share/."""

FOLDER_VARIABLES = (
    "ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH", "IGN_GAZEBO_RESOURCE_PATH", "GAZEBO_MODEL_PATH", "SDF_PATH",
)  # fmt: skip
"""Environment variables of folders that have packages or models in them, or are packages themselves."""

MAX_SUBFOLDERS = 1000
"""Folders inside a searched folder that are looked into."""


def is_address(text: str) -> bool:
    """Whether a text is an address of one of these schemes.

    >>> is_address("package://panda/meshes/hand.stl"), is_address("meshes/hand.stl")
    (True, False)
    """
    return text.startswith(SCHEMES)


def folders(search_paths: object) -> tuple[Path, ...]:
    """Folders that a user gives to be searched: one, or several."""
    if isinstance(search_paths, (str, PathLike)):
        return (Path(path_of(search_paths)),)
    try:
        return tuple(Path(path_of(path)) for path in search_paths)  # type: ignore[attr-defined]
    except TypeError:
        raise ShapeError(
            f"search_paths must be a folder or a list of folders, got {short_repr(search_paths)}"
        ) from None


def resolve(address: str, near: Path | None = None, search_paths: Sequence[Path] = ()) -> Path | None:
    """The existing file or folder that an address or a path stands for, or None.

    package://name/rest and model://name/rest are looked for, in this order, in `search_paths`, in the folders of the
    environment (ROS_PACKAGE_PATH, AMENT_PREFIX_PATH, GZ_SIM_RESOURCE_PATH, GAZEBO_MODEL_PATH, SDF_PATH), and upward
    from the file or folder `near`. A plain path that is not absolute starts from the folder of `near`.
    """
    if address.startswith("file://"):
        return _existing(Path(unquote(address.removeprefix("file://").removeprefix("localhost"))))
    for scheme in ("package://", "model://"):
        if address.startswith(scheme):
            name, _, rest = address.removeprefix(scheme).partition("/")
            found = (_existing(folder / rest) for folder in package_folders(name, near, search_paths))
            return next((path for path in found if path), None)
    start = None if near is None else _folder_of(near)
    return _existing(Path(address) if start is None else start / address)


def package_folders(name: str, near: Path | None = None, search_paths: Sequence[Path] = ()) -> Iterator[Path]:
    """Folders of packages or models with this name that may be read, the ones to prefer first."""
    if not name or name in (".", ".."):
        return
    yield from filter(may_read, _package_folders(name, near, search_paths))


def _package_folders(name: str, near: Path | None, search_paths: Sequence[Path]) -> Iterator[Path]:
    for root in search_paths:
        yield from _packages_in(root, name)
        yield from _packages_in(root / "share", name)
    for variable in FOLDER_VARIABLES:
        for root in _paths_of(variable):
            yield from _packages_in(root, name)
    for variable in PREFIX_VARIABLES:
        for root in _paths_of(variable):
            yield from _packages_in(root / "share", name)
    if near is not None:
        start = _folder_of(near).absolute()
        for root in (start, *start.parents):
            if root.name == name or _package_name(root) == name:
                yield root
            if (root / name).is_dir():
                yield root / name


def not_found(address: str, near: Path | None, search_paths: Sequence[Path] = ()) -> FormatError:
    """The error for an address that leads nowhere: it says where was looked, and what to do."""
    if address.startswith("file://"):
        return FormatError(f"there is no file {address!r}")
    name = address.partition("://")[2].partition("/")[0]
    known = [str(folder) for folder in islice(package_folders(name, near, search_paths), 1)]
    looked = [*map(str, search_paths), *(v for v in (*FOLDER_VARIABLES, *PREFIX_VARIABLES) if os.environ.get(v))]
    if near is not None:
        looked.append(f"the folders above {near.name}")
    where = f"looked in {', '.join(looked)}" if looked else "no folder to look in is known"
    what = f"package {name!r} is in {known[0]}, but has no such file" if known else f"no package {name!r}: {where}"
    return FormatError(
        f"cannot find {address!r}: {what}; pass search_paths=[...], the folders that have the package in them, or set "
        "ROS_PACKAGE_PATH"
    )


def _packages_in(root: Path, name: str) -> Iterator[Path]:
    """The folder itself, one in it, or one a level further down."""
    if root.name == name or _package_name(root) == name:
        yield root
    if (root / name).is_dir():
        yield root / name
    try:
        inside = sorted(islice((folder for folder in root.iterdir() if folder.is_dir()), MAX_SUBFOLDERS))
    except OSError:
        return
    for folder in inside:
        if folder.name != name and _package_name(folder) == name:
            yield folder
        if (folder / name).is_dir():
            yield folder / name


def _package_name(folder: Path) -> str | None:
    """The name in a folder's package.xml, which may differ from the folder's own."""
    from chainrule.formats.source import read
    from chainrule.formats.xml import parse

    manifest = folder / "package.xml"
    if not manifest.is_file():
        return None
    try:
        content, source, _ = read(manifest)
        element = parse(content, source).child("name")
    except FormatError:
        return None
    return None if element is None else (element.element.text or "").strip()


def _paths_of(variable: str) -> list[Path]:
    return [Path(entry) for entry in os.environ.get(variable, "").split(os.pathsep) if entry]


def _folder_of(near: Path) -> Path:
    return near if near.is_dir() else near.parent


def _existing(path: Path) -> Path | None:
    return path if is_there(path) else None
