"""The public surface is a choice: every public name and signature, beside the list in surface.txt."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest
from surface import SUBJECTS

import chainrule as cr

pytestmark = pytest.mark.interpreted

FILE = Path(__file__).parent / "surface.txt"
MACHINERY = {"evaluate", "remember", "call", "read", "lazy", "arguments", "core", "compile", "errors", "backend"}
ROBOT = cr.load("planar_2r")


def test_the_surface_is_the_recorded_one(request):
    """Run pytest with --update-golden after a change that is meant."""
    found = "".join(f"{line}\n" for line in surface())
    if request.config.getoption("--update-golden"):
        FILE.write_text(found, encoding="utf-8")
    recorded = FILE.read_text(encoding="utf-8")
    new, gone = (
        sorted({*found.split("\n")} - {*recorded.split("\n")}),
        sorted({*recorded.split("\n")} - {*found.split("\n")}),
    )
    assert found == recorded, "\n".join([*(f"+ {line}" for line in new), *(f"- {line}" for line in gone)])


def test_there_are_about_a_hundred_names_on_a_robot_and_no_machinery():
    assert public(cr.Robot) == public(ROBOT)
    assert 90 <= len(public(cr.Robot)) <= 117
    for owner in (cr.Robot, cr, *(getattr(ROBOT, subject) for subject in SUBJECTS)):
        assert not MACHINERY & set(dir(owner)), owner


def test_dir_of_a_package_is_what_it_offers():
    for package in (cr, cr.study, cr.wheels, cr.symbolic):
        assert sorted(dir(package)) == sorted(package.__all__)
        assert all(hasattr(package, name) for name in dir(package))


def test_every_public_function_says_what_it_is():
    wanted = (line for line in things() if line[0].startswith("robot.") or line[0].count(".") == 1)
    assert not [line for line, thing in wanted if callable(thing) and not inspect.getdoc(thing)]


def test_documented_parameters_are_those_of_the_function():
    wrong = []
    for line, thing in things():
        documented = _documented(inspect.getdoc(thing) or "")
        if not documented or not callable(thing):
            continue
        parameters = inspect.signature(thing).parameters
        if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            wrong += [f"{line}: {name}" for name in documented if name not in parameters]
    assert not wrong


def _documented(doc: str) -> list[str]:
    """The names under the heading Parameters."""
    _, _, section = doc.partition("\nParameters\n----------\n")
    section = re.split(r"\n[A-Z]\w+\n-+\n", section)[0]
    heads = re.findall(r"^(\w[\w, ]*)\n    ", section, re.MULTILINE)
    return [name.strip() for head in heads for name in head.split(",")]


# --- the list ---


def public(owner) -> list[str]:
    return [name for name in dir(owner) if not name.startswith("_")]


def surface():
    yield "# Every public name and signature. Written by: pytest tests/robot/test_surface.py --update-golden"
    for line, _ in things():
        yield line


def things():
    """A line for each public name, and what it names."""
    yield from of_class("robot", cr.Robot)
    for subject in SUBJECTS:
        yield from of_class(f"robot.{subject}", type(getattr(ROBOT, subject)))
    for where, package in (("cr", cr), ("cr.study", cr.study), ("cr.wheels", cr.wheels), ("cr.symbolic", cr.symbolic)):
        for name in public(package):
            thing = getattr(package, name)
            if isinstance(thing, ModuleType):
                yield f"{where}.{name}: module", thing
            elif isinstance(thing, type):
                yield f"{where}.{name}{signature(thing)}", thing
                if thing is not cr.Robot:
                    yield from of_class(f"{where}.{name}", thing)
            else:
                yield f"{where}.{name}{signature(thing)}", thing


def of_class(prefix: str, kind: type):
    left_out = ("self", "cls", "robot") if prefix.startswith("robot") else ("self", "cls")
    for name in public(kind):
        home = next(base for base in kind.__mro__ if name in base.__dict__)
        if not home.__module__.startswith("chainrule"):
            continue  # of Exception, tuple and their like
        thing = getattr(kind, name)  # looked up first: a method of another module then stands in the class itself
        raw = home.__dict__[name]
        if callable(thing):
            own = [*inspect.signature(raw).parameters][:1] if inspect.isfunction(raw) else []
            yield f"{prefix}.{name}{signature(thing, [*left_out, *own])}", thing
        elif hasattr(raw, "__get__"):
            yield f"{prefix}.{name}", None


def signature(thing, left_out=()) -> str:
    """The parameters by name, with their defaults; annotations are the type checker's."""
    if isinstance(thing, type) and issubclass(thing, Exception):
        return ""
    form = inspect.signature(thing)
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty, default=plain(parameter.default))
        for parameter in form.parameters.values()
        if parameter.name not in left_out or parameter.kind is parameter.KEYWORD_ONLY
    ]
    return str(form.replace(parameters=parameters, return_annotation=inspect.Signature.empty))


class Shown:
    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def plain(default):
    if default is inspect.Parameter.empty or re.search(r"\bat 0x", repr(default)) is None:
        return default
    return Shown(f"<{type(default).__name__}>")


# --- the names in texts ---

SAID = re.compile(r"(?<![\w./])robot\.([a-z]\w*(?:\.[a-z]\w*)?)")
SUFFIXES = {"urdf", "toml", "json", "xml", "sdf", "npz", "py", "html", "png", "mjcf", "srdf", "xacro"}


def texts():
    """All strings of the package, and all pages."""
    for path in sorted(Path(cr.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield path.name, node.value
    root = Path(__file__).parents[2]
    for path in [*root.glob("*.md"), *(root / "docs").glob("*.md")]:
        yield path.name, path.read_text(encoding="utf-8")


def test_what_messages_and_pages_call_on_a_robot_is_there():
    wrong = set()
    for where, text in texts():
        for path in SAID.findall(text):
            first, _, second = path.partition(".")
            if first not in SUFFIXES and not hasattr(ROBOT, first):
                wrong.add((where, path))
            if first in SUBJECTS and second and not hasattr(getattr(ROBOT, first), second):
                wrong.add((where, path))
    assert not wrong
