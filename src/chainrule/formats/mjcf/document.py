"""An MJCF file together with the files it includes, read as one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from chainrule.errors import FormatError
from chainrule.formats.source import may_read, read
from chainrule.formats.xml import Node, parse

if TYPE_CHECKING:
    from lxml import etree


class Document:
    """A root element, and the elements of included files in the places where they are included.

    File names are relative to the folder of the main file, or where there is no such file, to that of the file that
    names them, as in MuJoCo.
    """

    def __init__(self, root: Node, folder: Path | None) -> None:
        if root.tag != "mujoco":
            raise FormatError(f"{root.source} is not MJCF: its root element is <{root.tag}>, not <mujoco>{_hint(root)}")
        self.root = root
        self.folder = folder
        self._included: dict[etree._Element, Node] = {}
        self._folders = {root.element: folder}
        self._include_all()

    def _include_all(self) -> None:
        seen: set[Path] = set()
        waiting = [self.root]
        while waiting:
            holder = waiting.pop()
            for element in holder.element.iter("include"):
                node = Node(element, holder.source)
                if len(element):
                    raise node.error("has elements inside, but an <include> is replaced by a file; move them out of it")
                path = self.path_of(node, node.text("file")).resolve()
                if path in seen:
                    raise node.error(
                        f"{path.name} is already included; a file can be included once, and must not include itself"
                    )
                seen.add(path)
                try:
                    content, source, _ = read(path)
                except FormatError as error:
                    raise node.error(str(error)) from error
                inner = parse(content, source)
                if not len(inner.element):
                    raise node.error(f"includes {path.name}, which has no elements; remove one of them")
                self._included[element] = inner
                self._folders[inner.element] = path.parent
                waiting.append(inner)

    def path_of(self, node: Node, file: str) -> Path:
        """Path of a file that an element names."""
        path = Path(file)
        if path.is_absolute():
            return path
        if self.folder is None:
            raise node.error(
                f"names the file {file!r}, but a model given as text has no folder to look in; load it from a file, or "
                "give an absolute path"
            )
        own = self.folder_of(node)
        if own is not None and not (self.folder / path).exists() and may_read(own / path) and (own / path).exists():
            return own / path
        return self.folder / path

    def folder_of(self, node: Node) -> Path | None:
        """The folder of the file that an element is in; None for a model given as text."""
        return self._folders.get(node.element.getroottree().getroot(), self.folder)

    def children(self, node: Node, *tags: str) -> Iterator[Node]:
        """Child elements, those of included files among them."""
        waiting = [node.children()]
        while waiting:
            child = next(waiting[-1], None)
            if child is None:
                waiting.pop()
            elif child.tag == "include":
                waiting.append(self._included[child.element].children())
            elif not tags or child.tag in tags:
                yield child

    def sections(self, tag: str) -> Iterator[Node]:
        """The sections of this name, which may come more than once."""
        return self.children(self.root, tag)

    def entries(self, section: str, *tags: str) -> Iterator[Node]:
        """The elements in the sections of this name."""
        for node in self.sections(section):
            yield from self.children(node, *tags)

    def names(self, tag: str) -> set[str]:
        """The names that elements with this tag have anywhere."""
        roots = [self.root, *self._included.values()]
        return {str(e.get("name")) for root in roots for e in root.element.iter(tag) if e.get("name")}


def word(node: Node, attribute: str, choices: tuple[str, ...], default: str) -> str:
    """A keyword attribute."""
    value = node.get(attribute)
    if value is None:
        return default
    if value not in choices:
        raise node.error(f"{attribute}={value!r} should be one of {', '.join(choices)}")
    return value


def flag(node: Node, attribute: str, default: bool = False) -> bool:
    """A "true" or "false" attribute."""
    return word(node, attribute, ("true", "false"), "true" if default else "false") == "true"


def _hint(root: Node) -> str:
    if root.tag == "robot":
        return "; it looks like URDF: use Robot.from_urdf"
    return "; it is a part for other files: load the file that includes it" if root.tag == "mujocoinclude" else ""
