"""The pages of the reference: each public name with its signature, shapes, units and docstring, as Markdown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence

from public_names import Name, attribute, kind_of, names, public, signature_of

import chainrule as cr
from chainrule.functions import table
from chainrule.functions.table import FUNCTIONS, Axis, Function

FENCE = ":" * 8
QUANTITIES = {
    "position": "rad or m", "velocity": "rad/s or m/s", "acceleration": "rad/s² or m/s²", "effort": "N m or N",
}  # fmt: skip
SIZES = {
    table.DOFS: "nv", table._nq: "nq", table.TRIANGLE: "nv (nv + 1) / 2", table.LINKS: "links",
    table.BODIES: "bodies", table.CONSTRAINTS: "constraints", table.EQUATIONS: "equations",
    table.SPRINGS: "springs", table.TERMS: "terms",
}  # fmt: skip


def names_of(*lines: str) -> str:
    """The table and the entries of names; a name that ends in `.*` stands for all of its subject."""
    entries = [Name(name) for line in lines for name in _spread(line)]
    rows = [f"| {{py:obj}}`{entry.name}` | {escaped(first_sentence(entry.doc))} |" for entry in entries]
    parts = [text for entry in entries for text in _entry(entry)]
    return "\n".join(["| name | what it is |", "| --- | --- |", *rows, "", *parts])


def _spread(line: str) -> list[str]:
    if not line.endswith(".*"):
        return [line]
    prefix = line[:-1]
    return [name for name in names() if name.startswith(prefix) and "." not in name[len(prefix) :]]


def _entry(entry: Name) -> Iterator[str]:
    yield f"{FENCE}{{py:{entry.kind}}} {entry.name}{entry.signature}"
    yield ""
    yield markdown(entry.doc)
    yield ""
    yield shapes(entry.name)
    if entry.kind == "class" and entry.thing is not cr.Robot:
        for member in _own_members(entry.thing):
            yield from _member(entry.thing, member)
    yield FENCE
    yield ""


def _own_members(kind: type) -> list[str]:
    """Members that no public base has: those of a base stand there."""
    bases = [base for base in kind.__mro__[1:] if base.__module__.startswith("chainrule") and base in _public_classes()]
    inherited = {name for base in bases for name in public(base)}
    own = []
    for name in public(kind):
        home = next(base for base in kind.__mro__ if name in base.__dict__)
        if home.__module__.startswith("chainrule") and (name not in inherited or home is kind):
            own.append(name)
    return own


def _public_classes() -> set[type]:
    return {thing for name in names() if isinstance(thing := Name(name).thing, type)}


def _member(kind: type, name: str) -> Iterator[str]:
    thing = attribute(kind, name)
    word = kind_of(thing, kind)
    raw = inspect.getattr_static(kind, name)
    text = signature_of(thing, in_class=not isinstance(raw, (staticmethod, classmethod)))
    fence = FENCE[:-2]
    yield f"{fence}{{py:{'attribute' if word == 'property' else word}}} {name}{text}"
    yield ""
    yield markdown(inspect.getdoc(thing) or "") if word != "property" or isinstance(thing, property) else ""
    yield fence
    yield ""


# --- shapes and units, from the table of functions ---


def shapes(name: str) -> str:
    """What a function takes and gives: shapes for one state, and units."""
    function = dict(FUNCTIONS).get(name.removeprefix("robot.")) if name.startswith("robot.") else None
    if function is None:
        return ""
    takes = [
        f"`{argument.name}` (..., {'nq' if argument.is_configuration else 'nv'}) in {QUANTITIES[argument.quantity]}"
        for argument in function.takes
    ]
    return f"Takes\n: {'; '.join(takes)}\n\nGives\n: {_result(function)}\n"


def _result(function: Function) -> str:
    dimensions = function.gives if function.named is None else ()
    shape = ", ".join(("...", *(_size(dimension) for dimension in dimensions)))
    units = dict.fromkeys(filter(None, [function.unit, *(_unit(d) for d in dimensions if isinstance(d, Axis))]))
    if function.named is not None:
        return "a named tuple: " + ", ".join(f"`{field}`" for field in function.named._fields)
    return f"({shape})" + (f"; {' times '.join(units)}" if units else "")


def _size(dimension: object) -> str:
    size = dimension.size if isinstance(dimension, Axis) else dimension
    return str(size) if isinstance(size, int) else SIZES.get(size, size.__name__.strip("_").lower())


def _unit(axis: Axis) -> str:
    """The units along an axis, in words that hold for every robot: of a joint that turns, and one that slides."""
    units = list(dict.fromkeys(axis.units(cr.load("planar_rp").model)))
    return " or ".join(units) if "" not in units else ""


# --- docstrings, which are Markdown with numpydoc's headings ---

HEADING = re.compile(r"^-{3,}$")
ITEMS = ("Parameters", "Attributes", "Returns", "Raises", "Yields")


def first_sentence(doc: str) -> str:
    """The first paragraph up to its first full stop."""
    paragraph = " ".join(doc.split("\n\n", maxsplit=1)[0].split())
    return re.split(r"(?<=[^. ])\.(?: |$)", paragraph)[0]


def markdown(doc: str) -> str:
    """A docstring as Markdown: examples fenced, headings as rubrics, parameters as a list of definitions."""
    out: list[str] = []
    section = ""
    for block in _blocks(doc):
        head = block[0]
        if len(block) > 1 and HEADING.match(block[1]):
            section = head
            if section != "Examples":
                out += [f"**{section}**", ""]
            block = block[2:]
            if not block:
                continue
        if block[0].startswith(">>>"):
            out += ["```python", *block, "```", ""]
        elif section in ITEMS and not block[0].startswith(" "):
            out += _definitions(block)
        elif all(line.startswith("    ") for line in block):
            out += ["```text", *(line[4:] for line in block), "```", ""]
        else:
            out += [*escaped("\n".join(block)).splitlines(), ""]
    return "\n".join(out)


def _blocks(doc: str) -> Iterator[list[str]]:
    """Paragraphs; an example begins one of its own."""
    block: list[str] = []
    for line in doc.splitlines():
        if not line.strip() or (line.startswith(">>>") and block and not block[0].startswith(">>>")):
            if block:
                yield block
            block = []
        if line.strip():
            block.append(line.rstrip())
    if block:
        yield block


def _definitions(lines: Sequence[str]) -> list[str]:
    out: list[str] = []
    for line in lines:
        if line.startswith(" "):
            out.append(("  " if out[-1].startswith((":", "  ")) else ": ") + escaped(line.strip()))
        else:
            out += ["", ", ".join(f"`{name.strip()}`" for name in line.split(","))]
    return [*out, ""]


def escaped(text: str) -> str:
    """Text whose marks outside code mean nothing in Markdown."""
    pieces = re.split(r"(`[^`]+`)", text)
    return "".join(piece if piece.startswith("`") else re.sub(r"([*<\[$|~])", r"\\\1", piece) for piece in pieces)
