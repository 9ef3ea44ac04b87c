"""Files made to harm: keys by the thousand, numbers beyond all bounds, meshes that lie, names with everything in them."""

from __future__ import annotations

import tracemalloc
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import chainrule as cr
from chainrule.formats import meshes, native
from chainrule.formats.native import from_native, to_json, to_toml
from chainrule.formats.urdf import from_urdf, to_urdf
from chainrule.model import Fixed, Frame, Joint, Link, Model, Screw
from chainrule.robot import building
from chainrule.spatial import Rotation, Symmetric, Transform, Vector

pytestmark = pytest.mark.interpreted


BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'


class CountedKey(str):
    """A key that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        CountedKey.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_repeated_keys_are_found_in_linear_time():
    for count in (1000, 4000):
        CountedKey.compared = 0
        pairs = [(CountedKey(f"k{i}"), 0) for i in range(count)]
        with pytest.raises(ValueError, match=f"'k{count - 1}' is given twice"):
            native._refuse_repeated_keys([*pairs, (CountedKey(f"k{count - 1}"), 0)])
        assert CountedKey.compared < 10 * count


def test_repeated_keys_are_named():
    with pytest.raises(cr.FormatError, match="'name' is given twice"):
        from_native('{"format": "chainrule 1", "name": "a", "name": "b"}')


@pytest.mark.parametrize(
    "text",
    [
        ".".join(["a"] * 3000) + " = 1\n", "[" + " . ".join(["'a'"] * 3000) + "]\nx = 1\n",
        "x = { " + ".".join(['"a.b"'] * 3000) + " = 1 }\n", "\n" + "\t.".join(['"\u2028"'] * 3000) + " = 1\n",
    ],
)  # fmt: skip
def test_long_dotted_keys_are_refused_before_the_parser_sees_them(text):
    tracemalloc.start()
    try:
        with pytest.raises(cr.FormatError, match="more than 20 words joined by dots"):
            from_native(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10_000_000


@pytest.mark.parametrize(
    "note", [".a" * 99, "'" + ".a" * 99, '"' + ".a" * 99, "\\" + ".a" * 99, "# .a.b", "[[a" + ".b" * 99]
)
def test_dots_in_texts_comments_and_numbers_are_no_keys(note):
    model = replace(cr.load("pendulum").model, notes=(note, note))
    text = f"# {'.a' * 99}\n{to_toml(model)}".replace("gravity = [", f"gravity = [ # {'.a' * 99}\n", 1)
    assert max(line.count(".") for line in text.splitlines()) > native.MAX_KEY_DOTS
    assert from_native(text) == model
    literal = to_toml(model).replace("notes = [", f'notes = [\'\'\'{".a" * 99}\'\'\', """\\"{".a" * 99}""", ', 1)
    assert from_native(literal).notes == (".a" * 99, '"' + ".a" * 99, note, note)


def test_strings_without_an_end_are_refused():
    for quote in ('"', "'", '"""', "'''"):
        with pytest.raises(cr.FormatError):
            from_native(f"x = {quote}" + "\\" * (quote[0] == '"') + quote[0] * (len(quote) - 1) + ".a" * 3000 + "\n")


def test_a_link_too_far_away_is_refused():
    text = (
        f'<robot name="r"><link name="a"/><link name="b">{BODY}</link><link name="c">{BODY}</link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
        '<joint name="k" type="fixed"><origin xyz="1e200 1 1"/><parent link="b"/><child link="c"/></joint></robot>'
    )
    with pytest.raises(cr.ModelError, match="far too large"):
        cr.Robot.from_urdf(text)


OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 {}\n"


