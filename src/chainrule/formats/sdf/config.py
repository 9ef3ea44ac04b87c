"""The folder of a Gazebo model: its model.config says which file has the model."""

from __future__ import annotations

from pathlib import Path

from chainrule.errors import FormatError
from chainrule.formats.source import may_read, read
from chainrule.formats.xml import parse


def model_file(folder: Path) -> Path:
    """The SDF file of a model's folder."""
    config = folder / "model.config"
    if config.is_file():
        return file_of_model(config)
    if (folder / "model.sdf").is_file():
        return folder / "model.sdf"
    raise FormatError(f"the folder {str(folder)!r} is no Gazebo model: it has no model.config and no model.sdf")


def file_of_model(config: Path) -> Path:
    """The SDF file that a model.config names, the one of the newest version if there are several."""
    content, source, _ = read(config)
    root = parse(content, source)
    found: list[tuple[tuple[int, ...], str]] = []
    for node in root.children("sdf"):
        words = (node.get("version") or "0").split(".")
        version = tuple(int(word) if word.isdecimal() else 0 for word in words)
        found.append((version, (node.element.text or "").strip()))
    if not found:
        raise FormatError(f"{str(config)!r} names no <sdf> file; give the path of the model's file")
    path = config.parent / max(found)[1]
    if not (may_read(path) and path.is_file()):
        raise FormatError(f"{str(config)!r} names the file {path.name!r}, which is not there")
    return path
