"""MJCF, MuJoCo's XML format, compiled by MuJoCo itself, which must be installed: `pip install mujoco`.

MuJoCo is handed a text and the content of files, and opens none: what a model includes or names is read here, within
the bounds that hold for every file. What plays no part in a robot and could take any amount of memory or time
(textures, height fields, sensors, sizes of buffers, the search for lengths of muscles) is left out before.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Mapping
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.errors import FormatError, import_optional, quoted
from chainrule.formats.mujoco import MeshFile, Unknown, convert
from chainrule.formats.source import FilePath, is_there, read
from chainrule.formats.xml import XmlElement, parse
from chainrule.lazy import module
from chainrule.model import Model

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = module("lxml.etree")

LEFT_OUT = ("size", "sensor", "skin", "lengthrange")
"""Elements that play no part in a robot."""

STAND_INS = {
    "texture": {"builtin": "flat", "width": "1", "height": "1"},
    "hfield": {"nrow": "2", "ncol": "2"},
}
"""Assets whose content plays no part in a robot, and what they are made of instead."""
KEPT = ("name", "class", "type", "size")
"""Their attributes that are kept."""

SETTINGS = ("assetdir", "meshdir", "texturedir", "strippath")
"""Attributes of <compiler> that say where files are; they are resolved here."""

COUNTS = ("count", "params", "actdim", "cellcount")
"""Attributes that say how many of something are made."""
MAX_COUNT = 1000
MAX_COPIES = 5_000
"""Elements that <replicate>, <attach> and <flexcomp> may add to those that are written."""
NODE = 10
"""Elements that make a node of a soft body: a body, three joints, edges."""
MAX_DEPTH = 16
"""How deep models may attach models."""

TETRAHEDRON = "v 0 0 0\nv {0} 0 0\nv 0 {0} 0\nv 0 0 {0}\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
"""What stands in for a mesh whose file is missing, as an OBJ file."""
EDGES = (1e3, 2e3)
"""Its edge, m: so long that no scale makes it too small. What depends on it is not known."""

_ONE_AT_A_TIME = threading.Lock()  # MuJoCo has one handler of warnings


def from_mjcf(path_or_text: FilePath) -> Model:
    """The robot that an MJCF file or text describes; its base is the link "world"."""
    content, source, path = read(path_or_text)
    files = _Files(source)
    text, _ = files.add(parse(content, source), path)
    compiled, notes = files.compile(text, EDGES[0])
    unknown = Unknown()
    if files.missing:
        names = list(dict.fromkeys(files.meshes[name].path for name in files.missing))
        notes = [f"the mesh file{'s' * (len(names) > 1)} {quoted(names, 100)} cannot be found"]  # MuJoCo weighed others
        unknown = _differences(compiled, files.compile(text, EDGES[1])[0])
    try:
        return convert(compiled, files.meshes, unknown, notes)
    except FormatError as error:
        raise FormatError(f"{source}: {error}") from error


def _differences(one: Any, other: Any) -> Unknown:
    """The bodies and geoms whose numbers are not the same in two compiled models."""
    bodies = (one.body_mass != other.body_mass) | (one.body_inertia != other.body_inertia).any(axis=1)
    geoms = (one.geom_size != other.geom_size).any(axis=1) & (one.geom_dataid < 0)
    return Unknown(frozenset(np.flatnonzero(bodies).tolist()), frozenset(np.flatnonzero(geoms).tolist()))


class _Document:
    """An MJCF file with its <include> elements replaced by what is in the files that they name.

    File names are relative to the folder of the main file, or where there is no such file, to that of the file that
    names them, as in MuJoCo.
    """

    def __init__(self, root: XmlElement, path: Path | None) -> None:
        hints = {
            "robot": "; it looks like URDF: use Robot.from_urdf",
            "mujocoinclude": "; it is a part for other files: load the file that includes it",
        }
        if root.tag != "mujoco":
            hint = hints.get(root.tag, "")
            raise FormatError(f"{root.source} is not MJCF: its root element is <{root.tag}>, not <mujoco>{hint}")
        self.root = root.element
        self._main = root.source
        self.folder = None if path is None else path.parent
        self._origins: dict[etree._Element, tuple[str, Path]] = {}
        """The file of each element that is included, and its folder."""
        self._include()
        compilers = self.root.iter("compiler")
        self._settings = {str(key): str(value) for node in compilers for key, value in node.attrib.items()}

    def _include(self) -> None:
        seen: set[Path] = set()
        while (element := next(self.root.iter("include"), None)) is not None:
            node = self.node(element)
            if len(element):
                raise node.error("has elements inside, but an <include> is replaced by a file; move them out of it")
            path = self.path_of(node, node.text("file"))
            content, source = read_named(node, path)
            path = path.resolve()
            if path in seen:
                raise node.error(f"{path.name} is already included; a file can be included once, and not in itself")
            seen.add(path)
            inner = parse(content, source).element
            if not len(inner):
                raise node.error(f"includes {path.name}, which has no elements; remove one of them")
            self._origins |= dict.fromkeys(inner.iter(), (source, path.parent))
            above = element.getparent()
            assert above is not None  # the root is <mujoco>
            place = above.index(element)
            above[place : place + 1] = list(inner)

    def node(self, element: etree._Element) -> XmlElement:
        """The element, with the file that it is in."""
        return XmlElement(element, self._origins.get(element, (self._main, None))[0])

    def path_of(self, node: XmlElement, file: str) -> Path:
        """The path of a file that an element names."""
        path = Path(file)
        if path.is_absolute():
            return path
        if self.folder is None:
            raise node.error(
                f"names the file {file!r}, but a model given as text has no folder to look in; load it from a file, or "
                "give an absolute path"
            )
        own = self._own_folder(node)
        has_own = own is not None and not is_there(self.folder / path) and is_there(own / path)
        return own / path if own is not None and has_own else self.folder / path

    def _own_folder(self, node: XmlElement) -> Path | None:
        return self._origins[node.element][1] if node.element in self._origins else self.folder

    def place(self, node: XmlElement) -> tuple[Path | None, str]:
        """The folder at which the path of a mesh starts, None for a model given as text, and the path.

        That is the path in the compiler's meshdir, from the folder of the main file, or, as in MuJoCo, the plain path
        from the folder of the file that has the <mesh>, if it is there only.
        """
        file, own = node.text("file"), self._own_folder(node)
        if self._settings.get("strippath") == "true":
            file = PureWindowsPath(file).name
        inner = (Path(self._settings.get("meshdir") or self._settings.get("assetdir") or "") / file).as_posix()
        if self.folder is None or own is None or is_there(self.folder / inner) or not is_there(own / file):
            return self.folder, inner
        return own, file


def read_named(node: XmlElement, path: Path) -> tuple[bytes, str]:
    """The content of a file that an element names, and its name."""
    try:
        content, source, _ = read(path)
    except FormatError as error:
        raise node.error(str(error)) from error
    return content, source


class _Files:
    """The files of a model, as MuJoCo is given them."""

    def __init__(self, source: str) -> None:
        self._source = source
        self.meshes: dict[str, MeshFile] = {}
        """The meshes by the names that MuJoCo is given, as the model's file has them."""
        self.missing: list[str] = []
        """Those whose files are not there."""
        self._contents: dict[str, bytes] = {}
        self._models: dict[Path, tuple[str, str, int]] = {}
        """Models that are attached: their names for MuJoCo, their own names, and how many elements they make."""
        self._nodes: dict[str, XmlElement] = {}
        """The elements that name files, by the names for MuJoCo."""
        self._lines: list[XmlElement] = []
        """The element in each line of the texts."""

    def compile(self, text: str, edge: float) -> tuple[Any, list[str]]:
        """The model that MuJoCo makes, and its warnings; `edge` is that of the meshes that are missing."""
        mujoco = import_optional("mujoco", f"{self._source} is MJCF, which MuJoCo's own compiler reads; it")
        stand_ins = dict.fromkeys(self.missing, TETRAHEDRON.format(edge).encode())
        said: list[str] = []
        with _ONE_AT_A_TIME:
            before = mujoco.get_mju_user_warning()
            mujoco.set_mju_user_warning(said.append)  # not to a file in the working directory
            try:
                compiled = mujoco.MjModel.from_xml_string(text, {**self._contents, **stand_ins})
            except Exception as error:
                raise self._refusal(str(error)) from error
            finally:
                mujoco.set_mju_user_warning(before)
        return compiled, [f"MuJoCo says: {' '.join(words.split())}" for words in dict.fromkeys(said)]

    def _refusal(self, message: str) -> FormatError:
        """The error for a message of MuJoCo, with a place in the files in place of a line of the text."""
        line = re.search(r"(?:, line |Line number=)(\d+)", message)
        number = int(line[1]) if line else 0
        node = self._lines[number - 1] if 0 < number <= len(self._lines) else None
        words = re.sub(r"Element (name )?'[^'\n]*',.*|, line \d+|\b(XML )?Error: ", "", message)
        for name, named in self._nodes.items():
            if f"'{name}'" in words:
                node, words = node or named, words.replace(f"'{name}'", "its file")
        where = self._source if node is None or node.element.sourceline is None else node.where
        return FormatError(f"{where}: MuJoCo refuses it: {' '.join(words.split())[:300]}")

    def add(self, root: XmlElement, path: Path | None, inside: tuple[Path, ...] = ()) -> tuple[str, int]:
        """The text of a model for MuJoCo, with an element in each line, and how many elements that makes.

        `inside` are the models that attach it.
        """
        document = _Document(root, path)
        inside = inside if path is None else (*inside, path.resolve())
        top = document.root
        top.set("model", top.get("model") or "robot")
        sizes: dict[str, int] = {}
        for element in list(top.iter("compiler", "mesh", "flexcomp", "model", *LEFT_OUT, *STAND_INS)):
            node, above = document.node(element), element.getparent()
            if node.tag in LEFT_OUT and above is not None:
                above.remove(element)
            elif node.tag == "compiler":
                etree.strip_attributes(element, *SETTINGS)
            elif node.tag in STAND_INS:
                _name_after_file(element)
                kept = {key: value for key in KEPT if (value := node.get(key)) is not None}
                element.attrib.clear()
                for key, value in (kept | STAND_INS[node.tag]).items():
                    element.set(key, value)
            elif node.get("file"):
                self._add_asset(document, node, inside, sizes)
        size = _size(document, sizes)
        last = etree.SubElement(top, "compiler", fusestatic="false", discardvisual="false")
        etree.SubElement(last, "lengthrange", mode="none")
        for element in top.iter():
            element.text = "\n" if len(element) else None
            element.tail = None if element.getnext() is None else "\n"
        text = "\n" * len(self._lines) + etree.tostring(top, encoding="unicode")
        self._lines += map(document.node, top.iter())
        return text, size

    def _add_asset(
        self, document: _Document, node: XmlElement, inside: tuple[Path, ...], sizes: dict[str, int]
    ) -> None:
        """Read a file that MuJoCo needs, and call it by a name without a folder."""
        if node.tag == "model":
            name, own_name, size = self._add_model(document, node, inside)
            sizes[node.get("name") or own_name] = size
        else:
            folder, inner = document.place(node)
            name = f"{len(self._contents) + len(self.missing)}{PureWindowsPath(inner).suffix}"
            if node.tag == "mesh":
                _name_after_file(node.element)
                name = self._add_mesh(node, folder, inner, name)
            else:
                self._contents[name], _ = read_named(node, document.path_of(node, inner))
        node.element.set("file", name)
        self._nodes[name] = node

    def _add_mesh(self, node: XmlElement, folder: Path | None, inner: str, name: str) -> str:
        path = Path(inner) if folder is None else folder / inner
        if not is_there(path) or (folder is None and not path.is_absolute()):
            name = f"{name}.obj"
            self.missing.append(name)
            etree.strip_attributes(node.element, "content_type")
        else:
            self._contents[name], _ = read_named(node, path)
        w, x, y, z = node.vector("refquat", 4, (1.0, 0.0, 0.0, 0.0))
        refpos = node.vector("refpos", 3, (0.0, 0.0, 0.0))
        self.meshes[name] = MeshFile(inner, None if folder is None else str(folder.absolute()), refpos, (w, x, y, z))
        return name

    def _add_model(self, document: _Document, node: XmlElement, inside: tuple[Path, ...]) -> tuple[str, str, int]:
        path = document.path_of(node, node.text("file"))
        content, source = read_named(node, path)
        path = path.resolve()
        if path in inside or len(inside) >= MAX_DEPTH:
            raise node.error(f"attaches {path.name} to itself, or models in more than {MAX_DEPTH} levels")
        if path not in self._models:
            root = parse(content, source)
            text, size = self.add(root, path, inside)
            name = f"{len(self._contents) + len(self.missing)}.xml"
            self._contents[name] = text.encode()
            self._models[path] = name, root.element.get("model") or "", size
        return self._models[path]


