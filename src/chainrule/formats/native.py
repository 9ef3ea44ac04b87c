"""chainrule's own format: a robot as readable TOML, or the same document as JSON. Writing and reading are exact."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from chainrule.arguments import one_of
from chainrule.errors import FormatError, UnknownNameError
from chainrule.formats.exact import has_direction, pose
from chainrule.formats.source import FilePath, folder_of, path_of, read, write
from chainrule.model import (
    GRAVITY,
    Composite,
    Configuration,
    Constraint,
    Dof,
    Fixed,
    Frame,
    Free,
    Geometry,
    Joint,
    JointKind,
    Link,
    Mimic,
    Model,
    Moved,
    PolynomialScrew,
    Screw,
    Spherical,
    Spring,
)
from chainrule.model.geometry import ROLES, SHAPES, Color, PairChoice, Shape, objection
from chainrule.model.parts import DOF_NUMBERS, with_both_directions
from chainrule.spatial import Rotation, Symmetric, Transform, Vector

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Record = TypeVar("Record", bound="DataclassInstance")

FORMAT = "chainrule 1"
GEOMETRY: dict[str, tuple[str, ...]] = {
    "revolute": ("axis",), "continuous": ("axis",), "prismatic": ("axis",), "helical": ("axis", "pitch"), "screw": (),
    "fixed": (), "cylindrical": ("axis",), "universal": ("axis", "axis2"), "planar": ("axis",), "spherical": (),
    "free": (), "polynomial": ("screw", "coefficients", "unit"),
}  # fmt: skip
"""Types of joints, and the keys for the geometry of each."""
SCREWS = ("revolute", "continuous", "prismatic", "helical", "screw")
"""Types of joints that can have the key `screw` instead."""
PASSIVE = "passive"
"""The key that says that nothing drives a joint: passive = true is the same as effort = 0."""
JOINT_KEYS = (
    "name", "type", "parent", "child", "origin", "axis", "axis2", "pitch", "screw", "coefficients", "unit", "offset",
    "dh", "mimic", "dof", *DOF_NUMBERS, PASSIVE,
)  # fmt: skip


class KindFormat(NamedTuple):
    """Keys, reader and writer of a kind of joint from outside the package."""

    keys: tuple[str, ...]
    read: Callable[[Mapping[str, Any]], JointKind]
    write: Callable[[Any], Mapping[str, Any]]


KINDS: dict[str, KindFormat] = {}
"""Kinds of joints from outside the package, by type."""


def register_kind(
    type_: str,
    keys: Sequence[str],
    read: Callable[[Mapping[str, Any]], JointKind],
    write: Callable[[Any], Mapping[str, Any]],
) -> None:
    """Let robot files hold joints of a new kind.

    `keys` are the keys of the joint's table that belong to the kind. `read` makes the kind from these entries, `write`
    gives the entries of a kind. They must hold every number of the kind, since compiled kernels are kept by them.
    """
    clash = [key for key in keys if key in JOINT_KEYS]
    if type_ in GEOMETRY or clash:
        raise FormatError(f"the joint type {type_!r} or its keys {clash} are those of the format; choose other names")
    KINDS[type_] = KindFormat(tuple(keys), read, write)


MAX_KEY_DOTS = 20
"""Dots in the longest key that is read; the format needs none."""

_TOML_TOKEN = re.compile(
    r"""
    (?P<string> \"{3} (?: [^"\\]++ | \\. | "(?!"") )*+ "{3,5} | '{3} (?: [^']++ | '(?!'') )*+ '{3,5}
        | " (?!"") (?: [^"\\\n]++ | \\. )*+ " | ' (?!'') [^'\n]*+ ' | "" (?!") | '' (?!') )
    | (?P<word> [A-Za-z0-9_-]++ | [ \t]++ )
    | (?P<dot> \. )
    | (?P<other> \#[^\n]*+ | [^"'] )
    """,
    re.VERBOSE | re.DOTALL,
)
"""What a TOML text consists of: keys are words and strings joined by dots."""

_BARE_KEY = re.compile("[A-Za-z0-9_-]+")
"""A key that TOML takes without quotes."""

PAIR_RULES = ("checked", "left out")
PARTS = ("link", "joint", "frame", "constraint", "spring", "geometry", "configuration", "pair")
"""The lists of a document, in the order in which they are written."""


# --- reading -------------------------------------------------------------------------------------------------------


def from_native(path_or_text: FilePath) -> Model:
    """The robot in a .toml or .json file, or in the text of one."""
    content, source, path = read(path_or_text)
    return model_of(_parse(content, source), source, folder_of(path))


def _parse(content: bytes, source: str) -> dict[str, Any]:
    try:
        text = content.decode("utf-8-sig")
        is_json = source.lower().endswith(".json") or text.lstrip().startswith("{")
        if is_json:
            document = json.loads(text, object_pairs_hook=_refuse_repeated_keys)
        else:
            _refuse_long_keys(text)
            document = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{source} is not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8"
        ) from error
    except json.JSONDecodeError as error:
        raise FormatError(f"{source} is not valid JSON: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"{source} is not valid TOML: {error}") from error
    except RecursionError as error:
        raise FormatError(f"{source} nests its tables too deeply to be a robot") from error
    except ValueError as error:
        raise FormatError(f"{source} cannot be read: {error}") from error
    if not isinstance(document, dict):
        raise FormatError(f"{source} should hold a table, in braces, and holds a {type(document).__name__}")
    return document


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; a key given twice is refused, as in TOML."""
    table = dict(pairs)
    if len(table) < len(pairs):
        repeated, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {repeated[:60]!r} is given twice; keep one")
    return table


def _refuse_long_keys(text: str) -> None:
    """Refuse a key of more words joined by dots than any robot has: the parser's memory grows with their square."""
    if not any(line.count(".") > MAX_KEY_DOTS for line in text.split("\n")):
        return
    dots, position = 0, 0
    while found := _TOML_TOKEN.match(text, position):  # none where a string has no end, which the parser will say
        position = found.end()
        if found.lastgroup == "dot":
            dots += 1
            if dots > MAX_KEY_DOTS:
                line = text.count("\n", 0, position) + 1
                raise ValueError(
                    f"line {line} has a key of more than {MAX_KEY_DOTS} words joined by dots; robots are written as "
                    "[[link]] and [[joint]] tables"
                )
        elif found.lastgroup == "other":
            dots = 0


def model_of(document: Mapping[str, Any], source: str, folder: str | None = None) -> Model:
    """The robot that a document describes; relative paths of meshes start at `folder` unless they say otherwise."""
    table = _Table(document, source)
    if document.get("format") != FORMAT:
        raise FormatError(
            f"{source} is not a chainrule robot: it should say format = {FORMAT!r}, and says {document.get('format')!r}"
        )
    table.only("format", "name", "gravity", "end_effector", "notes", *PARTS)
    notes = document.get("notes", [])
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise table.error("notes should be a list of strings")
    return Model.build(
        table.text("name"),
        [_link(entry) for entry in table.tables("link")],
        [_joint(entry) for entry in table.tables("joint")],
        _records(table, "frame", Frame),
        table.vector("gravity", GRAVITY),
        table.text("end_effector") if "end_effector" in document else None,
        notes,
        _records(table, "constraint", Constraint),
        [_geometry(entry, folder) for entry in table.tables("geometry")],
        [_configuration(entry) for entry in table.tables("configuration")],
        _records(table, "spring", Spring),
        [_pair(entry) for entry in table.tables("pair")],
    )


class _Table:
    """A table of the document, read key by key, with errors that say where."""

    def __init__(self, entries: Mapping[str, Any], where: str) -> None:
        self.entries = entries
        self.where = where

    def error(self, message: str) -> FormatError:
        return FormatError(f"{self.where}: {message}")

    def only(self, *keys: str) -> None:
        for key in self.entries:
            if key not in keys:
                raise UnknownNameError.of("key", key, keys, f"{self.where}: the format")

    def tables(self, key: str) -> list[_Table]:
        entries = self.entries.get(key, [])
        if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
            raise self.error(f"{key} should be a list of tables, written [[{key}]]")
        return [_Table(e, f"{self.where}, {key} {e.get('name', i)!r}") for i, e in enumerate(entries)]

    def text(self, key: str) -> str:
        value = self.entries.get(key)
        if not isinstance(value, str) or not value:
            raise self.error(f"needs {key} = a string, got {value!r:.60}")
        return value

    def number(self, key: str, default: float | None = None) -> float:
        value = self.entries.get(key, default)
        if not _is_number(value):
            raise self.error(f"needs {key} = a number, got {value!r:.60}")
        return float(value)

    def numbers(self, key: str, count: int | None = None) -> list[float]:
        value = self.entries.get(key)
        fits = isinstance(value, list) and len(value) == (count or len(value)) and all(map(_is_number, value))
        if not fits or not isinstance(value, list):
            raise self.error(f"needs {key} = {count or 'some'} numbers in brackets, got {value!r:.60}")
        if not all(math.isfinite(x) for x in value):
            raise self.error(f"needs {key} = finite numbers, got {value!r}")
        return [float(x) for x in value]

    def vector(self, key: str, default: Vector | None = None) -> Vector:
        if key not in self.entries and default is not None:
            return default
        return Vector(*self.numbers(key, 3))

    def table(self, key: str, *keys: str) -> _Table:
        value = self.entries.get(key)
        if not isinstance(value, dict):
            raise self.error(f"needs {key} = a table in braces, got {value!r:.60}")
        table = _Table(value, f"{self.where}, {key}")
        table.only(*keys)
        return table

    def transform(self, key: str) -> Transform:
        if key not in self.entries:
            return Transform.identity()
        table = self.table(key, "xyz", "rpy", "rotation")
        xyz = table.vector("xyz", Vector(0.0, 0.0, 0.0))
        if "rotation" in table.entries:
            if "rpy" in table.entries:
                raise table.error("gives both rpy and rotation; keep one")
            return Transform(table.rotation("rotation"), xyz)
        return pose(list(xyz), table.numbers("rpy", 3) if "rpy" in table.entries else (0.0, 0.0, 0.0))

    def rotation(self, key: str) -> Rotation:
        rows = self.entries[key]
        if not isinstance(rows, list) or len(rows) != 3:
            raise self.error(f"needs {key} = three rows of three numbers")
        R = Rotation(*(Vector(*_Table({"row": row}, self.where).numbers("row", 3)) for row in rows))
        error = max(abs(x - (i == j)) for i, row in enumerate(R @ R.inv) for j, x in enumerate(row))
        if not error < 1e-6 or R.a.dot(R.b.cross(R.c)) < 0:
            raise self.error(
                f"{key} is not a rotation matrix: it is off by {error:.2g} from orthogonal, or mirrors; give it "
                "orthonormal rows that form a right-handed frame"
            )
        return R


def _is_number(x: Any) -> bool:
    """Whether this is a number that a float can hold; TOML and JSON also have integers of any length."""
    return isinstance(x, float) or (isinstance(x, int) and not isinstance(x, bool) and abs(x) < 1 << 1023)


READERS: dict[str, Callable[[_Table, str], Any]] = {
    "str": _Table.text, "Scalar": _Table.number, "Vector": _Table.vector, "Transform": _Table.transform,
}  # fmt: skip
"""How the fields of a record are read, by their types."""


def _record(kind: type[Record], table: _Table, **known: Any) -> Record:
    """A record whose fields are keys of a table; those that have a default may be left out."""
    for field in fields(kind):
        if field.name not in known and (field.name in table.entries or field.default is MISSING):
            known[field.name] = READERS[str(field.type).removesuffix(" | None")](table, field.name)
    return kind(**known)


def _records(table: _Table, key: str, kind: type[Record]) -> list[Record]:
    """The records of a list of tables."""
    entries = table.tables(key)
    for entry in entries:
        entry.only(*(field.name for field in fields(kind)))
    return [_record(kind, entry) for entry in entries]


def _geometry(table: _Table, folder: str | None) -> Geometry:
    type_ = table.text("shape")
    if type_ not in SHAPES:
        raise UnknownNameError.of("shape", type_, SHAPES, f"{table.where}: the format")
    keys = [entry.name for entry in fields(SHAPES[type_])]
    table.only("link", "role", "shape", *keys, "origin", "color", "name")
    role = table.text("role") if "role" in table.entries else "visual"
    if role not in ROLES:
        raise UnknownNameError.of("role", role, ROLES, f"{table.where}: the format")
    start = {"folder": folder} if type_ == "mesh" and "folder" not in table.entries else {}
    shape: Shape = _record(SHAPES[type_], table, **start)
    wrong = objection(shape)
    if wrong:
        raise table.error(wrong)
    color: Color | None = None
    if "color" in table.entries:
        red, green, blue, opacity = table.numbers("color", 4)
        color = (red, green, blue, opacity)
    name = table.text("name") if "name" in table.entries else None
    return Geometry(table.text("link"), shape, table.transform("origin"), role, color, name)


def _configuration(table: _Table) -> Configuration:
    table.only("name", "positions")
    positions = table.entries.get("positions", {})
    if not isinstance(positions, dict) or not all(_is_number(x) for x in positions.values()):
        raise table.error(f"needs positions = a table of coordinates and numbers in braces, got {positions!r:.60}")
    return Configuration(table.text("name"), tuple((name, float(x)) for name, x in positions.items()))


def _pair(table: _Table) -> PairChoice:
    table.only("link_a", "link_b", "rule", "reason")
    rule = one_of(PAIR_RULES, table.text("rule"), "rule", f"{table.where}: a pair")
    reason = table.text("reason") if "reason" in table.entries else ""
    return PairChoice(table.text("link_a"), table.text("link_b"), rule == PAIR_RULES[0], reason)


def _link(table: _Table) -> Link:
    table.only("name", "mass", "com", "inertia")
    name = table.text("name")
    if not table.entries.keys() & {"mass", "com", "inertia"}:
        return Link(name)
    inertia = Symmetric(*table.numbers("inertia", 6)) if "inertia" in table.entries else Link(name).inertia
    return Link(name, table.number("mass"), table.vector("com", Vector(0.0, 0.0, 0.0)), inertia)


def _joint(table: _Table) -> Joint:
    type_ = table.entries.get("type")
    table.only(*JOINT_KEYS, *(KINDS[type_].keys if isinstance(type_, str) and type_ in KINDS else ()))
    kind = _kind(table)
    mimic = None
    if "mimic" in table.entries:
        mimic = _record(Mimic, table.table("mimic", "joint", "multiplier", "offset"))
    own = [key for key in (*DOF_NUMBERS, PASSIVE) if key in table.entries]
    tables = table.tables("dof")
    if own and (tables or kind.nv != 1):
        raise table.error(
            f"{own[0]} belongs to one degree of freedom; this joint has {kind.nv}: use a list, dof = [...]"
        )
    for entry in tables:
        entry.only(*DOF_NUMBERS, PASSIVE)
    dofs = tuple(_dof(entry) for entry in tables) or ((_dof(table),) if own else ())
    name, parent, child = (table.text(key) for key in ("name", "parent", "child"))
    return Joint(name, parent, child, kind, table.transform("origin"), dofs, mimic, _convention(table))


def _convention(table: _Table) -> str | None:
    """The convention of the Denavit-Hartenberg table that a joint is a row of, if it is one."""
    if "dh" not in table.entries:
        return None
    from chainrule.formats.dh import CONVENTIONS

    convention = table.text("dh")
    if convention not in CONVENTIONS:
        raise UnknownNameError.of("convention", convention, CONVENTIONS, f"{table.where}, dh: the format")
    return convention


def _kind(table: _Table) -> JointKind:
    type_ = table.text("type")
    if type_ not in GEOMETRY and type_ not in KINDS:
        raise UnknownNameError.of("joint type", type_, [*GEOMETRY, *KINDS], f"{table.where}: the format")
    kind = _kind_from_keys(table, type_) if type_ in KINDS else _kind_from_geometry(table, type_)
    return Moved(kind, table.transform("offset")) if "offset" in table.entries else kind


def _kind_from_keys(table: _Table, type_: str) -> JointKind:
    """A joint of a kind from outside the package."""
    keys, read_kind, _ = KINDS[type_]
    try:
        return read_kind({key: table.entries[key] for key in keys if key in table.entries})
    except (KeyError, TypeError, ValueError) as error:
        raise table.error(f"is no {type_} joint, which takes {' and '.join(keys) or 'no keys'}: {error}") from error


def _kind_from_geometry(table: _Table, type_: str) -> JointKind:
    own = ("screw",) if type_ in SCREWS and "screw" in table.entries else GEOMETRY[type_]
    for key in ("axis", "axis2", "pitch", "screw", "coefficients", "unit"):
        if key in table.entries and key not in own:
            raise table.error(
                f"{key} is not for this {type_} joint, which takes {' and '.join(own) or 'none'}; remove it"
            )
    if own == ("screw",):
        w, v = (Vector(*part) for part in (table.numbers("screw", 6)[:3], table.numbers("screw", 6)[3:]))
        if type_ != "screw" and any(w) == (type_ == "prismatic"):
            raise table.error(
                f"the screw of a {type_} joint must {'not ' * any(w)}turn; its first three numbers are omega"
            )
        return Screw(w, v, type_)
    if type_ == "polynomial":
        w, v = (Vector(*part) for part in (table.numbers("screw", 6)[:3], table.numbers("screw", 6)[3:]))
        unit = table.entries.get("unit", "rad")
        if unit not in ("rad", "m"):
            raise table.error(f"unit is that of the coordinate, 'rad' or 'm', not {unit!r:.40}")
        return PolynomialScrew(Screw(w, v), tuple(table.numbers("coefficients")), (unit,))
    simple: dict[str, JointKind] = {"fixed": Fixed(), "spherical": Spherical(), "free": Free()}
    if type_ in simple:
        return simple[type_]
    if type_ == "planar":
        return Composite.planar(table.vector("axis", Vector(0, 0, 1)))
    axis = _unit(table, "axis")
    if type_ == "universal":
        return Composite.universal(axis, _unit(table, "axis2"))
    makers: dict[str, Callable[[Vector], JointKind]] = {
        "prismatic": Screw.prismatic,
        "cylindrical": Composite.cylindrical,
        "helical": lambda a: Screw.helical(a, None, table.number("pitch")),
    }
    if type_ == "screw":
        raise table.error("a screw joint needs screw = six numbers, angular part first")
    return makers[type_](axis) if type_ in makers else Screw.revolute(axis, name=type_)


def _unit(table: _Table, key: str) -> Vector:
    axis = table.vector(key)
    if not has_direction(axis):
        raise table.error(f"has a zero {key}; give the direction it moves along, such as [0, 0, 1]")
    length = axis.norm()
    return axis if abs(length - 1) < 1e-12 else axis / length


def _dof(table: _Table) -> Dof:
    values: dict[str, Any] = {key: table.number(key) for key in DOF_NUMBERS if key in table.entries}
    values = with_both_directions(values)
    if PASSIVE in table.entries:
        passive = table.entries[PASSIVE]
        if not isinstance(passive, bool):
            raise table.error(f"needs {PASSIVE} = true or false, got {passive!r:.60}")
        if "effort" in values and passive != (values["effort"] == 0):
            raise table.error(f"gives {PASSIVE} = {str(passive).lower()} and effort = {values['effort']:g}; keep one")
        values |= {"effort": 0.0} if passive else {}
    return Dof(**values)


# --- writing -------------------------------------------------------------------------------------------------------


def save(model: Model, path: str | PathLike[str]) -> None:
    """Write a model to a .toml or .json file."""
    path = Path(path_of(path))
    suffix = path.suffix.lower()
    if suffix not in (".toml", ".json"):
        raise FormatError(f"cannot tell the format from {path.name!r}: end it in .toml or .json (or .urdf)")
    write(path, to_json(model) if suffix == ".json" else to_toml(model))


def document_of(model: Model) -> dict[str, Any]:
    """The model as plain tables, lists, strings and numbers."""
    document: dict[str, Any] = {"format": FORMAT, "name": model.name, "gravity": _floats(model.gravity)}
    if model.end_effector is not None:
        document["end_effector"] = model.end_effector
    if model.notes:
        document["notes"] = list(model.notes)
    document["link"] = [_link_entry(link) for link in model.links]
    document["joint"] = [_joint_entry(joint) for joint in model.joints]
    document["frame"] = [_entry(frame) for frame in model.frames]
    document["constraint"] = [_entry(constraint) for constraint in model.constraints]
    document["spring"] = [_entry(spring) for spring in model.springs]
    document["geometry"] = [_geometry_entry(geometry) for geometry in model.geometries]
    document["configuration"] = [{"name": c.name, "positions": dict(c.positions)} for c in model.configurations]
    document["pair"] = [
        {"link_a": p.link_a, "link_b": p.link_b, "rule": PAIR_RULES[not p.checked]}
        | ({"reason": p.reason} if p.reason else {})
        for p in model.pairs
    ]
    return {key: value for key, value in document.items() if value != []}


def _floats(numbers: Any) -> list[float]:
    return [float(x) for x in numbers]


def _link_entry(link: Link) -> dict[str, Any]:
    if link == Link(link.name):
        return {"name": link.name}
    return {
        "name": link.name,
        "mass": float(link.mass),
        "com": _floats(link.com),
        "inertia": _floats(link.inertia.entries()),
    }


def _origin_entry(key: str, T: Transform) -> dict[str, Any]:
    if Transform.identity() == T:
        return {}
    entry: dict[str, Any] = {"xyz": _floats(T.translation)}
    if T.rotation != Rotation.identity():
        rpy = _floats(T.rotation.rpy())
        exact = pose((0.0, 0.0, 0.0), rpy).rotation == T.rotation
        entry |= {"rpy": rpy} if exact else {"rotation": [_floats(row) for row in T.rotation]}
    return {key: entry}


def _entry(record: Any, *, defaults: bool = False) -> dict[str, Any]:
    """The fields of a record; those that have their default are left out unless they are wanted."""
    entry: dict[str, Any] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if value is None or value == math.inf or (value == field.default and not defaults):
            continue
        if isinstance(value, Transform):
            entry |= _origin_entry(field.name, value)
        elif isinstance(value, Vector):
            entry[field.name] = _floats(value)
        else:
            entry[field.name] = value if isinstance(value, str) else float(value)
    return entry


def _geometry_entry(geometry: Geometry) -> dict[str, Any]:
    shape = geometry.shape
    entry: dict[str, Any] = {} if geometry.name is None else {"name": geometry.name}
    entry |= {"link": geometry.link, "role": geometry.role, "shape": type(shape).__name__.lower()}
    entry |= _entry(shape, defaults=True)
    entry |= _origin_entry("origin", geometry.origin)
    return entry if geometry.color is None else {**entry, "color": _floats(geometry.color)}


def _joint_entry(joint: Joint) -> dict[str, Any]:
    kind = joint.kind
    entry: dict[str, Any] = {"name": joint.name, "type": joint.type, "parent": joint.parent, "child": joint.child}
    entry |= _origin_entry("origin", joint.origin)
    if isinstance(kind, Moved):
        entry |= _origin_entry("offset", kind.offset) or {"offset": {}}
        kind = kind.inner
    if joint.dh is not None:
        entry["dh"] = joint.dh
    entry |= _axes_entry(kind)
    if joint.mimic:
        entry["mimic"] = _entry(joint.mimic, defaults=True)
    if any(dof.friction_function for dof in joint.dofs):
        raise FormatError(
            f"joint {joint.name!r} has a friction function of its own, which cannot be written to a file: it is Python "
            "code. Save robot.without_friction(), and give it again after loading, by robot.edit(joints=...)"
        )
    dofs = [_dof_entry(dof) for dof in joint.dofs]
    if any(dofs):
        entry |= dofs[0] if len(dofs) == 1 else {"dof": dofs}
    return entry


def _axes_entry(kind: JointKind) -> dict[str, Any]:
    if isinstance(kind, Screw):
        plain = kind.name in ("revolute", "continuous") and kind.linear == Vector.zero()
        if plain or kind.name == "prismatic":
            axis = kind.angular if kind.turns else kind.linear
            if abs(axis.norm() - 1) < 1e-12:
                return {"axis": _floats(axis)}
        return {"screw": _floats((*kind.angular, *kind.linear))}
    if isinstance(kind, Composite):
        if kind.name == "planar":
            return {"axis": _floats(kind.parts[2].angular)}
        second = {"axis2": _floats(kind.parts[1].angular)} if kind.name == "universal" else {}
        return {"axis": _floats(kind.parts[0].angular), **second}
    if isinstance(kind, PolynomialScrew):
        screw, coefficients = kind.screw.table(), kind.coefficients
        return {"screw": _floats(screw), "coefficients": _floats(coefficients), "unit": kind.units[0]}
    if kind.name in KINDS:
        return dict(KINDS[kind.name].write(kind))
    if not isinstance(kind, Fixed | Spherical | Free):
        raise FormatError(
            f"joints of the kind {kind.name!r} cannot be written; describe their numbers with "
            "chainrule.formats.native.register_kind"
        )
    return {}


def _dof_entry(dof: Dof) -> dict[str, float]:
    entry = {key: float(getattr(dof, key)) for key in DOF_NUMBERS if getattr(dof, key) != getattr(Dof(), key)}
    for key in ("coulomb", "static"):  # the other direction is the same where it is not written
        forth, back = getattr(dof, key), getattr(dof, f"{key}_negative")
        if forth and forth == back:
            del entry[f"{key}_negative"]
        elif forth:
            entry[f"{key}_negative"] = float(back)
    return entry


def to_json(model: Model) -> str:
    """JSON text of a model; it has no infinities, since infinite limits are left out."""
    return json.dumps(document_of(model), indent=1, allow_nan=False) + "\n"


def to_toml(model: Model) -> str:
    """TOML text of a model, with one table for each link, joint, frame and constraint."""
    document = document_of(model)
    lines = [f"{key} = {_toml(value)}" for key, value in document.items() if key not in PARTS]
    for key in PARTS:
        for entry in document.get(key, []):
            lines += ["", f"[[{key}]]", *(f"{name} = {_toml(value)}" for name, value in entry.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return "[" + ", ".join(_toml(x) for x in value) + "]"
    if isinstance(value, dict):
        pairs = (f"{key if _BARE_KEY.fullmatch(key) else _toml(key)} = {_toml(x)}" for key, x in value.items())
        return "{ " + ", ".join(pairs) + " }" if value else "{}"
    if not math.isfinite(value):
        return "inf" if value > 0 else "-inf"
    return repr(int(value)) if value == int(value) and abs(value) < 1e6 else repr(value)