MISCOUNTED = [
    ("m.obj", OBJ.format("99999999999999999999")), ("m.obj", OBJ.format("1_0")),
    ("m.obj", OBJ.format("4").replace("v 1", "v 1_0")),
]  # fmt: skip
"""Meshes that MuJoCo reads in a way of its own."""
TOO_LARGE = [
    ("m.obj", OBJ.format("4").replace("v 1", "v 1e200")), ("m.obj", "f " + "9" * 5000), ("m.obj", "9" * 5000),
    ("m.msh", "\0" * 16), ("m.stl", "solid\n" + "vertex 1e300 0 0\nvertex 0 1e300 0\nvertex 0 0 1e300\n" * 4),
]  # fmt: skip
"""Meshes of which a picture may be made, but no body."""
LYING = [
    ("m.obj", OBJ.format("-99999999999999999999")), ("m.obj", OBJ.format("5")), ("m.obj", OBJ.format("0")),
    ("m.obj", OBJ.format("x")), ("m.obj", OBJ.format("4").replace("v 1", "v 1e400")),
    ("m.obj", OBJ.format("4").replace("v 1", "v nan")),
    ("m.msh", "12345"), ("m.msh", ""), ("m.msh", "\x01\0\0\0" * 4), ("m.msh", "\x7f" * 16),
    ("m.stl", ""), ("m.stl", "solid"), ("m.stl", "solid\nvertex 1 2"), ("m.stl", "x" * 84), ("m.stl", "\0" * 84),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content"), [*LYING, *MISCOUNTED])
def test_meshes_that_lie_are_not_drawn(tmp_path: Path, name: str, content: str):
    (tmp_path / name).write_bytes(content.encode("latin1"))
    with pytest.raises(cr.FormatError):
        meshes.load(tmp_path / name)


@pytest.mark.parametrize(("name", "content"), [*LYING, *TOO_LARGE])
def test_meshes_that_lie_are_no_bodies(tmp_path: Path, name: str, content: str):
    (tmp_path / name).write_bytes(content.encode("latin1"))
    (tmp_path / "m.xml").write_text(
        f"<mujoco><asset><mesh name='m' file='{name}'/></asset><worldbody><body><joint/><geom type='mesh' mesh='m'/></body>"
        "</worldbody></mujoco>"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(cr.FormatError, match=r"m\.xml, line 1, .*MuJoCo refuses it"):
            cr.load(tmp_path / "m.xml")


def test_a_mesh_counts_its_vertices_as_the_format_says():
    right = meshes.from_obj(OBJ.format("4").encode(), "m.obj")
    back = meshes.from_obj(OBJ.format("-1").encode(), "m.obj")
    assert np.array_equal(right.triangles, back.triangles)


NAMES = [
    'a"b', "a'b", "a\\", "a\nb", "a\tb", "a\rb", "a\x00b", "a\x7fb", "a\x1b[31mb", "\u2028", "\x85x", "a]]>b", "<b>", "&amp;",
    "$\\frac$", "_x", "ü😀", "a b", " a", "a ", "#", "a.b", "[[link]]", "\ufeff", "'''", '"""', "\ud7ff", "\uffff", "x\u202ey",
    "format = 1", "-", "0", "true", "{", "a\u00a0", "x" * 5000, "." * 99,
]  # fmt: skip


def named(name: str) -> Model:
    """A robot whose every name is this, or begins with it."""
    links = [Link("base" + name), Link(name, 1.0, Vector(0.0, 0.0, 0.1), Symmetric(1.0, 1.0, 1.0))]
    hinge = Screw.revolute(Vector(0.0, 0.0, 1.0), name="continuous")
    joints = [Joint(name, "base" + name, name, hinge, Transform.identity(), ())]
    frames = [Frame(name + "f", name, Transform.identity())]
    return Model.build(name, links, joints, frames, notes=[name])


@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name)[:20])
def test_hostile_names_come_back_or_are_refused(name: str, tmp_path: Path):
    model = named(name)
    for text in (to_toml(model), to_json(model)):
        assert from_native(text) == model
    for suffix in (".toml", ".json"):
        cr.Robot(model).save(tmp_path / f"r{suffix}")
        assert cr.load(tmp_path / f"r{suffix}").model == model
    try:
        text = to_urdf(model)
    except cr.FormatError:
        assert name != name.strip() or not name.isprintable()
        return
    found = from_urdf(text)
    assert found.name == name
    assert [link.name for link in found.links] == ["base" + name, name, name + "f"]
    assert found.joints[0].name == name


def test_names_that_urdf_needs_do_not_clash_with_those_of_the_robot():
    hinge = Screw(Vector(0.0, 0.0, 1.0), Vector(0.1, 0.0, 0.0), "revolute")
    body = (1.0, Vector(0.0, 0.0, 0.1), Symmetric(1.0, 1.0, 1.0))
    at = Transform(Rotation.identity(), Vector(0.0, 0.0, 0.5))
    links = [Link("base"), Link("a", *body), Link("a_hinge", *body), Link("b", *body)]
    joints = [
        Joint("j", "base", "a", hinge, at), Joint("j_offset", "a", "a_hinge", Fixed(), at),
        Joint("k", "a_hinge", "b", hinge, at), Joint("f_fixed", "b", "c", Fixed(), at),
    ]  # fmt: skip
    model = Model.build("r", [*links, Link("c")], joints, [Frame("f", "b", at)])
    found = from_urdf(to_urdf(model))
    assert found.nv == model.nv
    q = [0.3, -0.4]
    ours, theirs = (cr.Robot(m).reference for m in (model, found))
    for name in ("a", "a_hinge", "b", "c", "f"):
        assert abs(ours.pose(q, name) - theirs.pose(q, name)).max() < 1e-12


def test_the_warning_of_a_writer_points_at_the_line_that_writes(tmp_path: Path):
    robot = cr.load("pendulum").edit(gravity=[0, 0, 0]).without_friction()
    for write in (lambda: robot.save(tmp_path / "r.urdf"), lambda: building.to_urdf(robot)):
        with pytest.warns(cr.errors.ModelWarning, match="does not hold gravity") as caught:
            write()
        assert caught[0].filename == __file__


def test_a_file_is_replaced_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    robot = cr.load("pendulum")
    path = tmp_path / "r.toml"
    robot.save(path)
    before = path.read_bytes()

    def full_disk(self, content):
        with self.open("wb") as file:
            file.write(content[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(cr.FormatError, match="No space left"):
        robot.edit(gravity=[0, 0, 0]).save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["r.toml"]


@pytest.mark.parametrize("name", cr.robots())
def test_bundled_robots_survive_saving(name: str, tmp_path: Path):
    robot = cr.load(name)
    for suffix in (".toml", ".json"):
        robot.save(tmp_path / f"r{suffix}")
        assert cr.load(tmp_path / f"r{suffix}", check=not name.startswith("puma560")).model == robot.model