def _name_after_file(element: etree._Element) -> None:
    """Give an asset the name that it has from its file."""
    if not element.get("name") and element.get("file"):
        element.set("name", PureWindowsPath(str(element.get("file"))).stem)


def _size(document: _Document, models: Mapping[str, int]) -> int:
    """How many elements a model has when all copies are made; refused where the copies are too many."""
    most = MAX_COPIES + sum(1 for _ in document.root.iter())
    sizes: dict[etree._Element, int] = {}
    parts: dict[str, int] = {}
    for _, element in etree.iterwalk(document.root, events=("end",)):
        node = document.node(element)
        counts = [abs(x) for key in COUNTS for x in node.numbers(key) or ()]
        if max(counts, default=0) > MAX_COUNT:
            raise node.error(f"asks for {max(counts):g}, and {MAX_COUNT} is the most that is made here")
        size = 1 + sum(sizes.pop(child) for child in element)
        if node.tag in ("replicate", "flexcomp"):
            made = 1 if node.tag == "replicate" else NODE
            size = math.ceil(size * max(1.0, math.prod(node.numbers("count") or ())) * made)
        elif node.tag == "attach":
            model, part = node.get("model"), node.get("frame") or node.get("body") or ""
            size = models.get(model, 0) if model else parts.get(part, most + 1)
        if size > most:
            raise node.error(f"makes more than {MAX_COPIES} copies, or attaches what it is in; write fewer")
        sizes[element] = size
        if node.tag in ("frame", "body"):
            parts[node.get("name") or ""] = size
    return size
